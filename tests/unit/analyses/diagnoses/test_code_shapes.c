/* SPDX-License-Identifier: MIT */
/* Facts by the bytes of code: each case is code as gcc makes it, or a neighbour that lacks one
 * thing. */
#include "analyses/diagnoses/code/code_shapes.h"
#include "analyses/diagnoses/code_diagnoses.h"

#include "images/instructions/instruction_decoder.h"
#include "model/memory.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include "code_profile.h"

/* "kind:load mem:indexed op:any"; the caller frees it. */
static char *attributes_of(const uint8_t *bytes, size_t n)
{
	GString *out = g_string_new("op:any");
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction decoded;

	lode_instruction_decoder_init(&decoder);
	g_assert_true(lode_instruction_decoder_decode(&decoder, bytes, n, 0, &decoded));
	for (unsigned i = 0; i < LODE_N_KINDS; i++)
		if ((decoded.kinds >> i & 1) != 0)
			g_string_append_printf(out, " kind:%s",
				lode_instruction_kind_name((LodeInstructionKind)i));
	for (unsigned i = 0; i < LODE_N_MEMORY_KINDS; i++)
		if ((decoded.memory >> i & 1) != 0)
			g_string_append_printf(
				out, " mem:%s", lode_memory_kind_name((LodeMemoryKind)i));
	return g_string_free(out, FALSE);
}

/* One function of a loop, or of a block outside of any; instructions in hex, separated by blanks.
 * Each goes on to the next one; the last one back to the first. */
static LodeProfile *code_new(const char *text, bool is_loop)
{
	LodeProfile *profile = code_profile_new();
	g_auto(GStrv) parts = g_strsplit(text, " ", -1);
	g_autoptr(GByteArray) code = g_byte_array_new();

	code_profile_function(profile, "f");
	code_profile_block(profile, is_loop, is_loop);
	for (char **part = parts; *part != NULL; part++) {
		guint first = code->len;
		for (const char *at = *part; *at != '\0'; at += 2) {
			const char digits[] = {at[0], at[1], '\0'};
			uint8_t byte = (uint8_t)g_ascii_strtoull(digits, NULL, 16);
			g_byte_array_append(code, &byte, 1);
		}
		g_autofree char *attributes = attributes_of(code->data + first, code->len - first);
		uint32_t at = code_profile_add(profile, attributes, 10);
		LodeInstruction *one = lode_profile_instruction(profile, at);
		one->address = 0x1000 + first;
		one->size = code->len - first;
		one->next_count = part[1] != NULL ? 100 : -1;
	}
	lode_profile_block(profile, 0)->end = 0x1000 + code->len;
	lode_profile_function(profile, 0)->code = g_bytes_new(code->data, code->len);
	if (is_loop) {
		made_edge(profile, profile->code.instructions->len - 1, 0, LODE_EDGE_TAKEN, 90);
		lode_loops_add(profile, 0)->is_innermost = true;
	}
	code_profile_finish(profile);
	return profile;
}

static bool has_fact(const LodeProfile *profile, uint32_t at, unsigned fact)
{
	g_auto(CodeContext) context;

	code_context_init(&context, profile);
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
	return (code->facts[at] >> fact & 1) != 0;
}

