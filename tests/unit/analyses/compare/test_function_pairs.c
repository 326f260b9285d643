/* SPDX-License-Identifier: MIT */
/* Functions whose names changed, found again by their code; and the alignment of their instructions
 * against one made by trying. */
#include "analyses/compare/function_pairs.h"
#include "analyses/compare/moved_code.h"
#include "made_profile.h"
#include "seeds.h"

#include <string.h>

/* Instructions of different lengths. */
static const struct {
	uint8_t bytes[4];
	uint32_t n;
} words[] = {{{0x90}, 1}, {{0x48, 0x01, 0xc8}, 3}, {{0x29, 0xc8}, 2}, {{0x31, 0xc9}, 2},
	{{0x50}, 1}, {{0x58}, 1}, {{0x48, 0xf7, 0xf9}, 3}, {{0x0f, 0xaf, 0xc1}, 3},
	{{0x21, 0xc8}, 2}, {{0x09, 0xc8}, 2}, {{0x85, 0xc0}, 2}, {{0x39, 0xc8}, 2}};

typedef struct {
	unsigned numbers[64];
	unsigned n;
} Code;

static Code draw_code(void)
{
	Code code = {.n = (unsigned)random_int_range(20, 60)};

	for (unsigned i = 0; i < code.n; i++)
		code.numbers[i] = (unsigned)random_int_range(0, (int)G_N_ELEMENTS(words));
	return code;
}

/* One instruction in another's place, or one more. */
static Code edit(Code code)
{
	unsigned at = (unsigned)random_int_range(0, (int)code.n);

	if (random_bit()) {
		memmove(code.numbers + at + 1, code.numbers + at,
			(code.n - at) * sizeof(code.numbers[0]));
		code.n++;
	}
	code.numbers[at] = (unsigned)random_int_range(0, (int)G_N_ELEMENTS(words));
	return code;
}

static LodeProfile *new_profile(const char *path)
{
	return made_profile("cpu-clock", LODE_EVENT_SAMPLED, path);
}

static void add_function(
	LodeProfile *profile, const char *name, const Code *code, LodeFunctionSource source)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	uint64_t address = 0x1000 * (profile->code.functions->len + 1);
	uint32_t index = made_function(profile,
		(LodeFunction){.source = source, .name = (char *)name, .address = address});

	for (unsigned i = 0; i < code->n; i++) {
		made_instruction(profile,
			(LodeInstruction){
				.address = address + bytes->len, .size = words[code->numbers[i]].n},
			NULL, 0);
		g_byte_array_append(
			bytes, words[code->numbers[i]].bytes, words[code->numbers[i]].n);
	}
	lode_profile_function(profile, index)->size = bytes->len;
	lode_profile_function(profile, index)->code = g_bytes_new(bytes->data, bytes->len);
}

static LodeFunctionPairs *match(const LodeProfile *first, const LodeProfile *second)
{
	const LodeProfile *const both[] = {first, second};
	LodeFunctionPairs *pairs = lode_function_pairs_new(both, NULL);

	g_assert_nonnull(pairs);
	return pairs;
}

static const LodeFunctionPair *pair_at(const LodeFunctionPairs *pairs, guint index)
{
	return &g_array_index(pairs->pairs, LodeFunctionPair, index);
}

/* Of twenty functions in another order, without their names, each with a small change, each is
 * found, and a twenty-first is nobody's. */
static void test_renamed(void)
{
	for (int round = 0; round < 20; round++) {
		g_autoptr(LodeProfile) first = new_profile("/bin/one");
		g_autoptr(LodeProfile) second = new_profile("/bin/two");
		Code codes[20];
		for (int i = 0; i < 20; i++) {
			g_autofree char *name = g_strdup_printf("f%d", i);
			codes[i] = draw_code();
			add_function(first, name, &codes[i], LODE_FUNCTION_SYMBOL);
		}
		Code stranger = draw_code();
		add_function(second, "stranger", &stranger, LODE_FUNCTION_SYMBOL);
		for (int i = 19; i >= 0; i--) {
			g_autofree char *name = g_strdup_printf("fn_%d", i);
			Code edited = random_int_range(0, 3) > 0 ? edit(codes[i]) : codes[i];
			add_function(second, name, &edited, LODE_FUNCTION_UNWIND);
		}
		g_autoptr(LodeFunctionPairs) pairs = match(first, second);
		g_assert_cmpuint(pairs->pairs->len, ==, 21);
		for (guint i = 0; i < 20; i++) {
			g_assert_cmpuint(pair_at(pairs, i)->functions[0], ==, i);
			g_assert_cmpuint(pair_at(pairs, i)->functions[1], ==, 20 - i);
		}
		g_assert_cmpuint(pair_at(pairs, 20)->functions[0], ==, LODE_NONE);
		g_assert_cmpuint(pair_at(pairs, 20)->functions[1], ==, 0);
	}
}

