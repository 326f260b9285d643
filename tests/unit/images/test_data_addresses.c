/* SPDX-License-Identifier: MIT */
/*
 * Programs that print where their variables lie, and what each is: what is said of these addresses
 * must be that. One stops itself, and prints registers and stack as a sample has them.
 */
#include "images/types/data_types.h"
#include "model/data_type.h"
#include "model/index.h"

#include "tool_output.h"

/* "S address size name": a static address in the image, without its bias; "T offset size name":
 * from the thread pointer. */
static const char SOURCE[] =
	"#include <stddef.h>\n"
	"#include <stdio.h>\n"
	"extern char __ehdr_start;\n"
	"#ifdef __PIE__\n"
	"#define BIAS ((unsigned long)&__ehdr_start)\n"
	"#else\n"
	"#define BIAS 0ul\n"
	"#endif\n"
	"#define SHOW(place, name) printf(\"S %lu %zu %s\\n\", \\\n"
	"	(unsigned long)&(place) - BIAS, sizeof(place), name)\n"
	"#define SHOW_THREAD(place, name) printf(\"T %ld %zu %s\\n\", \\\n"
	"	(long)&(place) - (long)self(), sizeof(place), name)\n"
	"static char *self(void) { char *p; __asm__(\"mov %%fs:0, %0\" : \"=r\"(p)); return p; }\n"
	"struct B { int a[4]; long b; int c; };\n"
	"struct B barr[64];\n"
	"static struct { short x; struct B in[3]; } nest[8];\n"
	"int grid[4][6], total = 1;\n"
	"const char *const names[] = {\"one\", \"two\"};\n"
	"union { int tag; double value; } both;\n"
	"typedef float span_t;\n"
	"span_t spans[3];\n"
	"__thread int tls_counter = 1;\n"
	"static __thread struct B tls_table[3];\n"
	"static int use(int i)\n"
	"{\n"
	"	static long count[5];\n"
	"	static __thread short calls;\n"
	"	{ static struct B inner; SHOW(inner.b, \"struct B.b\"); inner.c = i; }\n"
	"	SHOW(count[3], \"long int count[]|long count[]\");\n"
	"	SHOW_THREAD(calls, \"short int calls|short calls\");\n"
	"	calls++;\n"
	"	return (int)(count[i] = i + calls);\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	SHOW(barr[1].c, \"struct B.c\"); SHOW(barr[63].a[2], \"struct B.a[]\");\n"
	"	SHOW(barr[7].b, \"struct B.b\"); SHOW(nest[3].in[2].c, \"nest.in[].c\");\n"
	"	SHOW(nest[0].x, \"nest[].x\"); SHOW(grid[2][3], \"int grid[]\");\n"
	"	SHOW(total, \"int total\"); SHOW(names[1], \"const char *const names[]|char "
	"*names[]|\"\n"
	"		\"const char *names[]|const char *constnames[]|const char *const "
	"names[]\");\n"
	"	SHOW(both.value, \"both.value\"); SHOW(spans[2], \"span_t spans[]\");\n"
	"	SHOW_THREAD(tls_counter, \"int tls_counter\");\n"
	"	SHOW_THREAD(tls_table[2].b, \"struct B.b\");\n"
	"	tls_table[argc % 3].c = barr[argc].c + (argv != NULL) + nest[argc].x;\n"
	"	return use(argc) + grid[argc][0] + tls_counter + tls_table[0].c < 0;\n"
	"}\n";

