/* SPDX-License-Identifier: MIT */
/*
 * A row as it stands in a SQLite file: the types of its values, then the values
 * (https://www.sqlite.org/fileformat2.html#record_format). Private to store/.
 *
 *   LodeFileRecord record;
 *   lode_file_record_begin(&record);
 *   lode_file_record_put_integer(&record, 7); …
 *   size = lode_file_record_end(&record, &bytes);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	LODE_FILE_RECORD_TYPES = 64, /* bytes of types, with their own length */
	LODE_FILE_RECORD_VALUES = 2048,
	LODE_FILE_RECORD_LONGEST_TEXT = 255,
	LODE_FILE_RECORD_MOST_COLUMNS = 16,
};

typedef struct {
	uint8_t types[LODE_FILE_RECORD_TYPES];
	uint8_t bytes[LODE_FILE_RECORD_TYPES + LODE_FILE_RECORD_VALUES]; /* values at _TYPES */
	size_t n_types, n_values;                                        /* bytes of each */
} LodeFileRecord;

static inline void lode_file_record_begin(LodeFileRecord *self)
{
	self->n_types = self->n_values = 0;
}

/* At most _MOST_COLUMNS values, of which at most 7 are texts. */
void lode_file_record_put_null(LodeFileRecord *self);
void lode_file_record_put_integer(LodeFileRecord *self, int64_t value);
/* In a column of type REAL, where SQLite keeps whole numbers as integers. */
void lode_file_record_put_real(LodeFileRecord *self, double value);
/* Not NULL, and of _LONGEST_TEXT bytes at most. */
void lode_file_record_put_text(LodeFileRecord *self, const char *text);

/* The record's size; the bytes are valid until it is begun again. */
size_t lode_file_record_end(LodeFileRecord *self, const uint8_t **out_bytes);