/* A name decides, whatever the code is; what is as near to two is left alone. */
static void test_names(void)
{
	g_autoptr(LodeProfile) first = new_profile("/lib/libx.so.1.2");
	g_autoptr(LodeProfile) second = new_profile("/usr/lib/libx.so.1.3");
	Code a = draw_code(), b = draw_code(), c = draw_code();
	Code near = edit(c);

	add_function(first, "a", &a, LODE_FUNCTION_SYMBOL);
	add_function(first, "b.constprop.0", &b, LODE_FUNCTION_SYMBOL);
	add_function(first, "fn_3000", &c, LODE_FUNCTION_UNWIND);
	add_function(second, "b", &a, LODE_FUNCTION_SYMBOL);
	add_function(second, "a", &b, LODE_FUNCTION_SYMBOL);
	add_function(second, "fn_9000", &near, LODE_FUNCTION_UNWIND);
	near = edit(c);
	add_function(second, "fn_3000", &near, LODE_FUNCTION_UNWIND);
	g_autoptr(LodeFunctionPairs) pairs = match(first, second);
	g_assert_cmpuint(pair_at(pairs, 0)->functions[1], ==, 1);
	g_assert_cmpuint(pair_at(pairs, 1)->functions[1], ==, 0);
	g_assert_cmpuint(pair_at(pairs, 2)->functions[1], ==, LODE_NONE);
	g_assert_cmpuint(pairs->pairs->len, ==, 5);
}

static uint32_t find(const LodeProfile *profile, const char *name)
{
	for (uint32_t f = 0; f < profile->code.functions->len; f++)
		if (strcmp(lode_profile_function(profile, f)->name, name) == 0)
			return f;
	g_assert_not_reached();
}

/* Another type of a parameter, of the result or of a template makes another symbol of the same
 * function; a hash of the build, too. */
static void check_types(const char *first_path, const char *second_path)
{
	static const struct {
		const char *first, *second; /* NULL: it has no partner */
	} names[] = {
		{"lookups(std::map<long, int> const&, int)",
			"lookups(std::unordered_map<long, int> const&, long)"},
		{"int visit<66>(A<int> const&)", "long visit<67>(B<(x)1> const&)"},
		{"(anonymous namespace)::Cache<int>::find(int) const",
			"(anonymous namespace)::Cache<long>::find(long) const"},
		{"Cache<int>::find(int)", NULL},
		{"A::operator()(int) const", "A::operator()(long) const"},
		{"A::operator<(A const&)", "A::operator<(B const&)"},
		{"operator<<(S&, A)", "operator<<(S&, B)"},
		{"operator>>(S&, A)", NULL},
		{"core::sort::heap::h0123456789abcdef", "core::sort::heap::hfedcba9876543210"},
		{"core::sort::heap::h0123", NULL},
		{"<A<T> as Clone>::clone", NULL},
		{"plain", NULL},
		{"open(((", NULL},
		{"close)>", NULL},
	};
	static const char *const others[] = {
		"<B<T> as Clone>::clone", "plain2", "open((((", "close)>>", "operator<=(S&, A)"};
	g_autoptr(LodeProfile) first = new_profile(first_path);
	g_autoptr(LodeProfile) second = new_profile(second_path);

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		Code a = draw_code(), b = draw_code();
		add_function(first, names[i].first, &a, LODE_FUNCTION_SYMBOL);
		if (names[i].second != NULL)
			add_function(second, names[i].second, &b, LODE_FUNCTION_SYMBOL);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		Code code = draw_code();
		add_function(second, others[i], &code, LODE_FUNCTION_SYMBOL);
	}
	g_autoptr(LodeFunctionPairs) pairs = match(first, second);
	for (uint32_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_assert_cmpuint(pair_at(pairs, i)->functions[1], ==,
			names[i].second != NULL ? find(second, names[i].second) : LODE_NONE);
}

