/* SPDX-License-Identifier: MIT */
/*
 * Facts as rows in sections, which `lode info` and `lode trace info` show:
 *
 *   Quality                                     the title of a section
 *     flow conservation  1,234  99.1%  detail   name, number, share; text and remarks
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct LodeTerminal LodeTerminal;

typedef struct {
	const char *section; /* a fixed text */
	char *name;
	char *text;    /* the value when it is not a number; else NULL */
	double number; /* no number: none */
	char *amount;  /* the number as text shows it, with its unit; NULL: as a count */
	double share;  /* no number: none */
	double bits;   /* a reference of a trace; no number: none */
	char *detail;  /* may be NULL */
	bool is_alarm;
} LodeFactRow;

typedef struct {
	const char *section, *title;
} LodeFactTitle;

/* GArray of LodeFactRow; the caller unrefs it. */
GArray *lode_fact_rows_new(void);

/* The row is the caller's to fill until the next is added; its strings are the row's own. */
LodeFactRow *lode_fact_rows_add(GArray *self, const char *section, const char *name);

/* Text of NULL is "unknown". */
void lode_fact_rows_add_text(GArray *self, const char *section, const char *name, const char *text);
LodeFactRow *lode_fact_rows_add_number(
	GArray *self, const char *section, const char *name, double number);

/* Writes a table for each run of rows of one section; `titles` end with an empty one. Nothing is
 * shortened: command lines, paths and faults are shown whole. */
void lode_fact_rows_write_text(
	const GArray *self, const LodeFactTitle *titles, const LodeTerminal *terminal, FILE *out);

/* Writes section,name,value,share,detail; `has_bits`: bits_per_reference stands before detail. */
void lode_fact_rows_write_csv(const GArray *self, bool has_bits, FILE *out);