static void test_bits(void)
{
	static const struct {
		const char *code;
		bool is_by_bits;
	} cases[] = {
		/* mov eax, edi; sar eax, cl; and eax, 1; add edx, eax; inc ecx; cmp ecx, 32; jne */
		{"89f8 d3f8 83e001 01c2 ffc1 83f920 75f0", true},
		/* a test of another bit, a shift by another number */
		{"89f8 d3f8 83e003 01c2 ffc1 83f920 75f0", false},
		{"89f8 c1f804 83e001 01c2 ffc1 83f920 75f0", false},
		/* test dil, 1; shr edi, 1; jne: to the next set bit */
		{"40f6c701 d1ef 75f8", true},
		/* bt edi, ecx; adc eax, 0; inc ecx; cmp ecx, 32; jne */
		{"0fa3cf 83d000 ffc1 83f920 75f0", true},
		/* with a multiplication, as in exponentiation by squaring */
		{"40f6c701 0fafc0 d1ef 75f8", false},
		/* with a load; a store; a call */
		{"8b06 d3f8 83e001 01c2 ffc1 83f920 75f0", false},
		{"89f8 d3f8 83e001 8906 ffc1 83f920 75f0", false},
		{"89f8 d3f8 83e001 e800000000 ffc1 83f920 75f0", false},
		/* as without optimisation: variables in the frame */
		{"8b4424f8 d3f8 83e001 014424f4 ffc1 83f920 75f0", true},
		/* unrolled four times: shr eax, k; and eax, 1; add edx, eax, and a load */
		{"8b06 c1e803 83e001 01c2 c1e804 83e001 01c2 c1e805 83e001 01c2 c1e806 83e001 01c2 "
		 "75f0",
			true},
		/* too much else for each bit */
		{"89f8 d3f8 83e001 01c2 01c3 01c6 01c7 01c2 01c3 ffc1 83f920 75f0", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, true);
		g_test_message("%s", cases[i].code);
		for (uint32_t k = 0; k < profile->code.instructions->len; k++)
			g_assert_cmpint(
				has_fact(profile, k, LODE_CODE_BITS), ==, cases[i].is_by_bits);
		LODE_AT(profile->loops, LodeLoop, 0).is_innermost = false;
		g_assert_false(has_fact(profile, 0, LODE_CODE_BITS));
	}
}

/* By the windows' accesses of the first instruction, which loads. */
static void test_stored(void)
{
	static const struct {
		const char *code;
		uint32_t n, accesses, stored, repeated, steps; /* n: of the first have the fact */
		bool is_loop;
	} cases[] = {
		/* add dword [rdi+rax*4], 1; jne */
		{"83048701 75fa", 1, 100, 60, 60, 20, true},
		{"83048701 75fa", 0, 100, 59, 60, 20, true},
		{"83048701 75fa", 0, 100, 60, 59, 20, true},
		{"83048701 75fa", 0, 100, 60, 60, 21, true},
		{"83048701 75fa", 1, 16, 16, 16, 5, true},
		{"83048701 75fa", 0, 15, 15, 15, 5, true},
		{"83048701 75fa", 0, 100, 60, 60, 20, false},
		/* on the stack; an atomic operation */
		{"83042401 75fa", 0, 100, 60, 60, 20, true},
		{"f083048701 75fa", 0, 100, 60, 60, 20, true},
		/* movsd xmm0, [rax+rdx*8]; addsd xmm0, xmm4; movsd [rax+rdx*8], xmm0 */
		{"f20f1004d0 f20f58c4 f20f1104d0 75f0", 3, 100, 60, 60, 20, true},
		/* the index changes; the store is elsewhere; there is none */
		{"f20f1004d0 ffc2 f20f1104d0 75f0", 0, 100, 60, 60, 20, true},
		{"f20f1004d0 f20f1144d008 75f0", 0, 100, 60, 60, 20, true},
		{"f20f1004d0 f20f58c4 75f0", 0, 100, 60, 60, 20, true},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, cases[i].is_loop);
		const LodeObservedInstruction seen = {.accesses = cases[i].accesses,
			.loads.stored = cases[i].stored,
			.repeated = cases[i].repeated,
			.loads.store_steps = cases[i].steps};
		g_assert_false(has_fact(profile, 0, LODE_CODE_STORED));
		profile->windows = lode_windows_new();
		g_array_append_val(profile->windows->instructions, seen);
		g_test_message("%zu: %s", i, cases[i].code);
		for (uint32_t k = 0; k < profile->code.instructions->len; k++)
			g_assert_cmpint(has_fact(profile, k, LODE_CODE_STORED), ==, k < cases[i].n);
	}
}