static void test_types(void)
{
	check_types("/bin/one", "/bin/one");
	check_types("/bin/one", "/bin/other");
}

/* Overloads: the one left over is that whose code is alike; one that is like neither is the only
 * one that then is left. */
static void test_overloads(void)
{
	for (int round = 0; round < 20; round++) {
		g_autoptr(LodeProfile) first = new_profile("/bin/one");
		g_autoptr(LodeProfile) second = new_profile("/bin/one");
		Code a = draw_code(), b = draw_code(), c = draw_code(), d = draw_code();
		Code near_b = edit(b), near_c = edit(c);
		add_function(first, "f(int)", &a, LODE_FUNCTION_SYMBOL);
		add_function(first, "f(B)", &b, LODE_FUNCTION_SYMBOL);
		add_function(first, "f(C)", &c, LODE_FUNCTION_SYMBOL);
		add_function(first, "f(D)", &d, LODE_FUNCTION_SYMBOL);
		d = draw_code();
		add_function(second, "f(D2)", &d, LODE_FUNCTION_SYMBOL);
		add_function(second, "f(C2)", &near_c, LODE_FUNCTION_SYMBOL);
		add_function(second, "f(B2)", &near_b, LODE_FUNCTION_SYMBOL);
		add_function(second, "f(int)", &b, LODE_FUNCTION_SYMBOL);
		g_autoptr(LodeFunctionPairs) pairs = match(first, second);
		for (uint32_t i = 0; i < 4; i++)
			g_assert_cmpuint(pair_at(pairs, i)->functions[1], ==, 3 - i);
	}
}

static LodeFunctionPairs *match_bytes(
	uint64_t address, const uint8_t *a, uint64_t other_address, const uint8_t *b, size_t size)
{
	g_autoptr(LodeProfile) first = new_profile("/bin/one");
	g_autoptr(LodeProfile) second = new_profile("/bin/one");
	LodeFunction one = {.source = LODE_FUNCTION_SYMBOL,
		.name = lode_profile_intern(first, "f"),
		.address = address,
		.size = size,
		.code = g_bytes_new(a, size)};
	LodeFunction other = {.source = LODE_FUNCTION_SYMBOL,
		.name = lode_profile_intern(second, "f"),
		.address = other_address,
		.size = size,
		.code = g_bytes_new(b, size)};

	g_array_append_val(first->code.functions, one);
	g_array_append_val(second->code.functions, other);
	return match(first, second);
}

/* The linker puts what a function refers to elsewhere: its code is the same. Another constant,
 * register, member or jump inside is another code. */
