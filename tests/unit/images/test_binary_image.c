/* SPDX-License-Identifier: MIT */
/* Functions of real programs against binutils' view of them, and broken files of all kinds. */
#include "images/elf/binary_image.h"

#include "base/error.h"
#include "seeds.h"
#include "tool_output.h"

#include <elf.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static LodeBinaryImage *open_image(const char *path, const char *debug_directory)
{
	LodeBinaryImageOptions options = {.debug_directory = debug_directory};
	GError *error = NULL;
	LodeBinaryImage *image = lode_binary_image_open(path, &options, &error);

	g_assert_no_error(error);
	g_assert_nonnull(image);
	return image;
}

static const LodeBinaryFunction *find_function(const LodeBinaryImage *image, uint64_t address)
{
	size_t low = 0, high;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &high);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - functions[low - 1].address >= functions[low - 1].size)
		return NULL;
	return &functions[low - 1];
}

static void check_order(const LodeBinaryImage *image)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);

	for (size_t i = 0; i < n; i++) {
		size_t n_bytes = 0;

		g_assert_cmpuint(functions[i].size, >, 0);
		g_assert_true(i == 0 || functions[i - 1].address + functions[i - 1].size <=
						functions[i].address);
		g_assert_nonnull(lode_binary_image_bytes(image, functions[i].address, &n_bytes));
		g_assert_cmpuint(functions[i].size, <=, n_bytes);
		g_assert_true(find_function(image, functions[i].address + functions[i].size - 1) ==
			      &functions[i]);
	}
}

static const LodeBinaryFunction *find_named(const LodeBinaryImage *image, const char *name)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	}
	return NULL;
}

/* Every entry of the unwind table outside the PLT begins a function. */
static void check_unwind(const LodeBinaryImage *image, const char *path)
{
	g_autofree char *output = tool_output("readelf --debug-dump=frames %s", path);
	g_auto(GStrv) words = NULL;
	unsigned n = 0, n_missed = 0;

	if (output == NULL)
		return;
	words = g_strsplit_set(output, " \n", -1);
	for (size_t i = 0; words[i] != NULL; i++) {
		const LodeBinaryFunction *function;
		uint64_t address;

		if (!g_str_has_prefix(words[i], "pc="))
			continue;
		address = g_ascii_strtoull(words[i] + 3, NULL, 16);
		function = find_function(image, address);
		n++;
		n_missed += function == NULL || function->address != address;
	}
	g_assert_cmpuint(n, >, 50);
	g_assert_cmpuint(n_missed, <=, 2); /* .plt as a whole, .plt.got as a whole */
}

static void test_stripped(void)
{
	g_autoptr(LodeBinaryImage) image = NULL;
	const LodeBinaryFunction *function;

	if (!g_file_test("/bin/gzip", G_FILE_TEST_EXISTS)) {
		g_test_skip("no /bin/gzip");
		return;
	}
	image = open_image("/bin/gzip", NULL);
	check_order(image);
	check_unwind(image, "/bin/gzip");
	function = find_named(image, "memcpy@plt");
	g_assert_nonnull(function);
	g_assert_cmpuint(function->size, ==, 16);
	g_assert_null(find_function(image, 0));
	g_assert_null(find_function(image, UINT64_MAX));
	g_assert_null(lode_binary_image_warning(image));
}

static void test_compiler(void)
{
	g_autofree char *path = tool_output("gcc -print-prog-name=cc1");
	g_autoptr(LodeBinaryImage) image = NULL;
	size_t n;

	if (path == NULL || !g_path_is_absolute(g_strchomp(path))) {
		g_test_skip("no cc1");
		return;
	}
	image = open_image(path, NULL);
	check_order(image);
	lode_binary_image_functions(image, &n);
	g_assert_cmpuint(n, >, 10000);
}

/* `nm`'s functions: each begins one of ours, under one of the names that nm gives its address. */
static void check_names(const LodeBinaryImage *image, const char *nm_output)
{
	g_autoptr(GHashTable) named = g_hash_table_new(g_direct_hash, g_direct_equal);
	g_auto(GStrv) lines = g_strsplit(nm_output, "\n", -1);

	for (size_t i = 0; lines[i] != NULL; i++) {
		const LodeBinaryFunction *function;
		char *end, *name;
		uint64_t address = g_ascii_strtoull(lines[i], &end, 16);

		if (end == lines[i] || end[0] != ' ' || strchr("tTwWi", end[1]) == NULL)
			continue;
		function = find_function(image, address);
		g_assert_nonnull(function);
		g_assert_cmphex(function->address, ==, address);
		g_assert_nonnull(function->symbol);
		name = end + 3;
		name[strcspn(name, "@")] = '\0';
		if (g_str_has_prefix(function->symbol, name))
			g_hash_table_add(named, (void *)function);
		else if (!g_hash_table_contains(named, function))
			g_hash_table_add(named, NULL);
	}
	g_assert_cmpuint(g_hash_table_size(named), >, 1000);
}

