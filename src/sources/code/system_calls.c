/* SPDX-License-Identifier: MIT */
#include "sources/code/system_calls.h"

#include <glib.h>
#include <string.h>

static const char *const names[] = {
#if defined(__x86_64__)
#include "system_call_names.h"
#else
	NULL,
#endif
};

static const char *const names_32[] = {
#if defined(__x86_64__)
#include "system_call_names_32.h"
#else
	NULL,
#endif
};

const char *lode_system_call_name(uint64_t number)
{
	return number < G_N_ELEMENTS(names) ? names[number] : NULL;
}

const char *lode_system_call_name_32(uint64_t number)
{
	return number < G_N_ELEMENTS(names_32) ? names_32[number] : NULL;
}

bool lode_system_call_find(const char *name, int64_t *out_number)
{
	static const char newer[] = "new";
	const char *others[] = {name, g_str_has_prefix(name, newer) ? name + strlen(newer) : name};

	for (size_t k = 0; k < G_N_ELEMENTS(others); k++)
		for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
			if (names[i] != NULL && strcmp(names[i], others[k]) == 0) {
				*out_number = (int64_t)i;
				return true;
			}
	return false;
}
