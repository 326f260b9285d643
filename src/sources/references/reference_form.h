/* SPDX-License-Identifier: MIT */
/*
 * A form of address traces for the reader and the writer: a row of one table. Only for
 * sources/reference_*.c and the files of the forms.
 */
#pragma once

#include "sources/references/reference_file.h"

enum {
	LODE_REFERENCE_SLACK = 64,        /* bytes readable after the end of a scan */
	LODE_REFERENCE_CHECKED = 1 << 16, /* bytes by which a form without a mark is recognised */
	LODE_REFERENCE_MAX_LINE = 64,     /* bytes that one reference takes when written, at most */
};

/*
 * The unread part of the input, and where its references go.
 *
 *   text   … │ I  0401ab70,3⏎ S 1fff000718,8⏎I  0401b7 │ slack
 *            at                                        end
 */
typedef struct {
	const char *name; /* of the input, for messages */
	const char *at, *end;
	bool is_last;       /* nothing comes after `end` */
	uint64_t line;      /* number of the line at `at`, from 1 */
	uint64_t offset;    /* of the record at `at` in the decompressed input; binary forms */
	LodeReference *out; /* `n` are there, of at most `room` */
	size_t n, room;
	/* The state of the forms; each uses its own part. */
	uint16_t thread;
	bool has_header, has_threads;
	uint64_t n_skipped;      /* records that are not references */
	uint64_t n_remarks;      /* lines with more on them than the form reads */
	uint64_t n_instructions; /* by the tool's own count; 0: unknown */
	char *command, *version; /* of the tool; NULL: unknown */
} LodeReferenceScan;

/* Where references become bytes of a form. */
struct LodeReferenceWriter {
	const struct LodeReferenceFormRow *form;
	FILE *out;
	char *buffer;
	size_t used;
	uint16_t thread;
	bool has_header;
	uint64_t n_modifies, n_of_other_threads, n_repeated;
	/* For champsim: the current instruction. */
	uint64_t instruction, loads[4], stores[2];
	unsigned n_loads, n_stores;
	bool is_open, goes_on;
	LodeReferenceInstruction details;          /* of it; all 0: not known */
	LodeReferenceInstructionFunc find_details; /* NULL: none are */
	void *details_data;
	uint64_t n_added, n_unknown; /* references; fetches without details */
};

typedef struct LodeReferenceFormRow {
	const char *name;
	/* Whether these may be the first bytes, more than none, of an input. */
	bool (*is_form)(const char *data, size_t size);
	size_t n_checked; /* the number of records to check, if there are as many; 0: a few */
	/* Takes records until those of one more may not fit, or no whole record is left. */
	bool (*scan)(LodeReferenceScan *scan, GError **error);
	/* NULL: nothing is lost. */
	char *(*losses)(const LodeReferenceScan *scan);
	bool (*write)(LodeReferenceWriter *writer, const LodeReference *reference, GError **error);
	bool (*finish)(
		LodeReferenceWriter *writer, GError **error); /* NULL: nothing is held back */
	bool lacks_sizes, lacks_threads;
	bool splits_modifies; /* has none: a load and a store instead */
} LodeReferenceFormRow;

const LodeReferenceFormRow *lode_reference_form_row(LodeReferenceForm form);

extern const LodeReferenceFormRow lode_lackey_text, lode_din_text, lode_xdin_text,
	lode_champsim_records, lode_reference_csv;

/*
 * The next line, without its line feed (or carriage return and line feed); moves after it. False:
 * no whole one is left. The last line need not have a line feed.
 */
bool lode_reference_scan_line(LodeReferenceScan *self, const char **out_line, size_t *out_length);

/* Sets "NAME: line N: MESSAGE: 'the line'"; the line is the one that was given last. Gives false.
 */
bool lode_reference_scan_fail(const LodeReferenceScan *self, const char *line, size_t length,
	GError **error, const char *message);

/* Appends a reference; there must be room. */
static inline void lode_reference_scan_add(
	LodeReferenceScan *self, LodeReferenceKind kind, uint64_t address, uint32_t size)
{
	self->out[self->n++] = (LodeReference){address, size, self->thread, (uint8_t)kind};
}

/* LODE_REFERENCE_MAX_LINE bytes to write to, of which `used` is then moved along. NULL: _IO. */
char *lode_reference_writer_room(LodeReferenceWriter *self, GError **error);

/*
 * Numbers in a text of which *at is unread; move *at after them. False, with *at anywhere:
 * not a number, or larger than `max`.
 */
bool lode_reference_hex(const char **at, const char *end, uint64_t max, uint64_t *out);
bool lode_reference_decimal(const char **at, const char *end, uint64_t max, uint64_t *out);

/* Value of a hexadecimal digit; 16: it is none. */
extern const uint8_t lode_reference_hex_digits[256];

/* Write a number; give the place after it. Hexadecimal, of at least `width` digits; always writes
 * 16 bytes, whatever their number. */
char *lode_reference_put_hex(char *at, uint64_t value, unsigned width);
char *lode_reference_put_decimal(char *at, uint64_t value);
