/* SPDX-License-Identifier: MIT */
/*
 * A module as Python's headers lay it out, with its symbols and stripped: each function of the
 * first has in the second the name that the tables give it. Linked as an extension module, and as
 * an interpreter that is loaded at fixed addresses.
 */
#include "images/elf/binary_image.h"

#include "tool_output.h"

static const char PROGRAM[] =
	"typedef long word;\n"
	"typedef struct { const char *name; void *function; int flags; const char *text; } "
	"Method;\n"
	"typedef struct { word head[5]; const char *name, *text; word size; Method *methods; word "
	"rest[4]; } Module;\n"
	"typedef struct { int number; void *function; } Slot;\n"
	"typedef struct { const char *name; int basic, item; unsigned flags; Slot *slots; } Spec;\n"
	"typedef struct { word head[3]; const char *name; word basic, item; void *slots[23];\n"
	"	Method *methods; void *more[21]; } Type;\n"
	"volatile word sink;\n"
	"#define KEPT __attribute__((used))\n"
	"#define FUNCTION __attribute__((noinline)) static word\n"
	"FUNCTION only_of_append(word x) { return sink += x * 3; }\n"
	"FUNCTION deeper(word x) { return sink += x * 5; }\n"
	"FUNCTION only_of_sort(word x) { return deeper(x) + (sink += x * 7); }\n"
	"FUNCTION of_append_and_sort(word x) { return sink += x * 11; }\n"
	"FUNCTION of_all(word x) { return sink += x * 13; }\n"
	"FUNCTION of_data(word x) { return sink += x * 17; }\n"
	"FUNCTION list_append(word x) { return only_of_append(x) + of_append_and_sort(x) + "
	"of_all(x); }\n"
	"FUNCTION list_sort(word x) { return only_of_sort(x) + of_append_and_sort(x) + of_data(x); "
	"}\n"
	"FUNCTION list_contains(word x) { return sink += x * 19; }\n"
	"FUNCTION list_repr(word x) { return sink += x * 23; }\n"
	"FUNCTION module_count(word x) { return of_all(x) + (sink += x * 29); }\n"
	"FUNCTION builtin_sorted(word x) { return sink += x * 31; }\n"
	"FUNCTION heap_next(word x) { return sink += x * 37; }\n"
	"FUNCTION heap_push(word x) { return sink += x * 41; }\n"
	"FUNCTION only_of_module(word x) { return sink += x * 47; }\n"
	"FUNCTION only_of_outer(word x) { return sink += x * 53; }\n"
	"FUNCTION call_repr(word x) { return sink += x * 61; }\n"
	"FUNCTION call_outer(word x) { return only_of_outer(x) + (sink += x * 59); }\n"
	"FUNCTION not_in_a_table(word x) { return sink += x * 43; }\n"
	"word PyList_Sort(word x) { return only_of_sort(x); }\n"
	"KEPT static Method list_methods[] = {{\"append\", list_append, 8, \"text\"}, {\"sort\", "
	"list_sort, 3, "
	"0}, {0}};\n"
	"KEPT static void *sequence[10] = {[7] = list_contains};\n"
	"Type PyList_Type = {{1}, \"list\", 40, 0, {[4] = list_repr, [7] = sequence}, "
	"list_methods};\n"
	"KEPT static Method module_methods[] = {{\"count\", module_count, 4, 0}, {0}};\n"
	"KEPT static Module module = {{1}, \"tally\", 0, -1, module_methods};\n"
	"KEPT static Method call_methods[] = {{\"outer\", call_outer, 8, 0}, {0}};\n"
	"Type PyCall_Type = {{1}, \"tally.Call\", 40, 0, {[1] = (void *)16, [4] = call_repr}, "
	"call_methods};\n"
	"KEPT static Method builtin_methods[] = {{\"sorted\", builtin_sorted, 0x82, 0}, {0}};\n"
	"KEPT static Module builtins = {{1}, \"builtins\", 0, 0, builtin_methods};\n"
	"KEPT static Method heap_methods[] = {{\"push\", heap_push, 1, 0}, {0}};\n"
	"KEPT static Slot heap_slots[] = {{63, heap_next}, {64, heap_methods}, {0}};\n"
	"KEPT static Spec heap = {\"tally.Heap\", 32, 0, 0, heap_slots};\n"
	"KEPT static void *table[] = {of_data};\n"
	"KEPT static Method wrong[] = {{\"a name with blanks\", not_in_a_table, 1, 0}, {0}};\n"
	"KEPT static Module not_one = {{1}, \"wrong\", 0, 0, wrong};\n"
	"void *PyInit_tally(void);\n"
	"void *PyInit_tally(void) { return only_of_module(sink) == 1 ? 0 : &module; }\n"
	"int main(void) { return PyInit_tally() == 0; }\n";