/* Several names of one function: which one is shown. */
static void test_aliases(void)
{
	static const char source[] =
		"	.text\n	.globl shown, __libc_shown, _ZN1a1bEv\n	.weak __weak, weak_one\n"
		"	.type shown, @function\n	.type __libc_shown, @function\n"
		"	.type __local, @function\n"
		"__libc_shown:\n__local:\nshown:\n	ret\n	.size shown, 1\n"
		"	.size __libc_shown, 1\n	.size __local, 1\n"
		"	.type weak_one, @function\n	.type __weak, @function\n"
		"	.globl ___strong, strong_name, strong\n	.type ___strong, @function\n"
		"	.type strong_name, @function\n	.type strong, @function\n"
		"weak_one:\n__weak:\n	ret\n	.size weak_one, 1\n	.size __weak, 1\n"
		"local:\n___strong:\nstrong_name:\nstrong:\n	ret\n	.size ___strong, 1\n"
		"	.type local, @function\n	.size local, 1\n	.size strong, 1\n"
		"	.size strong_name, 1\n"
		"	.type _ZN1a1bEv, @function\n	.globl plain_but_weak\n"
		"	.weak plain_but_weak\n	.type plain_but_weak, @function\n"
		"_ZN1a1bEv:\nplain_but_weak:\n	ret\n	.size _ZN1a1bEv, 1\n"
		"	.size plain_but_weak, 1\n";
	static const char *const shown[] = {"shown", "weak_one", "strong", "a::b()"};
	static const char *const hidden[] = {"__libc_shown", "__local", "__weak", "___strong",
		"strong_name", "local", "plain_but_weak"};
	char *directory = tool_directory();
	g_autofree char *file = g_build_filename(directory, "aliases.s", NULL);
	g_autofree char *object = g_build_filename(directory, "aliases.so", NULL);
	g_autofree char *command = g_strdup_printf("gcc -shared -nostdlib -o %s %s", object, file);

	g_assert_true(g_file_set_contents(file, source, -1, NULL));
	if (tool_run(command)) {
		g_autoptr(LodeBinaryImage) image = open_image(object, NULL);
		for (size_t i = 0; i < G_N_ELEMENTS(shown); i++)
			g_assert_nonnull(find_named(image, shown[i]));
		for (size_t i = 0; i < G_N_ELEMENTS(hidden); i++)
			g_assert_null(find_named(image, hidden[i]));
	} else {
		g_test_skip("no gcc");
	}
	tool_directory_remove(directory);
}

static void test_libc(void)
{
	const char *path = "/lib/x86_64-linux-gnu/libc.so.6";
	g_autofree char *output = tool_output("nm -D --defined-only %s", path);
	g_autoptr(LodeBinaryImage) image = NULL;

	if (output == NULL) {
		g_test_skip("no libc.so.6 or nm");
		return;
	}
	image = open_image(path, "/nonexistent");
	check_order(image);
	check_names(image, output);
	check_unwind(image, path);
	g_assert_nonnull(find_named(image, "qsort"));
	g_assert_nonnull(lode_binary_image_build_id(image));
	g_assert_false(lode_binary_image_has_lines(image));
}

/* GNU ld pads none of them. */
static void test_build_id_lengths(void)
{
	static const char digits[] = "0123456789abcdef0123456789abcdef01234567";
	char *directory = tool_directory();

	for (int n = 1; n <= 20; n++) {
		g_autofree char *id = g_strndup(digits, 2 * (size_t)n);
		g_autofree char *command = g_strconcat("cc -Wl,--build-id=0x", id, NULL);
		if (!tool_compile(directory, command)) {
			g_test_skip("no compiler");
			break;
		}
		g_autofree char *path = g_build_filename(directory, "program", NULL);
		g_autoptr(LodeBinaryImage) image = open_image(path, "/nonexistent");
		g_assert_cmpstr(lode_binary_image_build_id(image), ==, id);
	}
	tool_directory_remove(directory);
}

/* Where `name` begins by nm's listing of the unstripped program. */
static uint64_t address_of(const char *nm_output, const char *name)
{
	g_autofree char *pattern = g_strdup_printf(" %s\n", name);
	const char *place = strstr(nm_output, pattern);

	g_assert_nonnull(place);
	while (place > nm_output && place[-1] != '\n')
		place--;
	return g_ascii_strtoull(place, NULL, 16);
}

