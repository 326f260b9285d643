/* SPDX-License-Identifier: MIT */
#include "sources/code/system_calls.h"

#include <glib.h>

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
