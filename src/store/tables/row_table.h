/* SPDX-License-Identifier: MIT */
/*
 * A table whose rows are structs in an array. One list of columns says where a value is in the
 * struct, its kind and the table it may refer to; writing, reading and checking use it:
 *
 *   {"latency", offsetof(LodeMemorySample, latency), LODE_COLUMN_BITS, 0}
 *
 * Private to store/.
 */
#pragma once

#include "store/tables/row_reader.h"

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_COLUMN_AMOUNT,       /* double, finite and ≥ 0 */
	LODE_COLUMN_MAYBE_AMOUNT, /* the same; −1 is NULL */
	LODE_COLUMN_REAL,         /* double, finite */
	LODE_COLUMN_BITS,         /* uint64_t, all 64 bits */
	LODE_COLUMN_SIZE,         /* uint64_t up to INT64_MAX */
	LODE_COLUMN_END_TIME,     /* uint64_t; UINT64_MAX is NULL */
	LODE_COLUMN_NUMBER,       /* uint32_t */
	LODE_COLUMN_MAYBE_NUMBER, /* uint32_t; UINT32_MAX is NULL */
	LODE_COLUMN_REFERENCE,    /* uint32_t, a row's index; in the file it counts from 1 */
	LODE_COLUMN_MAYBE_REFERENCE,
	LODE_COLUMN_TEXT,
	LODE_COLUMN_MAYBE_TEXT,
	LODE_COLUMN_MAYBE_BYTES, /* GBytes */
	LODE_COLUMN_FLAG,        /* bool */
	LODE_COLUMN_SMALL,       /* uint8_t */
	LODE_COLUMN_WORD,        /* an enum, in the file its name */
	LODE_COLUMN_SMALL_WORD,  /* the same in a uint8_t */
} LodeColumnKind;

/* The table that a reference refers to. */
typedef enum {
	LODE_TARGET_THREADS,
	LODE_TARGET_MAPPINGS,
	LODE_TARGET_SITES,
	LODE_TARGET_ALLOCATIONS,
	LODE_TARGET_TYPES,
	LODE_TARGET_MEMBERS,
	LODE_TARGET_OBJECTS,
	LODE_TARGET_EVENTS,
	LODE_TARGET_IMAGES,
	LODE_TARGET_FUNCTIONS,
	LODE_TARGET_BLOCKS,
	LODE_TARGET_INSTRUCTIONS,
	LODE_TARGET_EDGES,
	LODE_TARGET_ATTRIBUTE_SETS,
	LODE_TARGET_LOCATIONS,
	LODE_TARGET_INLININGS,
	LODE_TARGET_CALLS,
	LODE_TARGET_PATHS,
	LODE_TARGET_ACCESS_CALLS,
	LODE_TARGET_SAMPLES,
	LODE_TARGET_FRAMES,
	LODE_TARGET_STACKS,
	LODE_TARGET_STACK_THREADS,
	LODE_TARGET_STACK_SAMPLES,
	LODE_TARGET_ORIGINS,
	LODE_TARGET_WAIT_CAUSES,
	LODE_TARGET_WAITS,
	LODE_TARGET_WAIT_PROCESSES,
	LODE_N_TARGETS,
} LodeTarget;

/* Which words an enum's values are. */
typedef enum {
	LODE_WORDS_FREQUENCY,
	LODE_WORDS_EVENT_KIND,
	LODE_WORDS_IMAGE_KIND,
	LODE_WORDS_FUNCTION_SOURCE,
	LODE_WORDS_EDGE_KIND,
	LODE_WORDS_RULE,
	LODE_WORDS_REASON,
	LODE_WORDS_ACCESS,
	LODE_WORDS_LAYER,
	LODE_WORDS_CALL_ROLE,
	LODE_WORDS_WINDOW_FACT,
	LODE_WORDS_FINDING_KIND,
	LODE_WORDS_WAIT_REASON,
	LODE_WORDS_SLICE_KIND,
} LodeWords;

typedef struct {
	const char *name;
	size_t offset; /* in the row's struct */
	LodeColumnKind kind;
	unsigned of; /* LodeTarget of a reference, LodeWords of a word; else 0 */
} LodeColumn;

typedef struct {
	const char *name;
	size_t row_size;
	const LodeColumn *columns;
	size_t n_columns;
	/* NULL: its rows are numbered by a column "id" from 1, which is not in the struct.
	 * Otherwise its first two columns, which are its key, with the run if it has one. */
	const char *key;
	size_t array;     /* where the struct that has its rows has their GArray */
	bool is_optional; /* it is not written where it is empty; files need not have it */
} LodeRowTable;

#define LODE_ROW_TABLE(name, type, columns, key)                                                   \
	{                                                                                          \
		name, sizeof(type), columns, G_N_ELEMENTS(columns), key, 0, false                  \
	}
/* Of rows in an array of a struct. */
#define LODE_ROW_TABLE_OF(holder, array, name, type, columns, key)                                 \
	{                                                                                          \
		name, sizeof(type), columns, G_N_ELEMENTS(columns), key, offsetof(holder, array),  \
			false                                                                      \
	}

/* Inserts all rows, in the order of the key. They must have passed lode_row_table_check(). */
bool lode_row_table_insert(const LodeRowTable *self, const void *rows, size_t n,
	LodeDatabase *database, GError **error);

/* The same of a table of runs: their number, and the row's own, come before the columns. */
bool lode_row_table_insert_of_run(const LodeRowTable *self, int64_t run, const void *rows, size_t n,
	LodeDatabase *database, GError **error);

/* Appends the table's rows to `rows`; their texts are put into `strings`. Whether referred rows
 * exist is for lode_row_table_check(). */
bool lode_row_table_read(const LodeRowTable *self, GStringChunk *strings, GArray *rows,
	LodeDatabase *database, GError **error);
bool lode_row_table_read_of_run(const LodeRowTable *self, int64_t run, GStringChunk *strings,
	GArray *rows, LodeDatabase *database, GError **error);

/* Whether each value is in range, and each reference below the count of its target. _CORRUPT with
 * table, row and column of the first that is not. */
bool lode_row_table_check(const LodeRowTable *self, const void *rows, size_t n,
	const size_t counts[LODE_N_TARGETS], GError **error);

/*
 * The same for all tables whose arrays are in one struct. Reading gives whether a file has them: of
 * those that are not optional it has all or none.
 */
double lode_row_tables_count(const LodeRowTable *tables, size_t n_tables, const void *holder);
bool lode_row_tables_insert(const LodeRowTable *tables, size_t n_tables, const void *holder,
	LodeDatabase *database, GError **error);
bool lode_row_tables_read(const LodeRowTable *tables, size_t n_tables, void *holder,
	GStringChunk *strings, LodeDatabase *database, bool *out_has, GError **error);
bool lode_row_tables_check(const LodeRowTable *tables, size_t n_tables, const void *holder,
	const size_t counts[LODE_N_TARGETS], GError **error);

/* Sets _CORRUPT with table and row (from 1), and the fault; always false. */
bool lode_row_table_broken(GError **error, const char *table, size_t index, const char *what);

/* One value, for tables that have another form: its result in a query that writes, and from
 * column `index` of one that reads. `row` is the struct. */
void lode_column_give(
	const LodeColumn *self, const void *row, LodeDatabase *database, sqlite3_context *out);
void lode_column_take(
	const LodeColumn *self, void *row, GStringChunk *strings, LodeRowReader *rows, int index);
