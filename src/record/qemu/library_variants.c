/* SPDX-License-Identifier: MIT */
#include "record/qemu/library_variants.h"

#include <string.h>

#define VARIABLE "GLIBC_TUNABLES"
#define LINKER "/lib64/ld-linux-x86-64.so.2"

/* The features that glibc 2.36 checks and QEMU 7.2 does not have; glibc ignores a name that it does
 * not know. */
static const char mask[] = "-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ,-RTM";

#define HWCAPS "glibc.cpu.hwcaps="

static char **copy_of(const char *const *environment)
{
	return environment != NULL ? g_strdupv((char **)environment) : g_get_environ();
}

/* After what the user has set: of a tunable that stands twice, glibc takes the last. */
static char **with_tunables(char **environment, const char *tunables)
{
	const char *given = g_environ_getenv(environment, VARIABLE);
	g_autofree char *both = given != NULL && *given != '\0'
	                                ? g_strconcat(given, ":", tunables, NULL)
	                                : g_strdup(tunables);

	return g_environ_setenv(environment, VARIABLE, both, TRUE);
}

/* The last mask that the user gave; empty: none. */
static char *given_hwcaps(char **environment)
{
	const char *given = g_environ_getenv(environment, VARIABLE);
	g_auto(GStrv) tunables = g_strsplit(given != NULL ? given : "", ":", -1);
	const char *found = "";

	for (guint i = 0; tunables[i] != NULL; i++)
		if (g_str_has_prefix(tunables[i], HWCAPS))
			found = tunables[i] + strlen(HWCAPS);
	return g_strdup(found);
}

/* glibc takes one mask only, so that ours holds the user's. */
char **lode_library_variants_native(const char *const *environment)
{
	char **copy = copy_of(environment);
	g_autofree char *given = given_hwcaps(copy);
	g_autofree char *hwcaps = g_strconcat(HWCAPS, given, *given != '\0' ? "," : "", mask, NULL);

	return with_tunables(copy, hwcaps);
}

/* "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x200, max: …)" → "NAME=0x840" */
static void add_threshold(GString *tunables, const char *line)
{
	const char *colon = strchr(line, ':');
	size_t name = colon != NULL ? (size_t)(colon - line) : 0;

	if (!g_str_has_prefix(line, "glibc.cpu.x86_") || colon == NULL ||
		!g_str_has_prefix(colon, ": 0x") || memmem(line, name, "_threshold", 10) == NULL)
		return;
	if (tunables->len > 0)
		g_string_append_c(tunables, ':');
	g_string_append_len(tunables, line, (gssize)name);
	g_string_append_printf(tunables, "=%.*s", (int)strcspn(colon + 2, " "), colon + 2);
}

char **lode_library_variants_counted(const char *const *environment)
{
	static const char *const command[] = {LINKER, "--list-tunables", NULL};
	g_auto(GStrv) native = lode_library_variants_native(environment);
	g_autoptr(GString) tunables = g_string_new(NULL);
	g_autofree char *text = NULL;

	if (!g_spawn_sync(NULL, (char **)command, native, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
		    &text, NULL, NULL, NULL))
		return copy_of(environment);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i] != NULL; i++)
		add_threshold(tunables, lines[i]);
	if (tunables->len == 0)
		return copy_of(environment);
	return with_tunables(copy_of(environment), tunables->str);
}