/* Where an instruction was seldom seen, others of the program decide. */
static void test_stored_together(void)
{
	g_autoptr(LodeProfile) profile = code_new("83048701 83048601 75f6", true);
	LodeObservedInstruction seen = {
		.accesses = 8, .loads.stored = 6, .repeated = 6, .loads.store_steps = 4};

	profile->windows = lode_windows_new();
	g_array_append_val(profile->windows->instructions, seen);
	g_assert_false(has_fact(profile, 0, LODE_CODE_STORED));
	seen.instruction = 1;
	g_array_append_val(profile->windows->instructions, seen);
	g_assert_true(has_fact(profile, 0, LODE_CODE_STORED));
	g_assert_true(has_fact(profile, 1, LODE_CODE_STORED));
	/* one that was seen often enough is judged by itself */
	LODE_AT(profile->windows->instructions, LodeObservedInstruction, 1).accesses = 16;
	g_assert_false(has_fact(profile, 1, LODE_CODE_STORED));
}

/* Samples of the first instruction, each on a page of its own but for some. */
static void test_counters(void)
{
	static const struct {
		const char *code;
		unsigned samples, pages;
		bool is_spread;
	} cases[] = {
		/* add dword [rbx], 1; sub qword [rdi+8], 1; inc dword [rbx]; add dword [rbx], -1 */
		{"830301", 100, 100, true},
		{"48836f0801", 100, 100, true},
		{"ff03", 100, 100, true},
		{"8303ff", 100, 100, true},
		/* 2; at an index; in the frame; no store; an atomic operation */
		{"830302", 100, 100, false},
		{"83048701", 100, 100, false},
		{"83042401", 100, 100, false},
		{"833b01", 100, 100, false},
		{"f0830301", 100, 100, false},
		/* few samples: n(n - 1)/8 of different pages */
		{"830301", 24, 24, true},
		{"830301", 23, 23, false},
		{"830301", 100, 10, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, false);
		g_assert_false(has_fact(profile, 0, LODE_CODE_COUNTER));
		profile->memory = lode_memory_new();
		for (unsigned k = 0; k < cases[i].samples; k++) {
			const LodeMemorySample sample = {
				.address = 0x100000 + (uint64_t)(k % cases[i].pages) * 4096 + k,
				.access_instruction = 0};
			g_array_append_val(profile->memory->samples, sample);
		}
		g_test_message("%zu: %s", i, cases[i].code);
		g_assert_cmpint(has_fact(profile, 0, LODE_CODE_COUNTER), ==, cases[i].is_spread);
	}
}

/* Two string instructions; of the first so many executions and rounds were seen. */
static void test_blocks(void)
{
	static const struct {
		const char *code;
		uint32_t runs, rounds;
		bool is_block;
	} cases[] = {
		/* rep movsq, rep stosq: 8 bytes a round; rep movsb */
		{"f348a5 f348ab", 3, 97, true},
		{"f348a5 f348ab", 3, 96, false},
		{"f348a5 f348ab", 2, 1000, false},
		{"f3a4 f348ab", 3, 769, true},
		{"f3a4 f348ab", 3, 768, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, false);
		const LodeObservedInstruction seen = {
			.string_runs = cases[i].runs, .string_rounds = cases[i].rounds};
		g_assert_false(has_fact(profile, 1, LODE_CODE_BLOCK));
		profile->windows = lode_windows_new();
		g_array_append_val(profile->windows->instructions, seen);
		g_test_message("%zu: %s", i, cases[i].code);
		for (uint32_t k = 0; k < 2; k++)
			g_assert_cmpint(
				has_fact(profile, k, LODE_CODE_BLOCK), ==, cases[i].is_block);
	}
}

