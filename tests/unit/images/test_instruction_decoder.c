/* SPDX-License-Identifier: MIT */
/*
 * Attributes of single instructions against a table written from the rules, and boundaries and
 * mnemonics of a real program against objdump.
 */
#include "images/elf/binary_image.h"
#include "images/instructions/instruction_decoder.h"
#include "seeds.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	const char *bytes; /* hex */
	const char *text;  /* op, kinds, then @memory kinds, by a space each, in enum order */
} Case;

static const Case CASES[] = {
	{"c3", "ret ret"},
	{"f3c3", "ret ret"},
	{"55", "push"},
	{"5d", "pop"},
	{"ff30", "push load @pointer"},
	{"8f00", "pop store @pointer"},
	{"c9", "leave"},
	{"e800000000", "call call"},
	{"f2e800000000", "call call"},
	{"ffd0", "call call indirect"},
	{"ff15fc2f0000", "call load call indirect @global"},
	{"3effe0", "jmp jump indirect"},
	{"ff24c500000000", "jmp load jump indirect @indexed"},
	{"eb00", "jmp jump"},
	{"7400", "jz branch"},
	{"e300", "jrcxz branch"},
	{"488b4508", "mov load @pointer"},
	{"48894500", "mov store @pointer"},
	{"488b442408", "mov load @stack"},
	{"488b0510000000", "mov load @global"},
	{"8b042500100000", "mov load @global"},
	{"64488b042528000000", "mov load @tls"},
	{"8b0488", "mov load @indexed"},
	{"8b4c8408", "mov load @indexed"},
	{"48a10011223344556677", "mov load @global"},
	{"8d0488", "lea"},
	{"0f1f440000", "nop nop"},
	{"6690", "nop nop"},
	{"f30f1efa", "endbr64 nop"},
	{"f390", "pause"},
	{"0f1800", "prefetchnta"},
	{"0f0d08", "prefetchw"},
	{"3b07", "cmp load @pointer"},
	{"8507", "test load @pointer"},
	{"0107", "add load store @pointer"},
	{"ff07", "inc load store @pointer"},
	{"0fb607", "movzx load @pointer"},
	{"4863c7", "movsxd"},
	{"0fafc7", "imul mul"},
	{"f7f7", "div div"},
	{"f73f", "idiv load div @pointer"},
	{"a4", "movsb load store string"},
	{"f3a4", "rep_movsb load store string"},
	{"f348ab", "rep_stosq store string"},
	{"f2ae", "repne_scasb load string"},
	{"f3a6", "repe_cmpsb load string"},
	{"ac", "lodsb load string"},
	{"f00fc107", "lock_xadd load store atomic @pointer"},
	{"8707", "xchg load store atomic @pointer"},
	{"87c8", "xchg"},
	{"f04c0fb117", "lock_cmpxchg load store atomic @pointer"},
	{"0faef0", "mfence fence"},
	{"0faee8", "lfence fence"},
	{"0faef8", "sfence fence"},
	{"0f05", "syscall syscall"},
	{"cd80", "int syscall"},
	{"0f0b", "ud2"},
	{"f4", "hlt"},
	{"f20f58c1", "addsd fp simd"},
	{"f20f5907", "mulsd load fp simd mul @pointer"},
	{"0f5ec1", "divps fp simd div"},
	{"f20f51c1", "sqrtsd fp simd div"},
	{"c5f351c1", "vsqrtsd fp simd div"},
	{"0f52c1", "rsqrtps fp simd"},
	{"660f2ec1", "ucomisd fp simd"},
	{"f20f2ac7", "cvtsi2sd fp simd convert"},
	{"f20f2cc0", "cvttsd2si fp simd convert"},
	{"0f28c1", "movaps simd"},
	{"f30f1007", "movss load simd @pointer"},
	{"f20f1107", "movsd store simd @pointer"},
	{"0f57c0", "xorps simd"},
	{"0f14c1", "unpcklps simd"},
	{"660ffec1", "paddd simd"},
	{"660fd5c1", "pmullw simd mul"},
	{"660ff5c1", "pmaddwd simd mul"},
	{"c4e2f1b8c2", "vfmadd231pd fp simd mul"},
	{"c5f877", "vzeroupper"},
	{"c5fd6f07", "vmovdqa load simd @pointer"},
	{"c4e26d900c87", "vpgatherdd load simd @indexed"},
	{"0fc307", "movnti store @pointer"},
	{"f30fb8c7", "popcnt"},
	{"f20f38f0c7", "crc32"},
	{"0fae17", "ldmxcsr load @pointer"},
	{"d8c1", "fadd fp"},
	{"dd07", "fld load fp @pointer"},
	{"dec9", "fmulp fp mul"},
	{"def9", "fdivp fp div"},
	{"d9fa", "fsqrt fp div"},
	{"d7", "xlat load"},
	{"660ff7c1", "maskmovdqu store simd"},
	{"c4e2fbf6c1", "mulx mul"},
	{"c4e2f9f7c1", "shlx"},
	{"0fa2", "cpuid"},
};

