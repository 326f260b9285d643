/* SPDX-License-Identifier: MIT */
/* What instructions read and write, against a table written by hand from the manuals. */
#include "images/instructions/instruction_decoder.h"
#include "images/instructions/register_use.h"

#include "seeds.h"

typedef struct {
	const char *bytes; /* hex */
	const char *text;  /* as the assembler takes it */
	const char *reads, *address, *writes;
} Case;

static const Case cases[] = {
	{"4889d8", "mov %rbx,%rax", "rbx", "", "rax"},
	{"89d8", "mov %ebx,%eax", "rbx", "", "rax"},
	{"88d8", "mov %bl,%al", "rax rbx", "", "rax"},
	{"6689d8", "mov %bx,%ax", "rax rbx", "", "rax"},
	{"88e1", "mov %ah,%cl", "rax rcx", "", "rcx"},
	{"0fb6c0", "movzbl %al,%eax", "rax", "", "rax"},
	{"488b03", "mov (%rbx),%rax", "rbx", "rbx", "rax"},
	{"488b448b08", "mov 8(%rbx,%rcx,4),%rax", "rcx rbx", "rcx rbx", "rax"},
	{"4889448b08", "mov %rax,8(%rbx,%rcx,4)", "rax rcx rbx", "rcx rbx", ""},
	{"480303", "add (%rbx),%rax", "rax rbx", "rbx", "rax flags"},
	{"830301", "addl $1,(%rbx)", "rbx", "rbx", "flags"},
	{"488b0510000000", "mov 16(%rip),%rax", "", "", "rax"},
	{"64488b042500000000", "mov %fs:0,%rax", "", "", "rax"},
	{"488d4c5808", "lea 8(%rax,%rbx,2),%rcx", "rax rbx", "", "rcx"},
	{"31c0", "xor %eax,%eax", "", "", "rax flags"},
	{"4831c0", "xor %rax,%rax", "", "", "rax flags"},
	{"29c0", "sub %eax,%eax", "", "", "rax flags"},
	{"30c0", "xor %al,%al", "rax", "", "rax flags"},
	{"31d8", "xor %ebx,%eax", "rax rbx", "", "rax flags"},
	{"19c0", "sbb %eax,%eax", "rax flags", "", "rax flags"},
	{"21c0", "and %eax,%eax", "rax", "", "rax flags"},
	{"660fefc0", "pxor %xmm0,%xmm0", "", "", "v0"},
	{"0f57db", "xorps %xmm3,%xmm3", "", "", "v3"},
	{"660f76c0", "pcmpeqd %xmm0,%xmm0", "", "", "v0"},
	{"c5f9efc8", "vpxor %xmm0,%xmm0,%xmm1", "", "", "v1"},
	{"c5f9efca", "vpxor %xmm2,%xmm0,%xmm1", "v0 v2", "", "v1"},
	{"62a17d40efc8", "vpxord %zmm16,%zmm16,%zmm17", "", "", "v17"},
	{"660fefc1", "pxor %xmm1,%xmm0", "v0 v1", "", "v0"},
	{"53", "push %rbx", "rbx", "", ""},
	{"5b", "pop %rbx", "", "", "rbx"},
	{"ff33", "push (%rbx)", "rbx", "rbx", ""},
	{"c9", "leave", "rbp", "", "rbp"},
	{"c3", "ret", "", "", ""},
	{"ffd0", "call *%rax", "rax", "", "rax v0"},
	{"ff5308", "call *8(%rbx)", "rbx", "rbx", "rax v0"},
	{"ff64cb08", "jmp *8(%rbx,%rcx,8)", "rcx rbx", "rcx rbx", ""},
	{"75fe", "jne .", "flags", "", ""},
	{"4839d8", "cmp %rbx,%rax", "rax rbx", "", "flags"},
	{"4885c0", "test %rax,%rax", "rax", "", "flags"},
	{"0f95c0", "setne %al", "rax flags", "", "rax"},
	{"0f45d8", "cmovne %eax,%ebx", "rax rbx flags", "", "rbx"},
	{"11c3", "adc %eax,%ebx", "rax rbx flags", "", "rbx flags"},
	{"ffc0", "inc %eax", "rax", "", "rax flags"},
	{"d3e0", "shl %cl,%eax", "rax rcx", "", "rax flags"},
	{"c1e003", "shl $3,%eax", "rax", "", "rax flags"},
	{"f7f1", "div %ecx", "rax rcx rdx", "", "rax rdx flags"},
	{"f7e1", "mul %ecx", "rax rcx", "", "rax rdx flags"},
	{"480fafd8", "imul %rax,%rbx", "rax rbx", "", "rbx flags"},
	{"486bd803", "imul $3,%rax,%rbx", "rax", "", "rbx flags"},
	{"488703", "xchg %rax,(%rbx)", "rax rbx", "rbx", "rax"},
	{"f0480fb10b", "lock cmpxchg %rcx,(%rbx)", "rax rcx rbx", "rbx", "rax flags"},
	{"f0480fc103", "lock xadd %rax,(%rbx)", "rax rbx", "rbx", "rax flags"},
	{"f3a4", "rep movsb", "rcx rsi rdi", "rsi rdi", "rcx rsi rdi"},
	{"ac", "lodsb", "rax rsi", "rsi", "rax rsi"},
	{"f348ab", "rep stosq", "rax rcx rdi", "rdi", "rcx rdi"},
	{"f2ae", "repne scasb", "rax rcx rdi", "rdi", "rcx rdi flags"},
	{"0f05", "syscall", "", "", "rax rcx r11 flags"},
	{"0f1f440008", "nopl 8(%rax,%rax)", "", "", ""},
	{"90", "nop", "", "", ""},
	{"f30f1efa", "endbr64", "", "", ""},
	{"0f1808", "prefetcht0 (%rax)", "rax", "", ""},
	{"f30f10c1", "movss %xmm1,%xmm0", "v0 v1", "", "v0"},
	{"f30f1000", "movss (%rax),%xmm0", "rax", "rax", "v0"},
	{"f20f1100", "movsd %xmm0,(%rax)", "rax v0", "rax", ""},
	{"0f28c1", "movaps %xmm1,%xmm0", "v1", "", "v0"},
	{"66480f6ec0", "movq %rax,%xmm0", "rax", "", "v0"},
	{"0f1600", "movhps (%rax),%xmm0", "rax v0", "rax", "v0"},
	{"f20f2ac0", "cvtsi2sd %eax,%xmm0", "rax v0", "", "v0"},
	{"c5f32ac0", "vcvtsi2sd %eax,%xmm1,%xmm0", "rax v1", "", "v0"},
	{"f20f2cc1", "cvttsd2si %xmm1,%eax", "v1", "", "rax"},
	{"f20f51c1", "sqrtsd %xmm1,%xmm0", "v0 v1", "", "v0"},
	{"f20f58c1", "addsd %xmm1,%xmm0", "v0 v1", "", "v0"},
	{"c5ed58c1", "vaddpd %ymm1,%ymm2,%ymm0", "v1 v2", "", "v0"},
	{"c4e2e9b9c1", "vfmadd231sd %xmm1,%xmm2,%xmm0", "v0 v1 v2", "", "v0"},
	{"660f2ec1", "ucomisd %xmm1,%xmm0", "v0 v1", "", "flags"},
	{"62f16c4958c1", "vaddps %zmm1,%zmm2,%zmm0{%k1}", "v0 v1 v2 k1", "", "v0"},
	{"c5f893c1", "kmovw %k1,%eax", "k1", "", "rax"},
	{"c4e269920488", "vgatherdps %xmm2,(%rax,%xmm1,4),%xmm0", "rax v0 v1 v2", "rax v1",
		"v0 v2"},
	{"dd00", "fldl (%rax)", "rax", "rax", "x87"},
	{"dec1", "faddp", "x87", "", "x87"},
	{"480fbcd8", "bsf %rax,%rbx", "rax", "", "rbx flags"},
	{"480fa303", "bt %rax,(%rbx)", "rax rbx", "rbx", "flags"},
	{"d7", "xlat", "rax rbx", "rbx", "rax"},
	{"0fa2", "cpuid", "rax rcx", "", "rax rcx rdx rbx"},
	{"0f31", "rdtsc", "", "", "rax rdx"},
};