/* cmp; jne over the next instruction, of which inferred executions know nothing; two more. */
/* Eight vectors that are copied from rsi to rdi, two at a time, are a structure. */
static void test_copies(void)
{
	static const char two[] = "0f1006 0f104e10 0f1107 0f114f10";
	static const struct {
		const char *between; /* after each two vectors */
		unsigned twos;
		bool is_copy;
	} cases[] = {
		{"", 4, true},
		{"", 3, false},
		/* add eax, 1 */
		{"83c001", 4, true},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) text = g_string_new("01c2");
		for (unsigned k = 0; k < cases[i].twos; k++)
			g_string_append_printf(text, " %s%s%s", two,
				cases[i].between[0] != '\0' ? " " : "", cases[i].between);
		g_autoptr(LodeProfile) profile = code_new(text->str, false);
		g_assert_false(has_fact(profile, 0, LODE_CODE_COPY));
		for (uint32_t k = 1; k <= 4; k++)
			g_assert_cmpint(has_fact(profile, k, LODE_CODE_COPY), ==, cases[i].is_copy);
	}
	/* With a sum in between (addps xmm0, xmm1) the first vector is not copied; nor are what a
	 * register is loaded with last (movups xmm0, [rsi]), and what is never stored. */
	g_autoptr(GString) sums = g_string_new(NULL);
	for (unsigned k = 0; k < 10; k++)
		g_string_append(sums, "0f1006 0f104e10 0f58c1 0f1107 0f114f10 ");
	g_string_append(sums, "0f1006");
	g_autoptr(LodeProfile) summing = code_new(sums->str, false);
	g_assert_false(has_fact(summing, 0, LODE_CODE_COPY));
	g_assert_true(has_fact(summing, 1, LODE_CODE_COPY));
	g_assert_false(has_fact(summing, 2, LODE_CODE_COPY));
	g_assert_false(has_fact(summing, 3, LODE_CODE_COPY));
	g_assert_true(has_fact(summing, 4, LODE_CODE_COPY));
	g_assert_false(has_fact(summing, 50, LODE_CODE_COPY));
}

static void test_globals(void)
{
	static const struct {
		const char *code;
		uint32_t at;
		bool is_global;
	} cases[] = {
		/* shl rdi, 6; add rdi, [rip + 0x100]; mov rax, [rdi + 8]; mov rdx, [rax] */
		{"48c1e706 48033d00010000 488b4708 488b10", 2, true},
		{"48c1e706 48033d00010000 488b4708 488b10", 1, false},
		{"48c1e706 48033d00010000 488b4708 488b10", 3, false},
		/* mov rax, [rip + 0x100]; mov rdx, [rax] */
		{"488b0500010000 488b10", 1, true},
		/* and mov rdx, [rax]; mov [rip + 0xf6], rdx, the same variable: as from a list */
		{"488b0500010000 488b10 488915f6000000", 1, false},
		/* and another one */
		{"488b0500010000 488b10 488915f6010000", 1, true},
		/* with an index that was loaded: mov rcx, [rsi]; add rcx, [rip + 0x100]; mov rax,
	         * [rcx] */
		{"488b0e 48030d00010000 488b01", 2, false},
		/* call; add rdi, [rip + 0x100]; mov rax, [rdi]: an index that is not known */
		{"e800000000 48033d00010000 488b07", 2, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, false);
		g_test_message("%zu", i);
		g_assert_cmpint(
			has_fact(profile, cases[i].at, LODE_CODE_GLOBAL), ==, cases[i].is_global);
	}
}

static void test_hidden_forks(void)
{
	static const struct {
		const char *code;
		bool is_fork;
	} cases[] = {
		{"83f800 7503 83c00a 890e ffc1", true},
		{"83f800 7502 ffc0 890e ffc1", true},
		/* to the middle of an instruction; out of the function; to the next one */
		{"83f800 7501 83c00a 890e ffc1", false},
		{"83f800 7540 83c00a 890e ffc1", false},
		{"83f800 7500 83c00a 890e ffc1", false},
		/* a load that may be waited for */
		{"83f800 7503 83c00a 8b0e ffc1", false},
		{"83f800 7502 8b06 890e ffc1", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, false);
		g_test_message("%s", cases[i].code);
		g_assert_cmpint(has_fact(profile, 2, LODE_CODE_FORK_OPEN), ==, cases[i].is_fork);
		g_assert_cmpint(has_fact(profile, 3, LODE_CODE_FORK_OPEN), ==, cases[i].is_fork);
		g_assert_false(has_fact(profile, 4, LODE_CODE_FORK_OPEN));
		/* Counted executions have all ways. */
		profile->run.frequency = LODE_FREQUENCY_EXACT;
		g_assert_false(has_fact(profile, 2, LODE_CODE_FORK_OPEN));
		/* It was seen going one way. */
		profile->run.frequency = LODE_FREQUENCY_INFERRED;
		const LodeObservedEdge edge = {1, 2, LODE_OBSERVED_STEPS, 1};
		profile->windows = lode_windows_new();
		g_array_append_val(profile->windows->edges, edge);
		g_assert_false(has_fact(profile, 2, LODE_CODE_FORK_OPEN));
	}
}

