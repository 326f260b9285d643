/* SPDX-License-Identifier: MIT */
/* The context of a question: files, a stream for the answer, and progress. */
#pragma once

#include "analyses/parts/part_choice.h"
#include "base/files/output_file.h"
#include "base/parameter.h"
#include "base/progress.h"
#include "ingest/import.h"
#include "views/code/source_text.h"
#include "views/form/format.h"

#include <stdio.h>

typedef struct LodeAsking LodeAsking;
typedef struct LodeMiningRun LodeMiningRun;

/* A profile, a part of it, or the profile with different weights. */
typedef struct {
	bool has_memory;     /* with data addresses, if it has them */
	bool has_stacks;     /* with call stacks, likewise */
	const char *origins; /* only these of a merged profile, separated by commas; NULL: all */
	LodePartChoice part; /* only these samples; its options: questions/parts/part_rows.h */
	const char *event;   /* that weighs; NULL: the profile's own */
	const char *weight;  /* of data samples: "accesses" or "latency"; NULL: as sampled */
} LodeProfileChoice;

/* Whether it leaves something out or weighs differently: stored runs do not hold for it. */
static inline bool lode_profile_choice_is_part(const LodeProfileChoice *self)
{
	return self->origins != NULL || self->event != NULL ||
	       !lode_part_choice_is_whole(&self->part);
}

typedef struct {
	LodeProfileChoice profile;
	const char *run; /* NULL: the last run */
	/* Whether the answer needs the sequences of a run, which may be mined for it. */
	bool (*wants_sequences)(const LodeMiningRun *run, const void *options);
	const void *options; /* for it */
	bool can_lack_run;   /* without a mined run, an empty one is sufficient */
} LodeRunChoice;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	bool has_no_run;
} LodeMined;

/* Reference counting for a cached result. */
typedef struct {
	void *(*ref)(void *what);
	void (*unref)(void *what);
} LodeKeptKind;

extern const LodeKeptKind lode_kept_list; /* GArray */

/* The asker: a terminal or a page. Its results are valid until the answer is complete. */
typedef struct {
	/* The n-th file's profile, as chosen; a further choice of the same file ends the one
	 * before. Errors: those of lode_profile_choice_read(). */
	const LodeProfile *(*profile)(
		LodeAsking *self, unsigned n, const LodeProfileChoice *choice, GError **error);
	/* The first file's profile with a mining run. Errors: likewise, _NOT_FOUND (the run), those
	 * of mining. */
	bool (*mined)(LodeAsking *self, const LodeRunChoice *choice, LodeMined *out_mined,
		GError **error);
	GPtrArray *(*runs)(LodeAsking *self, GError **error); /* LodeRunSummary, borrowed */
	/* The first file, an address trace, as a profile: `options` without paths. Errors: those of
	 * lode_import(). */
	const LodeProfile *(*trace)(
		LodeAsking *self, const LodeImportOptions *options, GError **error);
	/* Cached results: find() gives a reference of the caller's, keep() takes one of its own. A
	 * terminal caches nothing. */
	void *(*find)(LodeAsking *self, const LodeKeptKind *kind, const char *key);
	void (*keep)(LodeAsking *self, const LodeKeptKind *kind, const char *key, void *what);
	/* A line for a person; the page has the same in its answer. */
	void (*note)(LodeAsking *self, const char *text);
} LodeAsker;

struct LodeAsking {
	const LodeAsker *asker;
	const char *const *paths;        /* of the files, NULL-terminated */
	const char *const *names;        /* their names in messages and hints, likewise */
	const LodeParameterPairs *given; /* of the page; else NULL */
	const LodeSourceAccess *source;  /* which source files may be shown; NULL: no folders */
	const LodeProgress *progress;
	bool is_page;
	LodeTerminal terminal; /* of lode_asking_begin()'s stream */
	FILE *out; /* where an asker keeps the answer; else NULL until lode_asking_begin() */
	LodeOutputFile *file; /* of a terminal */
	/* Set before lode_asking_begin(): on a screen, standard output goes through a pager. */
	bool is_paged;
	FILE *paged; /* what it will show is gathered here */
	char *paged_text;
	size_t paged_size;
	/* The exit status on a terminal, unless there is an error. */
	int status;
};

/* The stream for the answer: the asker's, the file `path`, or standard output (NULL). Errors: _IO.
 */
FILE *lode_asking_begin(LodeAsking *self, const char *path, GError **error);

/* The answer is complete. Errors: _IO. */
bool lode_asking_end(LodeAsking *self, GError **error);

/* For a terminal's asker: closes the stream, also after an error. */
void lode_asking_clear(LodeAsking *self);

/* Writes a file besides the answer, such as a picture. It gets its name when it is complete. */
typedef bool (*LodeAskedWrite)(const void *what, FILE *out, GError **error);
bool lode_asking_write_file(
	const char *path, LodeAskedWrite write, const void *what, GError **error);

/* A note for the user: "note: …". */
void lode_asking_note(LodeAsking *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The first profile, which must have data addresses. Errors: _NOT_FOUND, those of reading. */
const LodeProfile *lode_asking_memory(
	LodeAsking *self, const LodeProfileChoice *choice, GError **error);

/* A cache key: `what`, and the given parameters of these names (NULL-terminated), or of all others.
 * The caller frees it. */
char *lode_asking_key(
	const LodeAsking *self, const char *what, const char *const *names, bool are_others);

/* Sets _CANCELLED, and gives false. */
bool lode_asking_fail_stopped(GError **error);

/* Checks that each argument of --source is a folder; NULL: there are none. Errors: _USAGE. */
bool lode_source_folders_check(const char *const *folders, GError **error);

/* For askers: reads the chosen profile from its file, which messages call `name`. The caller owns
 * it. *out_note: a note on weights, which the caller frees, or NULL. Errors: those of reading,
 * _NOT_FOUND (origins; events; weights that the profile does not have), those of
 * lode_part_choice_apply().
 */
LodeProfile *lode_profile_choice_read(const LodeProfileChoice *self, const char *path,
	const char *name, const LodeProgress *progress, char **out_note, GError **error);
