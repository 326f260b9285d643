/* SPDX-License-Identifier: MIT */
/* What a question has from whoever asks it: files, a way out for the answer, and progress. */
#pragma once

#include "base/files/output_file.h"
#include "base/parameter.h"
#include "base/progress.h"
#include "ingest/import.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "views/code/source_text.h"
#include "views/form/format.h"

#include <stdio.h>

typedef struct LodeAsking LodeAsking;

/* A profile, or a part or another weighing of it. */
typedef struct {
	bool has_memory;     /* with data addresses, if it has them */
	const char *origins; /* of a merged one only these, separated by commas; NULL: all */
	const char *weight;  /* of data samples: "accesses" or "latency"; NULL: as sampled */
} LodeProfileChoice;

typedef struct {
	LodeProfileChoice profile;
	const char *run; /* NULL: the one that was made last */
	/* Whether the answer needs the sequences of a run, which may be mined for it. */
	bool (*wants_sequences)(const LodeMiningRun *run, const void *options);
	const void *options; /* for it */
	bool can_lack_run;   /* where nothing was mined, an empty run will do */
} LodeRunChoice;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	bool has_no_run;
} LodeMined;

/* How something is kept that takes time and will be asked for again. */
typedef struct {
	void *(*ref)(void *what);
	void (*unref)(void *what);
} LodeKeptKind;

extern const LodeKeptKind lode_kept_list; /* GArray */

/* Who asks: a terminal or a page. What is given is valid until the answer is there. */
typedef struct {
	const LodeProfile *(*profile)(
		LodeAsking *self, unsigned n, const LodeProfileChoice *choice, GError **error);
	bool (*mined)(LodeAsking *self, const LodeRunChoice *choice, LodeMined *out_mined,
		GError **error);
	GPtrArray *(*runs)(LodeAsking *self, GError **error); /* LodeRunSummary, borrowed */
	/* The trace, imported; paths and progress of the options are set. */
	const LodeProfile *(*trace)(
		LodeAsking *self, const LodeImportOptions *options, GError **error);
	void *(*find)(LodeAsking *self, const LodeKeptKind *kind, const char *key);
	void (*keep)(LodeAsking *self, const LodeKeptKind *kind, const char *key, void *what);
	void (*note)(LodeAsking *self, const char *text);
} LodeAsker;

struct LodeAsking {
	const LodeAsker *asker;
	const char *const *paths;        /* of the files, NULL-terminated */
	const char *const *names;        /* by which messages and hints know them, likewise */
	const LodeParameterPairs *given; /* of the page; else NULL */
	const LodeSourceAccess *source;  /* which source files may be shown; NULL: no folders */
	const LodeProgress *progress;
	bool is_page;
	LodeTerminal terminal; /* of what lode_asking_begin() gave */
	FILE *out;             /* of the page; else NULL until then */
	LodeOutputFile *file;  /* of a terminal */
	/* The exit status of a terminal where there is no error: 0 unless it is set. */
	int status;
};

/* The stream for the answer: a page's, or `path`, or standard output (NULL). Errors: _IO. */
FILE *lode_asking_begin(LodeAsking *self, const char *path, GError **error);

/* The answer is there. Errors: _IO. */
bool lode_asking_end(LodeAsking *self, GError **error);

/* A file besides the answer, such as a picture, appears under its name when it is whole. */
typedef bool (*LodeAskedWrite)(const void *what, FILE *out, GError **error);
bool lode_asking_write_file(
	const char *path, LodeAskedWrite write, const void *what, GError **error);

/* For a person: "note: …". */
void lode_asking_note(LodeAsking *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The first profile, which must have data addresses. Errors: _NOT_FOUND, those of reading. */
const LodeProfile *lode_asking_memory(
	LodeAsking *self, const LodeProfileChoice *choice, GError **error);

/* What was given of these names (NULL-terminated), or of all others, as a key for what is kept; it
 * begins with `what`. The caller frees it. */
char *lode_asking_key(
	const LodeAsking *self, const char *what, const char *const *names, bool are_others);

/* Gives false, and _CANCELLED. */
bool lode_asking_fail_stopped(GError **error);

/* --source: whether each is a folder; NULL: there are none. Errors: _USAGE. */
bool lode_source_folders_check(const char *const *folders, GError **error);

/* For askers: a profile as it is chosen, read from its file. The caller owns it. A note on weights
 * in *out_note, which the caller frees; else NULL. */
LodeProfile *lode_profile_choice_read(const LodeProfileChoice *self, const char *path,
	const LodeProgress *progress, char **out_note, GError **error);