static void check_separate_debug_file(const void *compiler_and_options)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *output = NULL, *commands = NULL;
	uint64_t address;

	if (!tool_compile(directory, compiler_and_options)) {
		g_test_skip("no cc");
		tool_directory_remove(directory);
		return;
	}
	output = tool_output("nm %s", path);
	address = address_of(output, "sum");
	commands = g_strdup_printf("sh -c 'cd %s && objcopy --only-keep-debug program p.debug && "
				   "strip program && objcopy --add-gnu-debuglink=p.debug program'",
		directory);
	g_assert_true(tool_run(commands));
	{
		g_autoptr(LodeBinaryImage) image = open_image(path, NULL);

		check_order(image);
		g_assert_cmphex(find_named(image, "sum")->address, ==, address);
		g_assert_cmpstr(find_named(image, "foo::bar(int)")->symbol, ==, "_ZN3foo3barEi");
		g_assert_true(lode_binary_image_has_lines(image));
	}
	g_clear_pointer(&commands, g_free);
	commands = g_strdup_printf("mv %s/p.debug %s/q.debug", directory, directory);
	g_assert_true(tool_run(commands));
	{
		g_autoptr(LodeBinaryImage) image = open_image(path, NULL);
		const LodeBinaryFunction *function = find_function(image, address);
		g_autofree char *name = g_strdup_printf("fn_%" G_GINT64_MODIFIER "x", address);

		g_assert_cmphex(function->address, ==, address);
		g_assert_cmpstr(function->name, ==, name);
		g_assert_null(function->symbol);
		g_assert_false(lode_binary_image_has_lines(image));
	}
	tool_directory_remove(directory);
}

/* By build-id in a debug directory, as distributions install it; with dwz, what two debug files
 * have in common is in a third one, which is found likewise. */
static void check_debug_directory(const void *common)
{
	const bool has_common = common != NULL;
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *split = g_strdup_printf(
		"sh -c 'cd %s && cp program other && mkdir -p .build-id/01 && "
		"objcopy --only-keep-debug program p.debug && cp p.debug o.debug && "
		"strip program%s && mv p.debug .build-id/01/23456789abcdef.debug'",
		directory, has_common ? " && dwz -m common p.debug o.debug" : "");
	g_autofree char *move = g_strdup_printf(
		"sh -c 'cd %s && id=$(readelf -n common | sed -n s/.*Build.ID:.//p) && "
		"d=.build-id/$(echo $id | cut -c1-2) && mkdir -p $d && "
		"mv common $d/$(echo $id | cut -c3-).debug'",
		directory);

	if (!tool_compile(directory, "cc -g -O1 -Wl,--build-id=0x0123456789abcdef") ||
		!tool_run(split)) {
		g_test_skip("no cc, objcopy or dwz");
	} else {
		g_assert_true(!has_common || tool_run(move));
		g_autoptr(LodeBinaryImage) image = open_image(path, directory);
		uint64_t address = find_named(image, "sum")->address;
		LodeBinaryLocation location;

		g_assert_true(lode_binary_image_has_lines(image));
		lode_binary_image_locate(image, &address, 1, &location);
		g_assert_true(g_str_has_suffix(location.file, "program.c"));
		g_assert_cmpuint(location.line, >=, 6);
		g_assert_cmpuint(location.line, <=, 11);
		g_assert_null(lode_binary_image_warning(image));
	}
	tool_directory_remove(directory);
}

/* Adds `size` bytes as .gnu_debugdata to the program, packed as xz does. */
static void add_packed_section(const char *directory, const char *data, size_t size)
{
	size_t room = lzma_stream_buffer_bound(size), n = 0;
	g_autofree uint8_t *packed = g_malloc(room);
	g_autofree char *path = g_build_filename(directory, "packed", NULL);
	g_autofree char *command = g_strdup_printf(
		"objcopy --remove-section .gnu_debugdata --add-section .gnu_debugdata=%s "
		"%s/program",
		path, directory);

	g_assert_cmpint(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const uint8_t *)data,
				size, packed, &n, room),
		==, LZMA_OK);
	g_assert_true(g_file_set_contents(path, (const char *)packed, (gssize)n, NULL));
	g_assert_true(tool_run(command));
}

