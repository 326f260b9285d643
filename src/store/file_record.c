/* SPDX-License-Identifier: MIT */
#include "store/file_record.h"

#include <glib.h>
#include <string.h>

enum {
	TYPE_NULL = 0,
	TYPE_INTEGER_6 = 5,
	TYPE_INTEGER_8 = 6,
	TYPE_REAL = 7,
	TYPE_ZERO = 8,
	TYPE_ONE = 9,
	TYPE_TEXT = 13, /* plus twice the length */
	LARGEST_SHORT_TYPE = 127,
};

/* Bytes of the types 1 to 6. */
static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 8};

static void put_value(LodeFileRecord *self, uint8_t type, uint64_t value, size_t size)
{
	value = GUINT64_TO_BE(value << (64 - 8 * size));
	memcpy(self->bytes + LODE_FILE_RECORD_TYPES + self->n_values, &value, sizeof(value));
	self->types[self->n_types++] = type;
	self->n_values += size;
}

void lode_file_record_put_null(LodeFileRecord *self)
{
	self->types[self->n_types++] = TYPE_NULL;
}

/* The smallest type whose bits, the sign among them, hold the value. */
static unsigned integer_type(int64_t value)
{
	uint64_t bits = (uint64_t)(value < 0 ? ~value : value);
	unsigned type = 1;

	while (type < TYPE_INTEGER_8 && bits >> (8 * sizes[type] - 1) != 0)
		type++;
	return type;
}

void lode_file_record_put_integer(LodeFileRecord *self, int64_t value)
{
	if (value == 0 || value == 1) {
		self->types[self->n_types++] = (uint8_t)(TYPE_ZERO + value);
		return;
	}
	unsigned type = integer_type(value);
	put_value(self, (uint8_t)type, (uint64_t)value, sizes[type]);
}

void lode_file_record_put_real(LodeFileRecord *self, double value)
{
	/* Of those that have eight bytes as integers none is written as one. */
	static const double limit = (double)(INT64_C(1) << 47);
	uint64_t bits;

	if (value > -limit && value < limit && value == (double)(int64_t)value) {
		lode_file_record_put_integer(self, (int64_t)value);
		return;
	}
	memcpy(&bits, &value, sizeof(bits));
	put_value(self, TYPE_REAL, bits, sizeof(bits));
}

void lode_file_record_put_text(LodeFileRecord *self, const char *text)
{
	size_t length = strlen(text), type = TYPE_TEXT + 2 * length;

	g_assert(length <= LODE_FILE_RECORD_LONGEST_TEXT);
	if (type > LARGEST_SHORT_TYPE)
		self->types[self->n_types++] = (uint8_t)(0x80 | type >> 7);
	self->types[self->n_types++] = (uint8_t)(type & 0x7f);
	memcpy(self->bytes + LODE_FILE_RECORD_TYPES + self->n_values, text, length);
	self->n_values += length;
}

/* The types are put right before the values, after their own length. */
size_t lode_file_record_end(LodeFileRecord *self, const uint8_t **out_bytes)
{
	size_t n = self->n_types + 1;
	uint8_t *start = self->bytes + LODE_FILE_RECORD_TYPES - n;

	g_assert(n <= LODE_FILE_RECORD_TYPES);
	start[0] = (uint8_t)n;
	memcpy(start + 1, self->types, self->n_types);
	*out_bytes = start;
	return n + self->n_values;
}