/* A loop of one load of 8 bytes and one addition to memory: mov rax, [rsi+rcx*8]; add [rdx+32],
 * rax; of an iteration, what may come from memory. */
static void test_loop_bytes(void)
{
	static const struct {
		const char *load, *add;
		double loaded, stored;
	} cases[] = {
		{"stride:8", "stride:8", 16, 8},
		{"stride:8", "address:invariant", 8, 0},
		{"stride:8", "stride:0", 8, 0},
		{"spread:first-level", "address:invariant", 0, 0},
		{"stride:16384", "stride:-64", 16, 8},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		static const uint8_t bytes[] = {0x48, 0x8b, 0x04, 0xce, 0x48, 0x01, 0x42, 0x20};
		g_autoptr(LodeProfile) profile = code_profile_new();
		code_profile_function(profile, "f");
		code_profile_block(profile, 1, true);
		code_profile_add(profile, cases[i].load, 1);
		made_fall(profile, 0, 100);
		code_profile_add(profile, cases[i].add, 1);
		made_edge(profile, 1, 0, LODE_EDGE_TAKEN, 100);
		code_profile_finish(profile);
		lode_profile_function(profile, 0)->code = g_bytes_new(bytes, sizeof(bytes));
		LodeLoop *loop = lode_loops_add(profile, 0);
		loop->iterations = 1;
		loop->load_bytes = 16;
		loop->store_bytes = 8;
		g_auto(CodeContext) context;
		code_context_init(&context, profile);
		g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
		const LodeLoopBytes *found = lode_costed_code_loop_bytes(code, loop);
		g_assert_cmpfloat(found->loaded, ==, cases[i].loaded);
		g_assert_cmpfloat(found->stored, ==, cases[i].stored);
		loop->load_bytes = loop->store_bytes = -1;
		g_autoptr(LodeCostedCode) unknown = lode_costed_code_new(&context.context);
		g_assert_cmpfloat(lode_costed_code_loop_bytes(unknown, loop)->loaded, ==, -1);
		g_assert_cmpfloat(lode_costed_code_loop_bytes(unknown, loop)->stored, ==, -1);
	}
}

/* int get(const int *a, int i) { return a[i]; } by gcc -O0. */
#define UNOPTIMISED_GET                                                                            \
	"55 4889e5 48897df8 8975f4 8b45f4 4898 488d148500000000 488b45f8 4801d0 8b00 5d c3"

/* The diagnoses of it. The caller frees it. */
static LodeDiagnoses *diagnose_unoptimised(const LodeProfile *profile)
{
	g_auto(CodeContext) context;
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_new();
	LodeDiagnoses *all = lode_diagnoses_new();

	code_context_init(&context, profile);
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context.context);
	lode_unoptimised_diagnosis_add(all, code, rules);
	return all;
}

static bool is_unoptimised(const LodeProfile *profile)
{
	g_autoptr(LodeDiagnoses) all = diagnose_unoptimised(profile);

	return all->diagnoses->len > 0;
}

static void test_unoptimised(void)
{
	static const struct {
		const char *code;
		bool is_unoptimised;
	} cases[] = {
		{UNOPTIMISED_GET, true},
		/* the same by rustc, with rsp: mov [rsp-8], rdi; mov [rsp-12], esi … */
		{"48897c24f8 897424f4 8b4424f4 4898 488b5424f8 8b0482 c3", true},
		/* a long one whose values go by registers to the end */
		{"55 4889e5 48897df8 8975f4 8b45f4 488b7df8 4401c0 4401c8 4101c0 4101c1 8b45f4 "
		 "488b7df8 5d c3",
			false},
		/* gcc -O2 -fno-omit-frame-pointer */
		{"55 4889e5 4863f6 8b04b7 5d c3", false},
		/* for (volatile int i = 0; i < 1000000; i++); by gcc -O1 */
		{"55 4889e5 c745fc00000000 8b45fc 3d3f420f00 7f13 8b45fc 83c001 8945fc 8b45fc "
		 "3d3f420f00 7eed 5d c3",
			false},
		/* a loop that adds up, with a volatile counter, by gcc -O1 */
		{"55 4889e5 c745fc00000000 8b45fc 39c6 7e21 ba00000000 8b45fc 4898 031487 8b45fc "
		 "83c001 8945fc 8b45fc 39f0 7ce8 89d0 5d c3",
			false},
		/* spilled, with registers that only an allocator uses */
		{"55 4889e5 48897df8 8975f4 4489e0 4d89ee 8b45f4 4898 488b45f8 8b00 5d c3", false},
		/* too short to tell */
		{"48897df8 488b45f8 c3", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, false);
		g_test_message("%s", cases[i].code);
		g_assert_cmpint(is_unoptimised(profile), ==, cases[i].is_unoptimised);
		/* code that is made at run time has its own compilers */
		lode_profile_image(profile, 0)->kind = LODE_IMAGE_JIT;
		g_assert_false(is_unoptimised(profile));
	}
}

