/* SPDX-License-Identifier: MIT */
/* Code with its source lines and events: the places of a sequence, a finding or a diagnosis by
 * cost, a function, or a source line. Where data addresses were recorded, each load and store has
 * its data beside it.
 */
#pragma once

#include "analyses/diagnoses/diagnoses.h"
#include "analyses/flow_graph/flow_graph.h"
#include "base/progress.h"
#include "views/code/source_text.h"
#include "views/form/format.h"

typedef struct LodeMiningRun LodeMiningRun;

typedef enum {
	LODE_ANNOTATE_SEQUENCE,
	LODE_ANNOTATE_FINDING,
	LODE_ANNOTATE_DIAGNOSIS,
	LODE_ANNOTATE_FUNCTION, /* the whole of it, with the findings in the margin */
	LODE_ANNOTATE_LINE,     /* the instructions of a source line, likewise */
} LodeAnnotateSubject;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path;   /* for the hints; may be NULL */
	const char *const *origins; /* likewise: those that were chosen; NULL: not by an option */
	bool names_run;             /* the hints name the run: it is not the one made last */
	bool has_no_run;            /* the run is none that the profile has, and empty */
	LodeAnnotateSubject subject;
	uint64_t id;                    /* of the sequence, finding or diagnosis, from 1 */
	const LodeDiagnoses *diagnoses; /* for a diagnosis; borrowed */
	const char *name;  /* of the function, or the path of the source file, whole or its end */
	uint32_t function; /* instead of its name, its number in the profile; LODE_NONE */
	uint32_t line;     /* of the source file */
	uint32_t limit;    /* places; 0: the view's default (text 10, JSON and CSV all) */
	uint32_t context;  /* instructions before and after the matched ones */
	const LodeFlowGraph *graph;     /* of the run, for a sequence; NULL: it is made */
	const char *const *own;         /* globs of files, as of lode_own_lines_new(); NULL: none */
	const LodeSourceAccess *source; /* which source files may be shown; NULL: no folders */
	bool shows_sampled;             /* text: also the weight where it was sampled */
	bool is_whole;                  /* text: also the code of a function that never ran */
	/* JSON for the page of lode serve: also the lines of source files that the shown code comes
	 * from ("sources"), and the functions' numbers. */
	bool is_page;
} LodeAnnotateOptions;

/* A sequence as text, three instructions around. */
void lode_annotate_options_init(LodeAnnotateOptions *self);

/* Writes to `out`. Errors: _NOT_FOUND (no such sequence, finding, diagnosis, function or line; no
 * such attribute in the profile), _USAGE (a run whose occurrences cannot be found again, a name
 * that several functions have), _IO. */
bool lode_annotate_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, const LodeProgress *progress, FILE *out,
	GError **error);