/* As distributions strip: .dynsym stays, the other functions' symbols are in .gnu_debugdata. */
static void test_packed_symbols(void)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *symbols = g_build_filename(directory, "symbols", NULL);
	g_autofree char *commands = g_strdup_printf(
		"sh -c 'cd %s && objcopy --only-keep-debug program debug && "
		"objcopy -S --keep-symbol=sum --keep-symbol=main debug symbols && strip program'",
		directory);
	g_autofree char *output = NULL, *data = NULL, *zeros = g_malloc0(64 << 20);
	size_t size;

	if (!tool_compile(directory, "cc -O1 -Wl,--export-dynamic-symbol=_ZN3foo3barEi")) {
		g_test_skip("no cc");
		tool_directory_remove(directory);
		return;
	}
	output = tool_output("nm %s", path);
	g_assert_true(tool_run(commands));
	g_assert_true(g_file_get_contents(symbols, &data, &size, NULL));
	add_packed_section(directory, data, size);
	{
		g_autoptr(LodeBinaryImage) image = open_image(path, "/nonexistent");

		check_order(image);
		g_assert_cmphex(find_named(image, "sum")->address, ==, address_of(output, "sum"));
		g_assert_cmphex(find_named(image, "main")->address, ==, address_of(output, "main"));
		g_assert_nonnull(find_named(image, "foo::bar(int)"));
		g_assert_null(lode_binary_image_warning(image));
	}
	for (int i = 0; i < 2; i++) { /* an ELF file cut short; what unpacks to far too much */
		add_packed_section(directory, i == 0 ? data : zeros, i == 0 ? 40 : 64 << 20);
		g_autoptr(LodeBinaryImage) image = open_image(path, "/nonexistent");

		g_assert_null(find_named(image, "sum"));
		g_assert_nonnull(find_named(image, "foo::bar(int)"));
		g_assert_nonnull(strstr(lode_binary_image_warning(image), ".gnu_debugdata"));
	}
	tool_directory_remove(directory);
}

#ifdef LODE_HAVE_DEBUGINFOD
/* A server that is a directory: curl reads file: addresses, and keeps what it read in a cache. */
static void test_debuginfod(void)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *commands = NULL, *address = NULL, *cache = NULL;
	LodeBinaryImageOptions options = {.debug_directory = "/nonexistent"};

	if (!tool_compile(directory, "cc -g -Wl,--build-id=0x0123456789abcdef01234567")) {
		g_test_skip("no cc");
		tool_directory_remove(directory);
		return;
	}
	commands = g_strdup_printf(
		"sh -c 'cd %s && mkdir -p buildid/0123456789abcdef01234567 && "
		"objcopy --only-keep-debug program buildid/0123456789abcdef01234567/debuginfo && "
		"strip program'",
		directory);
	g_assert_true(tool_run(commands));
	address = g_strdup_printf("file://%s", directory);
	cache = g_build_filename(directory, "cache", NULL);
	g_assert_true(g_setenv("DEBUGINFOD_URLS", address, true));
	g_assert_true(g_setenv("DEBUGINFOD_CACHE_PATH", cache, true));
	for (int allowed = 0; allowed <= 1; allowed++) {
		g_autoptr(LodeBinaryImage) image = NULL;

		options.allow_debuginfod = allowed != 0;
		image = lode_binary_image_open(path, &options, NULL);
		g_assert_nonnull(image);
		g_assert_true(lode_binary_image_has_lines(image) == options.allow_debuginfod);
	}
	g_clear_pointer(&commands, g_free);
	commands = g_strdup_printf("rm -r %s/buildid %s", directory, cache);
	g_assert_true(tool_run(commands));
	tool_directory_remove(directory);
}
#endif

/* Assembly: a label without size, one without type, an alias, an overlap, and an own section. */
static void test_assembly(void)
{
	static const char SOURCE[] = ".text\n"
				     ".globl _start, alias, weak_one\n"
				     "_start: nop\n call sized\n ret\n"
				     ".p2align 4\n"
				     ".type sized, @function\n"
				     "sized: nop\nlocal_label: nop\n.globl inner\ninner: ret\n"
				     ".size sized, .-sized\n"
				     ".type weak_one, @function\n.weak weak_one\n"
				     ".type alias, @function\n"
				     "alias:\nweak_one: xor %eax,%eax\n ret\n"
				     ".size alias, 3\n.size weak_one, 3\n"
				     ".p2align 5, 0x90\n"
				     "nameless_local: mov %eax,%ebx\n ret\n"
				     ".section .other,\"ax\"\n"
				     "push %rax\n ret\n";
	char *directory = tool_directory();
	g_autofree char *source = g_build_filename(directory, "a.s", NULL);
	g_autofree char *path = g_build_filename(directory, "a", NULL);
	g_autofree char *output = NULL;

	g_assert_true(g_file_set_contents(source, SOURCE, -1, NULL));
	output = tool_output("cc -nostdlib -static -o %s %s", path, source);
	if (output == NULL) {
		g_test_skip("no cc");
	} else {
		g_autoptr(LodeBinaryImage) image = open_image(path, NULL);
		const LodeBinaryFunction *functions;
		size_t n;

		check_order(image);
		functions = lode_binary_image_functions(image, &n);
		g_assert_cmpuint(n, ==, 5);
		g_assert_cmpstr(functions[0].name, ==, "_start");
		g_assert_cmpuint(functions[0].size, ==, 16); /* to the next symbol */
		g_assert_cmpstr(functions[1].name, ==, "sized");
		g_assert_cmpuint(functions[1].size, ==, 3); /* `inner` is a label in it */
		g_assert_cmpstr(functions[2].name, ==, "alias");
		g_assert_cmpuint(functions[2].size, ==, 3);
		g_assert_true(g_str_has_prefix(functions[3].name, "fn_"));
		g_assert_cmpuint(functions[3].size, ==, 3); /* the padding is left out */
		g_assert_true(g_str_has_prefix(functions[4].name, "fn_"));
		g_assert_cmpuint(functions[4].size, ==, 2);
	}
	tool_directory_remove(directory);
}

