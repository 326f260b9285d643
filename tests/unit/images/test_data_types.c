/* SPDX-License-Identifier: MIT */
/*
 * Programs whose functions access one thing each, compiled in many ways: what is said of each
 * function's accesses is that thing or nothing. Offsets are compared with the program's own.
 */
#include "images/types/data_types.h"
#include "model/data_type.h"
#include "model/index.h"

#include "package_file.h"
#include "tool_output.h"

#include <Zydis/Zydis.h>

static const char SOURCE[] =
	"#include <stddef.h>\n"
	"#include <stdio.h>\n"
	"struct node { int key; struct node *next; };\n"
	"struct vec { double x, y; };\n"
	"struct bits { unsigned a : 3, b : 5, c : 8, d : 16; };\n"
	"struct body {\n"
	"	int id; struct vec position, speed; union { int tag; double value; };\n"
	"	int slots[8]; struct vec trail[4]; struct bits bits; char data[];\n"
	"};\n"
	"struct list { struct node *first; struct vec pad; struct body *body; };\n"
	"typedef struct { long first; short second; } pair_t;\n"
	"int counts[64], total;\n"
	"struct vec table[16];\n"
	"struct node *head;\n"
	"volatile int sink;\n"
	"int get_key(struct node *n) { return n->key; }\n"
	"struct node *get_next(struct node *n) { return n->next->next; }\n"
	"double get_nested(struct body *b) { return b->speed.y; }\n"
	"int get_tag(struct body *b) { return b->tag; }\n"
	"double get_value(struct body *b) { return b->value; }\n"
	"unsigned get_bits(struct bits *b) { return b->d; }\n"
	"#define PART(name, code) unsigned name(struct bits *b, unsigned k) { unsigned v; \\\n"
	"	__asm__(code : \"=&r\"(v), \"+r\"(k) : \"r\"(b) : \"cc\", \"memory\"); return v + "
	"k; }\n"
	"PART(part_shift, \"movl (%2), %0; shrl $3, %0; andl $31, %0\")\n"
	"PART(part_mask, \"movl (%2), %0; incl %1; andl $7, %0\")\n"
	"PART(part_sign, \"movl (%2), %0; shll $16, %0; sarl $24, %0\")\n"
	"PART(part_bytes, \"movzwl (%2), %0; shrl $8, %0; movzbl %b1, %1\")\n"
	"PART(part_test, \"movl $0, %0; testb $0xf8, (%2)\")\n"
	"PART(part_set, \"movl (%2), %0; andl $-249, %0; orl %1, %0; movl %0, (%2)\")\n"
	"PART(part_clear, \"movl $0, %0; andl $-8, (%2)\")\n"
	"PART(part_several, \"movl (%2), %0; shrl $3, %0; andl $0xffff, %0\")\n"
	"PART(part_copied, \"movl (%2), %0; movl %0, %1; shrl $8, %0\")\n"
	"PART(part_stored, \"movl (%2), %0; andl $7, %0; movl %0, (%2)\")\n"
	"PART(part_combined, \"movl (%2), %0; andl $7, %0; orl %1, %0\")\n"
	"PART(part_inverted, \"movl (%2), %0; notl %0; andl $7, %0\")\n"
	"PART(part_toggled, \"movl $0, %0; notl (%2)\")\n"
	"int get_slot(struct body *b, long i) { return b->slots[i]; }\n"
	"double get_trail(struct body *b, long i) { return b->trail[i].y; }\n"
	"char get_data(struct body *b, long i) { return b->data[i]; }\n"
	"double get_element(struct vec *v, long i) { return v[i].y; }\n"
	"int get_count(long i) { return counts[i]; }\n"
	"int get_total(void) { return total; }\n"
	"double get_table(long i) { return table[i].y; }\n"
	"short get_typedef(pair_t *p) { return p->second; }\n"
	"typedef float span_t;\n"
	"float get_span(span_t *p) { return *p; }\n"
	"float get_plain(float *p) { return p[1]; }\n"
	"int get_path(struct list *l) { return l->body->slots[3]; }\n"
	"int get_head(void) { return head->key; }\n"
	"long get_opaque(void *p) { return *(long *)p; }\n"
	"double sum_table(struct vec *v, int n)\n"
	"{ double s = 0; for (int i = 0; i < n; i++) s += v[i].x; return s; }\n"
	"__attribute__((noinline)) struct node *make(void) { return head; }\n"
	"int get_called(void) { return make()->key; }\n"
	"static inline __attribute__((always_inline)) int key_of(struct node *n)\n"
	"{ return n->next->next->key + n->key; }\n"
	"int get_inlined(void *p) { return key_of(p); }\n"
	"void get_local(int k)\n"
	"{ volatile int hist[16]; for (int i = 0; i < 16; i++) hist[i] = k; sink = hist[k]; }\n"
	"#define SHOW(type, name, path) \\\n"
	"	printf(\"%s %s %zu %zu\\n\", #type, name, offsetof(struct type, path), \\\n"
	"		sizeof(((struct type *)0)->path))\n"
	"int main(void)\n"
	"{\n"
	"	SHOW(node, \"key\", key); SHOW(node, \"next\", next);\n"
	"	SHOW(body, \"id\", id); SHOW(body, \"position.x\", position.x);\n"
	"	SHOW(body, \"speed.y\", speed.y); SHOW(body, \"tag\", tag);\n"
	"	SHOW(body, \"value\", value); SHOW(body, \"slots[]\", slots);\n"
	"	SHOW(body, \"trail[].y\", trail[0].y); SHOW(list, \"pad.x\", pad.x);\n"
	"	SHOW(list, \"body\", body);\n"
	"	return 0;\n"
	"}\n";

