/* SPDX-License-Identifier: MIT */
#include "process/code_images.h"

#include "base/partition_point.h"
#include "base/quiet_thread.h"
#include "base/worker_pool.h"
#include "model/profile.h"
#include "sources/load_map_segments.h"

#include <string.h>

struct LodeCodeImages {
	GPtrArray *images; /* LodeCodeImage */
	GHashTable *ids;   /* path → index + 1 */
	bool allow_debuginfod;
};

static void free_image(void *data)
{
	LodeCodeImage *self = data;

	if (self->target_reader != NULL)
		g_thread_join(self->target_reader);
	for (size_t i = 0; self->flows != NULL && i < self->n_functions; i++)
		if (self->flows[i].instructions != NULL)
			lode_control_flow_clear(&self->flows[i]);
	g_free(self->flows);
	if (self->has_targets)
		lode_branch_targets_clear(&self->targets);
	g_clear_pointer(&self->segments, g_array_unref);
	lode_data_types_free(self->types);
	lode_stack_frames_free(self->frames);
	lode_binary_image_close(self->binary);
	g_free(self->error);
	g_free(self->build_id);
	g_free(self->path);
	g_free(self);
}

LodeCodeImages *lode_code_images_new(bool allow_debuginfod)
{
	LodeCodeImages *self = g_new0(LodeCodeImages, 1);

	self->images = g_ptr_array_new_with_free_func(free_image);
	self->ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->allow_debuginfod = allow_debuginfod;
	return self;
}

void lode_code_images_free(LodeCodeImages *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->ids);
	g_ptr_array_unref(self->images);
	g_free(self);
}

uint32_t lode_code_images_add(LodeCodeImages *self, const char *path, const char *build_id)
{
	uint32_t found = lode_code_images_find(self, path);
	LodeCodeImage *image = found != LODE_NONE ? self->images->pdata[found]
	                                          : g_new0(LodeCodeImage, 1);

	if (image->build_id == NULL && !image->is_opened)
		image->build_id = g_strdup(build_id);
	if (found != LODE_NONE)
		return found;
	image->path = g_strdup(path);
	g_ptr_array_add(self->images, image);
	g_hash_table_insert(self->ids, image->path, GUINT_TO_POINTER(self->images->len));
	return self->images->len - 1;
}

char *lode_code_image_why_not(const LodeCodeImage *self, const char *build_id)
{
	const char *now = self->binary != NULL ? lode_binary_image_build_id(self->binary) : NULL;

	if (build_id == NULL || now == NULL || strcmp(build_id, now) == 0)
		return g_strdup(self->error);
	return g_strdup_printf("%s: not the file that was recorded: its build-id is %s, it was %s",
		self->path, now, build_id);
}

static void open_image(LodeCodeImage *self, bool allow_debuginfod)
{
	const LodeBinaryImageOptions options = {.allow_debuginfod = allow_debuginfod};
	g_autoptr(GError) error = NULL;

	if (self->is_opened)
		return;
	self->is_opened = true;
	self->binary = lode_binary_image_open(self->path, &options, &error);
	if (self->binary == NULL)
		self->error = g_strdup(error->message);
	else
		self->error = lode_code_image_why_not(self, self->build_id);
	if (self->error != NULL)
		g_clear_pointer(&self->binary, lode_binary_image_close);
	else
		self->functions = lode_binary_image_functions(self->binary, &self->n_functions);
}

static void open_task(size_t task, unsigned worker, void *user_data)
{
	const LodeCodeImages *self = user_data;

	(void)worker;
	open_image(self->images->pdata[task], self->allow_debuginfod);
}

void lode_code_images_open_all(LodeCodeImages *self, unsigned n_workers)
{
	lode_worker_pool_run(self->images->len,
		n_workers != 0 ? n_workers : lode_worker_pool_default_size(), open_task, self);
}

LodeCodeImage *lode_code_images_at(LodeCodeImages *self, uint32_t image)
{
	LodeCodeImage *found = self->images->pdata[image];

	open_image(found, self->allow_debuginfod);
	return found;
}

const char *lode_code_images_path(const LodeCodeImages *self, uint32_t image)
{
	return ((const LodeCodeImage *)self->images->pdata[image])->path;
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

/* LodeLoadMapSegment; empty where the file cannot be read. */
static const GArray *segments_of(LodeCodeImage *self)
{
	if (self->segments == NULL)
		self->segments = lode_load_map_segments_read_all(self->path, NULL);
	if (self->segments == NULL)
		self->segments = g_array_new(FALSE, FALSE, sizeof(LodeLoadMapSegment));
	return self->segments;
}

static bool find_bias(const GArray *segments, const LodeMappedRange *mapped, uint64_t *out_bias)
{
	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		if (segment->offset - mapped->offset >= mapped->end - mapped->start)
			continue;
		*out_bias = mapped->start + (segment->offset - mapped->offset) - segment->address;
		return true;
	}
	return false;
}

