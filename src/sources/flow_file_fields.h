/* SPDX-License-Identifier: MIT */
/* The fields of a flow file's line, and the numbers in them. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
	const char *text; /* in the line; not terminated */
	uint32_t length;
} LodeFlowFileField;

typedef struct {
	const char *next, *end; /* what is left of the line; *end is a NUL */
	const char *fault;      /* what is wrong with the last field; NULL: nothing */
} LodeFlowFileFields;

/* The next field; false at the line's end and on a fault (a control character, no UTF-8). */
bool lode_flow_file_fields_next(LodeFlowFileFields *self, LodeFlowFileField *out_field);

/* Goes to the start of the next field, if there is one. */
static inline void lode_flow_file_fields_skip_blanks(LodeFlowFileFields *self)
{
	while (*self->next == ' ' || *self->next == '\t')
		self->next++;
}

/* Whether the field is this word. */
static inline bool lode_flow_file_field_is(LodeFlowFileField self, const char *word)
{
	return strlen(word) == self.length && memcmp(self.text, word, self.length) == 0;
}

/* The field as a finite number ≥ 0: digits with or without a fraction or an exponent. */
bool lode_flow_file_field_number(LodeFlowFileField self, double *out_number);

/* The field fit to be shown: cut at some length, nothing that a terminal obeys. The caller owns
 * it. */
char *lode_flow_file_field_shown(LodeFlowFileField self);
