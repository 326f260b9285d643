/* SPDX-License-Identifier: MIT */
#include "record/perf/perf_writer.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files/temporary_path.h"
#include "base/files/write_at.h"
#include "record/events/perf_event_choice.h"
#include "sources/perf_data/perf_data_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
	uint64_t offset, size;
} Section;

typedef struct {
	uint64_t magic, size, attr_size;
	Section attrs, data, event_types;
	uint64_t features[4]; /* bits */
} Header;

typedef struct {
	struct perf_event_attr attr;
	Section ids;
} AttrEntry;

struct LodePerfWriter {
	char *path, *temporary;
	int descriptor;
	Header header;
	uint64_t end; /* of the file */
	bool is_published;
};

#define MAGIC UINT64_C(0x32454c4946524550) /* PERFILE2 */

static bool fail(const LodePerfWriter *self, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", self->path, g_strerror(errno));
	return false;
}

static bool append(LodePerfWriter *self, const void *data, size_t size, GError **error)
{
	if (!lode_write_at(self->descriptor, data, size, self->end))
		return fail(self, error);
	self->end += size;
	return true;
}

LodePerfWriter *lode_perf_writer_open(const char *path, GError **error)
{
	g_autoptr(LodePerfWriter) self = g_new0(LodePerfWriter, 1);

	self->descriptor = -1;
	if (strcmp(path, "-") == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"-: this cannot be written to standard output; a file of that name is "
			"'./-'");
		return NULL;
	}
	self->path = g_strdup(path);
	if (!lode_file_kind_may_replace(LODE_FILE_KIND_RECORDING, path, "-o", error))
		return NULL;
	self->temporary = g_strdup_printf("%s.%d-%08x.tmp", path, getpid(), g_random_int());
	/* Recordings are private: readable by their user alone, as perf's. */
	self->descriptor = open(self->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (self->descriptor < 0) {
		fail(self, error);
		return NULL;
	}
	lode_temporary_path_add(self->temporary);
	return g_steal_pointer(&self);
}

void lode_perf_writer_close(LodePerfWriter *self)
{
	if (self == NULL)
		return;
	if (self->descriptor >= 0) {
		close(self->descriptor);
		if (!self->is_published)
			unlink(self->temporary);
	}
	lode_temporary_path_forget(self->temporary);
	g_free(self->path);
	g_free(self->temporary);
	g_free(self);
}

static bool write_attrs(LodePerfWriter *self, const GPtrArray *choices, GError **error)
{
	g_autoptr(GArray) entries = g_array_new(FALSE, TRUE, sizeof(AttrEntry));

	for (guint i = 0; i < choices->len; i++) {
		const LodePerfChoice *choice = choices->pdata[i];
		const AttrEntry entry = {
			.attr = choice->attr,
			.ids = {self->end, choice->ids->len * sizeof(uint64_t)},
		};
		g_array_append_val(entries, entry);
		if (!append(self, choice->ids->data, entry.ids.size, error))
			return false;
	}
	self->header.attrs = (Section){self->end, entries->len * sizeof(AttrEntry)};
	return append(self, entries->data, self->header.attrs.size, error);
}

static bool move_in_place(LodePerfWriter *self, GError **error)
{
	g_autofree char *old = g_strconcat(self->path, ".old", NULL);

	if (rename(self->path, old) != 0 && errno != ENOENT)
		return fail(self, error);
	/* the descriptor stays open: later records are written under the new name */
	if (rename(self->temporary, self->path) != 0)
		return fail(self, error);
	lode_temporary_path_forget(self->temporary);
	self->is_published = true;
	return true;
}

bool lode_perf_writer_publish(LodePerfWriter *self, const GPtrArray *choices, GError **error)
{
	self->header = (Header){
		.magic = MAGIC, .size = sizeof(Header), .attr_size = sizeof(AttrEntry)};
	self->end = sizeof(Header);
	if (!write_attrs(self, choices, error))
		return false;
	self->header.data.offset = self->end;
	return lode_perf_writer_seal(self, error) && move_in_place(self, error);
}

bool lode_perf_writer_add(LodePerfWriter *self, const void *records, size_t size, GError **error)
{
	return append(self, records, size, error);
}