enum {
	ANY_LEVEL = 0,
	OPTIMIZED = 1, /* nothing is known of it in code that is not */
	MAX_OPERANDS = 8,
};

typedef struct {
	const char *function;
	const char *expected; /* alternatives with a bar between; NULL: nothing must be said */
	int level;
} Case;

static const Case CASES[] = {
	{"get_key", "struct node.key", ANY_LEVEL},
	{"get_next", "struct node.next", ANY_LEVEL},
	{"get_nested", "struct body.speed.y", ANY_LEVEL},
	{"get_tag", "struct body.tag", ANY_LEVEL},
	{"get_value", "struct body.value", ANY_LEVEL},
	{"get_bits", "struct bits.d|struct bits.a/b/c/d", ANY_LEVEL},
	{"part_shift", "struct bits.b", ANY_LEVEL},
	{"part_mask", "struct bits.a", ANY_LEVEL},
	{"part_sign", "struct bits.c", ANY_LEVEL},
	{"part_bytes", "struct bits.c", ANY_LEVEL},
	{"part_test", "struct bits.b", ANY_LEVEL},
	{"part_set", "struct bits.b", ANY_LEVEL},
	{"part_clear", "struct bits.a", ANY_LEVEL},
	{"part_several", "struct bits.b/c/d", ANY_LEVEL},
	{"part_copied", "struct bits.a/b/c/d", ANY_LEVEL},
	/* either what the mask keeps or what it clears */
	{"part_stored", "struct bits.a/b/c/d", ANY_LEVEL},
	{"part_combined", "struct bits.a/b/c/d", ANY_LEVEL},
	/* instructions of one operand: under valgrind, the second is not looked at */
	{"part_inverted", "struct bits.a/b/c/d", ANY_LEVEL},
	{"part_toggled", "struct bits.a/b/c/d", ANY_LEVEL},
	{"get_slot", "struct body.slots[]", ANY_LEVEL},
	{"get_trail", "struct body.trail[].y", OPTIMIZED},
	{"get_data", "struct body.data[]", ANY_LEVEL},
	{"get_element", "struct vec.y", ANY_LEVEL},
	{"get_count", "int counts[]", ANY_LEVEL},
	{"get_total", "int total", ANY_LEVEL},
	{"get_table", "struct vec.y", ANY_LEVEL},
	{"get_typedef", "pair_t.second", ANY_LEVEL},
	{"get_span", "span_t", ANY_LEVEL},
	/* not by the name that another has given it */
	{"get_plain", "float", ANY_LEVEL},
	{"get_path", "struct list.body|struct body.slots[]", ANY_LEVEL},
	{"get_head", "struct node *head|struct node.key", ANY_LEVEL},
	{"get_opaque", NULL, ANY_LEVEL},
	{"sum_table", "struct vec.x", ANY_LEVEL},
	{"get_called", "struct node.key", ANY_LEVEL},
	{"get_inlined", "struct node.next|struct node.key", OPTIMIZED},
	{"get_local", "int hist[]|int sink", ANY_LEVEL},
};

/* Thread-local variables, as executables and libraries find them. */
static const char SOURCE_THREADS[] =
	"struct vec { double x, y; };\n"
	"__thread int hits = 1;\n"
	"__thread struct vec table[16];\n"
	"static __thread long own[8];\n"
	"int get_hits(void) { return hits; }\n"
	"void put_hits(int i) { hits += i; }\n"
	"double get_table(long i) { return table[i].y; }\n"
	"double get_second(void) { return table[2].x; }\n"
	"long get_own(long i) { own[i] += i; return own[3]; }\n"
	"double walk_table(int n)\n"
	"{ double s = 0; for (int i = 0; i < n; i++) s += table[i].x * hits; return s; }\n"
	"int main(void) { return 0; }\n";

