/* SPDX-License-Identifier: MIT */
/*
 * Fills empty tables and indexes of a SQLite file that no connection has open, by writing the pages
 * of their B-trees (https://www.sqlite.org/fileformat2.html): rows come in the order of their keys,
 * so that each page is made once, filled, and appended to the file. SQLite's own machine takes
 * 20 times as long for the same rows; it makes the file and its schema, and all reading is its.
 *
 *   root, made with the schema ─┬─▶ page ─▶ page of rows, page of rows …
 *                               └─▶ page ─▶ page of rows …
 *
 * Private to store/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LODE_TREE_PAGE_SIZE = 16384, /* of the files that it fills */
	/* A record that is not longer stands on one page, as all must. */
	LODE_TREE_LONGEST_RECORD = 4000,
};

typedef struct LodeTreeWriter LodeTreeWriter;

/* Opens a file without reserved bytes or auto-vacuum. _IO; _UNSUPPORTED: it has another form. */
LodeTreeWriter *lode_tree_writer_open(const char *path, GError **error);
void lode_tree_writer_close(LodeTreeWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTreeWriter, lode_tree_writer_close)

/* Begins the empty tree at page `root`: a table's by row numbers, or one by the records themselves,
 * which is an index or a table WITHOUT ROWID. */
void lode_tree_writer_begin(LodeTreeWriter *self, uint32_t root, bool is_index);

/* Appends a record; `id` is its row number, ascending from 1, and is not looked at in an index. */
void lode_tree_writer_add(LodeTreeWriter *self, uint64_t id, const uint8_t *record, size_t size);

/* Writes what is left of the tree. _IO, also for what failed since it was begun. */
bool lode_tree_writer_end(LodeTreeWriter *self, GError **error);

/* Writes how long the file is, without which SQLite does not see the pages. */
bool lode_tree_writer_finish(LodeTreeWriter *self, GError **error);

/* The page number after `page` that may be used: SQLite keeps its locks in one page. */
uint32_t lode_tree_writer_next_page(uint32_t page);
