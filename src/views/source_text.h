/* SPDX-License-Identifier: MIT */
/* Lines of source files as they are on this machine, read when first asked for. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeSourceText LodeSourceText;

LodeSourceText *lode_source_text_new(void);
void lode_source_text_free(LodeSourceText *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSourceText, lode_source_text_free)

/* A line (from 1) of a file, without its end, tabs as blanks; NULL when there is no such regular
 * file or line, or the file is very large. Of a line of more than 4096 bytes what comes first, and
 * "…". Borrowed, valid while `self` lives. */
const char *lode_source_text_line(LodeSourceText *self, const char *file, uint32_t line);
