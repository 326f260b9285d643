/* SPDX-License-Identifier: MIT */
/*
 * A result as rows with typed columns, declared once and written as text, JSON or CSV. A column
 * says how it is called and where in the row its value is; how each form shows it follows from its
 * kind:
 *
 *   typedef struct {            static const LodeColumn columns[] = {
 *           const char *name;           {"name", LODE_CELL_TEXT(Row, name), .at = 2},
 *           uint32_t pid;               {"pid", LODE_CELL_NUMBER(Row, pid)},
 *           double share;               {"share", LODE_CELL_SHARE(Row, share), .at = 1},
 *   } Row;                      };
 *
 *   text                JSON                                         CSV
 *     share  name       {"name": "gzip", "pid": 71, "share": 0.5}    name,pid,share
 *    50.0 %  gzip                                                    gzip,71,0.5
 *
 * The rows are an array, or made one by one: `fill` sets a row that is all 0 at first, whose
 * members of type `char *` and `GPtrArray *` the listing frees after it was written (`const char *`
 * and `const GPtrArray *` are borrowed).
 */
#pragma once

#include "base/text/json_stream.h"
#include "views/form/table.h"

#include <stddef.h>

typedef enum {
	LODE_COLUMN_TEXT,
	/* A function, type or object: short on a terminal; JSON has it as KEY and as short_KEY. */
	LODE_COLUMN_NAME,
	LODE_COLUMN_NUMBER,  /* with no more said: 4711; in text with `decimals` after the point */
	LODE_COLUMN_COUNT,   /* in text 1,234 */
	LODE_COLUMN_SHARE,   /* 0 … 1; in text 12.3 % */
	LODE_COLUMN_RATIO,   /* 0 … 1; in text 12.345 % in all lines */
	LODE_COLUMN_SIZE,    /* bytes; in text 4 KiB */
	LODE_COLUMN_TIME,    /* seconds; in text 1.23 ms */
	LODE_COLUMN_ADDRESS, /* 0x7f00 in all forms */
	LODE_COLUMN_FLAG,    /* true or false; in CSV 0 or 1 */
	/* Inside JSON; in CSV its text is a cell. */
	LODE_COLUMN_TEXTS, /* a list */
	LODE_COLUMN_JSON,  /* what `put` writes */
	/* Encloses the columns up to the end: an object in JSON, in CSV `title` before each key. */
	LODE_COLUMN_GROUP,
	LODE_COLUMN_GROUP_END,
	/* The columns of another set, whose row is a member of this one; not in text. */
	LODE_COLUMN_PART,
} LodeColumnKind;

/* How the row has the value. */
typedef enum {
	LODE_STORED_NOWHERE, /* the column has functions of its own */
	LODE_STORED_TEXT,
	LODE_STORED_OWNED_TEXT,
	LODE_STORED_TEXTS,
	LODE_STORED_OWNED_TEXTS,
	LODE_STORED_DOUBLE,
	LODE_STORED_UINT64,
	LODE_STORED_INT64,
	LODE_STORED_UINT32,
	LODE_STORED_INT32,
	LODE_STORED_UINT16,
	LODE_STORED_UINT8,
	LODE_STORED_BOOL,
} LodeStored;

enum { LODE_IN_JSON = 1, LODE_IN_CSV = 2 };

typedef struct LodeColumns LodeColumns;

typedef struct {
	const char *key; /* in JSON and CSV; NULL: in neither */
	LodeColumnKind kind;
	LodeStored stored;
	size_t offset;            /* in the row */
	const char *const *words; /* the value is the number of one of these; NULL: it is not */
	const LodeColumns *part;  /* of the kind of that name */
	uint8_t only;             /* of the forms with a key; 0: in both */
	bool is_repeated;         /* stands for several: lode_columns_repeat() */
	bool is_optional;         /* JSON leaves it out where there is no value, instead of null */
	uint32_t when;            /* only when the listing has one of these bits; 0: always */

	/* text */
	uint8_t at;        /* the column's place from the left, from 1; 0: not in text */
	uint8_t dropped;   /* as in LodeTableColumn */
	uint8_t decimals;  /* of a number */
	bool is_right;     /* text that stands to the right as numbers do */
	bool hides_empty;  /* the column is left out where no row has a value but 0 */
	const char *title; /* NULL: the key */
	uint8_t titled; /* the title is this one of the listing's, from 1; 0: it is the column's */
	const char *missing; /* for no value; NULL: nothing */
	LodeStyle style;
	size_t styled;   /* where the row has the style, as LodeStyle; 0: it is always the same */
	size_t indented; /* where the row has its level, as uint32_t; 0: it has none */
	/* The cell and its style where it depends on more than the value. */
	LodeStyle (*append)(
		const void *row, const LodeTerminal *terminal, GString *out, const void *user_data);

	/* JSON: writes the value; where the column has no key, members of its own. */
	void (*put)(LodeJsonStream *json, const void *row, const void *user_data);

	/* The page's types: */
	const char *type; /* of what `put` writes, and where a text is one of few */
	bool is_nullable; /* there may be no value */
} LodeColumn;