static void write_and_fail(const char *path, const void *data, size_t n, int code)
{
	g_autoptr(GError) error = NULL;

	g_assert_true(g_file_set_contents(path, data, (gssize)n, NULL));
	g_assert_null(lode_binary_image_open(path, NULL, &error));
	g_assert_error(error, LODE_ERROR, code);
	g_assert_nonnull(strstr(error->message, path));
}

/* A recording may name pipes as what was mapped; nobody writes into these. */
/*
 * Functions that are called, that only a pointer leads to, and that end in a jump to another one.
 * Loops are padded inside, and begin by a jump over their body.
 */
static const char UNNAMED_PROGRAM[] =
	"volatile int numbers[64];\n"
	"__attribute__((noinline)) int first(int n)\n"
	"{\n"
	"	int sum = 0;\n"
	"	for (int i = 0; i < n; i++)\n"
	"		for (int k = n; k > i; k -= 3)\n"
	"			sum += numbers[(i ^ k) & 63] > 7 ? numbers[k & 63] : i;\n"
	"	return sum;\n"
	"}\n"
	"__attribute__((noinline)) int second(int n) { return first(n & 7) + numbers[n & 63]; }\n"
	"__attribute__((noinline)) int third(int n) { numbers[1] = n; return second(n + 1); }\n"
	"__attribute__((noinline)) int fourth(int n)\n"
	"{\n"
	"	while (numbers[n & 63] != 0) {\n"
	"		if (numbers[0] == n)\n"
	"			return 5;\n"
	"		n = numbers[n & 63] * 3;\n"
	"	}\n"
	"	return n;\n"
	"}\n"
	"int (*volatile pointer)(int) = fourth;\n"
	"int start(int n) { return pointer(n) + third(n) + second(n); }\n";

/* Without symbols and unwind table functions begin where nm finds them in the unstripped file. */
static void test_unnamed_code(void)
{
	static const char *const options[] = {"-O1", "-O2", "-O2 -fcf-protection=none", "-O3",
		"-Os -fcf-protection=none", "-O2 -fno-omit-frame-pointer -fpie -pie"};
	static const char *const names[] = {"first", "second", "third", "fourth", "start"};
	char *directory = tool_directory();
	g_autofree char *source = g_build_filename(directory, "p.c", NULL);
	g_autofree char *path = g_build_filename(directory, "p", NULL);
	g_autofree char *strip = g_strdup_printf("strip %s", path);

	g_assert_true(g_file_set_contents(source, UNNAMED_PROGRAM, -1, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
		g_autofree char *command = g_strdup_printf(
			"gcc -nostdlib -fno-asynchronous-unwind-tables -Wl,-e,start %s -o %s %s",
			options[i], path, source);
		if (!tool_run(command)) {
			g_test_skip("no gcc");
			break;
		}
		g_autofree char *output = tool_output("nm %s", path);
		g_assert_true(tool_run(strip));
		g_autoptr(LodeBinaryImage) image = open_image(path, "/nonexistent");
		size_t n;
		lode_binary_image_functions(image, &n);
		check_order(image);
		/* a function that only a pointer leads to is not found where nothing is padded */
		bool is_dense = strstr(options[i], "-Os") != NULL;
		for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
			uint64_t address = address_of(output, names[k]);
			g_autofree char *name = g_strdup_printf(
				"fn_%" G_GINT64_MODIFIER "x", address);
			if (!is_dense || k != 3)
				g_assert_cmphex(find_named(image, name)->address, ==, address);
		}
		g_assert_cmpuint(n, <=, G_N_ELEMENTS(names));
	}
	tool_directory_remove(directory);
}

