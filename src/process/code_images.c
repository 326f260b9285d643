/* SPDX-License-Identifier: MIT */
#include "process/code_images.h"

#include "base/partition_point.h"
#include "model/profile.h"

#include <string.h>

struct LodeCodeImages {
	GArray *images;  /* LodeCodeImage */
	GHashTable *ids; /* path → index + 1 */
	bool allow_debuginfod;
};

static void clear_image(void *data)
{
	LodeCodeImage *self = data;

	for (size_t i = 0; self->flows != NULL && i < self->n_functions; i++)
		if (self->flows[i].instructions != NULL)
			lode_control_flow_clear(&self->flows[i]);
	g_free(self->flows);
	if (self->has_targets)
		lode_branch_targets_clear(&self->targets);
	lode_data_types_free(self->types);
	lode_binary_image_close(self->binary);
	g_free(self->path);
}

LodeCodeImages *lode_code_images_new(bool allow_debuginfod)
{
	LodeCodeImages *self = g_new0(LodeCodeImages, 1);

	self->images = g_array_new(FALSE, TRUE, sizeof(LodeCodeImage));
	g_array_set_clear_func(self->images, clear_image);
	self->ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->allow_debuginfod = allow_debuginfod;
	return self;
}

void lode_code_images_free(LodeCodeImages *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->ids);
	g_array_unref(self->images);
	g_free(self);
}

/* A file that was built anew since then would give wrong operands. */
static bool is_the_one(const LodeBinaryImage *binary, const char *build_id)
{
	const char *found = lode_binary_image_build_id(binary);

	return build_id == NULL || found == NULL || strcmp(build_id, found) == 0;
}

static void open_binary(LodeCodeImage *image, const char *build_id, bool allow_debuginfod)
{
	const LodeBinaryImageOptions options = {.allow_debuginfod = allow_debuginfod};
	g_autoptr(LodeBinaryImage) binary = lode_binary_image_open(image->path, &options, NULL);

	if (binary == NULL || !is_the_one(binary, build_id))
		return;
	image->functions = lode_binary_image_functions(binary, &image->n_functions);
	image->flows = g_new0(LodeControlFlow, image->n_functions);
	image->binary = g_steal_pointer(&binary);
}

uint32_t lode_code_images_add(LodeCodeImages *self, const char *path, const char *build_id)
{
	uint32_t found = lode_code_images_find(self, path);

	if (found != LODE_NONE)
		return found;
	LodeCodeImage image = {.path = g_strdup(path)};
	open_binary(&image, build_id, self->allow_debuginfod);
	g_array_append_val(self->images, image);
	g_hash_table_insert(self->ids, image.path, GUINT_TO_POINTER(self->images->len));
	return self->images->len - 1;
}

LodeCodeImage *lode_code_images_at(LodeCodeImages *self, uint32_t image)
{
	return &g_array_index(self->images, LodeCodeImage, image);
}

uint32_t lode_code_images_count(const LodeCodeImages *self)
{
	return self->images->len;
}

uint32_t lode_code_images_find(const LodeCodeImages *self, const char *path)
{
	void *found = g_hash_table_lookup(self->ids, path);

	return found != NULL ? GPOINTER_TO_UINT(found) - 1 : LODE_NONE;
}

const LodeBinaryFunction *lode_code_image_function(const LodeCodeImage *self, uint64_t address)
{
	size_t n = LODE_PARTITION_POINT(
		self->n_functions, i, self->functions[i].address <= address);

	if (n == 0 || address - self->functions[n - 1].address >= self->functions[n - 1].size)
		return NULL;
	return &self->functions[n - 1];
}

const LodeControlFlow *lode_code_image_flow(LodeCodeImage *self, uint64_t address)
{
	const LodeBinaryFunction *function = lode_code_image_function(self, address);
	size_t n = 0;

	if (function == NULL)
		return NULL;
	LodeControlFlow *flow = &self->flows[function - self->functions];
	if (flow->instructions != NULL)
		return flow;
	const uint8_t *code = lode_binary_image_bytes(self->binary, function->address, &n);
	if (code == NULL)
		return NULL;
	lode_control_flow_init(flow);
	lode_control_flow_build(flow, code, MIN(n, function->size), function->address, NULL);
	return flow;
}

/* Code made at run time is in no file that could be read whole. */
static void add_function_targets(LodeCodeImage *self)
{
	for (size_t i = 0; i < self->n_functions; i++) {
		const LodeBinaryFunction *function = &self->functions[i];
		size_t n = 0;
		const uint8_t *code = lode_binary_image_bytes(self->binary, function->address, &n);
		if (code != NULL)
			lode_branch_targets_add(
				&self->targets, code, MIN(n, function->size), function->address);
	}
}

const LodeBranchTargets *lode_code_image_targets(LodeCodeImage *self)
{
	if (self->binary == NULL)
		return NULL;
	if (self->has_targets)
		return &self->targets;
	lode_branch_targets_init(&self->targets);
	self->has_targets = true;
	if (!lode_branch_targets_read(&self->targets, self->path, NULL))
		add_function_targets(self);
	return &self->targets;
}

LodeDataTypes *lode_code_image_types(LodeCodeImage *self)
{
	if (!self->has_looked_for_types && self->binary != NULL)
		self->types = lode_data_types_new(self->binary);
	self->has_looked_for_types = true;
	return self->types;
}
