/* SPDX-License-Identifier: MIT */
/*
 * Parameters of a verb or of a question, as a table: the text of --help, the completions, and the
 * field of a struct for each value. The values come from a command line or from the query of an
 * address, and are read and checked by the same rules, with the same messages:
 *
 *   --top 5 --where x     ┐                      ┌ .top = 5
 *                         ├─▶ table of rows ─────┤ .where = "x"
 *   ?top=5&where=x        ┘                      └ or: "top: 'x' is not a whole number …"
 */
#pragma once

#include "base/file_kind.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a value, with the type of its field. */
typedef enum {
	LODE_PARAMETER_FLAG,    /* bool; on a command line without a value, in an address 0 or 1 */
	LODE_PARAMETER_TEXT,    /* const char *, UTF-8; NULL: not given */
	LODE_PARAMETER_FILE,    /* const char *, as the file system has it */
	LODE_PARAMETER_TEXTS,   /* const char *const *, NULL-terminated: may be repeated */
	LODE_PARAMETER_FILES,   /* likewise */
	LODE_PARAMETER_COUNT,   /* uint64_t, uint32_t, or int32_t with `most`: a whole number */
	LODE_PARAMETER_ADDRESS, /* uint64_t: 0x7f00 */
	LODE_PARAMETER_RANGE,   /* uint32_t[2]: 3, 2-4, 2-, -4; an open end is 0 */
	LODE_PARAMETER_SHARE,   /* double: 0.01 or 1%, from 0 to 1 */
	LODE_PARAMETER_PERCENT, /* double: 5, 5% and 5 % are 0.05 */
	LODE_PARAMETER_NUMBER,  /* double from 0 */
	LODE_PARAMETER_SIZE,    /* uint64_t, bytes: 4G, 512 MiB; K, M, G, T are powers of 1024 */
	LODE_PARAMETER_SECONDS, /* unsigned, milliseconds: 10, 0.5; up to 1,000,000 s */
	LODE_PARAMETER_WORD,    /* an enum: one of the words of `value` */
} LodeParameterKind;

/* Where a parameter may be given. */
typedef enum {
	LODE_PARAMETER_FOR_ALL,
	LODE_PARAMETER_FOR_TERMINAL, /* files, threads, screens: not in addresses */
	LODE_PARAMETER_FOR_PAGE,     /* only in addresses */
	LODE_PARAMETER_FOR_WORDS, /* on a command line without a name, as lode report x.lode RUN */
} LodeParameterAudience;

typedef struct {
	const char *name; /* "min-weight"; NULL ends a table */
	char letter;      /* 'o'; 0: none */
	LodeParameterKind kind;
	uint8_t bytes;                 /* of the field */
	size_t offset;                 /* offset of the field: see the macros below */
	size_t given;                  /* offset of a bool that is set if it is given; 0: none */
	uint64_t least, most;          /* of a COUNT; most 0: the largest value of the field */
	const char *value;             /* "FILE"; for a WORD "text|json|csv" */
	const char *standard;          /* the default value; NULL: the field is unchanged */
	int (*read)(const char *text); /* a WORD's value, −1: unknown; NULL: its place in `value` */
	const char *excludes; /* names, separated by spaces, that cannot be given with it; "*": any
	                         other option that does not need it */
	const char *needs;    /* likewise: it can only be given with one of these */
	LodeFileKind writes;  /* of a FILE: what is written to it; NONE: it is read */
	LodeParameterAudience audience;
	bool is_rare;        /* only --help=all has it */
	const char *summary; /* for --help: lower case, no full stop */
} LodeParameter;

/* Parameters under a heading of their own, with a struct that may be part of a larger one. */
typedef struct {
	const char *title; /* "Mining"; NULL ends the list */
	const LodeParameter *rows;
	size_t offset; /* of the rows' struct in the whole */
	bool is_rare;  /* all of its rows are */
} LodeParameterGroup;

typedef enum {
	LODE_HELP_NONE,
	LODE_HELP_BRIEF, /* --help: without what is rare */
	LODE_HELP_ALL,   /* --help=all */
} LodeHelp;

/* clang-format off */
/* offsetof() that does not compile if the field has a different type. */
#define LODE_PARAMETER_OFFSET(type, field, is_right) \
	(offsetof(type, field) + sizeof(char[(is_right) ? 1 : -1]) - 1)
#define LODE_PARAMETER_HAS_TYPE(type, field, wanted) \
	__builtin_types_compatible_p(__typeof__(((type *)0)->field), wanted)
#define LODE_PARAMETER_FIELD(what, type, field, wanted) \
	.kind = LODE_PARAMETER_##what, .bytes = sizeof(((type *)0)->field), \
	.offset = LODE_PARAMETER_OFFSET(type, field, LODE_PARAMETER_HAS_TYPE(type, field, wanted))

/* Kind and field of a row: {"top", LODE_COUNT(Options, top), .value = "N", .summary = "…"} */
#define LODE_FLAG(type, field) LODE_PARAMETER_FIELD(FLAG, type, field, bool)
#define LODE_TEXT(type, field) LODE_PARAMETER_FIELD(TEXT, type, field, const char *)
#define LODE_FILE(type, field) LODE_PARAMETER_FIELD(FILE, type, field, const char *)
#define LODE_OUTPUT(type, field, what) \
	LODE_FILE(type, field), .writes = LODE_FILE_KIND_##what
