/* SPDX-License-Identifier: MIT */
/* Which stacks of switches are written, and that a damaged record is left as it is. */
#include "record/waits/switch_samples.h"

#include "base/byte_append.h"
#include "record/perf/perf_records.h"
#include "sources/perf_data/wait_switch.h"

#include <string.h>

enum { N_REGISTERS = 8, STACK_BYTES = 64, N_FUNCTIONS = 3 };

/* Of a stack whose third word is `caller`, and the fourth `number`. */
static GByteArray *sample(uint32_t tid, uint64_t stack_pointer, uint64_t caller, uint64_t number)
{
	GByteArray *record = g_byte_array_new();
	const LodePerfSampleStart start = {
		.header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, 0}, .tid = tid};

	g_byte_array_append(record, (const guint8 *)&start, sizeof(start));
	lode_append_u64(record, 0); /* CPU */
	lode_append_u64(record, N_FUNCTIONS);
	for (unsigned i = 0; i < N_FUNCTIONS; i++)
		lode_append_u64(record, i);
	lode_append_u64(record, PERF_SAMPLE_REGS_ABI_64);
	for (unsigned i = 0; i < N_REGISTERS; i++)
		lode_append_u64(record, i == 3 ? stack_pointer : i);
	lode_append_u64(record, STACK_BYTES);
	for (unsigned i = 0; i < STACK_BYTES / 8; i++)
		lode_append_u64(record, i == 2 ? caller : i == 3 ? number : 0);
	lode_append_u64(record, STACK_BYTES); /* used */
	((struct perf_event_header *)(void *)record->data)->size = (uint16_t)record->len;
	return record;
}

enum { STACK = 0x70000000, CALLER = 0x401235, OTHER = 0x401335 };

/* How many bytes are left out. */
static size_t cut(LodeSwitchStacks *stacks, uint32_t tid, uint64_t stack_pointer, uint64_t caller,
	uint64_t number)
{
	g_autoptr(GByteArray) record = sample(tid, stack_pointer, caller, number);
	size_t size = lode_switch_stacks_cut(stacks, record->data, record->len);
	struct perf_event_header header;
	uint64_t used;

	memcpy(&header, record->data, sizeof(header));
	g_assert_cmpuint(header.size, ==, size);
	memcpy(&used, record->data + size - sizeof(used), sizeof(used));
	g_assert_cmpuint(used, ==, size == record->len ? STACK_BYTES : sizeof(used));
	return record->len - size;
}

/* A stack is written once for each thread, place and row of callers. */
static void test_once(void)
{
	g_autoptr(LodeSwitchStacks) stacks = lode_switch_stacks_new();
	const size_t left_out = STACK_BYTES - 8;

	g_assert_cmpuint(cut(stacks, 1, STACK, CALLER, 0), ==, 0);
	g_assert_cmpuint(cut(stacks, 1, STACK, CALLER, 0), ==, left_out);
	g_assert_cmpuint(cut(stacks, 1, STACK, CALLER, 12345), ==, left_out);
	g_assert_cmpuint(cut(stacks, 1, STACK, OTHER, 0), ==, 0);
	g_assert_cmpuint(cut(stacks, 2, STACK, CALLER, 0), ==, 0);
	g_assert_cmpuint(cut(stacks, 1, STACK + 8, CALLER, 0), ==, 0);
	g_assert_cmpuint(cut(stacks, 1, STACK, OTHER, 77), ==, left_out);
}

/* The key that is written is that of the whole stack. */
static void test_key(void)
{
	g_autoptr(LodeSwitchStacks) stacks = lode_switch_stacks_new();
	const uint64_t words[STACK_BYTES / 8] = {0, 0, CALLER, 9};
	LodeSwitchPlace place = {1, 4, STACK, 2, (const uint8_t *)words, sizeof(words)};
	uint64_t key = lode_switch_place_key(&place), written[2];

	cut(stacks, 1, STACK, CALLER, 0);
	g_autoptr(GByteArray) record = sample(1, STACK, CALLER, 0);
	size_t size = lode_switch_stacks_cut(stacks, record->data, record->len);
	memcpy(written, record->data + size - sizeof(written), sizeof(written));
	g_assert_cmphex(written[0], ==, key);
	place.stack = (const uint8_t *)written;
	place.stack_size = written[1];
	g_assert_cmphex(lode_switch_place_key(&place), ==, key);
}

/* No byte beyond the record is read: it is the whole allocation. */
static void test_cut_short(void)
{
	g_autoptr(LodeSwitchStacks) stacks = lode_switch_stacks_new();
	g_autoptr(GByteArray) whole = sample(1, STACK, CALLER, 0);
	const size_t to_stack = whole->len - STACK_BYTES - 16;

	lode_switch_stacks_cut(stacks, whole->data, whole->len);
	for (size_t size = sizeof(LodePerfSampleStart); size < whole->len; size += 8) {
		g_autofree uint8_t *record = g_memdup2(whole->data, size);
		g_assert_cmpuint(lode_switch_stacks_cut(stacks, record, size), ==, size);
	}
	/* more functions than it has room for, a larger stack, more of it used */
	const uint64_t most[] = {UINT64_MAX, UINT64_MAX / 8, UINT64_MAX - 15, 1000};
	const size_t places[] = {sizeof(LodePerfSampleStart) + 8, to_stack, whole->len - 8};
	for (size_t i = 0; i < G_N_ELEMENTS(most); i++)
		for (size_t k = 0; k < G_N_ELEMENTS(places); k++) {
			g_autofree uint8_t *record = g_memdup2(whole->data, whole->len);
			memcpy(record + places[k], &most[i], sizeof(most[i]));
			g_assert_cmpuint(
				lode_switch_stacks_cut(stacks, record, whole->len), ==, whole->len);
		}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/switch-samples/once", test_once);
	g_test_add_func("/record/switch-samples/key", test_key);
	g_test_add_func("/record/switch-samples/cut-short", test_cut_short);
	return g_test_run();
}
