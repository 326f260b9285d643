/* SPDX-License-Identifier: MIT */
/*
 * The one error domain of lode. The code is for the program, the message for the person; messages
 * grow outward with g_prefix_error(): `x.flow: line 7: a count is missing`.
 */
#pragma once

#include <glib.h>

#define LODE_ERROR (lode_error_quark())

typedef enum {
	LODE_ERROR_IO,          /* the system refused: open, read, write, fork, disk full */
	LODE_ERROR_CORRUPT,     /* the input breaks its own format */
	LODE_ERROR_UNSUPPORTED, /* valid, but lode cannot read it (newer schema, other architecture)
	                         */
	LODE_ERROR_NOT_FOUND,   /* a named thing (run, sequence, file) does not exist */
	LODE_ERROR_USAGE,       /* the caller's options make no sense together */
	LODE_ERROR_LIMIT,       /* a stated bound (memory, size, count) would be passed */
	LODE_ERROR_CANCELLED,   /* the user stopped it */
} LodeErrorCode;

GQuark lode_error_quark(void);
