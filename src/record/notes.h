/* SPDX-License-Identifier: MIT */
/* Notes for the user during a recording: made by the library, shown by its caller. */
#pragma once

#include <glib.h>

/* The remedy, whose option the caller knows. */
typedef enum {
	LODE_ADVICE_NONE,
	LODE_ADVICE_RAISE_FREQUENCY,
	LODE_ADVICE_SAMPLE_ONLY, /* leave the counting run out */
} LodeAdvice;

typedef struct {
	/* NULL: notes are dropped */
	void (*take)(const char *text, LodeAdvice advice, void *user_data);
	void *user_data;
} LodeNotes;

G_GNUC_PRINTF(2, 3) void lode_notes_add(const LodeNotes *self, const char *format, ...);
G_GNUC_PRINTF(3, 4)
void lode_notes_advise(const LodeNotes *self, LodeAdvice advice, const char *format, ...);
