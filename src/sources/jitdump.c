/* SPDX-License-Identifier: MIT */
/*
 * The whole file is loaded and its records are read in their order. When all are known, units are
 * placed in the order of time, which need not be that of the file.
 */
#include "sources/jitdump.h"

#include "base/input_file.h"
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

static bool load_file(LodeJitdump *self, GError **error)
{
	g_autoptr(LodeInputFile) file = lode_input_file_open(self->path, error);

	if (file == NULL)
		return false;
	self->data = (uint8_t *)lode_input_file_load(file, 0, file->size, error);
	self->size = file->size;
	return self->data != NULL;
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

	if (!load_file(self, error))
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
	g_free(self->data);
	g_free(self->path);
	g_free(self);
}

uint64_t lode_jitdump_image_address(
	const LodeJitdump *self, const LodeJitPlacement *placement, uint64_t address)
{
	const LodeJitUnit *unit = &g_array_index(self->units, LodeJitUnit, placement->unit);

	return unit->code_offset + placement->offset + (address - placement->address);
}
