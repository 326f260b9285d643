/* SPDX-License-Identifier: MIT */
/* Lines and inlined functions of every instruction-like address against addr2line. */
#include "images/elf/binary_image.h"

#include "package_file.h"
#include "tool_output.h"

enum { MAX_ADDRESSES = 400 };

typedef struct {
	uint64_t addresses[MAX_ADDRESSES];
	LodeBinaryLocation locations[MAX_ADDRESSES];
	GArray *calls; /* LodeInlinedCall */
	size_t n, n_lines, n_inlined;
} Sample;

static void sample_clear(Sample *self)
{
	g_clear_pointer(&self->calls, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sample, sample_clear)

/* Addresses evenly over the functions from `first` on, every `step` bytes. */
static void take_sample(LodeBinaryImage *image, uint64_t step, Sample *sample)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);
	uint64_t next = 0;

	sample->n = sample->n_lines = sample->n_inlined = 0;
	for (size_t i = 0; i < n; i++) {
		next = MAX(next, functions[i].address);
		for (; next < functions[i].address + functions[i].size; next += step) {
			if (sample->n < MAX_ADDRESSES)
				sample->addresses[sample->n++] = next;
		}
	}
	sample->calls = g_array_new(FALSE, FALSE, sizeof(LodeInlinedCall));
	lode_binary_image_locate_calls(
		image, sample->addresses, sample->n, sample->locations, sample->calls);
}

/*
 * The same line. Not the same file: addr2line 2.40 takes the file numbers of DWARF 5 line tables,
 * which begin at 0, to begin at 1.
 */
static bool is_same_place(uint32_t line, const char *expected)
{
	const char *colon = strrchr(expected, ':');

	g_assert_nonnull(colon);
	return line == g_ascii_strtoull(colon + 1, NULL, 10);
}

/* All functions inlined at an address, and where each is called. */
static void compare_calls(const Sample *sample, size_t index, char **lines, size_t n_lines)
{
	size_t n = 0;

	for (guint i = 0; i < sample->calls->len; i++) {
		const LodeInlinedCall *call = &g_array_index(sample->calls, LodeInlinedCall, i);
		if (call->index != index)
			continue;
		g_assert_cmpuint(2 * n + 3, <, n_lines);
		g_assert_cmpstr(call->function, ==, lines[2 * n]);
		g_assert_true(is_same_place(call->line, lines[2 * n + 3]));
		n++;
	}
	g_assert_cmpuint(2 * n + 2, ==, n_lines);
}

/* One answer of `addr2line -a -i -f -C`: the address, then function and place for each frame. */
static void compare_answer(Sample *sample, size_t i, char **lines, size_t n_lines)
{
	const LodeBinaryLocation *location = &sample->locations[i];

	g_test_message("%" G_GINT64_MODIFIER "x", sample->addresses[i]);
	g_assert_cmpuint(n_lines, >=, 2);
	lines[1][strcspn(lines[1], " ")] = '\0'; /* (discriminator 1) */
	if (!is_same_place(location->line, lines[1]))
		g_error("%s:%u is not %s", location->file, location->line, lines[1]);
	g_assert_cmpstr(location->inlined, ==, n_lines > 2 ? lines[0] : NULL);
	if (n_lines > 2 && !is_same_place(location->caller_line, lines[n_lines - 1]))
		g_error("called at %u, not %s", location->caller_line, lines[n_lines - 1]);
	compare_calls(sample, i, lines, n_lines);
	if (n_lines <= 2)
		g_assert_null(location->caller_file);
	sample->n_lines += location->line != 0;
	sample->n_inlined += location->inlined != NULL;
}

static bool compare_with_addr2line(Sample *sample, const char *path)
{
	g_autoptr(GString) command = g_string_new("addr2line -a -i -f -C -e ");
	g_autofree char *output = NULL;
	g_auto(GStrv) lines = NULL;
	size_t at = 0;

	g_string_append(command, path);
	for (size_t i = 0; i < sample->n; i++)
		g_string_append_printf(command, " 0x%" G_GINT64_MODIFIER "x", sample->addresses[i]);
	output = tool_output("%s", command->str);
	if (output == NULL)
		return false;
	lines = g_strsplit(output, "\n", -1);
	for (size_t i = 0; i < sample->n; i++) {
		size_t first = ++at;

		while (lines[at] != NULL && lines[at][0] != '\0' &&
			!g_str_has_prefix(lines[at], "0x0000"))
			at++;
		compare_answer(sample, i, lines + first, at - first);
	}
	return true;
}

