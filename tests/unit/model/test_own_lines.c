/* SPDX-License-Identifier: MIT */
/* The user's own lines against a walk outward, on random inlinings. */
#include "model/lines/java_class.h"
#include "model/lines/own_lines.h"
#include "model/profile.h"
#include "model/stacks.h"

#include <string.h>

enum { N_INSTRUCTIONS = 200, N_PROFILES = 50 };

static const char *const files[] = {"/home/me/a.c", "/usr/include/c++/12/bits/stl_vector.h",
	"/rustc/0123/library/core/src/iter.rs", "b.c", "/usr/lib/go/src/runtime/map.go", NULL};

static bool is_own_naively(const LodeLocation *location, bool has_glob)
{
	return location->file != NULL && location->line > 0 &&
	       (g_str_has_prefix(location->file, "/home") || strcmp(location->file, "b.c") == 0 ||
		       (has_glob && strstr(location->file, "stl_") != NULL));
}

static uint32_t random_location(LodeProfile *profile, GRand *random)
{
	static const char *const names[] = {"f", "g", NULL};

	return lode_profile_location(profile,
		files[g_rand_int_range(random, 0, G_N_ELEMENTS(files))],
		(uint32_t)g_rand_int_range(random, 0, 4),
		names[g_rand_int_range(random, 0, G_N_ELEMENTS(names))]);
}

static LodeProfile *random_inlinings(GRand *random)
{
	LodeProfile *profile = lode_profile_new();
	const LodeImage image = {.path = lode_profile_intern(profile, "/home/me/app")};
	const LodeFunction function = {.name = lode_profile_intern(profile, "worker")};

	g_array_append_val(profile->code.images, image);
	g_array_append_val(profile->code.functions, function);
	for (int i = 0; i < 40; i++)
		lode_profile_inlining(profile, random_location(profile, random),
			profile->code.inlinings->len > 0 && g_rand_int_range(random, 0, 4) > 0
				? (uint32_t)g_rand_int_range(
					  random, 0, (gint32)profile->code.inlinings->len)
				: LODE_NONE);
	for (uint32_t i = 0; i < N_INSTRUCTIONS; i++) {
		LodeInstruction one = {.location = g_rand_int_range(random, 0, 10) > 0
		                                           ? random_location(profile, random)
		                                           : LODE_NONE};
		g_array_append_val(profile->code.instructions, one);
	}
	for (uint32_t i = 0; i < N_INSTRUCTIONS; i++)
		lode_profile_set_inlining(profile, i,
			g_rand_boolean(random) ? (uint32_t)g_rand_int_range(random, 0,
							 (gint32)profile->code.inlinings->len)
					       : LODE_NONE);
	return profile;
}

/* All locations from the innermost outward, without those that are not there. */
static GArray *walk(const LodeProfile *profile, uint32_t instruction)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t location = lode_profile_instruction(profile, instruction)->location;
	uint32_t inlining = lode_profile_inlining_of(profile, instruction);

	g_array_append_val(out, location);
	for (; inlining != LODE_NONE;
		inlining = LODE_AT(profile->code.inlinings, LodeInlining, inlining).outer)
		g_array_append_val(
			out, LODE_AT(profile->code.inlinings, LodeInlining, inlining).location);
	return out;
}

static void check(const LodeProfile *profile, const LodeOwnLines *own, uint32_t i, bool has_glob)
{
	g_autoptr(GArray) way = walk(profile, i);
	g_autoptr(GArray) chain = lode_own_lines_chain(own, i);
	uint32_t innermost = g_array_index(way, uint32_t, 0), expected = innermost, n_own = 0;

	for (guint k = way->len; k-- > 0;) {
		uint32_t id = g_array_index(way, uint32_t, k);
		if (id != LODE_NONE &&
			is_own_naively(
				&LODE_AT(profile->code.locations, LodeLocation, id), has_glob))
			expected = id;
	}
	g_assert_cmpuint(lode_own_lines_find(own, i), ==, expected);
	if (innermost == LODE_NONE) {
		g_assert_cmpuint(chain->len, ==, 0);
		return;
	}
	g_assert_cmpuint(chain->len, ==, way->len);
	for (guint k = 0; k < chain->len; k++) {
		const LodeInlinedLine *line = &g_array_index(chain, LodeInlinedLine, k);
		const LodeLocation *location = &LODE_AT(profile->code.locations, LodeLocation,
			g_array_index(way, uint32_t, way->len - 1 - k));
		const char *function = location->inlined != NULL ? location->inlined
		                       : k == 0                  ? "worker"
		                                                 : "?";
		g_assert_true(line->location == location);
		g_assert_cmpstr(line->function, ==, function);
		n_own += line->is_own;
	}
	g_assert_cmpuint(n_own, ==, 1);
}