static size_t parse_hex(const char *text, uint8_t *bytes)
{
	size_t n = strlen(text) / 2;

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(g_ascii_xdigit_value(text[2 * i]) * 16 +
				     g_ascii_xdigit_value(text[2 * i + 1]));
	return n;
}

static char *describe(const LodeDecodedInstruction *decoded)
{
	char mnemonic[32];
	GString *text = g_string_new(lode_instruction_mnemonic(decoded, mnemonic, sizeof mnemonic));

	for (int i = 0; i < LODE_N_KINDS; i++) {
		if (decoded->kinds & (1U << i))
			g_string_append_printf(
				text, " %s", lode_instruction_kind_name((LodeInstructionKind)i));
	}
	for (int i = 0; i < LODE_N_MEMORY_KINDS; i++) {
		if (decoded->memory & (1U << i))
			g_string_append_printf(
				text, " @%s", lode_memory_kind_name((LodeMemoryKind)i));
	}
	return g_string_free(text, FALSE);
}

static void test_attributes(void)
{
	LodeInstructionDecoder decoder;

	lode_instruction_decoder_init(&decoder);
	for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
		LodeDecodedInstruction decoded;
		uint8_t bytes[16];
		size_t n = parse_hex(CASES[i].bytes, bytes);
		g_autofree char *text = NULL;

		g_test_message("%s", CASES[i].bytes);
		g_assert_true(
			lode_instruction_decoder_decode(&decoder, bytes, n, 0x1000, &decoded));
		g_assert_cmpuint(decoded.length, ==, n);
		text = describe(&decoded);
		g_assert_cmpstr(text, ==, CASES[i].text);
		g_assert_false(
			lode_instruction_decoder_decode(&decoder, bytes, n - 1, 0x1000, &decoded) &&
			decoded.length == n);
	}
}

static LodeDecodedInstruction decode(const char *hex, uint64_t address)
{
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction decoded;
	uint8_t bytes[16];
	size_t n = parse_hex(hex, bytes);

	lode_instruction_decoder_init(&decoder);
	g_assert_true(lode_instruction_decoder_decode(&decoder, bytes, n, address, &decoded));
	return decoded;
}