static void test_named_pipes(void)
{
	static const char *const names[] = {"program", "perf-7.map", "jit-7.dump"};
	char *directory = tool_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(directory, names[i], NULL);
		g_autoptr(GError) error = NULL;
		g_assert_cmpint(mkfifo(path, 0600), ==, 0);
		g_assert_null(lode_binary_image_open(path, NULL, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	}
	tool_directory_remove(directory);
}

static void test_errors(void)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "file", NULL);
	g_autoptr(GError) error = NULL;
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
		.e_machine = EM_X86_64,
		.e_type = ET_REL};

	g_assert_null(lode_binary_image_open(path, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	write_and_fail(path, "", 0, LODE_ERROR_UNSUPPORTED);
	write_and_fail(path, "#!/bin/sh\n", 10, LODE_ERROR_UNSUPPORTED);
	write_and_fail(path, &header, 20, LODE_ERROR_CORRUPT);
	write_and_fail(path, &header, sizeof header, LODE_ERROR_UNSUPPORTED);
	header.e_type = ET_EXEC;
	header.e_ident[EI_DATA] = ELFDATA2MSB;
	write_and_fail(path, &header, sizeof header, LODE_ERROR_UNSUPPORTED);
	tool_directory_remove(directory);
}

/* Of other machines functions and lines are known, and code is not given out as if it were
 * x86-64's. */
static void check_machine(const char *directory, const char *target, const char *machine)
{
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *compiler = g_strdup_printf(
		"clang --target=%s -g -O1 -ffreestanding -nostdlib -fuse-ld=lld -static -fno-pic "
		"-Wl,-e,main",
		target);
	LodeBinaryLocation location;
	size_t n;

	if (!tool_compile(directory, compiler)) {
		g_test_message("no clang for %s", target);
		return;
	}
	g_autoptr(LodeBinaryImage) image = open_image(path, "/nonexistent");
	const LodeBinaryFunction *function = find_named(image, "sum");
	g_assert_cmpstr(lode_binary_image_undecoded(image), ==, machine);
	g_assert_null(lode_binary_image_warning(image));
	g_assert_nonnull(find_named(image, "foo::bar(int)"));
	g_assert_nonnull(function);
	g_assert_cmpuint(function->size, >=, 16);
	g_assert_cmpuint(function->address % 2, ==, 0);
	g_assert_null(lode_binary_image_bytes(image, function->address, &n));
	uint64_t address = function->address + function->size / 2 / 4 * 4;
	lode_binary_image_locate(image, &address, 1, &location);
	g_assert_true(g_str_has_suffix(location.file, "program.c"));
	g_assert_cmpuint(location.line, >, 0);
}

static void test_other_machines(void)
{
	static const struct {
		const char *target, *machine;
	} machines[] = {
		{"aarch64-linux-gnu", "AArch64"},
		{"aarch64_be-linux-gnu", "AArch64"},
		{"armv7-linux-gnueabihf", "ARM"},
		{"thumbv7-linux-gnueabihf", "ARM"},
		{"powerpc-linux-gnu", "PowerPC"},
		{"powerpc64-linux-gnu", "64-bit PowerPC"},
		{"powerpc64le-linux-gnu", "64-bit PowerPC"},
		{"mips-linux-gnu", "MIPS"},
		{"mips64-linux-gnuabi64", "64-bit MIPS"},
		{"riscv64-linux-gnu -mno-relax", "64-bit RISC-V"},
		{"riscv32-linux-gnu -mno-relax", "32-bit RISC-V"},
		{"i386-linux-gnu", "32-bit x86"},
		{"x86_64-linux-gnux32", "x86-64 with 32-bit pointers"},
	};
	char *directory = tool_directory();

	for (size_t i = 0; i < G_N_ELEMENTS(machines); i++)
		check_machine(directory, machines[i].target, machines[i].machine);
	tool_directory_remove(directory);
}

/* Opens a damaged file and looks at everything; only that nothing breaks is asked. */
static void exercise(const char *path, const char *data, size_t size)
{
	g_autoptr(LodeBinaryImage) image = NULL;
	LodeBinaryLocation locations[16];
	uint64_t addresses[16];
	const LodeBinaryFunction *functions;
	size_t n;

	g_assert_true(g_file_set_contents_full(
		path, data, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	image = lode_binary_image_open(path, NULL, NULL);
	if (image == NULL)
		return;
	check_order(image);
	functions = lode_binary_image_functions(image, &n);
	n = MIN(n, G_N_ELEMENTS(addresses));
	for (size_t i = 0; i < n; i++)
		addresses[i] = functions[i].address;
	lode_binary_image_locate(image, addresses, n, locations);
}

static void test_damaged(void)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *data = NULL;
	size_t size;

	if (!tool_compile(directory, "cc -g -O1")) {
		g_test_skip("no cc");
		tool_directory_remove(directory);
		return;
	}
	g_assert_true(g_file_get_contents(path, &data, &size, NULL));
	for (size_t n = 0; n < size; n += size / 400 + 1)
		exercise(path, data, n);
	for (int i = 0; i < 600; i++) {
		size_t place = (size_t)random_int_range(0, (int)size);
		char old = data[place];

		data[place] = (char)random_int_range(0, 256);
		exercise(path, data, size);
		data[place] = old;
	}
	tool_directory_remove(directory);
}

enum { BLOCK = 1 << 20, N_BLOCKS = 1000 };

/* So many blocks of zeros, packed. They are flushed, and the second one can be had again. */
static GByteArray *pack_zeros(void)
{
	g_autofree uint8_t *zeros = g_malloc0(BLOCK), *out = g_malloc(BLOCK);
	z_stream stream = {.next_out = out, .avail_out = BLOCK};
	GByteArray *packed = g_byte_array_new();
	uLong first, sum;

	g_assert_cmpint(deflateInit(&stream, 9), ==, Z_OK);
	for (int i = 0; i < 3; i++) {
		stream.next_in = zeros;
		stream.avail_in = BLOCK;
		uLong begin = stream.total_out;
		deflate(&stream, i < 2 ? Z_FULL_FLUSH : Z_FINISH);
		guint n = (guint)(stream.total_out - begin);
		for (int k = 0; k < (i == 1 ? N_BLOCKS - 2 : 1); k++)
			g_byte_array_append(packed, out + begin, n);
	}
	first = sum = adler32(1, zeros, BLOCK);
	for (int i = 1; i < N_BLOCKS; i++)
		sum = adler32_combine(sum, first, BLOCK);
	for (guint i = 0; i < 4; i++)
		packed->data[packed->len - 1 - i] = (guint8)(sum >> 8 * i);
	deflateEnd(&stream);
	return packed;
}

/* .debug_info as a gigabyte of zeros, packed to a megabyte, which is put at the end of the file. */
static void put_expanding_section(GByteArray *file)
{
	Elf64_Ehdr header;
	Elf64_Shdr names, section;
	const Elf64_Chdr head = {.ch_type = ELFCOMPRESS_ZLIB,
		.ch_size = (Elf64_Xword)BLOCK * N_BLOCKS,
		.ch_addralign = 1};
	g_autoptr(GByteArray) packed = pack_zeros();

	memcpy(&header, file->data, sizeof header);
	memcpy(&names, file->data + header.e_shoff + header.e_shstrndx * sizeof names,
		sizeof names);
	g_byte_array_set_size(file, (file->len + 7) & ~7u);
	for (unsigned i = 0; i < header.e_shnum; i++) {
		uint8_t *place = file->data + header.e_shoff + i * sizeof section;

		memcpy(&section, place, sizeof section);
		if (strcmp((char *)file->data + names.sh_offset + section.sh_name, ".debug_info") !=
			0)
			continue;
		section.sh_offset = file->len;
		section.sh_size = sizeof head + packed->len;
		section.sh_flags |= SHF_COMPRESSED;
		memcpy(place, &section, sizeof section);
	}
	g_byte_array_append(file, (const uint8_t *)&head, sizeof head);
	g_byte_array_append(file, packed->data, packed->len);
}

/* Sanitizers need an address space of their own. */
static bool has_sanitizer(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#endif
#endif
	return false;
}

/* Debug information that unpacks to far more than the file is left out, and takes no memory. */
static void test_expanding_section(void)
{
	g_autofree char *directory = NULL, *path = NULL, *data = NULL;
	const struct rlimit limit = {300 << 20, 300 << 20};
	struct rusage usage;
	size_t size;

	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
		g_test_trap_assert_passed();
		return;
	}
	directory = tool_directory();
	path = g_build_filename(directory, "program", NULL);
	if (tool_compile(directory, "cc -g -O1") && g_file_get_contents(path, &data, &size, NULL)) {
		g_autoptr(GByteArray)
			file = g_byte_array_new_take((guint8 *)g_steal_pointer(&data), size);
		g_autoptr(LodeBinaryImage) image = NULL;
		LodeBinaryLocation location;

		put_expanding_section(file);
		g_assert_cmpuint(file->len, <, 2 << 20);
		g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
		if (!has_sanitizer())
			g_assert_cmpint(setrlimit(RLIMIT_AS, &limit), ==, 0);
		image = open_image(path, "/nonexistent");
		uint64_t address = find_named(image, "main")->address;
		lode_binary_image_locate(image, &address, 1, &location);
		g_assert_cmpuint(location.line, ==, 0);
		g_assert_nonnull(strstr(lode_binary_image_warning(image), "grow beyond"));
		g_assert_cmpint(getrusage(RUSAGE_SELF, &usage), ==, 0);
		g_assert_cmpint(usage.ru_maxrss, <, 512 << 10);
	}
	tool_directory_remove(g_steal_pointer(&directory));
}

/* A line table of an unknown version: no lines, a warning, and the functions are still there. */
static void test_broken_lines(void)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *commands = g_strdup_printf(
		"sh -c 'cd %s && printf \"\\020\\0\\0\\0\\377\\377%%020d\" 0 > l && "
		"objcopy --update-section .debug_line=l program'",
		directory);

	if (!tool_compile(directory, "cc -g -O1") || !tool_run(commands)) {
		g_test_skip("no cc or objcopy");
	} else {
		g_autoptr(LodeBinaryImage) image = open_image(path, NULL);
		uint64_t address = find_named(image, "main")->address;
		LodeBinaryLocation location;

		g_assert_null(lode_binary_image_warning(image));
		lode_binary_image_locate(image, &address, 1, &location);
		g_assert_cmpuint(location.line, ==, 0);
		g_assert_nonnull(strstr(lode_binary_image_warning(image), "line table"));
	}
	tool_directory_remove(directory);
}