/* The places of what compilers know code by: as many as functions are inlined, and the function
 * itself; the line of the address, and of each call. */
static void compare_scopes(const Sample *sample, LodeBinaryImage *image)
{
	g_autoptr(GArray) scopes = g_array_new(FALSE, FALSE, sizeof(LodeSourceScope));
	guint at = 0, call = 0, n_compared = 0;

	lode_binary_image_scopes(image, sample->addresses, sample->n, scopes);
	for (uint32_t i = 0; i < sample->n; i++) {
		uint32_t line = sample->locations[i].line;
		bool has_scopes = at < scopes->len &&
		                  g_array_index(scopes, LodeSourceScope, at).index == i;
		for (; call < sample->calls->len &&
			g_array_index(sample->calls, LodeInlinedCall, call).index == i;
			call++) {
			const LodeInlinedCall *inlined = &g_array_index(
				sample->calls, LodeInlinedCall, call);
			const LodeSourceScope *scope = &g_array_index(scopes, LodeSourceScope, at);
			if (!has_scopes)
				continue;
			g_assert_cmpuint(scope->index, ==, i);
			g_assert_cmpstr(scope->symbol, ==, inlined->function);
			g_assert_cmpuint(scope->line, ==, line);
			g_assert_cmpuint(scope->first_line, >, 0);
			line = inlined->line;
			at++;
		}
		if (!has_scopes)
			continue;
		const LodeSourceScope *last = &g_array_index(scopes, LodeSourceScope, at);
		g_assert_cmpuint(last->index, ==, i);
		g_assert_cmpuint(last->line, ==, line);
		g_assert_nonnull(last->producer);
		g_assert_true(at + 1 == scopes->len || last[1].index > i);
		n_compared++;
		at++;
	}
	g_assert_cmpuint(at, ==, scopes->len);
	g_assert_cmpuint(n_compared, >, 30);
}

/* Names in full are checked where the source is ours. */
static void check_files(const Sample *sample, const char *directory)
{
	g_autofree char *source = g_build_filename(directory, "program.c", NULL);

	for (size_t i = 0; i < sample->n; i++) {
		if (sample->locations[i].line != 0)
			g_assert_cmpstr(sample->locations[i].file, ==, source);
	}
}

static void check_compiler(const void *compiler_and_options)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_auto(Sample) sample = {0};

	if (!tool_compile(directory, compiler_and_options)) {
		g_test_skip("no such compiler");
	} else {
		g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, NULL, NULL);

		g_assert_nonnull(image);
		g_assert_true(lode_binary_image_has_lines(image));
		take_sample(image, 1, &sample);
		if (compare_with_addr2line(&sample, path)) {
			g_assert_cmpuint(sample.n_lines, >, 30);
			g_assert_cmpuint(sample.n_inlined, >, 5);
		}
		check_files(&sample, directory);
		compare_scopes(&sample, image);
		g_assert_null(lode_binary_image_warning(image));
	}
	tool_directory_remove(directory);
}

static void check_same(const Sample *sample, const Sample *other)
{
	g_assert_cmpuint(sample->n, ==, other->n);
	for (size_t i = 0; i < sample->n; i++) {
		const LodeBinaryLocation *x = &sample->locations[i], *y = &other->locations[i];

		g_assert_cmpuint(x->line, ==, y->line);
		g_assert_cmpstr(x->inlined, ==, y->inlined);
		g_assert_cmpuint(x->caller_line, ==, y->caller_line);
		g_assert_cmpstr(x->caller_file, ==, y->caller_file);
	}
}

static void locate_again(const char *path, const Sample *sample)
{
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, NULL, NULL);
	g_auto(Sample) other = {0};

	take_sample(image, 1, &other);
	g_assert_null(lode_binary_image_warning(image));
	check_same(sample, &other);
}