static void test_same_code(void)
{
	static const struct {
		uint8_t a[16], b[16];
		uint64_t address, other_address;
		bool is_same;
	} cases[] = {
		/* call; lea rax, [rip + x]; ret */
		{{0xe8, 0, 1, 0, 0, 0x48, 0x8d, 0x05, 0, 2, 0, 0, 0xc3},
			{0xe8, 0, 9, 0, 0, 0x48, 0x8d, 0x05, 0, 7, 0, 0, 0xc3}, 0x1000, 0x1040,
			true},
		/* lea rcx instead of rax */
		{{0x48, 0x8d, 0x05, 0, 2, 0, 0, 0xc3}, {0x48, 0x8d, 0x0d, 0, 2, 0, 0, 0xc3}, 0x1000,
			0x1000, false},
		/* mov edi, 0x4a1234; ret: an address only where programs are linked to fixed ones
	         */
		{{0xbf, 0x34, 0x12, 0x4a, 0, 0xc3}, {0xbf, 0x50, 0x12, 0x4a, 0, 0xc3}, 0x401000,
			0x401010, true},
		{{0xbf, 0x34, 0x12, 0x4a, 0, 0xc3}, {0xbf, 0x50, 0x12, 0x4a, 0, 0xc3}, 0x1000,
			0x1010, false},
		/* mov edi, 1000: a number */
		{{0xbf, 0xe8, 3, 0, 0, 0xc3}, {0xbf, 0xe9, 3, 0, 0, 0xc3}, 0x401000, 0x401010,
			false},
		/* mov eax, [rdi * 4 + 0x4a1234]; ret */
		{{0x8b, 0x04, 0xbd, 0x34, 0x12, 0x4a, 0, 0xc3},
			{0x8b, 0x04, 0xbd, 0x50, 0x12, 0x4a, 0, 0xc3}, 0x401000, 0x401010, true},
		/* mov eax, [rdi + 8]; another member */
		{{0x8b, 0x47, 8, 0xc3}, {0x8b, 0x47, 16, 0xc3}, 0x401000, 0x401010, false},
		/* mov rax, fs:[−8] */
		{{0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0xc3},
			{0x64, 0x48, 0x8b, 0x04, 0x25, 0xf0, 0xff, 0xff, 0xff, 0xc3}, 0x1000,
			0x1000, true},
		/* je over one nop, or two: inside */
		{{0x74, 1, 0x90, 0x90, 0xc3}, {0x74, 2, 0x90, 0x90, 0xc3}, 0x1000, 0x1000, false},
		/* jmp to other functions */
		{{0xe9, 0, 1, 0, 0, 0x90}, {0xe9, 0, 2, 0, 0, 0x90}, 0x1000, 0x1000, true},
		/* not instructions: as they are */
		{{0x06, 0xc3}, {0x06, 0xc3}, 0x1000, 0x1000, true},
		{{0x06, 0xc3}, {0x07, 0xc3}, 0x1000, 0x1000, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeFunctionPairs) pairs = match_bytes(cases[i].address, cases[i].a,
			cases[i].other_address, cases[i].b, sizeof(cases[i].a));
		g_assert_cmpint(pair_at(pairs, 0)->is_same_code, ==, cases[i].is_same);
	}
}

/* Code inlined from a function that the other profile has as a function counts for it, also where
 * other functions are inlined in that; where it has both, or two of that name, for its own. */
static void test_inlined(void)
{
	g_autoptr(LodeProfile) first = new_profile("/bin/one");
	g_autoptr(LodeProfile) second = new_profile("/bin/one");
	const char *const names[] = {
		"caller", "A::callee(int)", "both(int)", "twice<int>(int)", "twice<long>(long)"};
	Code code = {.numbers = {0, 1, 2, 3, 4, 5, 6}, .n = 7};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		Code own = draw_code();
		add_function(first, names[i], &own, LODE_FUNCTION_SYMBOL);
	}
	add_function(second, "caller", &code, LODE_FUNCTION_SYMBOL);
	add_function(second, "both(int)", &code, LODE_FUNCTION_SYMBOL);
	uint32_t call = lode_profile_inlining(
		second, lode_profile_location(second, "c.c", 1, NULL), LODE_NONE);
	uint32_t inner = lode_profile_inlining(
		second, lode_profile_location(second, "c.c", 2, "A::callee"), call);
	const char *const inlined[] = {NULL, "A::callee", "both", "twice", "std::min"};
	for (uint32_t i = 0; i < G_N_ELEMENTS(inlined); i++)
		lode_profile_instruction(second, i)->location = lode_profile_location(
			second, "c.c", 10 + i, inlined[i]);
	lode_profile_set_inlining(second, 1, call);
	lode_profile_set_inlining(second, 2, call);
	lode_profile_set_inlining(second, 3, call);
	lode_profile_set_inlining(second, 4, inner);
	g_autoptr(LodeFunctionPairs) pairs = match(first, second);
	const LodeProfile *const both[] = {first, second};
	g_autofree uint32_t *found = lode_inlined_functions_find(both, pairs, 1);
	const uint32_t expected[] = {LODE_NONE, 1, LODE_NONE, LODE_NONE, 1, LODE_NONE, LODE_NONE};
	for (uint32_t i = 0; i < G_N_ELEMENTS(expected); i++)
		g_assert_cmpuint(found[i], ==, expected[i]);
	g_autofree uint32_t *none = lode_inlined_functions_find(both, pairs, 0);
	for (guint i = 0; i < first->code.instructions->len; i++)
		g_assert_cmpuint(none[i], ==, LODE_NONE);
}

