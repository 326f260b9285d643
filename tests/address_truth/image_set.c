/* SPDX-License-Identifier: MIT */
#include "image_set.h"

#include "images/elf/binary_image.h"
#include "sources/code/load_map_segments.h"

#include <string.h>

struct ImageSetFile {
	LodeBinaryImage *image;
	GArray *segments;  /* LodeLoadMapSegment */
	GHashTable *flows; /* index of the function + 1 → LodeControlFlow */
	LodeBranchTargets targets;
};

static void flow_free(void *data)
{
	lode_control_flow_clear(data);
	g_free(data);
}

static void file_free(void *data)
{
	ImageSetFile *self = data;

	if (self == NULL)
		return;
	lode_branch_targets_clear(&self->targets);
	g_hash_table_unref(self->flows);
	g_array_unref(self->segments);
	lode_binary_image_close(self->image);
	g_free(self);
}

void image_set_init(ImageSet *self)
{
	self->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, file_free);
}

void image_set_clear(ImageSet *self)
{
	g_clear_pointer(&self->files, g_hash_table_unref);
}

static ImageSetFile *open_file(const char *path)
{
	const LodeBinaryImageOptions options = {0};
	GArray *segments = lode_load_map_segments_read(path, NULL);
	LodeBinaryImage *image = segments != NULL ? lode_binary_image_open(path, &options, NULL)
	                                          : NULL;
	ImageSetFile *self;

	if (image == NULL) {
		g_clear_pointer(&segments, g_array_unref);
		return NULL;
	}
	self = g_new0(ImageSetFile, 1);
	self->image = image;
	self->segments = segments;
	self->flows = g_hash_table_new_full(NULL, NULL, NULL, flow_free);
	lode_branch_targets_init(&self->targets);
	lode_branch_targets_read(&self->targets, path, NULL);
	return self;
}

static ImageSetFile *find_file(ImageSet *self, const char *path)
{
	void *file;

	if (path[0] != '/')
		return NULL;
	if (g_hash_table_lookup_extended(self->files, path, NULL, &file))
		return file;
	file = open_file(path);
	g_hash_table_insert(self->files, g_strdup(path), file);
	return file;
}

ImagePlace image_set_place(ImageSet *self, const char *path, uint64_t address, uint64_t offset)
{
	ImageSetFile *file = find_file(self, path);

	for (guint i = 0; file != NULL && i < file->segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(
			file->segments, LodeLoadMapSegment, i);
		if (offset - segment->offset < segment->file_size_bytes)
			return (ImagePlace){
				file, address - (segment->address + (offset - segment->offset))};
	}
	return (ImagePlace){0};
}

const uint8_t *image_set_bytes(const ImageSetFile *file, uint64_t address, size_t *out_n)
{
	return file != NULL ? lode_binary_image_bytes(file->image, address, out_n) : NULL;
}

static size_t function_index(
	const LodeBinaryFunction *functions, size_t n_functions, uint64_t address)
{
	size_t low = 0, high = n_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - functions[low - 1].address >= functions[low - 1].size)
		return SIZE_MAX;
	return low - 1;
}

static LodeControlFlow *build_flow(const LodeBinaryImage *image, const LodeBinaryFunction *function)
{
	LodeControlFlow *flow = g_new0(LodeControlFlow, 1);
	size_t n = 0;
	const uint8_t *code = lode_binary_image_bytes(image, function->address, &n);

	lode_control_flow_init(flow);
	if (code != NULL)
		lode_control_flow_build(
			flow, code, MIN(n, function->size), function->address, NULL);
	return flow;
}

const LodeControlFlow *image_set_flow(ImageSetFile *file, uint64_t address)
{
	size_t n = 0, index;
	const LodeBinaryFunction *functions;
	LodeControlFlow *flow;

	if (file == NULL)
		return NULL;
	functions = lode_binary_image_functions(file->image, &n);
	index = function_index(functions, n, address);
	if (index == SIZE_MAX)
		return NULL;
	flow = g_hash_table_lookup(file->flows, GSIZE_TO_POINTER(index + 1));
	if (flow == NULL) {
		flow = build_flow(file->image, &functions[index]);
		g_hash_table_insert(file->flows, GSIZE_TO_POINTER(index + 1), flow);
	}
	return flow;
}

const LodeBranchTargets *image_set_targets(ImageSetFile *file)
{
	return file != NULL ? &file->targets : NULL;
}

uint64_t image_set_function(ImageSet *self, const char *path, const char *name)
{
	ImageSetFile *file = find_file(self, path);
	size_t n = 0;
	const LodeBinaryFunction *functions;

	if (file == NULL)
		return 0;
	functions = lode_binary_image_functions(file->image, &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].address;
	return 0;
}