static void test_branches(void)
{
	static const struct {
		const char *bytes;
		LodeBranch branch;
		uint64_t target; /* 0: none */
	} BRANCHES[] = {
		{"90", LODE_BRANCH_NONE, 0},
		{"74fe", LODE_BRANCH_CONDITIONAL, 0x1000},
		{"0f8400010000", LODE_BRANCH_CONDITIONAL, 0x1106},
		{"eb10", LODE_BRANCH_JUMP, 0x1012},
		{"e9f0ffffff", LODE_BRANCH_JUMP, 0xff5},
		{"ffe0", LODE_BRANCH_INDIRECT_JUMP, 0},
		{"e8fb0f0000", LODE_BRANCH_CALL, 0x2000},
		{"ff10", LODE_BRANCH_INDIRECT_CALL, 0},
		{"c20800", LODE_BRANCH_RETURN, 0},
		{"f4", LODE_BRANCH_STOP, 0},
		{"0f0b", LODE_BRANCH_STOP, 0},
		{"488d0510000000", LODE_BRANCH_NONE, 0},
		{"e2fe", LODE_BRANCH_CONDITIONAL, 0x1000},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(BRANCHES); i++) {
		LodeDecodedInstruction decoded = decode(BRANCHES[i].bytes, 0x1000);

		g_test_message("%s", BRANCHES[i].bytes);
		g_assert_cmpint(decoded.branch, ==, BRANCHES[i].branch);
		g_assert_cmpint(decoded.has_target, ==, BRANCHES[i].target != 0);
		g_assert_cmphex(decoded.target, ==, BRANCHES[i].target);
	}
	g_assert_true(decode("f3a4", 0).is_repeat);
	g_assert_false(decode("a4", 0).is_repeat);
	g_assert_false(decode("f00fc107", 0).is_repeat);
}

static void test_frame_base(void)
{
	static const uint8_t LOAD[] = {0x48, 0x8b, 0x45, 0x08}; /* mov rax, [rbp + 8] */
	static const struct {
		const char *prologue;
		LodeMemoryKind kind;
	} PROLOGUES[] = {
		{"554889e5", LODE_MEMORY_STACK}, {"f30f1efa554889e5", LODE_MEMORY_STACK},
		{"55488bec", LODE_MEMORY_STACK}, {"5541574889e5", LODE_MEMORY_STACK},
		{"554889fd", LODE_MEMORY_POINTER},   /* mov rbp, rdi */
		{"4889e5", LODE_MEMORY_POINTER},     /* never saved */
		{"55c34889e5", LODE_MEMORY_POINTER}, /* after a return */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(PROLOGUES); i++) {
		LodeInstructionDecoder decoder;
		LodeDecodedInstruction decoded;
		uint8_t bytes[16];
		size_t n = parse_hex(PROLOGUES[i].prologue, bytes);

		lode_instruction_decoder_init(&decoder);
		lode_instruction_decoder_begin(&decoder, bytes, n, 0);
		g_assert_true(
			lode_instruction_decoder_decode(&decoder, LOAD, sizeof LOAD, 0, &decoded));
		g_assert_cmpuint(decoded.memory, ==, 1U << PROLOGUES[i].kind);
	}
}

static void test_text(void)
{
	static const uint8_t JUMP[] = {0xe9, 0x0b, 0x00, 0x00, 0x00};
	static const uint8_t LOAD[] = {0x48, 0x8b, 0x44, 0x24, 0x08};
	LodeInstructionDecoder decoder;
	char buffer[96];

	lode_instruction_decoder_init(&decoder);
	g_assert_true(lode_instruction_disassemble(
		&decoder, JUMP, sizeof JUMP, 0x401000, buffer, sizeof buffer));
	g_assert_cmpstr(buffer, ==, "jmp 0x401010");
	g_assert_true(lode_instruction_disassemble(
		&decoder, LOAD, sizeof LOAD, 0, buffer, sizeof buffer));
	g_assert_cmpstr(buffer, ==, "mov rax, [rsp+0x8]");
	g_assert_false(lode_instruction_disassemble(&decoder, JUMP, 3, 0, buffer, sizeof buffer));
	g_assert_false(lode_instruction_disassemble(&decoder, JUMP, sizeof JUMP, 0, buffer, 4));
}