bool lode_perf_writer_add_ring(LodePerfWriter *self, const LodePerfRing *ring, GError **error)
{
	uint64_t position = ring->tail;

	while (position < ring->head) {
		size_t size;
		const void *records = lode_perf_ring_at(ring, position, &size);
		if (!append(self, records, size, error))
			return false;
		position += size;
	}
	return true;
}

bool lode_perf_writer_seal(LodePerfWriter *self, GError **error)
{
	self->header.data.size = self->end - self->header.data.offset;
	return lode_write_at(self->descriptor, &self->header, sizeof(self->header), 0) ||
	       fail(self, error);
}

/* The section is what was written at the end of the file; an empty one is left out. */
static bool end_section(LodePerfWriter *self, bool is_written, uint64_t size, GError *cause,
	Section *out_section, GError **error)
{
	if (!is_written) {
		g_propagate_prefixed_error(error, cause, "%s: ", self->path);
		return false;
	}
	if (size > 0)
		*out_section = (Section){self->end, size};
	self->end += size;
	return true;
}

/* Copies of files and logs may be large: they go from one file to the other. */
static bool write_large_sections(LodePerfWriter *self, LodeKeptFiles *files,
	LodeWindowLogs *windows, Section *sections, GError **error)
{
	uint64_t size = 0;
	GError *cause = NULL;

	if (files != NULL) {
		bool is_written = lode_kept_files_write(
			files, self->descriptor, self->end, &size, &cause);
		if (!end_section(self, is_written, size, cause,
			    &sections[LODE_PERF_FEATURE_LODE_FILES], error))
			return false;
	}
	if (windows == NULL)
		return true;
	bool is_written = lode_window_logs_write(
		windows, self->descriptor, self->end, &size, &cause);
	return end_section(
		self, is_written, size, cause, &sections[LODE_PERF_FEATURE_LODE_WINDOWS], error);
}

/* Each where its number says; what could not be written has an offset of 0. */
static bool write_sections(
	LodePerfWriter *self, const GPtrArray *features, Section *sections, GError **error)
{
	for (guint i = 0; i < features->len; i++) {
		size_t size;
		const void *data;
		if (features->pdata[i] == NULL)
			continue;
		data = g_bytes_get_data(features->pdata[i], &size);
		const Section section = {self->end, size};
		if (!append(self, data, size, error))
			return false;
		sections[i] = section;
	}
	return true;
}

/* Only written features have a bit: a bit without its section would make the whole file unreadable.
 */
static bool write_features(LodePerfWriter *self, const GPtrArray *features, LodeKeptFiles *files,
	LodeWindowLogs *windows, GError **error)
{
	Section sections[LODE_PERF_FEATURE_BITS] = {0}, table[LODE_PERF_FEATURE_BITS] = {0};
	uint64_t table_start = self->end;
	size_t n = (files != NULL ? 1u : 0u) + (windows != NULL);
	GError *cause = NULL;

	for (guint i = 0; i < features->len; i++)
		n += features->pdata[i] != NULL;
	if (!append(self, table, n * sizeof(Section), error))
		return false;
	if (!write_sections(self, features, sections, &cause) ||
		!write_large_sections(self, files, windows, sections, &cause)) {
		int is_cut = ftruncate(self->descriptor, (off_t)self->end);
		(void)is_cut;
		g_propagate_error(error, cause);
	}
	n = 0;
	for (unsigned i = 0; i < LODE_PERF_FEATURE_BITS; i++) {
		if (sections[i].offset == 0)
			continue;
		table[n++] = sections[i];
		self->header.features[i / 64] |= LODE_BIT(i % 64);
	}
	if (!lode_write_at(self->descriptor, table, n * sizeof(Section), table_start)) {
		memset(self->header.features, 0, sizeof(self->header.features));
		return cause == NULL ? fail(self, error) : false;
	}
	return cause == NULL;
}

bool lode_perf_writer_finish(LodePerfWriter *self, const GPtrArray *features, LodeKeptFiles *files,
	LodeWindowLogs *windows, GError **error)
{
	self->header.data.size = self->end - self->header.data.offset;
	bool has_features = write_features(self, features, files, windows, error);
	if (lode_write_at(self->descriptor, &self->header, sizeof(self->header), 0))
		return has_features;
	return has_features ? fail(self, error) : false;
}

uint64_t lode_perf_writer_size(const LodePerfWriter *self)
{
	return self->end;
}
