/* SPDX-License-Identifier: MIT */
#include "ingest/traced_import.h"

#include "ingest/join/join.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/traced/traced_recording.h"
#include "sources/code/load_map.h"

struct LodeTracedImport {
	const LodeImportOptions *options;
	LodeJitCodeSet *jit;
	LodeLoadMapSet *maps; /* none: traces have their mappings */
	LodeCodeImages *images;
	LodePlaces *places;
	LodeMemoryReading *memory;
	LodeLiveTraces *traces;
};

LodeTracedImport *lode_traced_import_new(const LodeImportOptions *options)
{
	LodeTracedImport *self = g_new0(LodeTracedImport, 1);

	self->options = options;
	self->jit = lode_jit_code_set_new();
	self->maps = lode_load_map_set_new();
	self->images = lode_code_images_new(NULL, options->allow_debuginfod);
	const LodePlacesOptions placing = {.images = self->images};
	self->places = lode_places_new(&placing);
	const LodeMemoryReadingOptions reading = {.places = self->places};
	self->memory = lode_memory_reading_new(&reading);
	const LodeTracedRecordingOptions trace = {
		.jit = self->jit,
		.memory = self->memory,
		.threads = options->threads,
		.replay = options->replay,
	};
	self->traces = lode_live_traces_new(&trace);
	return self;
}

void lode_traced_import_free(LodeTracedImport *self)
{
	if (self == NULL)
		return;
	lode_live_traces_free(self->traces);
	lode_memory_reading_free(self->memory);
	lode_places_free(self->places);
	lode_code_images_free(self->images);
	lode_load_map_set_free(self->maps);
	lode_jit_code_set_free(self->jit);
	g_free(self);
}

const LodeTraceTaker *lode_traced_import_taker(const LodeTracedImport *self)
{
	return lode_live_traces_taker(self->traces);
}

unsigned lode_traced_import_n_traces(const LodeTracedImport *self)
{
	return lode_live_traces_n(self->traces);
}

LodeProfile *lode_traced_import_finish(
	LodeTracedImport *self, const LodeProgress *progress, GError **error)
{
	const LodeImportOptions *options = self->options;

	/* They are whole when the program has ended. */
	for (size_t i = 0; i < options->n_jit_files; i++)
		if (!lode_jit_code_set_add(self->jit, options->jit_files[i], error))
			return NULL;
	g_autoptr(LodeRecording) recording = lode_live_traces_finish(self->traces, error);
	if (recording == NULL)
		return NULL;
	const LodeJoinContext context = {
		.load_maps = self->maps,
		.jit = self->jit,
		.memory_reading = self->memory->has_addresses ? self->memory : NULL,
		.program = options->program,
		.code_images = self->images,
		.threads = options->threads,
	};
	return lode_join_recording(recording, &context, progress, error);
}