/* Without section headers functions still come from the segments' unwind table. */
static void test_no_sections(void)
{
	char *directory = tool_directory();
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	g_autofree char *data = NULL, *output = NULL;
	size_t size;

	if (!tool_compile(directory, "cc -O1")) {
		g_test_skip("no cc");
		tool_directory_remove(directory);
		return;
	}
	output = tool_output("nm %s", path);
	g_assert_true(g_file_get_contents(path, &data, &size, NULL));
	((Elf64_Ehdr *)(void *)data)->e_shoff = 0;
	((Elf64_Ehdr *)(void *)data)->e_shnum = 0;
	((Elf64_Ehdr *)(void *)data)->e_shstrndx = 0;
	g_assert_true(g_file_set_contents(path, data, (gssize)size, NULL));
	{
		g_autoptr(LodeBinaryImage) image = open_image(path, NULL);
		uint64_t address = address_of(output, "sum");
		const LodeBinaryFunction *function = find_function(image, address);

		check_order(image);
		g_assert_nonnull(function);
		g_assert_cmphex(function->address, ==, address);
	}
	tool_directory_remove(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/binary_image/stripped", test_stripped);
	g_test_add_func("/images/binary_image/compiler", test_compiler);
	g_test_add_func("/images/binary_image/aliases", test_aliases);
	g_test_add_func("/images/binary_image/libc", test_libc);
	g_test_add_func("/images/binary_image/build_id_lengths", test_build_id_lengths);
	g_test_add_data_func("/images/binary_image/debug_file_by_build_id",
		"cc -g -O1 -Wl,--build-id=sha1", check_separate_debug_file);
	g_test_add_data_func("/images/binary_image/debug_file_by_checksum",
		"cc -g -O1 -Wl,--build-id=none", check_separate_debug_file);
	g_test_add_data_func("/images/binary_image/debug_directory", NULL, check_debug_directory);
	g_test_add_data_func(
		"/images/binary_image/debug_directory_dwz", "dwz", check_debug_directory);
	g_test_add_func("/images/binary_image/packed_symbols", test_packed_symbols);
#ifdef LODE_HAVE_DEBUGINFOD
	g_test_add_func("/images/binary_image/debuginfod", test_debuginfod);
#endif
	g_test_add_func("/images/binary_image/assembly", test_assembly);
	g_test_add_func("/images/binary_image/unnamed_code", test_unnamed_code);
	g_test_add_func("/images/binary_image/named_pipes", test_named_pipes);
	g_test_add_func("/images/binary_image/errors", test_errors);
	g_test_add_func("/images/binary_image/other_machines", test_other_machines);
	add_random_test("/images/binary_image/damaged", test_damaged,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	g_test_add_func("/images/binary_image/expanding_section", test_expanding_section);
	g_test_add_func("/images/binary_image/broken_lines", test_broken_lines);
	g_test_add_func("/images/binary_image/no_sections", test_no_sections);
	return g_test_run();
}
