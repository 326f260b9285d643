/* SPDX-License-Identifier: MIT */
#include "process/images/code_images.h"

#include "base/arrays/partition_point.h"
#include "base/quiet_thread.h"
#include "base/worker_pool.h"
#include "model/index.h"
#include "sources/code/load_map_segments.h"

#include <errno.h>
#include <string.h>

struct LodeCodeImages {
	LodeImageFiles *files; /* borrowed, or `own_files` */
	LodeImageFiles *own_files;
	GPtrArray *images;       /* LodeCodeImage */
	GHashTable *by_path;     /* path → GArray of uint32_t: images */
	GHashTable *by_build_id; /* likewise */
	GStringChunk *strings;   /* of identities */
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
	lode_decode_cache_free(self->decode_cache);
	if (self->has_targets)
		lode_branch_targets_clear(&self->targets);
	g_clear_pointer(&self->segments, g_array_unref);
	lode_data_types_free(self->types);
	lode_stack_frames_free(self->frames);
	lode_binary_image_close(self->binary);
	g_free(self->error);
	g_free(self->note);
	g_free(self->debug);
	g_free(self->file);
	g_free(self->path);
	g_free(self);
}

static void list_free(void *data)
{
	g_array_unref(data);
}

LodeCodeImages *lode_code_images_new(LodeImageFiles *files, bool allow_debuginfod)
{
	LodeCodeImages *self = g_new0(LodeCodeImages, 1);

	if (files == NULL)
		files = self->own_files = lode_image_files_new(false);
	self->files = files;
	self->images = g_ptr_array_new_with_free_func(free_image);
	self->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, list_free);
	self->by_build_id = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, list_free);
	self->strings = g_string_chunk_new(4096);
	self->allow_debuginfod = allow_debuginfod;
	return self;
}

void lode_code_images_free(LodeCodeImages *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->by_path);
	g_hash_table_unref(self->by_build_id);
	g_ptr_array_unref(self->images);
	g_string_chunk_free(self->strings);
	lode_image_files_free(self->own_files);
	g_free(self);
}

static LodeCodeImage *image_at(const LodeCodeImages *self, uint32_t image)
{
	return self->images->pdata[image];
}

static void add_to_list(GHashTable *lists, const char *key, uint32_t image)
{
	GArray *list = g_hash_table_lookup(lists, key);

	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_hash_table_insert(lists, (char *)key, list);
	}
	g_array_append_val(list, image);
}

static uint32_t add_image(LodeCodeImages *self, LodeImageKind kind, const char *path)
{
	LodeCodeImage *image = g_new0(LodeCodeImage, 1);

	image->kind = kind;
	image->path = g_strdup(path);
	image->identity.path = image->path;
	g_ptr_array_add(self->images, image);
	add_to_list(self->by_path, image->path, self->images->len - 1);
	return self->images->len - 1;
}

/* Adds the new data of an identity. */
static void complete(LodeCodeImages *self, uint32_t number, const LodeImageIdentity *identity)
{
	LodeCodeImage *image = image_at(self, number);
	LodeImageIdentity *known = &image->identity;

	if (image->is_looked_for)
		return;
	if (known->build_id == NULL && identity->build_id != NULL) {
		known->build_id = g_string_chunk_insert_const(self->strings, identity->build_id);
		known->is_build_id_padded = identity->is_build_id_padded;
		add_to_list(self->by_build_id, known->build_id, number);
	}
	if (known->inode == 0) {
		known->device_major = identity->device_major;
		known->device_minor = identity->device_minor;
		known->inode = identity->inode;
		known->generation = identity->generation;
	}
	if (known->host == NULL && identity->host != NULL)
		known->host = g_string_chunk_insert_const(self->strings, identity->host);
	if (known->recorded_ns == 0)
		known->recorded_ns = identity->recorded_ns;
	known->has_no_build_id |= identity->has_no_build_id;
	known->has_other_builds |= identity->has_other_builds;
}

