/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/sampled_kernel.h"

#include "base/arrays/name_table.h"
#include "process/call_chain.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>

#define IMAGE_NAME "[kernel]"

/* The address of all code whose functions are not known. */
enum { NO_NAME = 0 };

void lode_sampled_kernel_init(
	LodeSampledKernel *self, LodeRecording *recording, LodeCodeImages *images)
{
	*self = (LodeSampledKernel){.recording = recording, .images = images, .image = LODE_NONE};
}

void lode_sampled_kernel_clear(LodeSampledKernel *self)
{
	g_clear_pointer(&self->symbols, lode_kernel_symbols_free);
}

/* Without randomisation each kernel begins at the same address. */
static bool is_same_release(const LodePerfInfo *info)
{
	struct utsname own;

	return uname(&own) == 0 && g_strcmp0(info->os_release, own.release) == 0;
}

void lode_sampled_kernel_begin(LodeSampledKernel *self, const LodePerfInfo *info, uint64_t text)
{
	self->text = is_same_release(info) ? text : 0;
}

/* Whether the current recording is of this machine as it runs. */
static bool has_symbols(LodeSampledKernel *self)
{
	if (self->text == 0)
		return false;
	if (!self->is_read)
		self->symbols = lode_kernel_symbols_read("/proc/kallsyms");
	self->is_read = true;
	return self->symbols != NULL && lode_kernel_symbols_text(self->symbols) == self->text;
}

LodePlaceOutcome lode_sampled_kernel_place(
	LodeSampledKernel *self, uint64_t address, LodePlace *out_place)
{
	uint64_t start = NO_NAME;

	if (has_symbols(self) && lode_kernel_symbols_find(self->symbols, address, &start) == NULL)
		return LODE_PLACE_KERNEL;
	if (self->image == LODE_NONE)
		self->image = lode_code_images_add_kind(
			self->images, LODE_IMAGE_KERNEL, IMAGE_NAME);
	*out_place = (LodePlace){self->image, start};
	return LODE_PLACE_FOUND;
}

static void add_function(LodeSampledKernel *self, uint64_t address, GPtrArray *out_functions)
{
	static const char unknown[] = IMAGE_NAME;
	uint64_t start;
	const char *name = has_symbols(self)
	                           ? lode_kernel_symbols_find(self->symbols, address, &start)
	                           : NULL;
	bool follows_unknown = out_functions->len > 0 &&
	                       out_functions->pdata[out_functions->len - 1] == unknown;

	if (name != NULL || !follows_unknown)
		g_ptr_array_add(out_functions, (char *)(name != NULL ? name : unknown));
}

void lode_sampled_kernel_functions(
	LodeSampledKernel *self, const LodePerfSample *sample, GPtrArray *out_functions)
{
	g_autoptr(GArray) returns = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	g_ptr_array_set_size(out_functions, 0);
	lode_call_chain_find_returns(sample, (uint64_t)PERF_CONTEXT_KERNEL, returns);
	add_function(self, sample->ip, out_functions);
	for (guint i = 0; i < returns->len; i++)
		add_function(self, g_array_index(returns, uint64_t, i) - 1, out_functions);
}

void lode_sampled_kernel_name_rows(LodeSampledKernel *self)
{
	LodeRecording *recording = self->recording;
	guint first = recording->names->len;
	LodeNameTable names;

	lode_name_table_init(&names);
	uint32_t object = self->image != LODE_NONE
	                          ? lode_code_images_object_of(self->images, recording, self->image)
	                          : LODE_NONE;
	for (guint i = 0; object != LODE_NONE && i < recording->instructions->len; i++) {
		LodeRecordedInstruction *row = &g_array_index(
			recording->instructions, LodeRecordedInstruction, i);
		uint64_t start;
		if (row->object != object)
			continue;
		const char *name = row->address != NO_NAME ? lode_kernel_symbols_find(self->symbols,
								     row->address, &start)
		                                           : NULL;
		row->function = first +
		                lode_name_table_add(&names, name != NULL ? name : IMAGE_NAME);
	}
	for (guint i = 0; i < names.names->len; i++)
		g_ptr_array_add(recording->names,
			g_string_chunk_insert(recording->strings, lode_name_table_name(&names, i)));
	lode_name_table_clear(&names);
}