static void test_random(void)
{
	static const char *const globs[] = {"*stl_*", NULL};

	for (guint32 seed = 0; seed < N_PROFILES; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		g_autoptr(LodeProfile) profile = random_inlinings(random);
		bool has_glob = seed % 2 == 0;
		g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, has_glob ? globs : NULL);
		for (uint32_t i = 0; i < N_INSTRUCTIONS; i++)
			check(profile, own, i, has_glob);
	}
}

static void test_libraries(void)
{
	g_assert_true(lode_is_system_library("/usr/lib/x86_64-linux-gnu/libc.so.6"));
	g_assert_true(lode_is_system_library("/lib64/ld-linux-x86-64.so.2"));
	g_assert_true(lode_is_system_library("/usr/libx32/libm.so"));
	g_assert_true(lode_is_system_library("[vdso]"));
	g_assert_true(lode_is_system_library("/home/me/lode/liblode-jvm-agent.so"));
	g_assert_false(lode_is_system_library("/library/libmine.so"));
	g_assert_false(lode_is_system_library("/usr/lib/firefox/firefox"));
	g_assert_false(lode_is_system_library("/home/me/lib/libmine.so"));
}

static void test_files(void)
{
	static const char *const toolchain[] = {"/usr/include/string.h",
		"/usr/share/perl/5.36/List/Util.pm", "<frozen zipimport>",
		"<__array_function__ internals>", "<attrs generated init a.B>",
		"/usr/share/perl5/Moo.pm", "(eval)", "/usr/lib/x86_64-linux-gnu/perl-base/POSIX.pm",
		"<internal:kernel>", "/usr/lib/ruby/3.1.0/set.rb",
		"/var/lib/gems/3.1.0/gems/rack-2.2/lib/rack.rb",
		"/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/stl_map.h",
		"/rustc/90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/library/core/src/slice/mod.rs",
		"/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/cmp.rs",
		"/usr/lib/go-1.19/src/runtime/map.go", "/usr/local/go/src/sort/sort.go",
		"/home/me/.cargo/registry/src/index.crates.io-6f17d22bba15/regex-1.9.1/src/a.rs",
		"/usr/local/cargo/git/checkouts/serde-1234/abcd/src/lib.rs",
		"/home/me/go/pkg/mod/golang.org/x/text@v0.3.7/width/width.go", "./<autogenerated>",
		"/rust/deps/hashbrown-0.16.1/src/raw/alloc.rs", "library/alloc/src/alloc.rs",
		"library/compiler-builtins/compiler-builtins/src/int/udiv.rs",
		"github.com/a/b@v1.2.3/c.go", "java/util/Random.java",
		"jdk/internal/misc/Unsafe.java", "node:internal/fs/utils",
		"../deps/uv/src/unix/fs.c"};
	static const char *const own[] = {"/home/me/main.cpp", "src/java/native.c", "java/native.c",
		"Svc.java", "org/example/java/util/Random.java", "/usr/includes/a.h",
		"/home/me/../you/a.c", "", "/", "/home/me/cargo/src/registry.rs",
		"library/src/a.rs", "/home/me/go/src/app/main.go", "/home/me@v1/a.c",
		"/home/me/a@v1.go", "a@vx/b.go", "/home/me/lib/Cart.pm", "/home/me/app/lib/cart.rb",
		"bin/perl/run.pl", "<string>", "<stdin>", "<frozen"};

	for (size_t i = 0; i < G_N_ELEMENTS(toolchain); i++)
		g_assert_true(lode_is_toolchain_file(toolchain[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
		g_assert_false(lode_is_toolchain_file(own[i]));
}

/* An interpreter that somebody built, its own extension, and an extension of the user's. */
static void test_interpreters(void)
{
	static const struct {
		const char *image, *file;
		bool is_own;
	} cases[] = {
		{"/home/me/.pyenv/versions/3.12.1/lib/libpython3.12.so.1.0",
			"/tmp/build/Objects/listobject.c", false},
		{"/home/me/.pyenv/versions/3.12.1/lib/python3.12/lib-dynload/_json.so",
			"/tmp/build/Modules/_json.c", false},
		{"/home/me/fast.so", "/home/me/fast.c", true},
		{"/home/me/fast.so", "/home/me/include/python3.12/object.h", false},
	};
	static const char *const globs[] = {"*listobject.c", NULL};
	g_autoptr(LodeProfile) profile = lode_profile_new();

	for (uint32_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeImage image = {.path = lode_profile_intern(profile, cases[i].image)};
		const LodeFunction function = {.name = lode_profile_intern(profile, "f"),
			.image = i,
			.first_instruction = i,
			.n_instructions = 1};
		const LodeInstruction instruction = {.function = i,
			.location = lode_profile_location(
				profile, lode_profile_intern(profile, cases[i].file), 7, NULL)};
		g_array_append_val(profile->code.images, image);
		g_array_append_val(profile->code.functions, function);
		g_array_append_val(profile->code.instructions, instruction);
		lode_profile_set_inlining(profile, i, LODE_NONE);
	}
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	g_autoptr(LodeOwnLines) asked = lode_own_lines_new(profile, globs);
	for (uint32_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_true(
			lode_own_lines_is_own(own, lode_own_lines_find(own, i)) == cases[i].is_own);
	g_assert_true(lode_own_lines_is_own(asked, lode_own_lines_find(asked, 0)));
	g_assert_false(lode_own_lines_is_own_file(own, "/tmp/build/Objects/listobject.c"));
}

static void test_java(void)
{
	static const struct {
		const char *function, *file, *class, *file_of;
	} cases[] = {
		{"Main.total(int) [tier 4]", "java/math/BigDecimal.java", "java.math.BigDecimal",
			"Main.java"},
		{"Main.total(int)", "Main.java", NULL, "Main.java"},
		{"shop.Cart$Item.price(java.lang.String)", "java/lang/String.java",
			"java.lang.String", "shop/Cart.java"},
		{"java.lang.String.trim()", "java/lang/String.java", NULL, "java/lang/String.java"},
		{"java.util.HashMap$Node.find()", "java/util/HashMap.java", NULL,
			"java/util/HashMap.java"},
		{"java.lang.StringBuilder.append(char)", "java/lang/String.java",
			"java.lang.String", "java/lang/StringBuilder.java"},
		{"main", "/usr/include/string.h", NULL, "main.java"},
		{"", ".java", NULL, ".java"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *class = lode_java_inlined_class(cases[i].function, cases[i].file);
		g_autofree char *file = lode_java_file_of(cases[i].function);
		g_assert_cmpstr(class, ==, cases[i].class);
		g_assert_cmpstr(file, ==, cases[i].file_of);
	}
}

/* Functions of JavaScript that are interpreted have their file in the name alone. */
static void test_made_code(void)
{
	static const struct {
		const char *function;
		bool is_own;
	} cases[] = {{"JS:~load /home/me/a.js:3:9", true}, {"JS:~ /home/me/a.js:1:1", true},
		{"JS:~readSync node:fs:700:18", false}, {"Builtins_ArrayMap", false},
		{"Interpreter", false}, {"Board.next() [tier 3]", true},
		{"java.lang.Thread.run() [tier 3]", false}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeFrame frame = {
			.function = (char *)cases[i].function, .image = (char *)"/tmp/jit-7.dump"};
		g_test_message("%s", cases[i].function);
		g_assert_cmpint(lode_is_own_frame(&frame), ==, cases[i].is_own);
	}
}

/* Interpreters and their libraries, by the names that distributions give them. */
static void test_names_of_interpreters(void)
{
	static const struct {
		const char *path;
		bool is_it;
	} cases[] = {
		{"/usr/bin/python3.11", true},
		{"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2", true},
		{"/usr/lib/libruby.so.3.2", true},
		{"/usr/bin/perl", true},
		{"/usr/bin/ruby-build", false},
		{"/home/me/python-tools", false},
		{"/home/me/pythonic", false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].path);
		g_assert_cmpint(lode_is_run_time_code(cases[i].path), ==, cases[i].is_it);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/own-lines/random", test_random);
	g_test_add_func("/own-lines/files", test_files);
	g_test_add_func("/own-lines/interpreters", test_interpreters);
	g_test_add_func("/own-lines/java", test_java);
	g_test_add_func("/own-lines/libraries", test_libraries);
	g_test_add_func("/own-lines/made-code", test_made_code);
	g_test_add_func("/own-lines/names_of_interpreters", test_names_of_interpreters);
	return g_test_run();
}
