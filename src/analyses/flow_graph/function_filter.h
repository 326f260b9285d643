/* SPDX-License-Identifier: MIT */
/* Which functions are mined: regular expressions on image paths and function names. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LodeFunction LodeFunction;
typedef struct LodeMiningParameters LodeMiningParameters;
typedef struct LodeProfile LodeProfile;

typedef struct {
	GRegex *images, *functions; /* NULL: all */
} LodeFunctionFilter;

/* Errors: _USAGE with the expression that does not compile, and why. */
bool lode_function_filter_init(
	LodeFunctionFilter *self, const LodeMiningParameters *parameters, GError **error);
void lode_function_filter_clear(LodeFunctionFilter *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFunctionFilter, lode_function_filter_clear)

bool lode_function_filter_has(
	const LodeFunctionFilter *self, const LodeProfile *profile, const LodeFunction *function);