bool lode_code_images_find_load(
	LodeCodeImages *self, uint32_t image, const LodeMappedRange *mapped, LodeCodeLoad *out_load)
{
	const GArray *segments = segments_of(self->images->pdata[image]);
	LodeCodeLoad load = {.low = UINT64_MAX};

	if (!find_bias(segments, mapped, &load.bias))
		return false;
	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		load.low = MIN(load.low, segment->address + load.bias);
		load.high = MAX(load.high, segment->address + segment->size_bytes + load.bias);
	}
	*out_load = load;
	return load.low < load.high;
}

bool lode_code_image_place(LodeCodeImage *self, uint64_t offset, uint64_t *out_address)
{
	const GArray *segments = segments_of(self);

	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		if (offset - segment->offset >= segment->file_size_bytes)
			continue;
		*out_address = segment->address + (offset - segment->offset);
		return true;
	}
	return false;
}

const uint8_t *lode_code_image_bytes(const LodeCodeImage *self, uint64_t address, size_t *out_n)
{
	return self->binary != NULL ? lode_binary_image_bytes(self->binary, address, out_n) : NULL;
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
	if (self->flows == NULL)
		self->flows = g_new0(LodeControlFlow, self->n_functions);
	LodeControlFlow *flow = &self->flows[function - self->functions];
	if (flow->instructions != NULL)
		return flow;
	const uint8_t *code = lode_code_image_bytes(self, function->address, &n);
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
		const uint8_t *code = lode_code_image_bytes(self, function->address, &n);
		if (code != NULL)
			lode_branch_targets_add(
				&self->targets, code, MIN(n, function->size), function->address);
	}
}

static void read_targets(LodeCodeImage *self)
{
	lode_branch_targets_init(&self->targets);
	self->has_targets = true;
	if (!lode_branch_targets_read(&self->targets, self->path, NULL))
		add_function_targets(self);
}

const LodeBranchTargets *lode_code_image_targets(LodeCodeImage *self)
{
	if (self->binary == NULL)
		return NULL;
	if (self->target_reader != NULL)
		g_thread_join(g_steal_pointer(&self->target_reader));
	if (!self->has_targets)
		read_targets(self);
	return &self->targets;
}

/* Touches nothing of the image that others write. */
static void *read_in_thread(void *data)
{
	LodeCodeImage *self = data;

	read_targets(self);
	g_atomic_int_set(&self->are_targets_read, TRUE);
	return NULL;
}

bool lode_code_image_try_targets(
	LodeCodeImage *self, gint64 patience_us, const LodeBranchTargets **out_targets)
{
	enum { LOOK_US = 500 };
	bool is_new = self->target_reader == NULL && !self->has_targets && self->binary != NULL;

	if (is_new)
		self->target_reader = lode_quiet_thread_new("lode-targets", read_in_thread, self);
	/* Patience is for the first that asks: the others would wait as long again. */
	gint64 end_us = is_new ? g_get_monotonic_time() + patience_us : 0;
	while (self->target_reader != NULL && !g_atomic_int_get(&self->are_targets_read)) {
		if (g_get_monotonic_time() >= end_us)
			return false;
		g_usleep(LOOK_US);
	}
	*out_targets = lode_code_image_targets(self);
	return true;
}

LodeDataTypes *lode_code_image_types(LodeCodeImage *self)
{
	if (!self->has_looked_for_types && self->binary != NULL)
		self->types = lode_data_types_new(self->binary);
	self->has_looked_for_types = true;
	return self->types;
}

LodeStackFrames *lode_code_image_frames(LodeCodeImage *self)
{
	if (!self->has_looked_for_frames && self->binary != NULL)
		self->frames = lode_stack_frames_new(self->binary);
	self->has_looked_for_frames = true;
	return self->frames;
}

char *lode_code_images_place_text(const LodeCodeImages *self, uint32_t image, uint64_t address,
	const char *file, uint32_t line)
{
	bool has_line = file != NULL && line > 0;

	if (image == LODE_NONE)
		return g_strdup("?");
	g_autofree char *name = g_path_get_basename(
		has_line ? file : lode_code_images_path(self, image));
	return has_line ? g_strdup_printf("%s:%" G_GUINT32_FORMAT, name, line)
	                : g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", name, address);
}
