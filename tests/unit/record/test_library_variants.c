/* SPDX-License-Identifier: MIT */
/* The environments of the two runs: what stands in them, and that both runs choose alike. */
#include "record/qemu/library_variants.h"
#include "record/qemu/qemu_program.h"

#include <string.h>

#define LINKER "/lib64/ld-linux-x86-64.so.2"

static const char *tunables_of(char **environment)
{
	const char *value = g_environ_getenv(environment, "GLIBC_TUNABLES");

	return value != NULL ? value : "";
}

/* What glibc takes: the last of that name. */
static char *tunable(char **environment, const char *name)
{
	g_auto(GStrv) all = g_strsplit(tunables_of(environment), ":", -1);
	const char *found = NULL;

	for (guint i = 0; all[i] != NULL; i++)
		if (g_str_has_prefix(all[i], name) && all[i][strlen(name)] == '=')
			found = all[i] + strlen(name) + 1;
	return g_strdup(found);
}

static void test_native(void)
{
	const char *const given[] = {
		"PATH=/bin", "GLIBC_TUNABLES=glibc.malloc.perturb=7", "X=y", NULL};
	const char *const none[] = {"PATH=/bin", NULL};
	g_auto(GStrv) native = lode_library_variants_native(given);
	g_auto(GStrv) plain = lode_library_variants_native(none);

	g_assert_true(g_str_has_prefix(tunables_of(native), "glibc.malloc.perturb=7:glibc.cpu."));
	g_assert_nonnull(strstr(tunables_of(native), "-AVX512F"));
	g_assert_cmpstr(g_environ_getenv(native, "PATH"), ==, "/bin");
	g_assert_cmpstr(g_environ_getenv(native, "X"), ==, "y");
	g_assert_cmpuint(g_strv_length(native), ==, 3);
	g_assert_true(g_str_has_prefix(tunables_of(plain), "glibc.cpu.hwcaps=-AVX512F"));
	g_assert_cmpstr(given[1], ==, "GLIBC_TUNABLES=glibc.malloc.perturb=7");
}

/* glibc knows one mask: the user's stands in ours. */
static void test_own_mask(void)
{
	const char *const given[] = {
		"GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS:glibc.cpu.hwcaps=-AVX2,-BMI2", NULL};
	g_auto(GStrv) native = lode_library_variants_native(given);
	g_autofree char *mask = tunable(native, "glibc.cpu.hwcaps");

	g_assert_true(g_str_has_prefix(mask, "-AVX2,-BMI2,-AVX512F"));
	g_assert_null(strstr(mask, "ERMS"));
}

/* NULL, and the test marked as skipped, where the dynamic linker lists none. */
static char **list_tunables(char **environment)
{
	const char *const command[] = {LINKER, "--list-tunables", NULL};
	g_autofree char *text = NULL;
	int status = -1;

	if (g_spawn_sync(NULL, (char **)command, environment, G_SPAWN_STDERR_TO_DEV_NULL, NULL,
		    NULL, &text, NULL, &status, NULL) &&
		status == 0 && strstr(text, "_threshold: 0x") != NULL)
		return g_strsplit(text, "\n", -1);
	g_test_skip("the dynamic linker does not list its tunables");
	return NULL;
}

/* The thresholds of the native run, as the linker itself says both times. */
static void test_thresholds(void)
{
	const char *const given[] = {"GLIBC_TUNABLES=glibc.malloc.perturb=7", NULL};
	g_auto(GStrv) native = lode_library_variants_native(given);
	g_auto(GStrv) valgrind = lode_library_variants_counted(given);
	g_auto(GStrv) wanted = list_tunables(native);
	g_auto(GStrv) found = wanted != NULL ? list_tunables(valgrind) : NULL;
	unsigned n = 0;

	for (guint i = 0; found != NULL && wanted[i] != NULL; i++) {
		if (!g_str_has_prefix(wanted[i], "glibc.cpu.x86_") ||
			strstr(wanted[i], "_threshold: 0x") == NULL)
			continue;
		g_autofree char *name = g_strndup(
			wanted[i], (size_t)(strchr(wanted[i], ':') - wanted[i]));
		g_autofree char *value = tunable(valgrind, name);
		const char *said = strchr(wanted[i], ':') + 2;
		g_assert_nonnull(value);
		g_assert_cmpuint(
			g_ascii_strtoull(value, NULL, 16), ==, g_ascii_strtoull(said, NULL, 16));
		g_assert_true(g_strv_contains((const char *const *)found, wanted[i]));
		n++;
	}
	if (found == NULL)
		return;
	g_assert_cmpuint(n, >, 1);
	g_assert_true(g_str_has_prefix(tunables_of(valgrind), "glibc.malloc.perturb=7:"));
	g_assert_null(strstr(tunables_of(valgrind), "hwcaps"));
}

static char *output_of(const char *const *command, char **environment)
{
	g_autoptr(GError) error = NULL;
	char *text = NULL;
	int status = -1;

	g_spawn_sync(NULL, (char **)command, environment, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
		&text, NULL, &status, &error);
	g_assert_no_error(error);
	g_assert_cmpint(status, ==, 0);
	return text;
}

static void test_both_runs(void)
{
	g_autofree char *valgrind = g_find_program_in_path("valgrind");
	g_auto(GStrv) native = lode_library_variants_native(NULL);
	g_auto(GStrv) counting = lode_library_variants_counted(NULL);
	const char *const run[] = {PROGRAM_VARIANT, NULL};
	const char *const counted[] = {
		valgrind, "-q", "--tool=none", "--log-file=/dev/null", PROGRAM_VARIANT, NULL};

	if (valgrind == NULL) {
		g_test_skip("no valgrind");
		return;
	}
	g_autofree char *left = output_of(run, native);
	g_autofree char *right = output_of(counted, counting);
	g_assert_nonnull(strstr(left, "memcpy 0x"));
	g_assert_cmpstr(left, ==, right);
}

/* In qemu, as the processor that this is. */
static void test_emulated(void)
{
	g_autofree char *emulator = g_find_program_in_path(LODE_QEMU_EMULATOR);
	g_autofree char *cpu = lode_qemu_program_cpu();
	g_auto(GStrv) native = lode_library_variants_native(NULL);
	g_auto(GStrv) counting = lode_library_variants_counted(NULL);
	const char *const run[] = {PROGRAM_VARIANT, NULL};
	const char *const counted[] = {emulator, "-cpu", cpu, PROGRAM_VARIANT, NULL};

	if (emulator == NULL) {
		g_test_skip("no " LODE_QEMU_EMULATOR);
		return;
	}
	g_autofree char *left = output_of(run, native);
	g_autofree char *right = output_of(counted, counting);
	g_assert_cmpstr(left, ==, right);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/library-variants/native", test_native);
	g_test_add_func("/library-variants/own-mask", test_own_mask);
	g_test_add_func("/library-variants/thresholds", test_thresholds);
	g_test_add_func("/library-variants/both-runs", test_both_runs);
	g_test_add_func("/library-variants/emulated", test_emulated);
	return g_test_run();
}