static const char SOURCE_CPLUSPLUS[] =
	"#include <cstdio>\n"
	"extern char __ehdr_start;\n"
	"#define SHOW(place, name) std::printf(\"S %lu %zu %s\\n\", \\\n"
	"	(unsigned long)&(place) - (unsigned long)&__ehdr_start, sizeof(place), name)\n"
	"namespace geo {\n"
	"struct point { double x, y; };\n"
	"point origin, corners[4];\n"
	"struct grid { static int total; static point marks[3]; };\n"
	"int grid::total; point grid::marks[3];\n"
	"template <class T> struct pool { static T slots[4]; };\n"
	"template <class T> T pool<T>::slots[4];\n"
	"namespace { int hidden[3]; }\n"
	"inline int shared = 3;\n"
	"}\n"
	"static int use(int i)\n"
	"{\n"
	"	static geo::point kept[3];\n"
	"	SHOW(kept[1].y, \"geo::point.y\");\n"
	"	return (int)(kept[i].x += i);\n"
	"}\n"
	"int main(int argc, char **)\n"
	"{\n"
	"	SHOW(geo::origin.y, \"geo::point.y\"); SHOW(geo::corners[2].x, \"geo::point.x\");\n"
	"	SHOW(geo::grid::total, \"int geo::grid::total\");\n"
	"	SHOW(geo::grid::marks[1].y, \"geo::point.y\");\n"
	"	SHOW(geo::pool<short>::slots[2], \"short int geo::pool<short>::slots[]|short \"\n"
	"		\"geo::pool<short>::slots[]\");\n"
	"	SHOW(geo::hidden[1], \"int geo::(anonymous namespace)::hidden[]\");\n"
	"	SHOW(geo::shared, \"int geo::shared\");\n"
	"	geo::hidden[argc % 3] = argc; geo::pool<short>::slots[argc % 4] = 2;\n"
	"	return use(argc) + geo::hidden[0] + geo::pool<short>::slots[1] + geo::shared < 0;\n"
	"}\n";

static const char SOURCE_FORTRAN[] =
	"module store\n"
	"  type cell\n"
	"    integer :: id\n"
	"    real(8) :: mass\n"
	"  end type\n"
	"  real(8) :: field(100)\n"
	"  type(cell) :: cells(10)\n"
	"end module\n"
	"program main\n"
	"  use store\n"
	"  use iso_c_binding\n"
	"  interface\n"
	"    subroutine show(place, bytes, name) bind(c)\n"
	"      use iso_c_binding\n"
	"      integer(c_intptr_t), value :: place\n"
	"      integer(c_int), value :: bytes\n"
	"      character(kind=c_char) :: name(*)\n"
	"    end subroutine\n"
	"  end interface\n"
	"  real(8), save :: kept(50)\n"
	"  field = 1; kept = 2; cells%id = 5; cells%mass = 6\n"
	"  call show(loc(field(7)), 8, 'real(kind=8) field[]' // c_null_char)\n"
	"  call show(loc(kept(9)), 8, 'real(kind=8) kept[]' // c_null_char)\n"
	"  call show(loc(cells(4)%mass), 8, 'struct store::cell.mass' // c_null_char)\n"
	"  call share()\n"
	"end program\n"
	"subroutine share()\n"
	"  integer(4) :: left(8)\n"
	"  real(8) :: right(4)\n"
	"  common /pair/ left, right\n"
	"  left = 3; right = 4\n"
	"  call show_pair(loc(left(8)), loc(right(1)))\n"
	"end subroutine\n";

static const char SOURCE_SHOW[] =
	"#include <stdio.h>\n"
	"extern char __ehdr_start;\n"
	"void show(char *place, int bytes, const char *name)\n"
	"{ printf(\"S %lu %d %s\\n\", (unsigned long)place - (unsigned long)&__ehdr_start,\n"
	"	bytes, name); }\n"
	"void show_pair_(char **left, char **right)\n"
	"{ show(*left, 4, \"integer(kind=4) left[]\");\n"
	"  show(*right, 8, \"real(kind=8) right[]\"); }\n";

/* "R …" registers in the order of their encoding, "P pc bias", "K …" the stack in bytes, "F address
 * size name" in a frame; a name after "!" must not be given. */
