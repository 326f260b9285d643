/* SPDX-License-Identifier: MIT */
/*
 * Makes a long perf.data file of a short one: its data section, again and again, with times that go
 * on, until it has as many samples as asked for. Mappings come once.
 *
 *   header, attributes, ids │ data │ features   →   header, attributes, ids │ data × n │ features
 *
 * For files of this machine's byte order whose only event has ip, tid, time first and no id.
 */
#include "sources/perf_data/perf_data_format.h"

#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_OFFSET = 40, DATA_SIZE = 48, FEATURE_MAP = 72, TIME_OF_SAMPLE = 24 };

typedef struct {
	uint8_t *bytes;
	size_t size;
	uint64_t data_start, data_end;
} File;

static uint64_t get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void set64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* Appends the samples with times moved on; in the first round all other records too. */
static uint64_t append_round(GByteArray *out, const File *file, uint64_t round, uint64_t moved_ns)
{
	uint64_t n = 0;

	for (uint64_t at = file->data_start; at < file->data_end;) {
		struct perf_event_header header;
		memcpy(&header, file->bytes + at, sizeof(header));
		if (header.type == PERF_RECORD_SAMPLE || round == 0)
			g_byte_array_append(out, file->bytes + at, header.size);
		if (header.type == PERF_RECORD_SAMPLE) {
			uint8_t *time = out->data + out->len - header.size + TIME_OF_SAMPLE;
			set64(time, get64(time) + round * moved_ns);
			n++;
		}
		at += header.size;
	}
	return n;
}

/* From the first sample's time to the last's, so that no round runs into the next. */
static uint64_t span_ns(const File *file)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (uint64_t at = file->data_start; at < file->data_end;) {
		struct perf_event_header header;
		memcpy(&header, file->bytes + at, sizeof(header));
		if (header.type == PERF_RECORD_SAMPLE) {
			first = MIN(first, get64(file->bytes + at + TIME_OF_SAMPLE));
			last = MAX(last, get64(file->bytes + at + TIME_OF_SAMPLE));
		}
		at += header.size;
	}
	return last > first ? last - first + 1 : 0;
}

/* The features' sections move as far as the data grew. */
static void append_features(GByteArray *out, const File *file, uint64_t grown)
{
	unsigned n = 0;
	guint start = out->len;

	for (unsigned i = 0; i < 4; i++)
		n += (unsigned)__builtin_popcountll(get64(file->bytes + FEATURE_MAP + 8 * i));
	g_byte_array_append(
		out, file->bytes + file->data_end, (guint)(file->size - file->data_end));
	for (unsigned i = 0; i < n; i++) {
		uint8_t *offset = out->data + start + 16 * (size_t)i;
		set64(offset, get64(offset) + grown);
	}
}

int main(int argc, char **argv)
{
	File file = {0};
	g_autoptr(GByteArray) out = g_byte_array_new();
	uint64_t n = 0, wanted = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;

	if (wanted == 0) {
		fputs("usage: replicate_perf_data SHORT LONG SAMPLES\n", stderr);
		return 2;
	}
	if (!g_file_get_contents(argv[1], (char **)&file.bytes, &file.size, NULL))
		return 1;
	file.data_start = get64(file.bytes + DATA_OFFSET);
	file.data_end = file.data_start + get64(file.bytes + DATA_SIZE);
	uint64_t moved_ns = span_ns(&file);
	g_byte_array_append(out, file.bytes, (guint)file.data_start);
	for (uint64_t round = 0; n < wanted; round++) {
		uint64_t found = append_round(out, &file, round, moved_ns);
		if (found == 0)
			return 1;
		n += found;
	}
	set64(out->data + DATA_SIZE, out->len - file.data_start);
	append_features(out, &file, out->len - file.data_end);
	g_free(file.bytes);
	printf("%" G_GUINT64_FORMAT "\n", n);
	return g_file_set_contents(argv[2], (const char *)out->data, out->len, NULL) ? 0 : 1;
}
