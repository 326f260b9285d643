/* SPDX-License-Identifier: MIT */
/* Any bytes as callgrind output: what is read must be sorted and sum to the totals, and must join
 * without any binary. */
#include "fuzz_target.h"
#include "ingest/join/join.h"
#include "model/profile.h"
#include "sources/code/load_map.h"
#include "sources/counts/callgrind.h"

static void check_order(const LodeRecording *recording)
{
	for (guint i = 1; i < recording->instructions->len; i++) {
		const LodeRecordedInstruction *row = &g_array_index(
			recording->instructions, LodeRecordedInstruction, i);
		if (row[-1].object > row->object ||
			(row[-1].object == row->object && row[-1].address >= row->address))
			g_error("instructions out of order");
	}
}

/* No file that the input happens to name is opened. */
static void hide_objects(LodeRecording *recording)
{
	for (guint i = 0; i < recording->objects->len; i++) {
		LodeRecordedObject *object = &g_array_index(
			recording->objects, LodeRecordedObject, i);
		g_autofree char *path = g_strdup_printf("/nonexistent/%u", i);
		if (g_strcmp0(object->path, "???") != 0)
			object->path = g_string_chunk_insert(recording->strings, path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeLoadMapSet) maps = lode_load_map_set_new();
	const char *path = fuzz_file(data, size);
	g_autoptr(LodeRecording) recording = lode_callgrind_read(&path, 1, NULL, &error);
	g_autoptr(LodeJitCodeSet) jit = lode_jit_code_set_new();
	g_autoptr(LodeCodeImages) images = lode_code_images_new(NULL, false);
	const LodeJoinContext context = {
		.load_maps = maps, .jit = jit, .code_images = images, .threads = 1};

	if ((recording != NULL) == (error != NULL))
		g_error("a result and an error");
	if (recording == NULL)
		return 0;
	check_order(recording);
	hide_objects(recording);
	g_autoptr(LodeProfile) profile = lode_join_recording(recording, &context, NULL, &error);
	if ((profile != NULL) == (error != NULL))
		g_error("a result and an error");
	return 0;
}
