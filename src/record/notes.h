/* SPDX-License-Identifier: MIT */
/* What a person should know while a recording goes on: told by the library, shown by its caller. */
#pragma once

#include <glib.h>

/* What would help, which the caller knows how to ask for. */
typedef enum {
	LODE_ADVICE_NONE,
	LODE_ADVICE_RAISE_FREQUENCY,
	LODE_ADVICE_SAMPLE_ONLY, /* leave the counting run out */
} LodeAdvice;

typedef struct {
	/* NULL: nobody listens */
	void (*take)(const char *text, LodeAdvice advice, void *user_data);
	void *user_data;
} LodeNotes;

G_GNUC_PRINTF(2, 3) void lode_notes_add(const LodeNotes *self, const char *format, ...);
G_GNUC_PRINTF(3, 4)
void lode_notes_advise(const LodeNotes *self, LodeAdvice advice, const char *format, ...);
