/* SPDX-License-Identifier: MIT */
/* What a query of the page asks for: names and values, as they stand in an address after the '?'.
 * Private to serve/. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	GPtrArray *names, *values; /* char *, owned; in the order given, a name may come again */
} LodeServeParameters;

void lode_serve_parameters_init(LodeServeParameters *self);
void lode_serve_parameters_clear(LodeServeParameters *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeServeParameters, lode_serve_parameters_clear)

/* Copies both. */
void lode_serve_parameters_add(LodeServeParameters *self, const char *name, const char *value);

/* The first value of a name that is not empty, borrowed; NULL: there is none. */
const char *lode_serve_parameters_text(const LodeServeParameters *self, const char *name);

/* All values of a name that are not empty, borrowed, NULL-terminated; NULL: there are none. The
 * caller frees the array with g_free(). */
const char **lode_serve_parameters_texts(const LodeServeParameters *self, const char *name);

/* Leaves *out_value where the name has no value. Errors: _USAGE, for anything but digits that make
 * a number up to `max`. */
bool lode_serve_parameters_count(const LodeServeParameters *self, const char *name, uint64_t max,
	uint64_t *out_value, GError **error);

/* Likewise, for a share such as "2%" or "0.02", 0 … 1. */
bool lode_serve_parameters_share(
	const LodeServeParameters *self, const char *name, double *out_value, GError **error);

/* Whether the value is "1". */
bool lode_serve_parameters_flag(const LodeServeParameters *self, const char *name);