static const char *const general[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
	"r9", "r10", "r11", "r12", "r13", "r14", "r15"};

static size_t decode_hex(const char *text, uint8_t *out)
{
	size_t n = 0;

	for (; text[2 * n] != '\0'; n++)
		out[n] = (uint8_t)(g_ascii_xdigit_value(text[2 * n]) << 4 |
				   g_ascii_xdigit_value(text[2 * n + 1]));
	return n;
}

static char *mask_text(LodeRegisterMask mask)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < LODE_N_REGISTER_BITS; i++) {
		if ((mask & lode_register_bit(i)) == 0)
			continue;
		g_string_append(text, text->len > 0 ? " " : "");
		if (i < LODE_BIT_FLAGS)
			g_string_append(text, general[i]);
		else if (i == LODE_BIT_FLAGS)
			g_string_append(text, "flags");
		else if (i == LODE_BIT_X87)
			g_string_append(text, "x87");
		else if (i < LODE_BIT_OPMASK)
			g_string_append_printf(text, "v%u", i - LODE_BIT_VECTOR);
		else
			g_string_append_printf(text, "k%u", i - LODE_BIT_OPMASK);
	}
	return g_string_free(text, FALSE);
}

static LodeRegisterUse decode(const char *hex, uint64_t address)
{
	LodeRegisterUse use;
	uint8_t code[16];
	size_t size = decode_hex(hex, code);

	g_assert_true(lode_register_use_decode(&use, code, size, address));
	g_assert_false(lode_register_use_decode(&(LodeRegisterUse){0}, code, size - 1, address));
	return use;
}

