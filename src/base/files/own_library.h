/* SPDX-License-Identifier: MIT */
/* The libraries of tools/, which programs are recorded with: liblode-NAME.so. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define LODE_OWN_LIBRARY(name) "liblode-" name ".so"

/* Whether a path, or a name, is that of such a library. */
static inline bool lode_is_own_library(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);

	return g_str_has_prefix(name, "liblode-") && g_str_has_suffix(name, ".so");
}
