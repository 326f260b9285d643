/* SPDX-License-Identifier: MIT */
/* Errors of expressions, with their place. Private to analyses/memory/. */
#pragma once

#include <glib.h>
#include <stddef.h>

/*
 * Sets _USAGE with three lines: "column 5: MESSAGE", the expression, a caret below its byte
 * `offset`. Columns are counted in characters, from 1; of a long expression only the neighbourhood
 * is shown, and unprintable characters are shown as "?".
 */
void lode_expression_fault(GError **error, const char *text, size_t offset, const char *format, ...)
	G_GNUC_PRINTF(4, 5);
