/* SPDX-License-Identifier: MIT */
/* Writes perf.data files of either byte order, byte by byte, for what no recording at hand has. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	GByteArray *bytes;
	bool is_big_endian;
	guint record; /* where the record begins that is being written */
} PerfDataWriter;

/* An attribute; its flags as a little-endian machine has them. */
typedef struct {
	uint32_t type, size; /* size 0: 128 */
	uint64_t config, period, sample_type, read_format, flags, config1;
	uint64_t branch_sample_type, user_registers, interrupt_registers;
	uint64_t ids[2];
	unsigned n_ids;
} PerfDataAttribute;

/* A file whose parts are put together at the end. */
typedef struct {
	bool is_big_endian, is_pipe, is_version_1, has_data_size, has_long_of_32_bits;
	PerfDataAttribute attributes[3];
	unsigned n_attributes;
	PerfDataWriter data;
	PerfDataWriter features[256]; /* by number; bytes NULL: not there */
} PerfDataFile;

void perf_data_file_init(PerfDataFile *self, bool is_big_endian, bool is_pipe);
void perf_data_file_clear(PerfDataFile *self);
PerfDataWriter *perf_data_file_feature(PerfDataFile *self, unsigned number);
GByteArray *perf_data_file_finish(PerfDataFile *self);

void put8(PerfDataWriter *self, uint8_t value);
void put16(PerfDataWriter *self, uint16_t value);
void put32(PerfDataWriter *self, uint32_t value);
void put64(PerfDataWriter *self, uint64_t value);
/* With its NUL, and filled up to a multiple of 8. */
void put_text(PerfDataWriter *self, const char *text);
/* As in features: its length before it. */
void put_counted_text(PerfDataWriter *self, const char *text);
void begin_record(PerfDataWriter *self, uint32_t type, uint16_t misc);
void end_record(PerfDataWriter *self);
/* A bit field as big-endian machines have it, from one as little-endian machines do. */
uint64_t put_field(const PerfDataWriter *self, uint64_t value, unsigned shift, unsigned width);
