/* SPDX-License-Identifier: MIT */
/* The truth's own arithmetic against what is written in Intel's manual, and that wrong claims are
 * called wrong. */
#include "true_access.h"

#include "truth_table.h"

#include <string.h>

typedef struct {
	const char *name;
	uint8_t code[TRUE_MAX_CODE];
	unsigned n_operands;
	TrueOperand operands[TRUE_MAX_OPERANDS];
} Case;

enum { LOAD = LODE_ACCESS_LOAD, STORE = LODE_ACCESS_STORE };

static const struct user_regs_struct registers = {
	.rip = 0x400000,
	.rax = 0x1000,
	.rcx = 3,
	.rdx = 0xffffffff00000010,
	.rbx = 0x2000,
	.rsp = 0x7000,
	.rsi = 0x5000,
	.rdi = 0x6000,
	.fs_base = 0x900000,
};

static const Case cases[] = {
	{"load with displacement", {0x48, 0x8b, 0x43, 0x08}, 1, {{0x2008, 8, LOAD}}},
	{"scaled index", {0x89, 0x04, 0x8b}, 1, {{0x200c, 4, STORE}}},
	{"read and written", {0x83, 0x03, 0x01}, 1, {{0x2000, 4, LOAD | STORE}}},
	{"after the instruction", {0x8b, 0x05, 0x10, 0, 0, 0}, 1, {{0x400016, 4, LOAD}}},
	{"thread's base", {0x64, 0x48, 0x8b, 0x00}, 1, {{0x901000, 8, LOAD}}},
	{"32-bit address", {0x67, 0x8a, 0x02}, 1, {{0x10, 1, LOAD}}},
	{"pop into the stack", {0x8f, 0x44, 0x24, 0x08}, 1, {{0x7010, 8, STORE}}},
	{"bit beyond the operand", {0x48, 0x0f, 0xa3, 0x03}, 1, {{0x2200, 8, LOAD}}},
	{"string copy", {0xf3, 0xa4}, 2, {{0x6000, 1, STORE}, {0x5000, 1, LOAD}}},
	{"jump by memory", {0xff, 0x23}, 1, {{0x2000, 8, LOAD}}},
	{"push is no operand", {0x50}, 0, {{0}}},
	{"address only", {0x48, 0x8d, 0x03}, 0, {{0}}},
	{"nop", {0x0f, 0x1f, 0x03}, 0, {{0}}},
	{"prefetch", {0x0f, 0x18, 0x0b}, 0, {{0}}},
};

static void test_operands(const void *data)
{
	const Case *wanted = data;
	TrueAccess access;

	g_assert_true(true_access_read(&access, wanted->code, TRUE_MAX_CODE, &registers));
	g_assert_cmpuint(access.n_operands, ==, wanted->n_operands);
	for (unsigned i = 0; i < access.n_operands; i++) {
		g_assert_cmphex(access.operands[i].address, ==, wanted->operands[i].address);
		g_assert_cmpuint(access.operands[i].size, ==, wanted->operands[i].size);
		g_assert_cmpuint(access.operands[i].access, ==, wanted->operands[i].access);
	}
}

static void test_nothing_left(void)
{
	const uint8_t code[TRUE_MAX_CODE] = {0xf3, 0xa4};
	struct user_regs_struct none_left = registers;
	TrueAccess access;

	none_left.rcx = 0;
	g_assert_true(true_access_read(&access, code, sizeof(code), &none_left));
	g_assert_cmpuint(access.n_operands, ==, 0);
}

static void test_proof(void)
{
	const uint8_t load[TRUE_MAX_CODE] = {0x48, 0x0f, 0xbe, 0x03}; /* movsx rax, byte [rbx] */
	const uint8_t store[TRUE_MAX_CODE] = {0x89, 0x0b};            /* mov [rbx], ecx */
	const uint8_t before[TRUE_MAX_PROOF] = {0xfe}, three[TRUE_MAX_PROOF] = {3};
	struct user_regs_struct after = registers;
	TrueAccess access;

	after.rax = (uint64_t)-2;
	g_assert_true(true_access_read(&access, load, sizeof(load), &registers));
	g_assert_cmpint(true_access_verify(&access, before, before, &after), ==, TRUE_PROVEN);
	g_assert_cmpint(true_access_verify(&access, three, three, &after), ==, TRUE_REFUTED);
	g_assert_true(true_access_read(&access, store, sizeof(store), &registers));
	g_assert_cmpint(true_access_verify(&access, before, three, &after), ==, TRUE_PROVEN);
	g_assert_cmpint(true_access_verify(&access, three, before, &after), ==, TRUE_REFUTED);
}

static LodeDataAccess right_claim(void)
{
	return (LodeDataAccess){
		.rule = LODE_RULE_AT_PC,
		.pc = 0x1000,
		.operands = {{.address = 0x2008, .size = 8, .access = LOAD}},
		.n_operands = 1,
	};
}

static void test_faults(void)
{
	const TrueAccess truth = {.pc = 0x5000, .operands = {{0x2008, 8, LOAD}}, .n_operands = 1};
	const TrueAccess nothing = {.pc = 0x5000};
	LodeDataAccess claim = right_claim();

	g_assert_null(truth_fault(&claim, 0x4000, &truth));
	g_assert_cmpstr(truth_fault(&claim, 0x3000, &truth), ==, "pc");
	g_assert_cmpstr(truth_fault(&claim, 0x4000, &nothing), ==, "no access");
	claim.operands[0].size = 4;
	g_assert_cmpstr(truth_fault(&claim, 0x4000, &truth), ==, "size");
	claim = right_claim();
	claim.operands[0].access = STORE;
	g_assert_cmpstr(truth_fault(&claim, 0x4000, &truth), ==, "access");
	claim.operands[0].address++;
	g_assert_cmpstr(truth_fault(&claim, 0x4000, &truth), ==, "address");
	claim.n_operands = 2;
	g_assert_cmpstr(truth_fault(&claim, 0x4000, &truth), ==, "operands");
}

static void test_table(void)
{
	TruthTable table;
	LodeDataAccess claim = right_claim();
	const LodeDataAccess none = {.reason = LODE_REASON_TLS};

	truth_table_init(&table);
	truth_table_count(&table, TRUTH_AT_PC, &claim, NULL);
	truth_table_count(&table, TRUTH_AT_PC, &none, NULL);
	g_assert_true(truth_table_is_right(&table));
	g_assert_cmpuint(table.rows[TRUTH_AT_PC].n_points, ==, 2);
	g_assert_cmpuint(table.rows[TRUTH_AT_PC].n_claimed, ==, 1);
	g_assert_cmpuint(table.rows[TRUTH_AT_PC].n_by_reason[LODE_REASON_TLS], ==, 1);
	truth_table_count(&table, TRUTH_BACKWARD, &claim, "pc");
	g_assert_false(truth_table_is_right(&table));
	truth_table_clear(&table);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *path = g_strdup_printf("/true_access/%s", cases[i].name);
		g_test_add_data_func(path, &cases[i], test_operands);
	}
	g_test_add_func("/true_access/nothing left", test_nothing_left);
	g_test_add_func("/true_access/proof", test_proof);
	g_test_add_func("/truth_table/faults", test_faults);
	g_test_add_func("/truth_table/counts", test_table);
	return g_test_run();
}