static const char SOURCE_FRAMES[] =
	"#define _GNU_SOURCE\n"
	"#include <signal.h>\n"
	"#include <stdio.h>\n"
	"#include <string.h>\n"
	"#include <ucontext.h>\n"
	"extern char __ehdr_start;\n"
	"struct pair { int a; long b; };\n"
	"static struct { void *place; int size; const char *name; } notes[16];\n"
	"static int n_notes;\n"
	"static void note(volatile void *place, int size, const char *name)\n"
	"{ notes[n_notes].place = (void *)place; notes[n_notes].size = size;\n"
	"  notes[n_notes++].name = name; }\n"
	"static void stop(int number, siginfo_t *info, void *context)\n"
	"{\n"
	"	static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,\n"
	"		REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, "
	"REG_R14,\n"
	"		REG_R15};\n"
	"	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;\n"
	"	printf(\"R\");\n"
	"	for (int i = 0; i < 16; i++) printf(\" %llu\", r[order[i]]);\n"
	"	printf(\"\\nP %llu %lu\\nK\", r[REG_RIP], (unsigned long)&__ehdr_start);\n"
	"	for (int i = 0; i < 768; i++) printf(\" %u\", ((unsigned char *)r[REG_RSP])[i]);\n"
	"	printf(\"\\n\");\n"
	"	for (int i = 0; i < n_notes; i++) printf(\"F %lu %d %s\\n\",\n"
	"		(unsigned long)notes[i].place, notes[i].size, notes[i].name);\n"
	"	n_notes = 0;\n"
	"}\n"
	"static inline __attribute__((always_inline)) int inlined(int k)\n"
	"{\n"
	"	volatile short inner[6];\n"
	"	inner[k & 3] = k;\n"
	"	note(&inner[4], 2, \"short int inner[]|short inner[]|volatile short inner[]|\"\n"
	"		\"volatile short int inner[]\");\n"
	"	__asm__ volatile(\"int3; nop\" : : : \"memory\");\n"
	"	return inner[2];\n"
	"}\n"
	"__attribute__((noinline)) static long leaf(int k)\n"
	"{\n"
	"	volatile int small[4];\n"
	"	small[k & 3] = 1;\n"
	"	note(&small[2], 4, \"int small[]|volatile int small[]\");\n"
	"	return inlined(k) + small[k & 1];\n"
	"}\n"
	"__attribute__((noinline)) static long middle(int k)\n"
	"{\n"
	"	struct pair mine[3];\n"
	"	long sum;\n"
	"	memset(mine, k, sizeof mine);\n"
	"	{ volatile long gone[4]; gone[k & 3] = k; note(&gone[1], 8, \"!gone\"); }\n"
	"	note(&mine[1].b, 8, \"struct pair.b\"); note(&mine[2].a, 4, \"struct pair.a\");\n"
	"	__asm__ volatile(\"\" : : \"r\"(mine) : \"memory\");\n"
	"	sum = leaf(k);\n"
	"	__asm__ volatile(\"\" : : \"r\"(mine) : \"memory\");\n"
	"	return sum + mine[k & 1].b;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	struct sigaction action = {.sa_sigaction = stop, .sa_flags = SA_SIGINFO};\n"
	"	double outer[2] = {argc};\n"
	"	sigaction(SIGTRAP, &action, NULL);\n"
	"	note(&outer[1], 8, \"double outer[]\");\n"
	"	__asm__ volatile(\"\" : : \"r\"(outer) : \"memory\");\n"
	"	long sum = middle(argc);\n"
	"	__asm__ volatile(\"\" : : \"r\"(outer) : \"memory\");\n"
	"	return sum + outer[0] < 0;\n"
	"}\n";

typedef struct {
	char *directory, *output;
	LodeBinaryImage *image;
	LodeDataTypes *types;
} Program;

/* Compiles with a command that has the source's name in it, runs; false: no such compiler. */
static bool program_init(Program *self, const char *command, const char *name, const char *source)
{
	g_autofree char *path = NULL, *line = NULL, *program = NULL;

	*self = (Program){.directory = tool_directory()};
	path = g_build_filename(self->directory, name, NULL);
	program = g_build_filename(self->directory, "program", NULL);
	g_assert_true(g_file_set_contents(path, source, -1, NULL));
	line = g_strdup_printf("%s -w -o %s %s", command, program, path);
	if (!tool_run(line)) {
		g_test_skip("no such compiler");
		return false;
	}
	self->output = tool_output("%s", program);
	g_assert_nonnull(self->output);
	self->image = lode_binary_image_open(program, NULL, NULL);
	self->types = lode_data_types_new(self->image);
	g_assert_nonnull(self->types);
	return true;
}

static void program_forget(Program *self)
{
	g_clear_pointer(&self->types, lode_data_types_free);
	g_clear_pointer(&self->image, lode_binary_image_close);
}

static void program_clear(Program *self)
{
	program_forget(self);
	tool_directory_remove(self->directory);
	g_free(self->output);
}

/* `found` NULL: nothing is said. */
static void check_name(const char *found, const char *expected)
{
	g_auto(GStrv) names = g_strsplit(expected, "|", -1);

	if (expected[0] == '!') {
		if (found != NULL && strstr(found, expected + 1) != NULL)
			g_test_fail_printf("'%s' must not be said", found);
	} else if (found == NULL || !g_strv_contains((const char *const *)names, found)) {
		g_test_fail_printf("'%s' is not '%s'", found, expected);
	}
}

