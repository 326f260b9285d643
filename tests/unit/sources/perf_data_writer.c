/* SPDX-License-Identifier: MIT */
#include "perf_data_writer.h"

#include <string.h>

enum { HEADER_BYTES = 104, DEFAULT_ATTRIBUTE_BYTES = 128 };

static void put(PerfDataWriter *self, uint64_t value, unsigned n)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < n; i++)
		bytes[self->is_big_endian ? n - 1 - i : i] = (uint8_t)(value >> (8 * i));
	g_byte_array_append(self->bytes, bytes, n);
}

void put8(PerfDataWriter *self, uint8_t value)
{
	put(self, value, 1);
}

void put16(PerfDataWriter *self, uint16_t value)
{
	put(self, value, 2);
}

void put32(PerfDataWriter *self, uint32_t value)
{
	put(self, value, 4);
}

void put64(PerfDataWriter *self, uint64_t value)
{
	put(self, value, 8);
}

void put_text(PerfDataWriter *self, const char *text)
{
	size_t length = strlen(text) + 1;

	g_byte_array_append(self->bytes, (const uint8_t *)text, (guint)length);
	for (; length % 8 != 0; length++)
		put8(self, 0);
}

void put_counted_text(PerfDataWriter *self, const char *text)
{
	put32(self, (uint32_t)((strlen(text) + 8) / 8 * 8));
	put_text(self, text);
}

void begin_record(PerfDataWriter *self, uint32_t type, uint16_t misc)
{
	self->record = self->bytes->len;
	put32(self, type);
	put16(self, misc);
	put16(self, 0);
}

void end_record(PerfDataWriter *self)
{
	guint size = self->bytes->len - self->record;

	g_assert_cmpuint(size, <=, UINT16_MAX);
	self->bytes->data[self->record + 6] = (uint8_t)(self->is_big_endian ? size >> 8 : size);
	self->bytes->data[self->record + 7] = (uint8_t)(self->is_big_endian ? size : size >> 8);
}

uint64_t put_field(const PerfDataWriter *self, uint64_t value, unsigned shift, unsigned width)
{
	return value << (self->is_big_endian ? 64 - shift - width : shift);
}

static void writer_init(PerfDataWriter *self, bool is_big_endian)
{
	self->bytes = g_byte_array_new();
	self->is_big_endian = is_big_endian;
}

void perf_data_file_init(PerfDataFile *self, bool is_big_endian, bool is_pipe)
{
	memset(self, 0, sizeof(*self));
	self->is_big_endian = is_big_endian;
	self->is_pipe = is_pipe;
	self->has_data_size = true;
	writer_init(&self->data, is_big_endian);
}

void perf_data_file_clear(PerfDataFile *self)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(self->features); i++)
		g_clear_pointer(&self->features[i].bytes, g_byte_array_unref);
	g_clear_pointer(&self->data.bytes, g_byte_array_unref);
}

PerfDataWriter *perf_data_file_feature(PerfDataFile *self, unsigned number)
{
	writer_init(&self->features[number], self->is_big_endian);
	return &self->features[number];
}

/* Single bits, and precise_ip of two from bit 15. */
static uint64_t put_flags(const PerfDataWriter *self, uint64_t flags)
{
	uint64_t result = put_field(self, flags >> 15 & 3, 15, 2);

	for (unsigned i = 0; i < 64; i++)
		if (i != 15 && i != 16)
			result |= put_field(self, flags >> i & 1, i, 1);
	return result;
}

static void put_attribute(PerfDataWriter *self, const PerfDataAttribute *attribute)
{
	guint start = self->bytes->len;
	uint32_t size = attribute->size != 0 ? attribute->size : DEFAULT_ATTRIBUTE_BYTES;

	put32(self, attribute->type);
	put32(self, size);
	put64(self, attribute->config);
	put64(self, attribute->period);
	put64(self, attribute->sample_type);
	put64(self, attribute->read_format);
	put64(self, put_flags(self, attribute->flags));
	put64(self, 0);
	put64(self, attribute->config1);
	put64(self, 0);
	put64(self, attribute->branch_sample_type);
	put64(self, attribute->user_registers);
	put32(self, 0);
	put32(self, 1); /* CLOCK_MONOTONIC */
	put64(self, attribute->interrupt_registers);
	while (self->bytes->len < start + size)
		put8(self, 0xee);
	g_byte_array_set_size(self->bytes, start + size);
}

