/* SPDX-License-Identifier: MIT */
#include "machine/processor.h"

#include <glib.h>
#include <string.h>

char *lode_proc_value(const char *text, const char *key)
{
	g_autofree char *start = g_strconcat("\n", key, NULL);
	const char *at = g_str_has_prefix(text, key) ? text : strstr(text, start);

	at = at != NULL ? strchr(at, ':') : NULL;
	if (at == NULL)
		return NULL;
	return g_strstrip(g_strndup(at + 1, strcspn(at + 1, "\n")));
}

char *lode_processor_name(void)
{
	g_autofree char *text = NULL;

	if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL))
		return NULL;
	return lode_proc_value(text, "model name");
}

static const char *given_id(void)
{
	const char *given = g_getenv("LODE_PROCESSOR");

	return given != NULL && *given != '\0' ? given : NULL;
}

bool lode_processor_is_given(void)
{
	return given_id() != NULL;
}

char *lode_processor_id(void)
{
	/* "model" without the tab would find "model name" */
	static const char *const keys[] = {"vendor_id", "cpu family", "model\t", "stepping"};
	const char *given = given_id();
	g_autofree char *text = NULL;
	g_autoptr(GString) id = g_string_new(NULL);

	if (given != NULL)
		return g_strdup(given);
	if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL))
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		g_autofree char *value = lode_proc_value(text, keys[i]);
		if (value == NULL)
			return NULL;
		g_string_append_printf(id, "%s%s", i > 0 ? "," : "", value);
	}
	return g_strdup(id->str);
}