static char *text_of(Program *self, bool is_found, const LodeDataReference *reference)
{
	return is_found ? lode_data_reference_text(self->types, reference) : NULL;
}

/* One printed line of a static or thread-local variable. */
static void check_place(Program *self, const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", 4);
	const LodeAccessShape shape = {
		(uint32_t)g_ascii_strtoull(words[2], NULL, 10), LODE_NUMBER_UNKNOWN};
	g_autofree char *text = NULL;
	LodeDataReference reference;
	uint64_t offset;
	bool is_found;

	g_test_message("%s", line);
	if (words[0][0] == 'S') {
		is_found = lode_data_types_find_static(
			self->types, g_ascii_strtoull(words[1], NULL, 10), &shape, &reference);
	} else {
		is_found = lode_binary_image_thread_local_offset(
				   self->image, g_ascii_strtoll(words[1], NULL, 10), &offset) &&
		           lode_data_types_find_thread_local(
				   self->types, offset, &shape, &reference);
	}
	text = text_of(self, is_found, &reference);
	check_name(text, words[3]);
}

static void check_places(Program *self, unsigned n_expected)
{
	g_auto(GStrv) lines = g_strsplit(self->output, "\n", -1);
	unsigned n = 0;

	for (; lines[n] != NULL && lines[n][0] != '\0'; n++)
		check_place(self, lines[n]);
	g_assert_cmpuint(n, ==, n_expected);
}

static void test_c(const void *command)
{
	Program program;
	uint64_t offset;

	if (program_init(&program, command, "program.c", SOURCE)) {
		check_places(&program, 15);
		/* the thread control block, and what lies before the program's variables */
		g_assert_false(lode_binary_image_thread_local_offset(program.image, 0, &offset));
		g_assert_false(lode_binary_image_thread_local_offset(program.image, 40, &offset));
		g_assert_false(
			lode_binary_image_thread_local_offset(program.image, -65536, &offset));
	}
	program_clear(&program);
}

static void test_cplusplus(const void *command)
{
	Program program;

	if (program_init(&program, command, "program.cc", SOURCE_CPLUSPLUS))
		check_places(&program, 8);
	program_clear(&program);
}

static void test_fortran(void)
{
	char *directory = tool_directory();
	g_autofree char *show = g_build_filename(directory, "show.c", NULL);
	g_autofree char *command = g_strdup_printf("gfortran -g -O2 -J%s %s", directory, show);
	Program program;

	g_assert_true(g_file_set_contents(show, SOURCE_SHOW, -1, NULL));
	if (program_init(&program, command, "program.f90", SOURCE_FORTRAN))
		check_places(&program, 5);
	program_clear(&program);
	tool_directory_remove(directory);
}

/* Registers and stack as the program printed them. */
typedef struct {
	LodeUserRegisters registers;
	uint8_t stack[768];
	LodeDataAccessQuestion question;
} Stopped;

static void read_stopped(Stopped *self, char **lines)
{
	g_auto(GStrv) registers = g_strsplit(lines[0], " ", -1);
	g_auto(GStrv) place = g_strsplit(lines[1], " ", -1);
	g_auto(GStrv) bytes = g_strsplit(lines[2], " ", -1);

	*self = (Stopped){.registers = {.known = (1u << LODE_N_GENERAL_REGISTERS) - 1}};
	for (guint i = 0; i < LODE_N_GENERAL_REGISTERS; i++)
		self->registers.values[i] = g_ascii_strtoull(registers[i + 1], NULL, 10);
	for (guint i = 0; i < sizeof self->stack; i++)
		self->stack[i] = (uint8_t)g_ascii_strtoull(bytes[i + 1], NULL, 10);
	self->question.bias = g_ascii_strtoull(place[2], NULL, 10);
	self->question.pc = g_ascii_strtoull(place[1], NULL, 10) - self->question.bias;
	self->question.registers = &self->registers;
	self->question.stack = self->stack;
	self->question.stack_size = sizeof self->stack;
}

static const LodeBinaryFunction *find_function(const Program *program, uint64_t address)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(program->image, &n);

	for (size_t i = 0; i < n; i++)
		if (address - functions[i].address < functions[i].size)
			return &functions[i];
	g_assert_not_reached();
}

