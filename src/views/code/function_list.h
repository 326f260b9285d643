/* SPDX-License-Identifier: MIT */
/* The functions of a profile with what each costs, alone and with what it calls: sorted, searched,
 * and by the page; and families of functions. */
#pragma once

#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_FUNCTION_BY_WEIGHT,
	LODE_FUNCTION_BY_INCLUSIVE,
	LODE_FUNCTION_BY_EXECUTIONS,
	LODE_FUNCTION_BY_CALLS,
	LODE_FUNCTION_BY_NAME,  /* ascending; the others descending */
	LODE_FUNCTION_BY_IMAGE, /* likewise */
	LODE_N_FUNCTION_ORDERS,
} LodeFunctionOrder;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	LodeFunctionOrder order;
	bool is_reversed;
	const char *text;       /* only functions with it in their name, in any case; NULL: all */
	const char *image;      /* only of images with it in their path; NULL: all */
	uint32_t offset, limit; /* limit 0: all; of text 50 */
} LodeFunctionListOptions;

/* "weight", "inclusive", "executions", "calls", "name", "image"; −1 for another word. */
int lode_function_order_from_text(const char *text);

/*
 * Writes to `out`; `weight_event` LODE_NONE: there is no weight. JSON says how many passed the
 * search; a row has the function's number, by which LodeAnnotateOptions takes it. CSV has no
 * families. Errors: _IO.
 */
bool lode_function_list_write(const LodeProfile *profile, uint32_t weight_event,
	const LodeFunctionListOptions *options, FILE *out, GError **error);

/* Likewise the lines of sources, by what they cost with all that they call: of the options format,
 * terminal and limit count. */
bool lode_line_list_write(const LodeProfile *profile, uint32_t weight_event,
	const LodeFunctionListOptions *options, FILE *out, GError **error);