/* The length of the longest common subsequence, by its definition. */
static unsigned longest(const Code *a, const Code *b, unsigned i, unsigned j, int8_t *known)
{
	int8_t *here = &known[i * 64 + j];

	if (i == a->n || j == b->n)
		return 0;
	if (*here < 0)
		*here = (int8_t)(a->numbers[i] == b->numbers[j]
					 ? 1 + longest(a, b, i + 1, j + 1, known)
					 : MAX(longest(a, b, i + 1, j, known),
						   longest(a, b, i, j + 1, known)));
	return (unsigned)*here;
}

static void test_instructions(void)
{
	for (int round = 0; round < 200; round++) {
		g_autoptr(LodeProfile) first = new_profile("/bin/one");
		g_autoptr(LodeProfile) second = new_profile("/bin/one");
		Code a = draw_code(), b = edit(edit(edit(a)));
		int8_t known[64 * 64];
		uint32_t last = 0;
		unsigned n = 0;
		bool is_in_order = true;
		if (round % 4 == 0)
			b = draw_code();
		add_function(first, "f", &a, LODE_FUNCTION_SYMBOL);
		add_function(second, "f", &b, LODE_FUNCTION_SYMBOL);
		g_autoptr(LodeFunctionPairs) pairs = match(first, second);
		for (uint32_t i = 0; i < a.n; i++) {
			uint32_t other = pairs->counterparts[i];
			if (other == LODE_NONE)
				continue;
			g_assert_cmpuint(a.numbers[i], ==, b.numbers[other]);
			is_in_order &= n == 0 || other > last;
			last = other;
			n++;
		}
		memset(known, -1, sizeof(known));
		unsigned in_order = longest(&a, &b, 0, 0, known);
		/* What is more has moved, in runs of five at least. */
		g_assert_true(n == in_order ? is_in_order : n >= in_order + 5);
	}
}

/* A block that a compiler has put elsewhere is the same block, also where it has left a copy that
 * did not execute. */
static void test_moved(void)
{
	for (int round = 0; round < 50; round++) {
		g_autoptr(LodeProfile) first = new_profile("/bin/one");
		g_autoptr(LodeProfile) second = new_profile("/bin/one");
		Code block = {.n = (unsigned)random_int_range(6, 10)}, a, b = {{0}, 0};
		unsigned n_rest = (unsigned)random_int_range(20, 30),
			 half = G_N_ELEMENTS(words) / 2;
		bool has_copy = round % 2 == 1;
		for (unsigned i = 0; i < block.n; i++)
			block.numbers[i] = half + (unsigned)random_int_range(0, (int)half);
		a = block;
		for (unsigned i = 0; i < n_rest; i++)
			a.numbers[a.n++] = (unsigned)random_int_range(0, (int)half);
		for (unsigned i = has_copy ? 0 : block.n; i < a.n; i++)
			b.numbers[b.n++] = a.numbers[i];
		for (unsigned i = 0; i < block.n; i++)
			b.numbers[b.n++] = block.numbers[i];
		add_function(first, "f", &a, LODE_FUNCTION_SYMBOL);
		add_function(second, "f", &b, LODE_FUNCTION_SYMBOL);
		if (has_copy) {
			g_array_remove_range(second->code.instructions, 0, block.n);
			g_array_remove_range(second->code.cost_starts, 1, block.n);
			lode_profile_function(second, 0)->n_instructions -= block.n;
		}
		g_autoptr(LodeFunctionPairs) pairs = match(first, second);
		for (uint32_t i = 0; i < a.n; i++)
			g_assert_cmpuint(pairs->counterparts[i], ==, (i + n_rest) % a.n);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/analyses/function_pairs/renamed", test_renamed);
	g_test_add_func("/analyses/function_pairs/names", test_names);
	g_test_add_func("/analyses/function_pairs/types", test_types);
	g_test_add_func("/analyses/function_pairs/overloads", test_overloads);
	g_test_add_func("/analyses/function_pairs/same_code", test_same_code);
	g_test_add_func("/analyses/function_pairs/inlined", test_inlined);
	g_test_add_func("/analyses/function_pairs/instructions", test_instructions);
	g_test_add_func("/analyses/function_pairs/moved", test_moved);
	return g_test_run();
}