/* What each function of the program is called in the stripped one; NULL: fn_ADDRESS. A part of
 * something begins like this. */
static const struct {
	const char *function, *name;
	bool is_part;
} expected[] = {
	{"list_append", "list.append", false},
	{"list_sort", "list.sort", false},
	{"list_contains", "list.__contains__", false},
	{"list_repr", "list.__repr__", false},
	{"module_count", "tally.count", false},
	{"builtin_sorted", "sorted", false},
	{"heap_next", "tally.Heap.__next__", false},
	{"heap_push", "tally.Heap.push", false},
	{"only_of_append", "list.append.part.", true},
	{"only_of_module", "tally", true},
	{"call_outer", "tally.Call.outer", false},
	{"call_repr", "tally.Call.__repr__", false},
	{"only_of_outer", "tally.Call.part.", true},
	{"only_of_sort", "list.sort.part.", true}, /* PyList_Sort is the same */
	{"deeper", "list.sort.part.", true},
	{"of_append_and_sort", "list.part.", true},
	{"PyList_Sort", "PyList_Sort", false},
	{"of_all", NULL, false},
	{"of_data", NULL, false},
	{"not_in_a_table", NULL, false},
};

static LodeBinaryImage *open_image(const char *path)
{
	const LodeBinaryImageOptions options = {.debug_directory = "/nonexistent"};
	LodeBinaryImage *image = lode_binary_image_open(path, &options, NULL);

	g_assert_nonnull(image);
	return image;
}

static const char *name_at(const LodeBinaryImage *image, uint64_t address)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);

	for (size_t i = 0; i < n; i++)
		if (functions[i].address == address)
			return functions[i].name;
	return "";
}

static uint64_t address_of(const LodeBinaryImage *image, const char *name)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].address;
	g_test_message("no function %s", name);
	g_assert_not_reached();
}

static void check(const char *whole, const char *stripped)
{
	g_autoptr(LodeBinaryImage) with = open_image(whole);
	g_autoptr(LodeBinaryImage) without = open_image(stripped);

	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		const char *name = name_at(without, address_of(with, expected[i].function));
		g_test_message("%s: %s", expected[i].function, name);
		if (expected[i].name == NULL)
			g_assert_true(g_str_has_prefix(name, "fn_"));
		else if (expected[i].is_part)
			g_assert_true(g_str_has_prefix(name, expected[i].name));
		else
			g_assert_cmpstr(name, ==, expected[i].name);
	}
}

static void test_tables(void)
{
	static const char *const variants[] = {"gcc -O2 -shared -fPIC", "gcc -O2 -no-pie -rdynamic",
		"gcc -O2 -pie -fPIE -rdynamic"};
	char *directory = tool_directory();
	g_autofree char *source = g_build_filename(directory, "p.c", NULL);
	g_autofree char *whole = g_build_filename(directory, "p", NULL);
	g_autofree char *stripped = g_build_filename(directory, "p.stripped", NULL);

	g_assert_true(g_file_set_contents(source, PROGRAM, -1, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(variants); i++) {
		g_autofree char *compile = g_strdup_printf(
			"%s -fno-ipa-icf -fno-ipa-cp -fno-optimize-sibling-calls -w -o %s %s",
			variants[i], whole, source);
		g_autofree char *strip = g_strdup_printf("strip -o %s %s", stripped, whole);
		g_assert_true(tool_run(compile));
		g_assert_true(tool_run(strip));
		check(whole, stripped);
	}
	tool_directory_remove(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/python_functions/tables", test_tables);
	return g_test_run();
}