static char *name_of_local(Program *program, const Stopped *stopped, char **words)
{
	LodeControlFlow flow;
	LodeFramePlace place;
	LodeDataReference reference;
	const LodeBinaryFunction *function;
	const uint8_t *code;
	size_t n = 0;
	char *text;

	if (!lode_data_types_find_frame(program->types, &stopped->question,
		    g_ascii_strtoull(words[1], NULL, 10), &place))
		return NULL;
	const LodeAccessShape shape = {
		(uint32_t)g_ascii_strtoull(words[2], NULL, 10), LODE_NUMBER_UNKNOWN};
	function = find_function(program, place.pc);
	g_assert_nonnull(function);
	code = lode_binary_image_bytes(program->image, function->address, &n);
	lode_control_flow_init(&flow);
	lode_control_flow_build(&flow, code, function->size, function->address, NULL);
	text = text_of(program,
		lode_data_types_find_local(program->types, &place, &shape, &flow, &reference),
		&reference);
	lode_control_flow_clear(&flow);
	return text;
}

static void test_frames(const void *command)
{
	g_auto(GStrv) lines = NULL;
	Program program;
	Stopped stopped;
	LodeFramePlace place;
	unsigned n = 3;

	if (program_init(&program, command, "program.c", SOURCE_FRAMES)) {
		lines = g_strsplit(program.output, "\n", -1);
		read_stopped(&stopped, lines);
		for (; lines[n] != NULL && lines[n][0] != '\0'; n++) {
			g_auto(GStrv) words = g_strsplit(lines[n], " ", 4);
			g_autofree char *text = name_of_local(&program, &stopped, words);

			g_test_message("%s", lines[n]);
			check_name(text, words[3]);
			/* without the stack callers are not reached, and without its pointer
			 * nothing */
			stopped.question.stack_size = 0;
			g_assert_false(lode_data_types_find_frame(program.types, &stopped.question,
					       g_ascii_strtoull(words[1], NULL, 10), &place) &&
				       place.is_caller);
			stopped.registers.known = 0;
			g_assert_false(lode_data_types_find_frame(program.types, &stopped.question,
				g_ascii_strtoull(words[1], NULL, 10), &place));
			read_stopped(&stopped, lines);
		}
		g_assert_cmpuint(n, ==, 3 + 6);
		/* below the red zone, and a stack that leads to itself */
		g_assert_false(lode_data_types_find_frame(program.types, &stopped.question,
			stopped.registers.values[LODE_REGISTER_RSP] - 129, &place));
		g_assert_false(lode_data_types_find_frame(
			program.types, &stopped.question, UINT64_MAX, &place));
		memset(stopped.stack, 0xff, sizeof stopped.stack);
		g_assert_false(lode_data_types_find_frame(
			program.types, &stopped.question, UINT64_MAX, &place));
	}
	program_clear(&program);
}

/* Makes the type of each typedef, array and pointer in gcc's assembly that type itself, and that of
 * members that are structures the structure around them. */
static char *tie_knots(const char *assembly, int *out_n)
{
	g_auto(GStrv) lines = g_strsplit(assembly, "\n", -1);
	g_autofree char *target = NULL, *structure = NULL;

	*out_n = 0;
	for (guint i = 0; lines[i] != NULL; i++) {
		const char *die = strstr(lines[i], "(DIE (0x");
		char *number = die == NULL ? NULL : g_strndup(die + 6, strcspn(die + 6, ")"));

		if (number != NULL) {
			g_clear_pointer(&target, g_free);
			if (strstr(die, "_typedef") != NULL || strstr(die, "_array_type") != NULL ||
				strstr(die, "_pointer_type") != NULL)
				target = g_strdup(number);
			else if (strstr(die, "_member") != NULL)
				target = g_strdup(structure);
			else if (strstr(die, "_structure_type") != NULL) {
				g_free(structure);
				structure = g_strdup(number);
			}
			g_free(number);
		} else if (target != NULL && g_str_has_suffix(lines[i], "# DW_AT_type")) {
			g_free(lines[i]);
			lines[i] = g_strdup_printf("\t.long\t%s\t# knot", target);
			g_clear_pointer(&target, g_free);
			++*out_n;
		}
	}
	return g_strjoinv("\n", lines);
}

