/* SPDX-License-Identifier: MIT */
/*
 * Recordings + binaries → profile. Any number of callgrind dumps, or counts files, becomes one
 * profile; so does any number of perf.data files, whose executions are inferred. Both together are
 * joined: executions from the counts, sampled events from perf.data. A flow file and an address
 * trace stand alone.
 */
#pragma once

#include "base/progress.h"
#include "ingest/traced/replay_options.h"

typedef struct LodeProfile LodeProfile;

typedef struct {
	const char *const *paths; /* recordings, and binaries, folders and archives of them */
	size_t n_paths;
	const char *const *roots; /* folders with the recorded machine's files at their paths */
	size_t n_roots;
	const char *const *maps; /* load maps of the same processes; see sources/code/load_map.h */
	size_t n_maps;
	const char *const *jit_files; /* jitdumps and perf maps of the same processes */
	size_t n_jit_files;
	bool checks_jit_files; /* one that is of no recorded process is an error */
	/* Takes the faults of files that cannot be read (char *), whose code is unresolved; NULL:
	 * that is an error. */
	GPtrArray *jit_faults;
	const char *const *attribute_files; /* CSV with a user's attributes; see
	                                       docs/reference/attributes.md */
	size_t n_attribute_files;
	LodeReplayOptions replay; /* of address traces; without caches their counts alone are taken
	                           */
	/* This machine's, where the recordings do not say; NULL: it is not known */
	const char *processor;
	const char *program; /* the command line, when the caller knows it better; may be NULL */
	const char *const *skipped_frames; /* globs of functions and libraries that are not the site
	                                      of an allocation; NULL-terminated, or NULL */
	bool allow_debuginfod;
	/* Keeps only samples of programs of these names, see sampled/sampled_programs.h; or of the
	 * program itself. */
	const char *const *only; /* NULL: all */
	bool is_alone;
	/* Keeps only samples taken in [begin, end) by the recording's clock; end 0: all. */
	uint64_t begin_ns, end_ns;
	bool is_native;           /* interpreters' own functions in place of those of scripts */
	bool is_recorded_so;      /* counts and traces have no others */
	bool charges_next_access; /* in place of the access that a timer waited for */
	bool skips_damaged_logs;  /* of allocations: they are unresolved, and no error */
	/* Looks at the data of one sample in so many that about this number is looked at; 0: of
	 * all. */
	uint64_t max_accesses;
	unsigned threads; /* 0: all processors */
} LodeImportOptions;

/* Errors name the file; nothing is written anywhere. */
LodeProfile *lode_import(
	const LodeImportOptions *options, const LodeProgress *progress, GError **error);