static const Case CASES_THREADS[] = {
	{"get_hits", "int hits", ANY_LEVEL},
	{"put_hits", "int hits", ANY_LEVEL},
	{"get_table", "struct vec.y", ANY_LEVEL},
	{"get_second", "struct vec.x", ANY_LEVEL},
	{"get_own", "long int own[]|long own[]", ANY_LEVEL},
	{"walk_table", "struct vec.x|int hits", ANY_LEVEL},
};

/* Blocks that follow each other share a slot, and so do the values that a function keeps there. */
static const char SOURCE_SLOTS[] =
	"__attribute__((noipa)) void fill(void *p, int k) { *(char *)p = k; }\n"
	"struct { long in; int out; } options;\n"
	"struct { short a, b; } many[8];\n"
	"int lone, second;\n"
	"long get_anonymous(void) { return options.out; }\n"
	"long get_anonymous_element(long i) { return many[i].b; }\n"
	"long get_wide(void) { return *(long *)&lone; }\n"
	"long get_beside(long i) { return (&lone)[i]; }\n"
	"static inline __attribute__((always_inline)) int search(int k)\n"
	"{ int inner_hist[4] = {0}; fill(inner_hist, k); return inner_hist[k & 3]; }\n"
	"int get_shared(int k)\n"
	"{\n"
	"	unsigned outer_hist[4];\n"
	"	int sum = search(k);\n"
	"	fill(outer_hist, k);\n"
	"	return sum;\n"
	"}\n"
	"int get_both(int k)\n"
	"{\n"
	"	unsigned outer_hist[4];\n"
	"	int sum = search(k);\n"
	"	fill(outer_hist, k);\n"
	"	return sum + outer_hist[k & 3];\n"
	"}\n"
	"int main(void) { return 0; }\n";

static const Case CASES_SLOTS[] = {
	{"get_shared", "int inner_hist[]", OPTIMIZED},
	{"get_both", "int inner_hist[]|unsigned int outer_hist[]", OPTIMIZED},
	{"get_anonymous", "options.out", ANY_LEVEL},
	{"get_anonymous_element", "many[].b", ANY_LEVEL},
	/* nothing that is smaller than the access, and no array that is none */
	{"get_wide", NULL, ANY_LEVEL},
	{"get_beside", NULL, OPTIMIZED},
};

static const char SOURCE_CPLUSPLUS[] =
	"#include <vector>\n"
	"namespace geo {\n"
	"struct base { virtual ~base() {} int id; };\n"
	"struct named { long weight; };\n"
	"template <class T> struct box : base, named {\n"
	"	T width; struct inner { int a; T b; }; inner parts[4];\n"
	"};\n"
	"struct grid { static int total; };\n"
	"int grid::total;\n"
	"}\n"
	"extern \"C\" {\n"
	"int get_base(geo::box<double> &b) { return b.id; }\n"
	"long get_second_base(geo::box<double> &b) { return b.weight; }\n"
	"double get_own(geo::box<double> *b) { return b->width; }\n"
	"double get_part(geo::box<double> *b) { return b->parts[1].b; }\n"
	"float get_other(geo::box<float> *b) { return b->width; }\n"
	"int get_inner(geo::box<double>::inner *b) { return b->a; }\n"
	"int get_static(void) { return geo::grid::total; }\n"
	"}\n"
	"int main() { geo::box<double> b; geo::box<float> f; return get_base(b) + get_other(&f); "
	"}\n";

static const Case CASES_CPLUSPLUS[] = {
	{"get_base", "geo::box<double>.id", ANY_LEVEL},
	{"get_second_base", "geo::box<double>.weight", ANY_LEVEL},
	{"get_own", "geo::box<double>.width", ANY_LEVEL},
	{"get_part", "geo::box<double>.parts[].b", ANY_LEVEL},
	{"get_other", "geo::box<float>.width", ANY_LEVEL},
	{"get_inner", "geo::box<double>::inner.a", ANY_LEVEL},
	{"get_static", "int geo::grid::total", ANY_LEVEL},
};