/* gcc's assembly of a program, with comments; NULL: no gcc. */
static char *compile_commented(const Program *self, const char *source)
{
	g_autofree char *path = g_build_filename(self->directory, "program.c", NULL);
	char *text = NULL;

	g_assert_true(g_file_set_contents(path, source, -1, NULL));
	text = tool_output("gcc -g -gdwarf-4 -O1 -S -dA -o - %s", path);
	if (text == NULL)
		g_test_skip("no gcc");
	return text;
}

static void program_assemble(Program *self, const char *assembly)
{
	g_autofree char *path = g_build_filename(self->directory, "program.s", NULL);
	g_autofree char *program = g_build_filename(self->directory, "program", NULL);
	g_autofree char *command = g_strdup_printf("gcc -o %s %s", program, path);

	g_assert_true(g_file_set_contents(path, assembly, -1, NULL));
	g_assert_true(tool_run(command));
	self->image = lode_binary_image_open(program, NULL, NULL);
	self->types = lode_data_types_new(self->image);
	g_assert_nonnull(self->types);
}

/* An answer must lie in the tables, and have a text. */
static void check_reference(Program *self, bool is_found, const LodeDataReference *reference)
{
	const GArray *types = lode_data_types_types(self->types);
	g_autofree char *text = text_of(self, is_found, reference);

	if (!is_found)
		return;
	g_assert_nonnull(text);
	if (reference->type == LODE_NONE)
		return;
	g_assert_cmpuint(reference->type, <, types->len);
	const LodeDataType *type = &LODE_AT(types, LodeDataType, reference->type);
	g_assert_cmpuint(type->n_members, <, 1 << 15);
	g_assert_cmpuint(type->first_member + type->n_members, <=,
		lode_data_types_members(self->types)->len);
	g_assert_true(reference->member == LODE_NONE ||
		      reference->member - type->first_member < type->n_members);
}

/* All operands of a function, and the variables at all addresses. */
static void ask_everything(Program *self)
{
	const LodeAccessShape shape = {4, LODE_NUMBER_UNKNOWN};
	LodeDataReference reference;
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(self->image, &n);

	lode_data_types_find_name(self->types, "outer");
	for (uint64_t address = 0x3f00; address < 0x4100; address++)
		check_reference(self,
			lode_data_types_find_static(self->types, address, &shape, &reference),
			&reference);
	for (size_t i = 0; i < n; i++) {
		g_auto(LodeControlFlow) flow = {0};
		size_t n_bytes;
		const uint8_t *code = lode_binary_image_bytes(
			self->image, functions[i].address, &n_bytes);

		lode_control_flow_init(&flow);
		lode_control_flow_build(&flow, code, functions[i].size, functions[i].address, NULL);
		for (guint k = 0; k < 4 * flow.instructions->len; k++)
			check_reference(self,
				lode_data_types_find(self->types,
					LODE_AT(flow.instructions, LodeStaticInstruction, k / 4)
						.address,
					k % 4, &flow, &reference),
				&reference);
	}
}

/* Debug information in which types are made of themselves says less, and ends. */
static void test_knots(void)
{
	static const char source[] =
		"struct inner { int x; };\n"
		"struct outer { int a; struct inner in; } whole;\n"
		"typedef int loop_t;\n"
		"loop_t looped = 1;\n"
		"int array[4]; int *pointer;\n"
		"int main(void) { return whole.in.x + looped + array[1] + *pointer; }\n";
	Program program = {.directory = tool_directory()};
	g_autofree char *text = compile_commented(&program, source), *tied = NULL;
	int n = 0;

	if (text != NULL) {
		tied = tie_knots(text, &n);
		g_assert_cmpint(n, >=, 5);
		program_assemble(&program, tied);
		ask_everything(&program);
		g_assert_cmpuint(lode_data_types_find_name(program.types, "outer"), !=, LODE_NONE);
	}
	program_clear(&program);
}

/* Puts values in place of the numbers of an attribute, or of all: one of the values, or a different
 * one each time. */