static void test_constants(void)
{
	static const struct {
		const char *bytes;
		int64_t constant; /* 0: none */
	} cases[] = {
		{"d1e8", 1},             /* shr eax, 1 */
		{"c1e805", 5},           /* shr eax, 5 */
		{"d3e8", 0},             /* shr eax, cl */
		{"83e001", 1},           /* and eax, 1 */
		{"83e0ff", -1},          /* and eax, -1 */
		{"b9ee020000", 750},     /* mov ecx, 750 */
		{"48c7c1ee020000", 750}, /* mov rcx, 750 */
		{"6bc00a", 10},          /* imul eax, eax, 10 */
		{"c7042403000000", 3},   /* mov dword [rsp], 3 */
		{"8b4c2408", 0},         /* mov ecx, [rsp+8] */
		{"74fe", 0},
		{"e8fb0f0000", 0},
		{"90", 0},
		{"06", 0},
	};
	LodeInstructionDecoder decoder;

	lode_instruction_decoder_init(&decoder);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint8_t bytes[16];
		size_t n = parse_hex(cases[i].bytes, bytes);
		int64_t constant = 0;
		g_test_message("%s", cases[i].bytes);
		g_assert_cmpint(lode_instruction_constant(&decoder, bytes, n, &constant), ==,
			cases[i].constant != 0);
		g_assert_cmpint(constant, ==, cases[i].constant);
	}
}

static void test_random_bytes(void)
{
	LodeInstructionDecoder decoder;
	g_autofree uint8_t *bytes = g_malloc(15);
	unsigned n_decoded = 0;

	lode_instruction_decoder_init(&decoder);
	for (int i = 0; i < 200000; i++) {
		size_t n = (size_t)random_int_range(1, 16);
		LodeDecodedInstruction decoded;

		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)random_int_range(0, 256);
		if (!lode_instruction_decoder_decode(&decoder, bytes, n, 0, &decoded))
			continue;
		n_decoded++;
		g_assert_cmpuint(decoded.length, >=, 1);
		g_assert_cmpuint(decoded.length, <=, n);
		g_assert_cmpuint(decoded.kinds >> LODE_N_KINDS, ==, 0);
		if (decoded.memory == 0)
			continue;
		g_assert_cmpuint(decoded.kinds, !=, 0);
	}
	g_assert_cmpuint(n_decoded, >, 10000);
}

/* Random code of few different bytes, so that most of it was met before at other addresses, or with
 * and without a frame in rbp. */
static void test_cache(void)
{
	static const uint8_t usual[] = {0x48, 0x89, 0x8b, 0x05, 0x44, 0x24, 0x0f, 0x84, 0xe8, 0xe9,
		0xeb, 0x75, 0x66, 0x45, 0x25, 0x3d, 0xff, 0x83, 0xc0, 0x00, 0xf2, 0xe3};
	g_autoptr(LodeDecodeCache) cache = lode_decode_cache_new();
	LodeInstructionDecoder plain, caching;
	unsigned n_decoded = 0, n_targets = 0;

	lode_instruction_decoder_init(&plain);
	lode_instruction_decoder_init(&caching);
	caching.cache = cache;
	for (int i = 0; i < 300000; i++) {
		uint8_t code[20];
		size_t n = i % 8 == 0 ? (size_t)random_int_range(1, sizeof(code)) : sizeof(code);
		uint64_t address = (uint64_t)random_int_range(0, 1 << 30) << i % 20;
		LodeDecodedInstruction known = {0}, cached = {0};

		for (size_t k = 0; k < sizeof(code); k++)
			code[k] = usual[random_int_range(0, G_N_ELEMENTS(usual))];
		plain.rbp_is_frame = caching.rbp_is_frame = i % 2 == 0;
		bool is_known = lode_instruction_decoder_decode(&plain, code, n, address, &known);
		g_assert_cmpint(
			lode_instruction_decoder_decode(&caching, code, n, address, &cached), ==,
			is_known);
		g_assert_cmpuint(cached.length, ==, known.length);
		g_assert_cmpint(cached.branch, ==, known.branch);
		g_assert_cmpint(cached.is_repeat, ==, known.is_repeat);
		g_assert_cmpuint(cached.mnemonic, ==, known.mnemonic);
		g_assert_cmpuint(cached.prefix, ==, known.prefix);
		g_assert_cmpuint(cached.kinds, ==, known.kinds);
		g_assert_cmpuint(cached.memory, ==, known.memory);
		g_assert_cmpint(cached.has_target, ==, known.has_target);
		g_assert_cmphex(cached.target, ==, known.target);
		n_decoded += is_known;
		n_targets += known.has_target;
	}
	g_assert_cmpuint(n_decoded, >, 200000);
	g_assert_cmpuint(n_targets, >, 20000);
}

