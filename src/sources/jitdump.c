/* SPDX-License-Identifier: MIT */
#include "sources/jitdump.h"

#include "base/error.h"
#include "sources/jitdump_records.h"

static LodeJitdump *dump_new(const char *path)
{
	LodeJitdump *self = g_new0(LodeJitdump, 1);

	self->path = g_strdup(path);
	self->strings = g_string_chunk_new(1 << 14);
	self->units = g_array_new(FALSE, FALSE, sizeof(LodeJitUnit));
	self->lines = g_array_new(FALSE, FALSE, sizeof(LodeJitLine));
	self->placements = g_array_new(FALSE, FALSE, sizeof(LodeJitPlacement));
	self->reaches = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

static bool map_file(LodeJitdump *self, GError **error)
{
	g_autoptr(GError) cause = NULL;

	self->mapping = g_mapped_file_new(self->path, FALSE, &cause);
	if (self->mapping == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s", cause->message);
		return false;
	}
	self->data = (const uint8_t *)g_mapped_file_get_contents(self->mapping);
	self->size = g_mapped_file_get_length(self->mapping);
	/* nothing is mapped of an empty file, but a cursor needs a place to start from */
	if (self->data == NULL)
		self->data = (const uint8_t *)"";
	return true;
}

static bool read_file(LodeJitdump *self, GError **error)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(LodeJitEvent));
	LodeJitdumpReader reader = {.dump = self, .events = events};
	uint64_t offset = lode_jitdump_read_header(self, error);
	GError *cause = NULL;

	if (offset == 0)
		return false;
	while (lode_jitdump_read_record(&reader, &offset, &cause))
		;
	if (cause != NULL) {
		g_propagate_error(error, cause);
		return false;
	}
	lode_jitdump_place(self, events);
	return true;
}

LodeJitdump *lode_jitdump_open(const char *path, GError **error)
{
	g_autoptr(LodeJitdump) self = dump_new(path);

	if (!map_file(self, error))
		return NULL;
	if (!read_file(self, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&self);
}

void lode_jitdump_close(LodeJitdump *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->units);
	g_array_unref(self->lines);
	g_array_unref(self->placements);
	g_array_unref(self->reaches);
	g_string_chunk_free(self->strings);
	g_clear_pointer(&self->mapping, g_mapped_file_unref);
	g_free(self->path);
	g_free(self);
}

uint64_t lode_jitdump_image_address(
	const LodeJitdump *self, const LodeJitPlacement *placement, uint64_t address)
{
	const LodeJitUnit *unit = &g_array_index(self->units, LodeJitUnit, placement->unit);

	return unit->code_offset + placement->offset + (address - placement->address);
}