static char *damage(const char *assembly, const char *attribute, const char *value, GRand *rand)
{
	static const char *const VALUES[] = {"0", "1", "2", "9", "0x7f", "0x80", "-1"};
	static const char *const ATTRIBUTES[] = {"byte_size", "upper_bound", "data_member_location",
		"bit_size", "bit_offset", "encoding", NULL};
	g_auto(GStrv) lines = g_strsplit(assembly, "\n", -1);

	for (guint i = 0; lines[i] != NULL; i++) {
		const char *name = strstr(lines[i], "# DW_AT_");
		const char *own = value != NULL
		                          ? value
		                          : VALUES[g_rand_int_range(rand, 0, G_N_ELEMENTS(VALUES))];

		if (name == NULL || !g_strv_contains(ATTRIBUTES, name + 8) ||
			(attribute != NULL && strcmp(name + 8, attribute) != 0))
			continue;
		char *line = g_strdup_printf(
			"\t%s\t%s", strstr(lines[i], ".quad") != NULL ? ".quad" : ".byte", own);
		g_free(lines[i]);
		lines[i] = line;
	}
	return g_strjoinv("\n", lines);
}

/* Sizes of 0, members and bits outside of their structures, arrays larger than all memory. */
static void test_damaged(void)
{
	static const char source[] =
		"struct inner { int x; unsigned low : 3, high : 13; };\n"
		"struct outer { int a; struct inner in[4]; double last; } whole, *other;\n"
		"struct wide { char all[1UL << 46]; struct inner many[1UL << 40]; int after; };\n"
		"struct wide *far;\n"
		"int array[4][5];\n"
		"int get_in(long i) { return whole.in[i].x + other->in[i].high; }\n"
		"int get_far(long i) { return far->many[i].x + far->after + far->many[i].low; }\n"
		"int main(int argc, char **argv)\n"
		"{ struct outer own = {argc}; other = &own;\n"
		"  return get_in(argc) + array[argc][1] + get_far(argc) + own.in[argc].x; }\n";
	static const struct {
		const char *attribute, *value;
	} CASES[] = {{"byte_size", "0"}, {"byte_size", "-1"}, {"upper_bound", "-1"},
		{"upper_bound", "0x7f"}, {"data_member_location", "-1"}, {"bit_size", "-1"},
		{"bit_size", "0x40"}, {"bit_offset", "-1"}, {NULL, NULL}, {NULL, NULL},
		{NULL, NULL}, {NULL, NULL}};
	Program program = {.directory = tool_directory()};
	g_autofree char *text = compile_commented(&program, source);
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);

	for (size_t i = 0; text != NULL && i < G_N_ELEMENTS(CASES); i++) {
		g_autofree char *damaged = damage(text, CASES[i].attribute, CASES[i].value, rand);

		g_assert_cmpstr(damaged, !=, text);
		program_assemble(&program, damaged);
		ask_everything(&program);
		program_forget(&program);
	}
	program_clear(&program);
}

static void add(const char *group, const char *const *commands, void (*test)(const void *command))
{
	for (; *commands != NULL; commands++) {
		g_autofree char *path = g_strdup_printf(
			"/images/data_addresses/%s/%s", group, *commands);

		g_test_add_data_func(g_strdelimit(path, " ", '_'), *commands, test);
	}
}

int main(int argc, char **argv)
{
	static const char *const c[] = {"gcc -g -O0", "gcc -g -O2", "gcc -g -O3 -gdwarf-4",
		"gcc -g -O2 -no-pie -fno-pie", "clang -g -O0 -fPIE", "clang -g -O2 -gdwarf-4 -fPIE",
		NULL};
	static const char *const cplusplus[] = {"g++ -std=c++17 -g -O0 -fPIE",
		"g++ -std=c++17 -g -O2 -gdwarf-4 -fPIE", "clang++ -std=c++17 -g -O2 -fPIE", NULL};
	static const char *const frames[] = {"gcc -g -O0 -fPIE", "gcc -g -O2 -fPIE",
		"gcc -g -O3 -fno-omit-frame-pointer -gdwarf-4 -fPIE", "clang -g -O0 -fPIE",
		"clang -g -O2 -fPIE", NULL};

	g_test_init(&argc, &argv, NULL);
	add("c", c, test_c);
	add("cplusplus", cplusplus, test_cplusplus);
	add("frames", frames, test_frames);
	g_test_add_func("/images/data_addresses/fortran", test_fortran);
	g_test_add_func("/images/data_addresses/knots", test_knots);
	g_test_add_func("/images/data_addresses/damaged", test_damaged);
	return g_test_run();
}