/* One member of those that the same index, bytes or union would do for. */
static const char SOURCE_MEMBERS[] =
	"struct wide { char name[24]; int key; float weight; char pad[32]; };\n"
	"struct item { int a; short b; char c[6]; double d; };\n"
	"struct flex { long n; struct item items[]; };\n"
	"struct deep { long n; struct mid { int k; struct item in[3]; } mids[5]; int after[4]; };\n"
	"struct odd { char tag[3]; int value; short list[18]; };\n"
	"struct __attribute__((packed)) tight { char c; int i; double d; };\n"
	"struct mixed { long n; union { int i; unsigned u; float f; double d; long l; } v; };\n"
	"union either { float f; float g; };\n"
	"struct flags { unsigned a : 3, b : 5; unsigned char whole; short after; };\n"
	"struct marked { int n; char at[0]; char first; int second; };\n"
	"struct grid { int rows[3][4]; struct item cells[2][3]; };\n"
	"struct wide wides[64];\n"
	"int get_masked(struct wide *w, unsigned long r) { return w[r >> 33 & 63].key; }\n"
	"float get_shifted(struct wide *w, unsigned long r) { return w[r >> 58].weight; }\n"
	"int get_of_array(unsigned long r) { return wides[r >> 58].key; }\n"
	"void put_masked(struct wide *w, unsigned r, int k) { w[r & 63].key += k; }\n"
	"char get_pad(struct wide *w, unsigned long r, long i) { return w[r >> 58].pad[i]; }\n"
	"double get_flex(struct flex *f, long i) { return f->items[i].d; }\n"
	"short get_flex_masked(struct flex *f, unsigned long i) { return f->items[i >> 60].b; }\n"
	"short get_deep(struct deep *p, long i, long k) { return p->mids[i].in[k].b; }\n"
	"short get_deep_last(struct deep *p) { return p->mids[4].in[2].b; }\n"
	"int get_odd(struct odd *p, long i) { return p[i].value; }\n"
	"short get_odd_list(struct odd *p, long i) { return p[i].list[3]; }\n"
	"double get_tight(struct tight *p, long i) { return p[i].d; }\n"
	"float get_float(struct mixed *p) { return p->v.f; }\n"
	"double get_double(struct mixed *p) { return p->v.d; }\n"
	"long get_long(struct mixed *p) { return p->v.l; }\n"
	"long get_signed(struct mixed *p) { return p->v.i; }\n"
	"int get_one_of(struct mixed *p) { return p->v.i; }\n"
	"float get_either(union either *p) { return p->g; }\n"
	"unsigned get_whole(struct flags *p) { return p->whole; }\n"
	"char get_first(struct marked *p) { return p->first; }\n"
	"int get_row(struct grid *p, long i, long k) { return p->rows[i][k]; }\n"
	"double get_cell(struct grid *p, long i, long k) { return p->cells[i][k].d; }\n"
	"long walk_items(struct flex *f, long n)\n"
	"{\n"
	"	long s = 0;\n"
	"	for (struct item *q = f->items; q < f->items + n; q++) s += q->b;\n"
	"	return s;\n"
	"}\n"
	"int main(void) { return 0; }\n";

static const Case CASES_MEMBERS[] = {
	{"get_masked", "struct wide.key", ANY_LEVEL},
	{"get_shifted", "struct wide.weight", ANY_LEVEL},
	{"get_of_array", "struct wide.key", ANY_LEVEL},
	{"put_masked", "struct wide.key", ANY_LEVEL},
	{"get_pad", "struct wide.pad[]", OPTIMIZED},
	{"get_flex", "struct flex.items[].d", ANY_LEVEL},
	{"get_flex_masked", "struct flex.items[].b", ANY_LEVEL},
	{"get_deep", "struct deep.mids[].in[].b", OPTIMIZED},
	{"get_deep_last", "struct deep.mids[].in[].b", ANY_LEVEL},
	{"get_odd", "struct odd.value", ANY_LEVEL},
	{"get_odd_list", "struct odd.list[]", ANY_LEVEL},
	{"get_tight", "struct tight.d", ANY_LEVEL},
	{"get_float", "struct mixed.v.f", ANY_LEVEL},
	{"get_double", "struct mixed.v.d", ANY_LEVEL},
	{"get_long", "struct mixed.v.l", ANY_LEVEL},
	{"get_signed", "struct mixed.v.i|struct mixed.v", ANY_LEVEL},
	{"get_one_of", "struct mixed.v", ANY_LEVEL},
	{"get_either", "union either", ANY_LEVEL},
	{"get_whole", "struct flags.whole", ANY_LEVEL},
	{"get_first", "struct marked.first", ANY_LEVEL},
	{"get_row", "struct grid.rows[]", ANY_LEVEL},
	{"get_cell", "struct grid.cells[].d", ANY_LEVEL},
	{"walk_items", "struct item.b|struct flex.items[].b", ANY_LEVEL},
};

typedef struct {
	const char *command; /* compiler and options */
	bool is_optimized;
} Build;

typedef struct {
	LodeBinaryImage *image;
	LodeDataTypes *types;
	LodeControlFlow flow;
} Fixture;

