/* SPDX-License-Identifier: MIT */
/* Profiles side by side: what changed of patterns, places, functions, lines and sequences, as text,
 * JSON or CSV. */
#pragma once

#include "analyses/compare/comparison.h"
#include "views/form/format.h"

#include <stdint.h>

typedef struct LodeComparedDiagnoses LodeComparedDiagnoses;
typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeViewFormat format;
	uint32_t limit;    /* rows of each kind; 0: all */
	bool is_all;       /* text: insignificant changes are listed too */
	double fail_above; /* rows slower by more than this share are marked; NAN: none */
	const char *base_path;
	const char *const *own; /* globs of files, as of lode_own_lines_new(); NULL: none */
	LodeTerminal terminal;
} LodeComparisonViewOptions;

/* A profile that was compared with the base. */
typedef struct {
	const LodeProfile *profile;
	const char *path;
	const LodeComparison *comparison;
	const LodeComparedDiagnoses *diagnoses; /* NULL: not compared */
} LodeComparedFile;

/*
 * Reads what to compare: kinds, separated by commas, or "all" (NULL: diagnoses, patterns, functions
 * and lines), where `out_diagnoses` says whether diagnoses are among them; and by what costs are
 * divided: "none" (or NULL), "executions" or the name of a function, which is borrowed. The other
 * options stay. Errors: _USAGE (an unknown kind).
 */
bool lode_comparison_options_read(const char *kinds, const char *normalise,
	LodeComparisonOptions *out, bool *out_diagnoses, GError **error);

/* Writes them to `out`. JSON and CSV have all rows, each with whether its change is significant.
 * Errors: _IO. */
bool lode_comparison_write(const LodeProfile *base, const LodeComparedFile *others, size_t n_others,
	const LodeComparisonViewOptions *options, FILE *out, GError **error);

/* Writes a line "slower: function f: 1.20 s → 1.41 s, +17.5 %" for each diagnosis and row that is
 * slower by more than the options' `fail_above`. Gives how many there are. */
unsigned lode_comparison_write_slower(const LodeProfile *base, const LodeComparedFile *others,
	size_t n_others, const LodeComparisonViewOptions *options, FILE *out);
