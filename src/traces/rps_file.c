/* SPDX-License-Identifier: MIT */
#include "traces/rps_file.h"

#include "base/error.h"
#include "traces/rps_contents.h"
#include "traces/rps_fields.h"
#include "traces/rps_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(GError **error, LodeErrorCode code, const char *what)
{
	g_set_error(error, LODE_ERROR, (gint)code, "%s", what);
	return false;
}

static void clear_entry(void *data)
{
	lode_rps_summary_clear(&((LodeRpsEntry *)data)->summary);
}

static GArray *entries_new(void)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(LodeRpsEntry));

	g_array_set_clear_func(entries, clear_entry);
	return entries;
}

static bool read_into(
	const LodeRpsFile *self, uint64_t offset, uint8_t *out, uint64_t size, GError **error)
{
	while (size > 0) {
		ssize_t n = pread(self->descriptor, out, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(error, LODE_ERROR_IO, g_strerror(errno));
		if (n == 0)
			return fail(error, LODE_ERROR_CORRUPT, "the file is cut short");
		out += n;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return true;
}

uint8_t *lode_rps_file_read(const LodeRpsFile *self, uint64_t offset, uint64_t size, GError **error)
{
	g_autofree uint8_t *bytes = NULL;

	if (offset > self->size || size > self->size - offset) {
		fail(error, LODE_ERROR_CORRUPT, "the file is cut short");
		return NULL;
	}
	bytes = g_try_malloc(size + 1);
	if (bytes == NULL) {
		fail(error, LODE_ERROR_LIMIT, "no memory to read it");
		return NULL;
	}
	return read_into(self, offset, bytes, size, error) ? g_steal_pointer(&bytes) : NULL;
}

uint8_t *lode_rps_file_read_head(
	const LodeRpsFile *self, uint64_t offset, LodeRpsSection *out_section, GError **error)
{
	g_autofree uint8_t *header = lode_rps_file_read(
		self, offset, LODE_RPS_SECTION_HEADER_BYTES, error);
	LodeRpsSection section;

	if (header == NULL || !lode_rps_section_parse(header, &section, error))
		return NULL;
	g_autofree uint8_t *head = lode_rps_file_read(
		self, offset + LODE_RPS_SECTION_HEADER_BYTES, section.head_bytes, error);
	if (head == NULL || !lode_rps_section_check(&section, head, section.head_bytes, error))
		return NULL;
	*out_section = section;
	return g_steal_pointer(&head);
}

static bool open_file(LodeRpsFile *self, GError **error)
{
	struct stat status;

	self->descriptor = open(self->path, O_RDONLY | O_CLOEXEC);
	if (self->descriptor < 0 || fstat(self->descriptor, &status) != 0)
		return fail(error, LODE_ERROR_IO, g_strerror(errno));
	if (!S_ISREG(status.st_mode))
		return fail(error, LODE_ERROR_IO, "not a regular file");
	self->size = (uint64_t)status.st_size;
	return true;
}

static bool check_header(const LodeRpsFile *self, GError **error)
{
	uint8_t header[LODE_RPS_HEADER_BYTES];
	LodeByteCursor cursor;

	if (self->size < sizeof(header))
		return fail(error, LODE_ERROR_CORRUPT, "too short for a packed trace");
	if (!read_into(self, 0, header, sizeof(header), error))
		return false;
	lode_rps_cursor_init(&cursor, header, sizeof(header));
	if (memcmp(lode_byte_cursor_bytes(&cursor, LODE_RPS_MAGIC_BYTES), LODE_RPS_MAGIC,
		    LODE_RPS_MAGIC_BYTES) != 0)
		return fail(error, LODE_ERROR_CORRUPT,
			"not a packed trace; 'lode trace pack' makes one of other tools' traces");
	uint32_t version = lode_byte_cursor_u32(&cursor);
	if (version == LODE_RPS_VERSION && lode_byte_cursor_u32(&cursor) == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"a packed trace of version %u; this lode reads version %d", version,
		LODE_RPS_VERSION);
	return false;
}

LodeRpsFile *lode_rps_file_open(const char *path, GError **error)
{
	g_autoptr(LodeRpsFile) self = g_new0(LodeRpsFile, 1);

	self->path = g_strdup(path);
	self->frames = entries_new();
	self->description = lode_trace_description_new();
	if (!open_file(self, error) || !check_header(self, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	lode_rps_contents_read(self);
	return g_steal_pointer(&self);
}

void lode_rps_file_close(LodeRpsFile *self)
{
	if (self == NULL)
		return;
	if (self->descriptor >= 0)
		close(self->descriptor);
	g_array_unref(self->frames);
	lode_trace_description_free(self->description);
	g_free(self->damage);
	g_free(self->path);
	g_free(self);
}

const LodeRpsEntry *lode_rps_file_frame(const LodeRpsFile *self, uint64_t number)
{
	return &g_array_index(self->frames, LodeRpsEntry, number);
}