/* With -gsplit-dwarf the types are in a package beside the program, and nowhere else. */
static bool compile_split(const char *directory, const char *command, const char *source)
{
	g_autofree char *full = g_strdup_printf("sh -c 'cd %s && %s -w -c -o program.o %s && "
						"%s -o program program.o'",
		directory, command, source, command);

	return tool_run(full) && package_make(directory);
}

static bool compile(const char *directory, const char *command, const char *name, const char *text)
{
	g_autofree char *source = g_build_filename(directory, name, NULL);
	g_autofree char *full = g_strdup_printf(
		"%s -w -o %s/program %s", command, directory, source);

	g_assert_true(g_file_set_contents(source, text, -1, NULL));
	return strstr(command, "-gsplit-dwarf") != NULL ? compile_split(directory, command, source)
	                                                : tool_run(full);
}

static void open_program(Fixture *fixture, const char *directory)
{
	g_autofree char *path = g_build_filename(directory, "program", NULL);

	fixture->image = lode_binary_image_open(path, NULL, NULL);
	g_assert_nonnull(fixture->image);
	fixture->types = lode_data_types_new(fixture->image);
	g_assert_nonnull(fixture->types);
	lode_control_flow_init(&fixture->flow);
}

static void close_program(Fixture *fixture)
{
	lode_control_flow_clear(&fixture->flow);
	lode_data_types_free(fixture->types);
	lode_binary_image_close(fixture->image);
}

static const LodeBinaryFunction *find_function(const Fixture *fixture, const char *name)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(fixture->image, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	g_error("no function %s", name);
}