/* Adds an accessor that hands on its argument, which tells nothing by itself: push rbp; mov rbp,
 * rsp; mov rax, [rdi]; pop rbp; ret. */
static void test_unoptimised_beside(void)
{
	for (int is_beside = 0; is_beside < 2; is_beside++) {
		g_autoptr(LodeProfile) profile = code_new(
			is_beside ? UNOPTIMISED_GET : "55 4889e5 4863f6 8b04b7 5d c3", false);
		static const uint8_t bytes[] = {
			0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x07, 0x5d, 0xc3};
		static const uint8_t sizes[] = {1, 3, 3, 1, 1};
		uint32_t function = code_profile_function(profile, "begin");
		uint64_t at = lode_profile_function(profile, function)->address;
		code_profile_block(profile, 0, false);
		for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
			LodeInstruction *one = lode_profile_instruction(
				profile, code_profile_add(profile, "op:any", 10));
			one->address = at;
			one->size = sizes[i];
			at += sizes[i];
		}
		lode_profile_function(profile, function)->code = g_bytes_new(bytes, sizeof(bytes));
		code_profile_finish(profile);
		g_autoptr(LodeDiagnoses) all = diagnose_unoptimised(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, is_beside ? 1 : 0);
		if (is_beside)
			g_assert_cmpuint(lode_diagnoses_at(all, 0)->functions, ==, 2);
	}
}

/* A tenth of the time or more. */
static void test_unoptimised_diagnosis(void)
{
	static const double others[] = {0, 119, 1000, 1081};

	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		g_autoptr(LodeProfile) profile = code_new(UNOPTIMISED_GET, false);
		code_profile_function(profile, "other");
		code_profile_block(profile, 0, false);
		code_profile_add(profile, "op:nop", others[i]);
		code_profile_finish(profile);
		g_autoptr(LodeDiagnoses) all = diagnose_unoptimised(profile);
		g_assert_cmpuint(all->diagnoses->len, ==, i < 3);
		if (all->diagnoses->len == 0)
			continue;
		const LodeDiagnosis *one = lode_diagnoses_at(all, 0);
		g_assert_cmpstr(one->cause, ==, "unoptimised");
		g_assert_cmpfloat_with_epsilon(one->time, 120 / (120 + others[i]), 1e-9);
		g_assert_cmpuint(one->functions, ==, 1);
		g_assert_cmpuint(one->places, ==, 12);
		g_assert_cmpfloat_with_epsilon(one->low, 0.4 * least_time(one), 1e-4);
		g_assert_cmpfloat_with_epsilon(one->high, MIN(0.95 * most_time(one), 0.99), 1e-4);
	}
}

/* Code that is not kept, is shorter than its instructions, or does not decode. */
static void test_odd_code(void)
{
	g_autoptr(LodeProfile) profile = code_new("40f6c701 d1ef 75f8", true);
	LodeFunction *function = lode_profile_function(profile, 0);
	LodeInstruction *one = lode_profile_instruction(profile, 1);

	g_assert_true(has_fact(profile, 0, LODE_CODE_BITS));
	one->address = 0xfff;
	g_assert_false(has_fact(profile, 0, LODE_CODE_BITS));
	one->address = 0x1007;
	g_assert_false(has_fact(profile, 0, LODE_CODE_BITS));
	one->address = 0x1004;
	one->size = UINT32_MAX;
	g_assert_false(has_fact(profile, 0, LODE_CODE_BITS));
	one->size = 1;
	g_assert_false(has_fact(profile, 0, LODE_CODE_BITS));
	one->size = 2;
	g_assert_true(has_fact(profile, 0, LODE_CODE_BITS));
	g_bytes_unref(g_steal_pointer(&function->code));
	g_assert_false(has_fact(profile, 0, LODE_CODE_BITS));
}