#define LODE_TEXTS(type, field) LODE_PARAMETER_FIELD(TEXTS, type, field, const char *const *)
#define LODE_FILES(type, field) LODE_PARAMETER_FIELD(FILES, type, field, const char *const *)
#define LODE_ADDRESS(type, field) LODE_PARAMETER_FIELD(ADDRESS, type, field, uint64_t)
#define LODE_RANGE(type, field) LODE_PARAMETER_FIELD(RANGE, type, field, uint32_t[2])
#define LODE_SHARE(type, field) LODE_PARAMETER_FIELD(SHARE, type, field, double)
#define LODE_PERCENT(type, field) LODE_PARAMETER_FIELD(PERCENT, type, field, double)
#define LODE_NUMBER(type, field) LODE_PARAMETER_FIELD(NUMBER, type, field, double)
#define LODE_SIZE(type, field) LODE_PARAMETER_FIELD(SIZE, type, field, uint64_t)
#define LODE_SECONDS(type, field) LODE_PARAMETER_FIELD(SECONDS, type, field, unsigned)
#define LODE_COUNT(type, field) \
	.kind = LODE_PARAMETER_COUNT, .bytes = sizeof(((type *)0)->field), \
	.offset = LODE_PARAMETER_OFFSET(type, field, \
		LODE_PARAMETER_HAS_TYPE(type, field, uint64_t) || \
		LODE_PARAMETER_HAS_TYPE(type, field, uint32_t) || \
		LODE_PARAMETER_HAS_TYPE(type, field, int32_t))
#define LODE_WORD(type, field) \
	.kind = LODE_PARAMETER_WORD, .bytes = sizeof(((type *)0)->field), \
	.offset = LODE_PARAMETER_OFFSET(type, field, sizeof(((type *)0)->field) == sizeof(int))
/* clang-format on */

/* Names and values as given, in their order; a name may be repeated. */
typedef struct {
	GPtrArray *names, *values; /* char *, owned */
} LodeParameterPairs;

void lode_parameter_pairs_init(LodeParameterPairs *self);
void lode_parameter_pairs_clear(LodeParameterPairs *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeParameterPairs, lode_parameter_pairs_clear)

/* Copies both; `value` NULL is "". */
void lode_parameter_pairs_add(LodeParameterPairs *self, const char *name, const char *value);

/* The last non-empty value of a name, borrowed; NULL: none. */
const char *lode_parameter_pairs_text(const LodeParameterPairs *self, const char *name);

/* The n-th row of all groups, or the row of a name; NULL: none. */
const LodeParameter *lode_parameter_row(const LodeParameterGroup *groups, size_t n);
const LodeParameter *lode_parameter_find(const LodeParameterGroup *groups, const char *name);

/* Whether it has a name on a command line. */
bool lode_parameter_is_option(const LodeParameter *row);

/* How a command line is split. */
typedef struct {
	const LodeParameterGroup *groups;
	bool ends_at_first;   /* options end at the first word that is not an option */
	bool keeps_separator; /* "--" and the words after it stay in the rest */
} LodeParameterLine;

/*
 * Splits a command line: options of the groups become pairs; *out_help: which --help is given;
 * *out_rest: the other words, without a leading "--", which the caller frees with
 * g_strfreev(). Errors: _USAGE, with "did you mean".
 */
bool lode_parameter_line_split(const LodeParameterLine *self, char **arguments,
	LodeParameterPairs *out_pairs, LodeHelp *out_help, char ***out_rest, GError **error);

/*
 * Fills the struct of the groups, whose fields are zero or have their defaults. If a name that
 * takes one value has several, the last one counts; in addresses an empty value is ignored. Strings
 * are borrowed from `pairs`, lists are owned by *out_lists, which the caller unrefs. `audience`: a
 * command line or an address. Errors: _USAGE: a name that is unknown, a value that cannot be read,
 * parameters that exclude or need each other.
 */
bool lode_parameters_fill(const LodeParameterGroup *groups, const LodeParameterPairs *pairs,
	LodeParameterAudience audience, void *target, GPtrArray **out_lists, GError **error);

/* Converts a message about options ("--top") to one about parameters of an address ("top"). The
 * caller frees it. */
char *lode_parameters_undash(const LodeParameterGroup *groups, const char *message);

/* Reads bytes as in a SIZE, or a SHARE; false for other text. */
bool lode_size_from_text(const char *text, uint64_t *out_bytes);
bool lode_share_from_text(const char *text, double *out_share);

/* The texts of a list (NULL-terminated) with commas between them; NULL for NULL. The caller frees
 * it.
 */
char *lode_parameter_join(const char *const *list);

/* Checks that there is exactly one argument (NULL-terminated), a file: `what` it is ("profile"),
 * and an example ("x.lode"). Errors: _USAGE, also with the first superfluous argument. */
bool lode_parameter_take_one(
	char *const *arguments, const char *what, const char *example, GError **error);

/* Sets _USAGE with this message, and gives false. */
bool lode_parameter_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