/* The numbers of an instruction's memory operands that a program wrote. */
static int memory_operands(const uint8_t *code, size_t size, uint8_t operands[MAX_OPERANDS])
{
	ZydisDecodedOperand decoded[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	int n = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &instruction, decoded)) ||
		instruction.mnemonic == ZYDIS_MNEMONIC_NOP)
		return 0;
	for (uint8_t i = 0; i < instruction.operand_count && n < MAX_OPERANDS; i++)
		if (decoded[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			decoded[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
			decoded[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			operands[n++] = i;
	return n;
}

/* Parameters and locals that code without optimization keeps in the frame; not what is tested. */
static bool is_own_local(const LodeDataReference *reference, const char *text)
{
	return reference->is_variable_named_first && strstr(text, "hist") == NULL &&
	       strstr(text, "lone") == NULL && strstr(text, "total") == NULL &&
	       strstr(text, "counts") == NULL && strstr(text, "head") == NULL &&
	       strstr(text, "sink") == NULL && strstr(text, "hits") == NULL &&
	       strstr(text, "own") == NULL;
}

/* What is said of all accesses of a function, each once. */
static GHashTable *collect(Fixture *fixture, const char *name)
{
	const LodeBinaryFunction *function = find_function(fixture, name);
	GHashTable *texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	size_t n_code = 0;
	const uint8_t *code = lode_binary_image_bytes(fixture->image, function->address, &n_code);
	const GArray *instructions = fixture->flow.instructions;

	lode_control_flow_build(&fixture->flow, code, function->size, function->address, NULL);
	for (guint i = 0; i < instructions->len; i++) {
		uint64_t address = g_array_index(instructions, LodeStaticInstruction, i).address;
		uint64_t offset = address - function->address;
		uint8_t operands[MAX_OPERANDS];
		int n = memory_operands(code + offset, function->size - offset, operands);

		for (int k = 0; k < n; k++) {
			g_autofree char *text = NULL;
			LodeDataReference reference;

			if (!lode_data_types_find(fixture->types, address, operands[k],
				    &fixture->flow, &reference))
				continue;
			text = lode_data_reference_text(fixture->types, &reference);
			if (!is_own_local(&reference, text))
				g_hash_table_add(texts, g_steal_pointer(&text));
		}
	}
	return texts;
}

static void check_case(Fixture *fixture, const Case *test, bool is_optimized)
{
	g_autoptr(GHashTable) texts = collect(fixture, test->function);
	g_auto(GStrv) expected = g_strsplit(test->expected == NULL ? "" : test->expected, "|", -1);
	GHashTableIter iter;
	gpointer text;

	g_test_message("%s", test->function);
	g_hash_table_iter_init(&iter, texts);
	while (g_hash_table_iter_next(&iter, &text, NULL))
		if (!g_strv_contains((const char *const *)expected, text))
			g_test_fail_printf("%s: '%s' is not '%s'", test->function, (char *)text,
				test->expected);
	if (test->expected != NULL && (is_optimized || test->level == ANY_LEVEL) &&
		g_hash_table_size(texts) == 0)
		g_test_fail_printf("%s: nothing is said", test->function);
}

static void check_cases(
	const Build *build, const char *name, const char *source, const Case *cases, size_t n)
{
	char *directory = tool_directory();
	Fixture fixture;

	if (!compile(directory, build->command, name, source)) {
		g_test_skip("no such compiler");
	} else {
		open_program(&fixture, directory);
		for (size_t i = 0; i < n; i++)
			check_case(&fixture, &cases[i], build->is_optimized);
		g_assert_null(lode_data_types_warning(fixture.types));
		close_program(&fixture);
	}
	tool_directory_remove(directory);
}

static void check_c(const void *build)
{
	check_cases(build, "program.c", SOURCE, CASES, G_N_ELEMENTS(CASES));
}

static void check_threads(const void *build)
{
	check_cases(build, "program.c", SOURCE_THREADS, CASES_THREADS, G_N_ELEMENTS(CASES_THREADS));
}

static void check_slots(const void *build)
{
	check_cases(build, "program.c", SOURCE_SLOTS, CASES_SLOTS, G_N_ELEMENTS(CASES_SLOTS));
}

static void check_members(const void *build)
{
	check_cases(build, "program.c", SOURCE_MEMBERS, CASES_MEMBERS, G_N_ELEMENTS(CASES_MEMBERS));
}

static void check_cplusplus(const void *build)
{
	check_cases(build, "program.cc", SOURCE_CPLUSPLUS, CASES_CPLUSPLUS,
		G_N_ELEMENTS(CASES_CPLUSPLUS));
}

static const LodeDataMember *find_member(
	const LodeDataTypes *types, uint32_t type, const char *name)
{
	const LodeDataType *entry = &g_array_index(
		lode_data_types_types(types), LodeDataType, type);

	for (uint32_t i = 0; i < entry->n_members; i++) {
		const LodeDataMember *member = &g_array_index(
			lode_data_types_members(types), LodeDataMember, entry->first_member + i);

		if (strcmp(member->name, name) == 0)
			return member;
	}
	g_error("%s has no member %s", entry->name, name);
}

/* Layouts are those that the program prints of itself. */
static void test_layout(void)
{
	char *directory = tool_directory();
	g_autofree char *program = g_build_filename(directory, "program", NULL);
	g_autofree char *output = NULL;
	g_auto(GStrv) lines = NULL;
	Fixture fixture;
	guint n = 0;

	if (!compile(directory, "gcc -g -O2", "program.c", SOURCE)) {
		g_test_skip("no gcc");
		tool_directory_remove(directory);
		return;
	}
	output = tool_output("%s", program);
	g_assert_nonnull(output);
	lines = g_strsplit(output, "\n", -1);
	open_program(&fixture, directory);
	for (; lines[n] != NULL && lines[n][0] != '\0'; n++) {
		g_auto(GStrv) words = g_strsplit(lines[n], " ", -1);
		g_autofree char *name = g_strconcat("struct ", words[0], NULL);
		uint32_t type = lode_data_types_find_name(fixture.types, name);
		const LodeDataMember *member;

		g_assert_cmpuint(type, !=, LODE_NONE);
		g_assert_cmpuint(lode_data_types_find_name(fixture.types, words[0]), ==, type);
		member = find_member(fixture.types, type, words[1]);
		g_assert_cmpuint(member->offset, ==, g_ascii_strtoull(words[2], NULL, 10));
		g_assert_cmpuint(member->size, ==, g_ascii_strtoull(words[3], NULL, 10));
	}
	g_assert_cmpuint(n, ==, 11);
	g_assert_cmpuint(lode_data_types_find_name(fixture.types, "nonsense"), ==, LODE_NONE);
	close_program(&fixture);
	tool_directory_remove(directory);
}

static void test_member_types(void)
{
	char *directory = tool_directory();
	Fixture fixture;
	uint32_t bits, body;

	if (!compile(directory, "gcc -g -O2", "program.c", SOURCE)) {
		g_test_skip("no gcc");
		tool_directory_remove(directory);
		return;
	}
	open_program(&fixture, directory);
	body = lode_data_types_find_name(fixture.types, "struct body");
	bits = lode_data_types_find_name(fixture.types, "struct bits");
	g_assert_cmpstr(find_member(fixture.types, body, "slots[]")->type, ==, "int [8]");
	g_assert_cmpstr(find_member(fixture.types, body, "data[]")->type, ==, "char []");
	g_assert_cmpstr(
		find_member(fixture.types, lode_data_types_find_name(fixture.types, "node"), "next")
			->type,
		==, "struct node *");
	g_assert_cmpuint(find_member(fixture.types, bits, "b")->bit_offset, ==, 3);
	g_assert_cmpuint(find_member(fixture.types, bits, "b")->bit_size, ==, 5);
	g_assert_cmpuint(find_member(fixture.types, bits, "d")->offset, ==, 2);
	g_assert_cmpuint(find_member(fixture.types, bits, "d")->bit_offset, ==, 0);
	g_assert_cmpuint(find_member(fixture.types, bits, "d")->size, ==, 2);
	close_program(&fixture);
	tool_directory_remove(directory);
}

/* Without debug information variables have the names of their symbols; without those, none. */
static void test_stripped(void)
{
	static const Case NAMED[] = {{"get_count", "counts", ANY_LEVEL},
		{"get_total", "total", ANY_LEVEL}, {"get_key", NULL, ANY_LEVEL}};
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *strip = g_strconcat("strip -s ", path, NULL);
	LodeDataSymbol symbol;
	Fixture fixture;

	if (!compile(directory, "gcc -O2", "program.c", SOURCE)) {
		g_test_skip("no gcc");
		tool_directory_remove(directory);
		return;
	}
	open_program(&fixture, directory);
	for (size_t i = 0; i < G_N_ELEMENTS(NAMED); i++)
		check_case(&fixture, &NAMED[i], true);
	g_assert_cmpuint(lode_data_types_types(fixture.types)->len, ==, 0);
	g_assert_cmpuint(lode_data_types_find_name(fixture.types, "node"), ==, LODE_NONE);
	close_program(&fixture);
	g_assert_true(tool_run(strip));
	open_program(&fixture, directory);
	g_assert_false(lode_binary_image_find_data_symbol(fixture.image, 0x4040, &symbol));
	close_program(&fixture);
	tool_directory_remove(directory);
}

/* Against nm: each variable's first and last byte is in it, or in an alias. */
static void test_symbols(void)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *output = NULL;
	g_auto(GStrv) lines = NULL;
	Fixture fixture;
	int n = 0;

	if (compile(directory, "gcc -O2", "program.c", SOURCE))
		output = tool_output("nm -S %s", path);
	if (output == NULL) {
		g_test_skip("no gcc or nm");
		tool_directory_remove(directory);
		return;
	}
	lines = g_strsplit(output, "\n", -1);
	open_program(&fixture, directory);
	for (guint i = 0; lines[i] != NULL; i++) {
		g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
		LodeDataSymbol symbol;
		uint64_t address, size;

		if (g_strv_length(words) != 4 || strpbrk(words[2], "BDR") == NULL ||
			strchr("chst", words[3][0]) == NULL)
			continue;
		address = g_ascii_strtoull(words[0], NULL, 16);
		size = g_ascii_strtoull(words[1], NULL, 16);
		g_assert_true(lode_binary_image_find_data_symbol(
			fixture.image, address + size - 1, &symbol));
		g_assert_cmpstr(symbol.name, ==, words[3]);
		g_assert_cmpuint(symbol.address, ==, address);
		g_assert_cmpuint(symbol.size, ==, size);
		n++;
	}
	g_assert_cmpint(n, >=, 5);
	close_program(&fixture);
	tool_directory_remove(directory);
}

/* Each question may come alone, without the function's flow. */
static void test_without_flow(void)
{
	char *directory = tool_directory();
	LodeDataReference reference;
	Fixture fixture;

	if (!compile(directory, "gcc -g -O2", "program.c", SOURCE)) {
		g_test_skip("no gcc");
		tool_directory_remove(directory);
		return;
	}
	open_program(&fixture, directory);
	g_assert_true(lode_data_types_find(
		fixture.types, find_function(&fixture, "get_key")->address, 1, NULL, &reference));
	g_assert_cmpstr(
		g_array_index(lode_data_types_types(fixture.types), LodeDataType, reference.type)
			.name,
		==, "struct node");
	/* no operand, no instruction, no code */
	g_assert_false(lode_data_types_find(
		fixture.types, find_function(&fixture, "get_key")->address, 200, NULL, &reference));
	g_assert_false(lode_data_types_find(fixture.types, 0, 0, NULL, &reference));
	g_assert_false(lode_data_types_find(fixture.types, UINT64_MAX, 0, NULL, &reference));
	close_program(&fixture);
	tool_directory_remove(directory);
}

static const Build BUILDS[] = {
	{"gcc -g -O0", false},
	{"gcc -g -O1", true},
	{"gcc -g -O2", true},
	{"gcc -g -O3", true},
	{"gcc -g -O2 -gdwarf-4", true},
	{"gcc -g -O2 -no-pie -fno-pie", true},
	{"gcc -g -O2 -gz=zlib", true},
	{"gcc -g -O2 -fdebug-types-section", true},
	{"gcc -g -O0 -gdwarf-4 -no-pie -fno-pie", false},
	{"clang -g -O0", false},
	{"clang -g -O1", true},
	{"clang -g -O2", true},
	{"clang -g -O1 -gdwarf-4", true},
	{"clang -g -O2 -no-pie -fno-pie", true},
	{"gcc -O2 -gsplit-dwarf -gdwarf-5", true},
	{"gcc -O0 -gsplit-dwarf -gdwarf-5", false},
	{"gcc -O2 -gsplit-dwarf -gdwarf-4", true},
	{"clang -O2 -gsplit-dwarf -gdwarf-4 -fdebug-types-section", true},
	{"clang -O2 -gsplit-dwarf -gdwarf-5", true},
	{"clang -O1 -gsplit-dwarf -gdwarf-5 -fdebug-types-section", true},
	{"clang -O2 -gsplit-dwarf -gdwarf-4", true},
	{"clang -O0 -gsplit-dwarf -gdwarf-4", false},
};

static const Build BUILDS_THREADS[] = {
	{"gcc -g -O0", false},
	{"gcc -g -O2", true},
	{"gcc -g -O2 -gdwarf-4 -no-pie -fno-pie", true},
	{"gcc -g -O0 -fPIC -shared", false},
	{"gcc -g -O2 -fPIC -shared", true},
	{"gcc -g -O2 -fPIC -shared -ftls-model=initial-exec", true},
	{"gcc -g -O2 -fPIC -shared -mtls-dialect=gnu2", true},
	{"gcc -g -O0 -fPIC -shared -mtls-dialect=gnu2", false},
	{"clang -g -O0 -fPIE", false},
	{"clang -g -O2 -fPIE", true},
	{"clang -g -O2 -fPIC -shared", true},
};

static const Build BUILDS_CPLUSPLUS[] = {
	{"g++ -g -O0", false},
	{"g++ -g -O2", true},
	{"g++ -g -O2 -gdwarf-4", true},
	{"clang++ -g -O2", true},
	{"clang++ -g -O0", false},
	{"g++ -O2 -gsplit-dwarf -gdwarf-5", true},
	{"g++ -O2 -gsplit-dwarf -gdwarf-4", true},
	{"clang++ -O2 -gsplit-dwarf -gdwarf-5", true},
};

static void test_go_map_roles(void)
{
	g_assert_cmpint(lode_go_map_role("runtime.mapaccess1_fast64"), ==, LODE_GO_MAP_CALLED);
	g_assert_cmpint(lode_go_map_role("runtime.mapassign"), ==, LODE_GO_MAP_CALLED);
	g_assert_cmpint(
		lode_go_map_role("runtime.mapdelete_faststr"), ==, LODE_GO_MAP_CALLED_FOR_STRINGS);
	g_assert_cmpint(lode_go_map_role("runtime.evacuate_faststr"), ==, LODE_GO_MAP_INNER);
	g_assert_cmpint(lode_go_map_role("runtime.mallocgc"), ==, LODE_GO_MAP_NONE);
	g_assert_cmpint(lode_go_map_role("main.mapaccess1"), ==, LODE_GO_MAP_NONE);
	g_assert_cmpint(lode_go_map_role(NULL), ==, LODE_GO_MAP_NONE);
}

/* Each `step`th, from `first`. */
static void add_builds(const char *group, const Build *builds, size_t n, size_t first, size_t step,
	void (*check)(const void *build))
{
	for (size_t i = first; i < n; i += step) {
		g_autofree char *path = g_strdup_printf(
			"/images/data_types/%s/%s", group, builds[i].command);

		g_test_add_data_func(g_strdelimit(path, " ", '_'), &builds[i], check);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_builds("c", BUILDS, G_N_ELEMENTS(BUILDS), 0, 1, check_c);
	add_builds("threads", BUILDS_THREADS, G_N_ELEMENTS(BUILDS_THREADS), 0, 1, check_threads);
	/* Of forms that the first group has whole, one half each; in a soak, all. */
	size_t step = g_getenv("LODE_LONG_TESTS") != NULL ? 1 : 2;
	add_builds("slots", BUILDS, G_N_ELEMENTS(BUILDS), 0, step, check_slots);
	add_builds("members", BUILDS, G_N_ELEMENTS(BUILDS), step - 1, step, check_members);
	add_builds("cplusplus", BUILDS_CPLUSPLUS, G_N_ELEMENTS(BUILDS_CPLUSPLUS), 0, 1,
		check_cplusplus);
	g_test_add_func("/images/data_types/go_map_roles", test_go_map_roles);
	g_test_add_func("/images/data_types/layout", test_layout);
	g_test_add_func("/images/data_types/member_types", test_member_types);
	g_test_add_func("/images/data_types/stripped", test_stripped);
	g_test_add_func("/images/data_types/symbols", test_symbols);
	g_test_add_func("/images/data_types/without_flow", test_without_flow);
	return g_test_run();
}