/* One line of objdump: "  3500:\tmov …"; false for others. */
static bool parse_line(const char *line, uint64_t *out_address, const char **out_text)
{
	char *end;

	*out_address = g_ascii_strtoull(line, &end, 16);
	if (end == line || end[0] != ':' || end[1] != '\t')
		return false;
	*out_text = end + 2;
	return true;
}

/* Every instruction of objdump must be one of ours; a mismatch of length shows as a lost start. */
static void test_objdump(void)
{
	const char *arguments[] = {"objdump", "-d", "--no-show-raw-insn", "/bin/gzip", NULL};
	g_autofree char *output = NULL;
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open("/bin/gzip", NULL, NULL);
	g_auto(GStrv) lines = NULL;
	uint64_t expected = 0;
	unsigned n = 0;
	LodeInstructionDecoder decoder;

	if (image == NULL || !g_spawn_sync(NULL, (char **)arguments, NULL, G_SPAWN_SEARCH_PATH,
				     NULL, NULL, &output, NULL, NULL, NULL)) {
		g_test_skip("no objdump or no /bin/gzip");
		return;
	}
	lode_instruction_decoder_init(&decoder);
	lines = g_strsplit(output, "\n", -1);
	for (size_t i = 0; lines[i] != NULL; i++) {
		LodeDecodedInstruction decoded;
		const uint8_t *bytes;
		const char *text;
		uint64_t address;
		size_t n_bytes;

		if (!parse_line(lines[i], &address, &text)) {
			expected = 0;
			continue;
		}
		if (expected != 0)
			g_assert_cmphex(address, ==, expected);
		bytes = lode_binary_image_bytes(image, address, &n_bytes);
		g_assert_nonnull(bytes);
		g_assert_true(lode_instruction_decoder_decode(
			&decoder, bytes, n_bytes, address, &decoded));
		expected = address + decoded.length;
		g_assert_cmpint(g_str_has_prefix(text, "call"), ==,
			(decoded.kinds & (1U << LODE_KIND_CALL)) != 0);
		g_assert_cmpint(g_str_has_prefix(text, "lea "), ==,
			strcmp("lea", lode_instruction_mnemonic(&decoded, (char[32]){0}, 32)) == 0);
		n++;
	}
	g_assert_cmpuint(n, >, 10000);
}

static void test_string_width(void)
{
	static const struct {
		const char *bytes;
		unsigned width;
	} widths[] = {
		{"f3a4", 1},
		{"f366a5", 2},
		{"f3a5", 4},
		{"f348a5", 8},
		{"f3aa", 1},
		{"f3ab", 4},
		{"f348ab", 8},
		{"f3ac", 1},
		{"f348ad", 8},
		{"a4", 0},       /* no prefix */
		{"f3a6", 0},     /* cmps, which may end early */
		{"f2ae", 0},     /* scas */
		{"f20f1007", 0}, /* movsd xmm0, [rdi] */
		{"f30f1007", 0}, /* movss */
		{"90", 0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(widths); i++) {
		LodeDecodedInstruction decoded = decode(widths[i].bytes, 0x1000);
		g_test_message("%s", widths[i].bytes);
		g_assert_cmpuint(lode_instruction_string_width(&decoded), ==, widths[i].width);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/instruction_decoder/attributes", test_attributes);
	g_test_add_func("/images/instruction_decoder/branches", test_branches);
	g_test_add_func("/images/instruction_decoder/frame_base", test_frame_base);
	g_test_add_func("/images/instruction_decoder/text", test_text);
	g_test_add_func("/images/instruction_decoder/constants", test_constants);
	g_test_add_func("/images/instruction_decoder/string_width", test_string_width);
	add_random_test("/images/instruction_decoder/random_bytes", test_random_bytes,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	add_random_test("/images/instruction_decoder/cache", test_cache,
		"R02S00000000000000000000000000000003", "R02S00000000000000000000000000000004",
		NULL);
	g_test_add_func("/images/instruction_decoder/objdump", test_objdump);
	return g_test_run();
}