static void check_mask(
	const Case *one, const char *what, LodeRegisterMask mask, const char *expected)
{
	g_autofree char *text = mask_text(mask);

	if (g_strcmp0(text, expected) == 0)
		return;
	g_test_message("%s %s: '%s', expected '%s'", one->text, what, text, expected);
	g_test_fail();
}

static void test_table(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeRegisterUse use = decode(cases[i].bytes, 0x1000);
		check_mask(&cases[i], "reads", use.reads, cases[i].reads);
		check_mask(&cases[i], "addresses by", use.address, cases[i].address);
		check_mask(&cases[i], "writes", use.writes, cases[i].writes);
		g_assert_cmpuint(use.address & ~use.reads, ==, 0);
		g_assert_cmpuint(use.results & ~use.writes, ==, 0);
		g_assert_cmpuint(use.writes & ~use.changes, ==, 0);
	}
}

/* Registers that are read only because a part of them stays. */
static void test_merges(void)
{
	static const struct {
		const char *bytes, *text, *merges;
	} merging[] = {
		{"f20f2ac0", "cvtsi2sd %eax,%xmm0", "v0"},
		{"f20f51c1", "sqrtsd %xmm1,%xmm0", "v0"},
		{"f20f51c0", "sqrtsd %xmm0,%xmm0", ""},
		{"660f3a0bc104", "roundsd $4,%xmm1,%xmm0", "v0"},
		{"0f94c0", "sete %al", "rax"},
		{"88c8", "mov %cl,%al", "rax"},
		{"8a00", "mov (%rax),%al", ""},
		{"0f44c2", "cmove %edx,%eax", ""},
		{"f20f58c1", "addsd %xmm1,%xmm0", ""},
		{"48ffc0", "inc %rax", ""},
		{"c5f32ac0", "vcvtsi2sd %eax,%xmm1,%xmm0", ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(merging); i++) {
		const LodeRegisterUse use = decode(merging[i].bytes, 0x1000);
		const Case one = {.text = merging[i].text};
		check_mask(&one, "merges", use.merges, merging[i].merges);
		g_assert_cmpuint(use.merges & ~use.reads, ==, 0);
	}
}

/* What is left of older values, what is computed, and what moves on its own. */
static void test_ends(void)
{
	const LodeRegisterMask rsp = lode_register_bit(4), rax = lode_register_bit(0);
	const LodeRegisterMask x87 = lode_register_bit(LODE_BIT_X87);
	LodeRegisterUse use = decode("ffd0", 0); /* call *%rax */
	g_autofree char *kept = mask_text(~use.kills & ((1u << LODE_BIT_FLAGS) - 1));

	g_assert_cmpstr(kept, ==, "rbx rsp rbp r12 r13 r14 r15");
	g_assert_cmpuint(use.kills >> LODE_BIT_FLAGS & 1, ==, 1);
	g_assert_cmpuint(use.changes & rsp, ==, rsp);
	use = decode("53", 0); /* push %rbx */
	g_assert_cmpuint(use.changes, ==, rsp);
	g_assert_cmpuint(use.kills, ==, 0);
	use = decode("dd00", 0); /* fldl (%rax) */
	g_assert_cmpuint(use.kills, ==, 0);
	g_assert_cmpuint(use.results, ==, x87);
	use = decode("dec1", 0); /* faddp */
	g_assert_cmpuint(use.kills, ==, x87);
	use = decode("ac", 0); /* lodsb */
	g_assert_cmpuint(use.results, ==, rax);
	use = decode("f3a4", 0); /* rep movsb */
	g_assert_cmpuint(use.results, ==, 0);
}

/* Whatever the bytes are. */
static void test_random_bytes(void)
{
	GRand *random = g_rand_new_with_seed(soak_seed(7));
	guint n_decoded = 0;

	for (int i = 0; i < 200000; i++) {
		uint8_t code[16];
		LodeRegisterUse use;
		for (size_t j = 0; j < sizeof(code); j++)
			code[j] = (uint8_t)g_rand_int(random);
		if (!lode_register_use_decode(&use, code, sizeof(code), UINT64_MAX - 8))
			continue;
		n_decoded++;
		g_assert_cmpuint(use.address & ~use.reads, ==, 0);
		g_assert_cmpuint(use.results & ~use.writes, ==, 0);
		g_assert_cmpuint(use.writes & ~use.changes, ==, 0);
		g_assert_cmpuint(
			use.changes >> LODE_N_REGISTER_BITS, ==, use.kills >> LODE_N_REGISTER_BITS);
		g_assert_cmpuint(use.reads >> LODE_N_REGISTER_BITS, ==, 0);
		g_assert_cmpuint(use.memory.size, <=, 64);
		g_assert_true(use.memory.size > 0 || !(use.memory.is_load || use.memory.is_store));
	}
	g_rand_free(random);
	g_assert_cmpuint(n_decoded, >, 50000);
}

static void check_memory(
	const char *hex, uint32_t size, int64_t displacement, bool loads, bool stores)
{
	const LodeMemoryUse memory = decode(hex, 0x1000).memory;

	g_assert_cmpuint(memory.size, ==, size);
	g_assert_cmpint(memory.displacement, ==, displacement);
	g_assert_cmpint(memory.is_load, ==, loads);
	g_assert_cmpint(memory.is_store, ==, stores);
}

static uint16_t form_of(const char *hex)
{
	return decode(hex, 0x1000).memory.form;
}

static void test_memory(void)
{
	check_memory("488b4308", 8, 8, true, false);            /* mov 8(%rbx),%rax */
	check_memory("8843f8", 1, -8, false, true);             /* mov %al,-8(%rbx) */
	check_memory("8303ff", 4, 0, true, true);               /* addl $-1,(%rbx) */
	check_memory("488b0510000000", 8, 0x1017, true, false); /* mov 16(%rip),%rax */
	check_memory("0f2803", 16, 0, true, false);             /* movaps (%rbx),%xmm0 */
	check_memory("53", 0, 0, false, false);                 /* push %rbx */
	check_memory("488d4308", 0, 8, false, false);           /* lea 8(%rbx),%rax */
	check_memory("0fae03", 0, 0, false, false);             /* fxsave (%rbx) */
	check_memory("67488b03", 0, 0, false, false);           /* mov (%ebx),%rax */
	/* 8(%rbx) and 16(%rbx); (%rbx) and (%rcx); (%rbx,%rcx,4), (%rcx,%rbx,4), (%rbx,%rcx,8) */
	g_assert_cmpuint(form_of("488b4308"), ==, form_of("488b4310"));
	g_assert_cmpuint(form_of("488b03"), !=, form_of("488b01"));
	g_assert_cmpuint(form_of("488b048b"), !=, form_of("488b0499"));
	g_assert_cmpuint(form_of("488b048b"), !=, form_of("488b04cb"));
	/* mov %fs:(%rbx),%rax */
	g_assert_cmpuint(form_of("488b03"), !=, form_of("64488b03"));
}

static void check_equal_use(const LodeRegisterUse *one, const LodeRegisterUse *other)
{
	g_assert_cmpuint(one->reads, ==, other->reads);
	g_assert_cmpuint(one->address, ==, other->address);
	g_assert_cmpuint(one->writes, ==, other->writes);
	g_assert_cmpuint(one->kills, ==, other->kills);
	g_assert_cmpuint(one->results, ==, other->results);
	g_assert_cmpuint(one->changes, ==, other->changes);
	g_assert_cmpint(one->memory.displacement, ==, other->memory.displacement);
	g_assert_cmpuint(one->memory.registers, ==, other->memory.registers);
	g_assert_cmpuint(one->memory.size, ==, other->memory.size);
	g_assert_cmpuint(one->memory.form, ==, other->memory.form);
	g_assert_cmpint(one->memory.is_load, ==, other->memory.is_load);
	g_assert_cmpint(one->memory.is_store, ==, other->memory.is_store);
}

/* Random code of few different bytes, so that most of it was met before at other addresses. */
static void test_cache(void)
{
	static const uint8_t usual[] = {0x48, 0x89, 0x8b, 0x05, 0x44, 0x24, 0x0f, 0x84, 0xe8, 0xe9,
		0xeb, 0x75, 0x66, 0x04, 0x25, 0x3d, 0xff, 0x83, 0xc0, 0x00};
	g_autoptr(LodeRegisterUseCache) cache = lode_register_use_cache_new();
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(11));
	LodeInstructionDecoder decoder;
	unsigned n_decoded = 0;

	lode_instruction_decoder_init(&decoder);
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t code[15];
		uint64_t address = (uint64_t)g_rand_int(random) << (i % 20);
		LodeDecodedInstruction decoded;
		LodeRegisterUse known, cached;
		for (size_t j = 0; j < sizeof(code); j++)
			code[j] = usual[g_rand_int_range(random, 0, G_N_ELEMENTS(usual))];
		if (!lode_instruction_decoder_decode(
			    &decoder, code, sizeof(code), address, &decoded))
			continue;
		bool is_known = lode_register_use_decode(&known, code, sizeof(code), address);
		g_assert_cmpint(lode_register_use_cache_decode(
					cache, &cached, code, decoded.length, address),
			==, is_known);
		if (is_known)
			check_equal_use(&cached, &known);
		n_decoded++;
	}
	g_assert_cmpuint(n_decoded, >, 100000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/register_use/table", test_table);
	g_test_add_func("/register_use/merges", test_merges);
	g_test_add_func("/register_use/ends", test_ends);
	g_test_add_func("/register_use/random_bytes", test_random_bytes);
	g_test_add_func("/register_use/memory", test_memory);
	g_test_add_func("/register_use/cache", test_cache);
	return g_test_run();
}
