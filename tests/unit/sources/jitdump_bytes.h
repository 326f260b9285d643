/* SPDX-License-Identifier: MIT */
/* Makes jitdump files for tests, record by record, in either byte order. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	GByteArray *bytes;
	bool is_swapped;
} JitdumpBytes;

typedef struct {
	uint64_t time_ns, address, size, index;
	const char *name;
	uint8_t fill; /* every byte of the code */
} JitdumpLoad;

static inline void put_u32(JitdumpBytes *self, uint32_t value)
{
	value = self->is_swapped ? GUINT32_SWAP_LE_BE(value) : value;
	g_byte_array_append(self->bytes, (const uint8_t *)&value, sizeof value);
}

static inline void put_u64(JitdumpBytes *self, uint64_t value)
{
	value = self->is_swapped ? GUINT64_SWAP_LE_BE(value) : value;
	g_byte_array_append(self->bytes, (const uint8_t *)&value, sizeof value);
}

static inline void put_text(JitdumpBytes *self, const char *text)
{
	g_byte_array_append(self->bytes, (const uint8_t *)text, (guint)strlen(text) + 1);
}

static inline JitdumpBytes jitdump_begin(bool is_swapped, uint32_t pid, uint64_t flags)
{
	JitdumpBytes self = {g_byte_array_new(), is_swapped};

	put_u32(&self, 0x4a695444);
	put_u32(&self, 1);
	put_u32(&self, 40);
	put_u32(&self, 62);
	put_u32(&self, 0);
	put_u32(&self, pid);
	put_u64(&self, 1);
	put_u64(&self, flags);
	return self;
}

static inline void put_record(JitdumpBytes *self, uint32_t kind, uint32_t size, uint64_t time_ns)
{
	put_u32(self, kind);
	put_u32(self, 16 + size);
	put_u64(self, time_ns);
}

static inline void put_load(JitdumpBytes *self, const JitdumpLoad *load)
{
	size_t name_size = strlen(load->name) + 1;

	put_record(self, 0, (uint32_t)(40 + name_size + load->size), load->time_ns);
	put_u32(self, 7);
	put_u32(self, 8);
	put_u64(self, load->address);
	put_u64(self, load->address);
	put_u64(self, load->size);
	put_u64(self, load->index);
	put_text(self, load->name);
	for (uint64_t i = 0; i < load->size; i++)
		g_byte_array_append(self->bytes, &load->fill, 1);
}

static inline void put_move(
	JitdumpBytes *self, uint64_t time_ns, uint64_t old, uint64_t address, uint64_t index)
{
	put_record(self, 1, 48, time_ns);
	put_u32(self, 7);
	put_u32(self, 8);
	put_u64(self, address);
	put_u64(self, old);
	put_u64(self, address);
	put_u64(self, 16);
	put_u64(self, index);
}

static inline void put_marked_line(JitdumpBytes *self, uint64_t address, uint32_t line,
	const char *file, uint32_t discriminator)
{
	put_u64(self, address);
	put_u32(self, line);
	put_u32(self, discriminator);
	put_text(self, file);
}

static inline void put_line(JitdumpBytes *self, uint64_t address, uint32_t line, const char *file)
{
	put_marked_line(self, address, line, file, 3);
}

/* A call that lines are inlined by, as in the records of lode's agent. */
static inline void put_call(JitdumpBytes *self, uint32_t method, uint32_t line, uint32_t outer)
{
	put_u32(self, method);
	put_u32(self, line);
	put_u32(self, outer);
}

/* The head of a debug-info record; its lines of `size` bytes follow. */
static inline void put_debug_info(JitdumpBytes *self, uint64_t address, uint64_t n, uint32_t size)
{
	put_record(self, 2, 16 + size, 1);
	put_u64(self, address);
	put_u64(self, n);
}

/* Writes the file; the caller frees its name and unlinks it. */
static inline char *jitdump_end(JitdumpBytes *self)
{
	char *path = NULL;
	int fd = g_file_open_tmp("lode-XXXXXX.dump", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	g_assert_cmpint(write(fd, self->bytes->data, self->bytes->len), ==, self->bytes->len);
	close(fd);
	g_clear_pointer(&self->bytes, g_byte_array_unref);
	return path;
}
