/* SPDX-License-Identifier: MIT */
/*
 * Attributes that only one of two profiles can have: those that an earlier version of lode did not
 * find, or events recorded in one only.
 *
 * Private to analyses/compare/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LodeProfile LodeProfile;

/* Adds globs of them, such as "ev:l1d-miss*", each once, to `globs`, which frees what it has.
 * Errors: _UNSUPPORTED (the profiles have no attribute in common). */
bool lode_lone_attributes_find(
	const LodeProfile *const profiles[2], GPtrArray *globs, GError **error);