static void test_spins(void)
{
	static const struct {
		const char *code;
		bool is_spin;
	} cases[] = {
		/* mov eax, [rdi]; cmp eax, esi; jle */
		{"8b07 39f0 7efa", true},
		/* cmp [rdi], 0; je; and with pause */
		{"803f00 74fb", true},
		{"f390 803f00 74f9", true},
		/* gives up after some rounds: dec edx; looks at another place each time */
		{"8b07 ffca 75fa", false},
		{"8b07 4883c704 39f0 7ef6", false},
		/* counts the rounds in memory: add [rbx], 1 */
		{"830301 8b07 39f0 7ef7", false},
		/* calls */
		{"e800000000 803f00 74f6", false},
		/* looks at nothing */
		{"39f0 7efc", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, true);
		if (has_fact(profile, 0, LODE_CODE_SPIN) != cases[i].is_spin)
			g_test_fail_printf("case %zu", i);
	}
}

static void test_walks_of_nodes(void)
{
	static const struct {
		const char *code;
		bool is_walk;
	} cases[] = {
		/* mov rax, [rax + 16]; test rax, rax; jne */
		{"488b4010 4885c0 75f7", true},
		/* mov rdx, rax; mov rax, [rdx + 8]; test rax, rax; jne */
		{"4889c2 488b4208 4885c0 75f4", true},
		/* counts: add ecx, 1 */
		{"83c101 488b4010 4885c0 75f4", true},
		/* looks at what is in the node: cmp [rax], esi; je out; add edx, [rax] */
		{"3930 7410 488b4010 4885c0 75f3", false},
		{"0310 488b4010 4885c0 75f5", false},
		/* to the k-th: dec ecx */
		{"488b4010 ffc9 75f8", true},
		/* an index: movsxd rax, [rdi + rax * 4] */
		{"48630487 85c0 75f8", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = code_new(cases[i].code, true);
		if (has_fact(profile, 0, LODE_CODE_NODES) != cases[i].is_walk)
			g_test_fail_printf("case %zu", i);
	}
}

/* A loop around has the same head: its other instructions are no part of the waiting. */
static void test_inner_spin(void)
{
	static const double back[] = {4000, 400};

	for (size_t i = 0; i < G_N_ELEMENTS(back); i++) {
		/* mov eax, [rdi]; cmp eax, esi; jle to the first; add [rbx], 1; inc esi; jne */
		g_autoptr(LodeProfile) profile = code_new("8b07 39f0 7efa 830301 ffc6 75f3", true);
		made_edge(profile, 2, 0, LODE_EDGE_TAKEN, back[i]);
		code_profile_finish(profile);
		g_assert_cmpint(has_fact(profile, 0, LODE_CODE_SPIN), ==, i == 0);
		g_assert_false(has_fact(profile, 4, LODE_CODE_SPIN));
	}
}

/* A loop whose rounds and exits windows saw, which samples saw go back so often. */
static bool is_search(const char *text, uint32_t rounds, uint32_t exits, guint returns)
{
	g_autoptr(LodeProfile) profile = code_new(text, true);
	const LodeObservedInstruction seen = {.loop_rounds = rounds, .loop_exits = exits};

	profile->windows = lode_windows_new();
	g_array_append_val(profile->windows->instructions, seen);
	profile->memory = lode_memory_new();
	for (guint i = 0; i < 4 * (returns + 1); i++) {
		const LodeMemorySample sample = {.time_ns = 1 + i,
			.address = 0x10000 + 4 * (i % 4),
			.instruction = LODE_NONE,
			.object = LODE_NONE,
			.mapping = LODE_NONE,
			.allocation = LODE_NONE,
			.access_location = LODE_NONE};
		g_array_append_val(profile->memory->samples, sample);
	}
	return has_fact(profile, 0, LODE_CODE_SEARCH) &&
	       has_fact(profile, profile->code.instructions->len - 1, LODE_CODE_SEARCH);
}

static void test_searches(void)
{
	static const struct {
		const char *code;
		bool is_search;
	} cases[] = {
		/* cmp [rdi], esi; je found; add rdi, 4; cmp rdi, rdx; jne */
		{"3937 7410 4883c704 4839d7 75f3", true},
		/* mov eax, [rdi]; cmp eax, esi; je; … */
		{"8b07 39f0 7410 4883c704 4839d7 75f1", true},
		/* a list: cmp [rdi + 8], rsi; je; mov rdi, [rdi]; test rdi, rdi; jne */
		{"48397708 7410 488b3f 4885ff 75f2", true},
		/* the key is in the frame: mov eax, [rsp]; cmp [rdi], eax; je; … */
		{"8b0424 3907 7410 4883c704 4839d7 75f0", true},
		/* cmp [rdi], esi; mov rax, rdi; je; add rdi, 4; cmp rdi, rdx; jne */
		{"3937 4889f8 7410 4883c704 4839d7 75f0", true},
		/* the end of a list of numbers: cmp dword [rdi], 0 */
		{"833f00 7410 4883c704 4839d7 75f2", false},
		/* a run of equal ones: jne out */
		{"3937 7510 4883c704 4839d7 75f3", false},
		/* the key changes: inc esi */
		{"3937 7410 ffc6 4883c704 4839d7 75f1", false},
		/* waits for a word to change: dec edx */
		{"3937 7410 ffca 75f8", false},
		/* a byte of a text: cmp [rdi], sil; je; inc rdi */
		{"403837 7410 48ffc7 4839d7 75f3", false},
		/* two arrays: mov eax, [rdi]; cmp eax, [rdx]; je; …; dec ecx */
		{"8b07 3b02 7410 4883c704 4883c204 ffc9 75ee", false},
		/* counts, and stays: cmp [rdi], esi; sete al; add rdi, 4; cmp rdi, rdx; jne */
		{"3937 0f94c0 4883c704 4839d7 75f2", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		if (is_search(cases[i].code, 1000, 10, 0) != cases[i].is_search)
			g_test_fail_printf("case %zu", i);
	/* too few rounds; entered once, or not known; samples tell that it is entered often */
	g_assert_false(is_search(cases[0].code, 400, 10, 0));
	g_assert_false(is_search(cases[0].code, 400, 1, 0));
	g_assert_true(is_search(cases[0].code, 400, 1, 20));
	g_assert_false(is_search(cases[0].code, 90, 0, 0));
	g_assert_true(is_search(cases[0].code, 90, 0, 20));
	g_assert_false(is_search(cases[0].code, 50, 0, 20));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/code_shapes/bits", test_bits);
	g_test_add_func("/code_shapes/searches", test_searches);
	g_test_add_func("/code_shapes/spins", test_spins);
	g_test_add_func("/code_shapes/walks_of_nodes", test_walks_of_nodes);
	g_test_add_func("/code_shapes/inner_spin", test_inner_spin);
	g_test_add_func("/code_shapes/stored", test_stored);
	g_test_add_func("/code_shapes/stored_together", test_stored_together);
	g_test_add_func("/code_shapes/counters", test_counters);
	g_test_add_func("/code_shapes/blocks", test_blocks);
	g_test_add_func("/code_shapes/copies", test_copies);
	g_test_add_func("/code_shapes/globals", test_globals);
	g_test_add_func("/code_shapes/hidden_forks", test_hidden_forks);
	g_test_add_func("/code_shapes/odd_code", test_odd_code);
	g_test_add_func("/code_shapes/loop_bytes", test_loop_bytes);
	g_test_add_func("/code_shapes/unoptimised", test_unoptimised);
	g_test_add_func("/code_shapes/unoptimised_beside", test_unoptimised_beside);
	g_test_add_func("/code_shapes/unoptimised_diagnosis", test_unoptimised_diagnosis);
	return g_test_run();
}