static void put_magic(PerfDataFile *self, PerfDataWriter *writer)
{
	if (self->is_version_1)
		g_byte_array_append(writer->bytes, (const uint8_t *)"PERFFILE", 8);
	else
		put64(writer, UINT64_C(0x32454c4946524550));
}

static void put_pipe(PerfDataFile *self, PerfDataWriter *out)
{
	put64(out, 16);
	for (unsigned i = 0; i < self->n_attributes; i++) {
		begin_record(out, 64, 0);
		put_attribute(out, &self->attributes[i]);
		for (unsigned id = 0; id < self->attributes[i].n_ids; id++)
			put64(out, self->attributes[i].ids[id]);
		end_record(out);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(self->features); i++) {
		if (self->features[i].bytes == NULL)
			continue;
		begin_record(out, 80, 0);
		put64(out, i);
		g_byte_array_append(
			out->bytes, self->features[i].bytes->data, self->features[i].bytes->len);
		end_record(out);
	}
	g_byte_array_append(out->bytes, self->data.bytes->data, self->data.bytes->len);
}

static void put_feature_map(PerfDataFile *self, PerfDataWriter *out)
{
	uint64_t map[4] = {0};

	for (unsigned i = 0; i < G_N_ELEMENTS(self->features); i++)
		map[i / 64] |= (uint64_t)(self->features[i].bytes != NULL) << i % 64;
	for (unsigned i = 0; i < G_N_ELEMENTS(map); i++) {
		if (self->has_long_of_32_bits) {
			put32(out, (uint32_t)map[i]);
			put32(out, (uint32_t)(map[i] >> 32));
		} else {
			put64(out, map[i]);
		}
	}
}

static void put_feature_sections(PerfDataFile *self, PerfDataWriter *out)
{
	uint64_t n = 0, at;

	for (unsigned i = 0; i < G_N_ELEMENTS(self->features); i++)
		n += self->features[i].bytes != NULL;
	at = out->bytes->len + 16 * n;
	for (unsigned i = 0; i < G_N_ELEMENTS(self->features); i++) {
		if (self->features[i].bytes == NULL)
			continue;
		put64(out, at);
		put64(out, self->features[i].bytes->len);
		at += self->features[i].bytes->len;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(self->features); i++)
		if (self->features[i].bytes != NULL)
			g_byte_array_append(out->bytes, self->features[i].bytes->data,
				self->features[i].bytes->len);
}

static void put_file(PerfDataFile *self, PerfDataWriter *out)
{
	uint32_t size = self->attributes[0].size != 0 ? self->attributes[0].size
	                                              : DEFAULT_ATTRIBUTE_BYTES;
	uint64_t entries = (uint64_t)self->n_attributes * (size + 16);
	uint64_t ids = HEADER_BYTES + entries;
	uint64_t data = ids + 16 * (uint64_t)self->n_attributes;

	put64(out, HEADER_BYTES);
	put64(out, size + 16);
	put64(out, HEADER_BYTES);
	put64(out, entries);
	put64(out, data);
	put64(out, self->has_data_size ? self->data.bytes->len : 0);
	put64(out, 0);
	put64(out, 0);
	put_feature_map(self, out);
	for (unsigned i = 0; i < self->n_attributes; i++) {
		put_attribute(out, &self->attributes[i]);
		put64(out, ids + 16 * i);
		put64(out, 8 * self->attributes[i].n_ids);
	}
	for (unsigned i = 0; i < self->n_attributes; i++)
		for (unsigned id = 0; id < 2; id++)
			put64(out, self->attributes[i].ids[id]);
	g_byte_array_append(out->bytes, self->data.bytes->data, self->data.bytes->len);
	put_feature_sections(self, out);
}

GByteArray *perf_data_file_finish(PerfDataFile *self)
{
	PerfDataWriter out;

	writer_init(&out, self->is_big_endian);
	put_magic(self, &out);
	if (self->is_pipe)
		put_pipe(self, &out);
	else
		put_file(self, &out);
	return out.bytes;
}
