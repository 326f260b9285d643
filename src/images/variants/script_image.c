/* SPDX-License-Identifier: MIT */
#include "images/variants/script_image.h"

#include "base/arrays/partition_point.h"
#include "images/elf/image_variant.h"

#include <string.h>

enum {
	NUMBER_SHIFT = 18,
	MAX_NUMBER = (1 << (LODE_SCRIPT_LINE_SHIFT - NUMBER_SHIFT)) - 1,
	MAX_LINES = 1 << NUMBER_SHIFT, /* of a function */
};

typedef struct {
	LodeBinaryImage image;
	char *path;
	GStringChunk *names;
} ScriptImage;

static int compare_functions(const void *a, const void *b)
{
	const LodeScriptFunction *left = a, *right = b;

	if (left->first_line != right->first_line)
		return left->first_line < right->first_line ? -1 : 1;
	return strcmp(left->name, right->name);
}

static void close_script(LodeBinaryImage *image)
{
	ScriptImage *self = (ScriptImage *)image;

	g_string_chunk_free(self->names);
	g_free(self->path);
}

static const uint8_t *bytes_at(const LodeBinaryImage *image, uint64_t address, size_t *out_n)
{
	(void)image;
	(void)address;
	(void)out_n;
	return NULL;
}

static bool has_lines(const LodeBinaryImage *image)
{
	(void)image;
	return true;
}

static void locate(LodeBinaryImage *image, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *calls)
{
	(void)calls;
	for (size_t i = 0; i < n; i++) {
		const LodeBinaryFunction *function = lode_binary_image_find(image, addresses[i]);
		out_locations[i] = (LodeBinaryLocation){0};
		if (function == NULL)
			continue;
		out_locations[i].file = ((ScriptImage *)image)->path;
		out_locations[i].line = lode_script_image_line(function->address) +
		                        (uint32_t)(addresses[i] - function->address);
	}
}

static const LodeImageVariant variant = {
	.close = close_script, .bytes = bytes_at, .has_lines = has_lines, .locate = locate};

LodeBinaryImage *lode_script_image_new(const char *path, GArray *functions)
{
	ScriptImage *self = g_new0(ScriptImage, 1);
	const LodeScriptFunction *last = NULL;
	uint64_t number = 0;

	self->image.variant = &variant;
	self->image.functions = g_array_new(FALSE, FALSE, sizeof(LodeBinaryFunction));
	self->path = g_strdup(path);
	self->names = g_string_chunk_new(4096);
	g_array_sort(functions, compare_functions);
	for (guint i = 0; i < functions->len; i++) {
		const LodeScriptFunction *one = &g_array_index(functions, LodeScriptFunction, i);
		uint64_t n_lines = MIN(one->last_line - one->first_line + 1, MAX_LINES);
		bool is_same = last != NULL && compare_functions(last, one) == 0;
		number = last == NULL || last->first_line != one->first_line ? 0
		         : is_same                                           ? number
		                                                             : number + 1;
		last = one;
		if (is_same) {
			LodeBinaryFunction *known = &g_array_index(self->image.functions,
				LodeBinaryFunction, self->image.functions->len - 1);
			known->size = MAX(known->size, n_lines);
		}
		if (is_same || number > MAX_NUMBER)
			continue;
		const char *name = g_string_chunk_insert(self->names, one->name);
		const LodeBinaryFunction added = {
			(uint64_t)one->first_line << LODE_SCRIPT_LINE_SHIFT |
				number << NUMBER_SHIFT,
			n_lines, name, name};
		g_array_append_val(self->image.functions, added);
	}
	return &self->image;
}

uint64_t lode_script_image_address(
	const LodeBinaryImage *self, const char *name, uint32_t first_line, uint32_t line)
{
	size_t n;
	const LodeBinaryFunction *all = lode_binary_image_functions(self, &n);
	size_t i = LODE_PARTITION_POINT(n, k, lode_script_image_line(all[k].address) < first_line);

	for (; i < n && lode_script_image_line(all[i].address) == first_line; i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].address +
			       MIN(line > first_line ? line - first_line : 0, all[i].size - 1);
	return 0;
}
