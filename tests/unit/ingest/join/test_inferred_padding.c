/* SPDX-License-Identifier: MIT */
/* Executions inferred of code with padding, which nothing leads to. */
#include "ingest/join/join_infer.h"

#include <string.h>

enum { ADDRESS = 0x1000, MAX_SITES = 4, SAMPLES = 100, UNIT_PARTS = 256 };

/* The function of a compiler's `for (i = 0; i < n; i++)` that tests before the first round. */
static const uint8_t loop_code[] = {
	0x53,                   /* 1000 push rbx */
	0x31, 0xdb,             /* 1001 xor ebx, ebx */
	0xeb, 0x07,             /* 1003 jmp 100c */
	0x0f, 0x1f, 0x00,       /* 1005 nop */
	0x48, 0x83, 0xc3, 0x01, /* 1008 add rbx, 1 */
	0x48, 0x39, 0xfb,       /* 100c cmp rbx, rdi */
	0x72, 0xf7,             /* 100f jb 1008 */
	0x5b,                   /* 1011 pop rbx */
	0xc3,                   /* 1012 ret */
};

/* The jump's targets are not known. */
static const uint8_t switch_code[] = {
	0xff, 0xe0,                         /* 1000 jmp rax */
	0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, /* 1002 nop */
	0x48, 0x83, 0xc3, 0x01,             /* 1008 add rbx, 1 */
	0xc3,                               /* 100c ret */
};

typedef struct {
	LodeRecording *recording;
	LodeInferenceScratch scratch;
	LodeInferredFunction out;
} Fixture;

/* The same number of samples at each address. */
static void fixture_init(
	Fixture *self, const uint8_t *code, size_t size, const uint64_t *addresses, uint32_t n)
{
	const LodeBinaryFunction function = {.address = ADDRESS, .size = size};
	LodeJoinSite sites[MAX_SITES];

	g_assert_cmpuint(n, <=, MAX_SITES);
	self->recording = lode_recording_new();
	self->recording->instructions = g_array_new(FALSE, TRUE, sizeof(LodeRecordedInstruction));
	self->recording->values = g_new(double, MAX_SITES);
	for (uint32_t i = 0; i < n; i++) {
		const LodeRecordedInstruction row = {
			.address = addresses[i], .first_value = i, .n_values = 1};
		sites[i] = (LodeJoinSite){addresses[i], 0, i};
		g_array_append_val(self->recording->instructions, row);
		self->recording->values[i] = SAMPLES;
	}
	lode_inference_scratch_init(&self->scratch, self->recording);
	self->scratch.sample = 1;
	self->scratch.unit = 1.0 / UNIT_PARTS;
	self->out = (LodeInferredFunction){
		.rows = g_array_new(FALSE, FALSE, sizeof(LodeInferredRow)),
		.jumps = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan)),
		.calls = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan)),
	};
	const LodeInferredEvidence evidence = {.function = &function, .sites = sites, .n_sites = n};
	lode_join_infer_function(&self->scratch, &evidence, code, size, &self->out);
	g_assert_false(self->out.has_failed);
}

static void fixture_clear(Fixture *self)
{
	g_array_unref(self->out.rows);
	g_array_unref(self->out.jumps);
	g_array_unref(self->out.calls);
	lode_inference_scratch_clear(&self->scratch);
	lode_recording_free(self->recording);
}

static double count_at(const Fixture *self, uint64_t address)
{
	const GArray *rows = self->out.rows;

	for (guint i = 0; i < rows->len; i++)
		if (g_array_index(rows, LodeInferredRow, i).address == address)
			return g_array_index(rows, LodeInferredRow, i).count;
	return 0;
}

static void test_loop(void)
{
	static const uint64_t sampled[] = {0x1008, 0x100c, 0x100f};
	Fixture self = {0};

	fixture_init(&self, loop_code, sizeof loop_code, sampled, G_N_ELEMENTS(sampled));
	g_assert_cmpfloat(count_at(&self, 0x1005), ==, 0);
	g_assert_cmpfloat(count_at(&self, 0x1000), >, 0);
	g_assert_cmpfloat(count_at(&self, 0x1003), ==, count_at(&self, 0x1012));
	g_assert_cmpfloat(
		count_at(&self, 0x100c), ==, count_at(&self, 0x1003) + count_at(&self, 0x1008));
	fixture_clear(&self);
}

/* Then it is none. */
static void test_sampled(void)
{
	static const uint64_t sampled[] = {0x1005, 0x1008};
	Fixture self = {0};

	fixture_init(&self, loop_code, sizeof loop_code, sampled, G_N_ELEMENTS(sampled));
	g_assert_cmpfloat(count_at(&self, 0x1005), >, 0);
	fixture_clear(&self);
}

static void test_switch(void)
{
	static const uint64_t sampled[] = {0x1008};
	Fixture self = {0};

	fixture_init(&self, switch_code, sizeof switch_code, sampled, G_N_ELEMENTS(sampled));
	g_assert_cmpfloat(count_at(&self, 0x1002), ==, 0);
	g_assert_cmpfloat(count_at(&self, 0x1008), >, 0);
	g_assert_cmpfloat(count_at(&self, 0x1008), ==, count_at(&self, 0x100c));
	fixture_clear(&self);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/inferred-padding/loop", test_loop);
	g_test_add_func("/inferred-padding/sampled", test_sampled);
	g_test_add_func("/inferred-padding/switch", test_switch);
	return g_test_run();
}
