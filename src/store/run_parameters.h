/* SPDX-License-Identifier: MIT */
/* A run's parameters as a flat JSON object: {"weight":"cycles","gap":0,…}. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LodeMiningParameters LodeMiningParameters;

/* The caller frees the text. Parameters that do not change the result (threads, memory) are not in
 * it. */
char *lode_run_parameters_to_json(const LodeMiningParameters *parameters);

/* Overwrites the fields that `text` names. Strings are new and owned by the caller, those that
 * they replace are freed. _CORRUPT: no flat object, a value of another type, or no number. */
bool lode_run_parameters_from_json(
	LodeMiningParameters *parameters, const char *text, GError **error);