/* A package says what the .dwo file said, beside the program and beside its debug file. */
static void check_package(const void *compiler_and_options)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *options = g_strdup_printf(
		"sh -c 'cd %s && %s -gsplit-dwarf -c -o program.o program.c && %s -no-pie -o "
		"program program.o' --",
		directory, (const char *)compiler_and_options, (const char *)compiler_and_options);
	g_autofree char *strip = g_strdup_printf(
		"sh -c 'cd %s && objcopy --only-keep-debug program p.debug && strip program && "
		"objcopy --add-gnu-debuglink=p.debug program && mv program.dwp p.debug.dwp'",
		directory);
	g_autofree char *rename = g_strdup_printf(
		"sh -c 'cd %s && mv p.debug.dwp p.dwp'", directory);

	if (!tool_compile(directory, options)) {
		g_test_skip("no such compiler");
	} else {
		g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, NULL, NULL);
		g_auto(Sample) sample = {0};
		guint n_inlined = 0;

		take_sample(image, 1, &sample);
		for (size_t i = 0; i < sample.n; i++)
			n_inlined += g_strcmp0(sample.locations[i].inlined, "square") == 0 &&
			             sample.locations[i].caller_line > 0;
		g_assert_cmpuint(n_inlined, >, 5);
		g_assert_true(package_make(directory));
		locate_again(path, &sample);
		g_assert_true(tool_run(strip));
		locate_again(path, &sample);
		g_assert_true(tool_run(rename));
		locate_again(path, &sample);
	}
	tool_directory_remove(directory);
}

static void test_libc(void)
{
	const char *path = "/lib/x86_64-linux-gnu/libc.so.6";
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(path, NULL, NULL);
	g_autofree char *debug = NULL;
	const char *id;
	g_auto(Sample) sample = {0};

	if (image == NULL || !lode_binary_image_has_lines(image)) {
		g_test_skip("no debug file of libc");
		return;
	}
	id = lode_binary_image_build_id(image);
	debug = g_strdup_printf("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	take_sample(image, 3511, &sample);
	if (compare_with_addr2line(&sample, debug)) {
		g_assert_cmpuint(sample.n_lines, >, 200);
		g_assert_cmpuint(sample.n_inlined, >, 20);
	}
}

static void test_without_lines(void)
{
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open("/bin/gzip", NULL, NULL);
	uint64_t address = 0x4000;
	LodeBinaryLocation location = {.file = "x", .line = 7, .inlined = "y"};

	if (image == NULL || lode_binary_image_has_lines(image)) {
		g_test_skip("no stripped /bin/gzip");
		return;
	}
	lode_binary_image_locate(image, &address, 1, &location);
	g_assert_null(location.file);
	g_assert_cmpuint(location.line, ==, 0);
	g_assert_null(location.inlined);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/images/source_lines/gcc", "gcc -g -O2", check_compiler);
	g_test_add_data_func(
		"/images/source_lines/gcc_dwarf4", "gcc -g -gdwarf-4 -O2", check_compiler);
	g_test_add_data_func(
		"/images/source_lines/compressed", "gcc -g -gz=zlib -O2", check_compiler);
	g_test_add_data_func(
		"/images/source_lines/clang", "clang -g -gdwarf-4 -O2", check_compiler);
	g_test_add_data_func(
		"/images/source_lines/package_gcc_4", "gcc -O2 -gdwarf-4", check_package);
	g_test_add_data_func(
		"/images/source_lines/package_gcc_5", "gcc -O2 -gdwarf-5", check_package);
	g_test_add_data_func("/images/source_lines/package_sections",
		"gcc -O2 -gdwarf-4 -ffunction-sections -freorder-blocks-and-partition",
		check_package);
	g_test_add_data_func(
		"/images/source_lines/package_clang_4", "clang -O2 -gdwarf-4", check_package);
	g_test_add_data_func(
		"/images/source_lines/package_clang_5", "clang -O2 -gdwarf-5", check_package);
	g_test_add_func("/images/source_lines/libc", test_libc);
	g_test_add_func("/images/source_lines/without_lines", test_without_lines);
	return g_test_run();
}