/* The first image of a list that the identity is of; LODE_NONE. */
static uint32_t find_same(const LodeCodeImages *self, GHashTable *lists, const char *key,
	const LodeImageIdentity *identity)
{
	/* The end of a hostile list is not searched, which makes images of their own. */
	enum { MAX_LOOKED_AT = 256 };
	const GArray *list = key != NULL ? g_hash_table_lookup(lists, key) : NULL;

	for (guint i = 0; list != NULL && i < MIN(list->len, MAX_LOOKED_AT); i++) {
		uint32_t image = g_array_index(list, uint32_t, i);
		const LodeCodeImage *known = image_at(self, image);
		if (known->kind == LODE_IMAGE_FILE &&
			lode_image_identity_is_same(&known->identity, identity))
			return image;
	}
	return LODE_NONE;
}

uint32_t lode_code_images_add(LodeCodeImages *self, const LodeImageIdentity *identity)
{
	uint32_t image = find_same(self, self->by_path, identity->path, identity);

	if (image == LODE_NONE)
		image = find_same(self, self->by_build_id, identity->build_id, identity);
	if (image == LODE_NONE)
		image = add_image(self, LODE_IMAGE_FILE, identity->path);
	complete(self, image, identity);
	return image;
}

uint32_t lode_code_images_add_kind(LodeCodeImages *self, LodeImageKind kind, const char *path)
{
	const GArray *list = g_hash_table_lookup(self->by_path, path);

	for (guint i = 0; list != NULL && i < list->len; i++) {
		uint32_t image = g_array_index(list, uint32_t, i);
		if (image_at(self, image)->kind == kind)
			return image;
	}
	return add_image(self, kind, path);
}

static void find_file(LodeCodeImages *self, LodeCodeImage *image)
{
	LodeFoundImageFile found = {NULL};

	if (image->is_looked_for)
		return;
	image->is_looked_for = true;
	if (image->kind == LODE_IMAGE_JIT)
		image->file = g_strdup(image->path);
	if (image->kind != LODE_IMAGE_FILE || image->file != NULL)
		return;
	lode_image_files_find(self->files, &image->identity, &found);
	image->file = g_steal_pointer(&found.path);
	image->note = g_steal_pointer(&found.note);
	image->debug = g_steal_pointer(&found.debug);
	image->error = g_steal_pointer(&found.why_not);
	if (image->file == NULL && image->error == NULL)
		image->error = g_strdup_printf("%s: %s", image->path, g_strerror(ENOENT));
}

void lode_code_images_set_file(LodeCodeImages *self, uint32_t image, const char *file)
{
	LodeCodeImage *known = image_at(self, image);

	if (!known->is_looked_for && known->file == NULL)
		known->file = g_strdup(file);
}

void lode_code_images_set_binary(LodeCodeImages *self, uint32_t image, LodeBinaryImage *binary)
{
	LodeCodeImage *known = image_at(self, image);

	known->binary = binary;
	known->functions = lode_binary_image_functions(binary, &known->n_functions);
	known->is_looked_for = known->is_opened = true;
}

const char *lode_code_image_build_id(const LodeCodeImage *self)
{
	return self->binary != NULL ? lode_binary_image_build_id(self->binary)
	                            : self->identity.build_id;
}

static void open_image(LodeCodeImages *self, LodeCodeImage *image)
{
	g_autoptr(GError) error = NULL;

	if (image->is_opened)
		return;
	find_file(self, image);
	const LodeBinaryImageOptions options = {
		.allow_debuginfod = self->allow_debuginfod,
		.debug_file = image->debug,
	};
	image->is_opened = true;
	if (image->file == NULL)
		return;
	image->binary = lode_binary_image_open(image->file, &options, &error);
	if (image->binary == NULL)
		image->error = g_strdup(error->message);
	else
		image->functions = lode_binary_image_functions(image->binary, &image->n_functions);
}

typedef struct {
	LodeCodeImages *images;
	const LodeProgress *progress;
} Opening;

static void open_task(size_t task, unsigned worker, void *user_data)
{
	const Opening *self = user_data;

	(void)worker;
	if (!lode_progress_is_cancelled(self->progress))
		open_image(self->images, image_at(self->images, (uint32_t)task));
}