#define LODE_CELL_STORED(type, member)                                                             \
	.offset = offsetof(type, member),                                                          \
	.stored = _Generic(((type *)NULL)->member,                                                 \
		const char *: LODE_STORED_TEXT,                                                    \
		char *: LODE_STORED_OWNED_TEXT,                                                    \
		const GPtrArray *: LODE_STORED_TEXTS,                                              \
		GPtrArray *: LODE_STORED_OWNED_TEXTS,                                              \
		double: LODE_STORED_DOUBLE,                                                        \
		uint64_t: LODE_STORED_UINT64,                                                      \
		int64_t: LODE_STORED_INT64,                                                        \
		uint32_t: LODE_STORED_UINT32,                                                      \
		int32_t: LODE_STORED_INT32,                                                        \
		uint16_t: LODE_STORED_UINT16,                                                      \
		uint8_t: LODE_STORED_UINT8,                                                        \
		bool: LODE_STORED_BOOL)
#define LODE_CELL_TEXT(type, member) .kind = LODE_COLUMN_TEXT, LODE_CELL_STORED(type, member)
#define LODE_CELL_NAME(type, member) .kind = LODE_COLUMN_NAME, LODE_CELL_STORED(type, member)
#define LODE_CELL_NUMBER(type, member) .kind = LODE_COLUMN_NUMBER, LODE_CELL_STORED(type, member)
#define LODE_CELL_COUNT(type, member) .kind = LODE_COLUMN_COUNT, LODE_CELL_STORED(type, member)
#define LODE_CELL_SHARE(type, member) .kind = LODE_COLUMN_SHARE, LODE_CELL_STORED(type, member)
#define LODE_CELL_RATIO(type, member) .kind = LODE_COLUMN_RATIO, LODE_CELL_STORED(type, member)
#define LODE_CELL_SIZE(type, member) .kind = LODE_COLUMN_SIZE, LODE_CELL_STORED(type, member)
#define LODE_CELL_TIME(type, member) .kind = LODE_COLUMN_TIME, LODE_CELL_STORED(type, member)
#define LODE_CELL_ADDRESS(type, member) .kind = LODE_COLUMN_ADDRESS, LODE_CELL_STORED(type, member)
#define LODE_CELL_FLAG(type, member) .kind = LODE_COLUMN_FLAG, LODE_CELL_STORED(type, member)
#define LODE_CELL_TEXTS(type, member) .kind = LODE_COLUMN_TEXTS, LODE_CELL_STORED(type, member)
#define LODE_CELL_JSON(function) .kind = LODE_COLUMN_JSON, .put = (function)
/* A text of type `char *` that stays another's. */
#define LODE_CELL_BORROWED(type, member)                                                           \
	.kind = LODE_COLUMN_TEXT, .offset = offsetof(type, member), .stored = LODE_STORED_TEXT
#define LODE_CELL_BORROWED_NAME(type, member)                                                      \
	.kind = LODE_COLUMN_NAME, .offset = offsetof(type, member), .stored = LODE_STORED_TEXT
#define LODE_CELL_PART(type, member, set)                                                          \
	.kind = LODE_COLUMN_PART, .offset = offsetof(type, member), .part = &(set)
#define LODE_GROUP(prefix) .kind = LODE_COLUMN_GROUP, .title = (prefix)
#define LODE_GROUP_END                                                                             \
	{                                                                                          \
		.kind = LODE_COLUMN_GROUP_END                                                      \
	}

struct LodeColumns {
	const char *name; /* of the list in JSON */
	const LodeColumn *columns;
	unsigned n_columns;
	size_t row_size;
};

/* A listing of an array of columns, whose rows have this type. */
#define LODE_COLUMNS(name, columns, type)                                                          \
	{                                                                                          \
		(name), (columns), G_N_ELEMENTS(columns), sizeof(type)                             \
	}

/* Writes to `out` the same columns, but with the one that is repeated `n` times, with these keys:
 * its values are an array in the row, whose last member it may be. The caller frees out->columns.
 */
void lode_columns_repeat(
	const LodeColumns *self, const char *const *keys, unsigned n, LodeColumns *out);

typedef struct {
	const LodeColumns *columns;
	size_t n_rows;
	const void *rows; /* an array; NULL: `fill` makes them */
	void (*fill)(size_t number, void *row, const void *user_data);
	const void *user_data; /* of the functions here and of the columns' */
	uint32_t what;         /* bits that columns look for */

	/* text */
	const char *titles[4];
	LodeTableNote note;
	unsigned last_width;
	bool wraps;
	bool tells_left_out; /* a line names the columns for which the terminal was too narrow */
} LodeListing;

void lode_listing_write_text(const LodeListing *self, const LodeTerminal *terminal, FILE *out);

/* The columns of the text as a table of Markdown. */
void lode_listing_write_markdown(const LodeListing *self, FILE *out);

/* The line of titles and the rows; either alone, for rows of several listings. */
void lode_listing_write_csv(const LodeListing *self, FILE *out);
void lode_listing_put_csv_titles(const LodeListing *self, FILE *out);
void lode_listing_put_csv_rows(const LodeListing *self, FILE *out);

/* A member of the open object, named as the columns, with an array of objects, each on a line; the
 * items alone, for the array that is open. */
void lode_listing_put_json(const LodeListing *self, LodeJsonStream *json);
void lode_listing_put_json_rows(const LodeListing *self, LodeJsonStream *json);

/* The same of an array of rows. */
void lode_columns_put_json_list(const LodeColumns *self, const GArray *rows, LodeJsonStream *json);

/* The members of one row, for the object that is open. */
void lode_columns_put_json(const LodeColumns *self, const void *row, LodeJsonStream *json);