void lode_code_images_open_all(
	LodeCodeImages *self, unsigned n_workers, const LodeProgress *progress)
{
	Opening opening = {self, progress};

	lode_worker_pool_run(self->images->len,
		n_workers != 0 ? n_workers : lode_worker_pool_default_size(), open_task, &opening);
}

LodeCodeImage *lode_code_images_at(LodeCodeImages *self, uint32_t image)
{
	LodeCodeImage *found = image_at(self, image);

	open_image(self, found);
	return found;
}

LodeImageFiles *lode_code_images_files(const LodeCodeImages *self)
{
	return self->files;
}

const LodeCodeImage *lode_code_images_peek(const LodeCodeImages *self, uint32_t image)
{
	return image_at(self, image);
}

uint32_t lode_code_images_count(const LodeCodeImages *self)
{
	return self->images->len;
}

uint32_t lode_code_images_object_of(
	const LodeCodeImages *self, LodeRecording *recording, uint32_t image)
{
	GArray *by_image = recording->image_objects;
	const uint32_t none = LODE_NONE;

	while (by_image->len <= image)
		g_array_append_val(by_image, none);
	uint32_t *object = &g_array_index(by_image, uint32_t, image);
	if (*object == LODE_NONE) {
		const LodeRecordedObject added = {
			.path = g_string_chunk_insert(
				recording->strings, image_at(self, image)->path),
			.image = image,
		};
		*object = recording->objects->len;
		g_array_append_val(recording->objects, added);
	}
	return *object;
}

/* LodeLoadMapSegment; empty where there is no file, or it cannot be read. */
static const GArray *segments_of(LodeCodeImages *self, uint32_t number)
{
	LodeCodeImage *image = image_at(self, number);

	if (image->segments != NULL)
		return image->segments;
	find_file(self, image);
	if (image->kind == LODE_IMAGE_FILE && image->file != NULL)
		image->segments = lode_load_map_segments_read_all(image->file, NULL);
	if (image->segments == NULL)
		image->segments = g_array_new(FALSE, FALSE, sizeof(LodeLoadMapSegment));
	return image->segments;
}

/* By the code, which is mapped: lld puts the ends of several segments into one page of the file,
 * each at an address of its own. */
static bool find_bias(const GArray *segments, const LodeMappedRange *mapped, uint64_t *out_bias)
{
	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		if (!segment->is_executable ||
			segment->offset - mapped->offset >= mapped->end - mapped->start)
			continue;
		*out_bias = mapped->start + (segment->offset - mapped->offset) - segment->address;
		return true;
	}
	return false;
}

bool lode_code_images_find_load(
	LodeCodeImages *self, uint32_t image, const LodeMappedRange *mapped, LodeCodeLoad *out_load)
{
	const GArray *segments = segments_of(self, image);
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

bool lode_code_images_place(
	LodeCodeImages *self, uint32_t image, uint64_t offset, uint64_t *out_address)
{
	const GArray *segments = segments_of(self, image);

	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		if (offset - segment->offset >= segment->file_size_bytes)
			continue;
		*out_address = segment->address + (offset - segment->offset);
		return true;
	}
	return false;
}

bool lode_code_images_has_address(LodeCodeImages *self, uint32_t image, uint64_t address)
{
	const GArray *segments = segments_of(self, image);

	for (guint i = 0; i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		if (address - segment->address < segment->size_bytes)
			return true;
	}
	return segments->len == 0;
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
	flow->cache = g_steal_pointer(&self->decode_cache);
	lode_control_flow_build(flow, code, MIN(n, function->size), function->address, NULL);
	self->decode_cache = g_steal_pointer(&flow->cache);
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
	lode_branch_targets_sort(&self->targets);
}

static void read_targets(LodeCodeImage *self)
{
	lode_branch_targets_init(&self->targets);
	self->has_targets = true;
	if (!lode_branch_targets_read(&self->targets, self->file, NULL))
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
	g_autofree char *name = g_path_get_basename(has_line ? file : image_at(self, image)->path);
	return has_line ? g_strdup_printf("%s:%" G_GUINT32_FORMAT, name, line)
	                : g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", name, address);
}
