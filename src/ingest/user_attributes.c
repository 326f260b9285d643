/* SPDX-License-Identifier: MIT */
/*
 * Rows → (instruction, attribute) pairs → new attribute sets. Places are looked up by image and
 * symbol; lines by a table of the rows of each line number, so that each location is looked up
 * once.
 */
#include "ingest/user_attributes.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/run/unresolved.h"
#include "sources/attribute_file.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint32_t instruction, attribute;
} Pair;

typedef struct {
	LodeProfile *profile;
	const LodeAttributeFile *file;
	GArray *pairs; /* Pair */
	bool *is_used; /* of each row */
} Applying;

static const LodeAttributeRow *row_at(const Applying *self, guint index)
{
	return &g_array_index(self->file->rows, LodeAttributeRow, index);
}

static void add_pair(Applying *self, guint row, uint32_t instruction)
{
	Pair pair = {
		instruction, lode_profile_attribute(self->profile, row_at(self, row)->attribute)};

	g_array_append_val(self->pairs, pair);
	self->is_used[row] = true;
}

/* A whole path, or the end of one that begins after a slash. */
static bool is_path_end(const char *path, const char *end)
{
	size_t size = strlen(path), end_size = strlen(end);

	if (end_size > size || strcmp(path + size - end_size, end) != 0)
		return false;
	return end_size == size || path[size - end_size - 1] == '/';
}

static bool is_image_named(const char *path, const char *name)
{
	if (strchr(name, '/') != NULL)
		return strcmp(path, name) == 0;
	return is_path_end(path, name);
}

static uint32_t find_instruction(
	const LodeProfile *profile, const LodeFunction *function, uint64_t address)
{
	const LodeInstruction *own = lode_profile_instruction(profile, function->first_instruction);
	uint32_t at = LODE_PARTITION_POINT(function->n_instructions, i, own[i].address < address);

	return at < function->n_instructions && own[at].address == address
	               ? function->first_instruction + at
	               : LODE_NONE;
}

static bool is_function_meant(const LodeFunction *function, const LodeAttributeRow *row)
{
	if (row->symbol[0] == '\0')
		return row->offset - function->address < function->size;
	return strcmp(function->name, row->symbol) == 0 ||
	       (function->symbol != NULL && strcmp(function->symbol, row->symbol) == 0);
}

static void apply_place(Applying *self, guint index, const LodeFunction *function)
{
	const LodeAttributeRow *row = row_at(self, index);
	const char *path = lode_profile_image(self->profile, function->image)->path;

	if (!is_function_meant(function, row) || !is_image_named(path, row->image))
		return;
	uint64_t base = row->symbol[0] != '\0' ? function->address : 0;
	uint32_t found = find_instruction(self->profile, function, base + row->offset);
	if (found != LODE_NONE)
		add_pair(self, index, found);
}

static void index_row(GHashTable *table, void *key, guint row)
{
	GArray *rows = g_hash_table_lookup(table, key);

	if (rows == NULL) {
		rows = g_array_new(FALSE, FALSE, sizeof(guint));
		g_hash_table_insert(table, key, rows);
	}
	g_array_append_val(rows, row);
}

static void apply_indexed(Applying *self, const GArray *rows, const LodeFunction *function)
{
	for (guint i = 0; rows != NULL && i < rows->len; i++)
		apply_place(self, g_array_index(rows, guint, i), function);
}

static void apply_places(Applying *self)
{
	g_autoptr(GHashTable) by_symbol = g_hash_table_new_full(
		g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);

	for (guint i = 0; i < self->file->rows->len; i++)
		index_row(by_symbol, row_at(self, i)->symbol, i);
	const GArray *absolute = g_hash_table_lookup(by_symbol, "");
	for (guint i = 0; i < lode_code_of(self->profile)->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(self->profile, i);
		apply_indexed(self, absolute, function);
		apply_indexed(self, g_hash_table_lookup(by_symbol, function->name), function);
		if (function->symbol != NULL)
			apply_indexed(
				self, g_hash_table_lookup(by_symbol, function->symbol), function);
	}
}

/* The rows about each location; NULL for none. */
static GPtrArray *match_locations(const Applying *self, GHashTable *by_line)
{
	const LodeCode *code = lode_code_of(self->profile);
	GPtrArray *matched = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

	for (guint i = 0; i < code->locations->len; i++) {
		const LodeLocation *location = &LODE_AT(code->locations, LodeLocation, i);
		const GArray *rows = g_hash_table_lookup(by_line, GUINT_TO_POINTER(location->line));
		GArray *own = g_array_new(FALSE, FALSE, sizeof(guint));
		for (guint j = 0; rows != NULL && location->file != NULL && j < rows->len; j++) {
			guint row = g_array_index(rows, guint, j);
			if (is_path_end(location->file, row_at(self, row)->file))
				g_array_append_val(own, row);
		}
		g_ptr_array_add(matched, own);
	}
	return matched;
}

static void apply_lines(Applying *self)
{
	g_autoptr(GHashTable)
		by_line = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);

	for (guint i = 0; i < self->file->rows->len; i++)
		index_row(by_line, GUINT_TO_POINTER(row_at(self, i)->line), i);
	g_autoptr(GPtrArray) matched = match_locations(self, by_line);
	for (uint32_t i = 0; i < lode_code_of(self->profile)->instructions->len; i++) {
		uint32_t location = lode_profile_instruction(self->profile, i)->location;
		const GArray *rows = location != LODE_NONE ? matched->pdata[location] : NULL;
		for (guint j = 0; rows != NULL && j < rows->len; j++)
			add_pair(self, g_array_index(rows, guint, j), i);
	}
}

LODE_ORDER(compare_pairs, Pair, LODE_ASCENDING(instruction), LODE_ASCENDING(attribute))

/* The instruction's old set with the attributes of `n` pairs. */
static void extend_set(Applying *self, const Pair *pairs, guint n)
{
	LodeProfile *profile = self->profile;
	LodeInstruction *instruction = lode_profile_instruction(profile, pairs->instruction);
	uint32_t n_members;
	const uint32_t *members = lode_profile_set_members(
		profile, instruction->attribute_set, &n_members);
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	g_array_append_vals(ids, members, n_members);
	for (guint i = 0; i < n; i++)
		g_array_append_val(ids, pairs[i].attribute);
	instruction->attribute_set = lode_profile_attribute_set(
		profile, (const uint32_t *)ids->data, ids->len);
}

static void extend_sets(Applying *self)
{
	const Pair *pairs = (const Pair *)self->pairs->data;
	guint end;

	if (self->pairs->len > 1)
		qsort(self->pairs->data, self->pairs->len, sizeof(Pair), compare_pairs);
	for (guint i = 0; i < self->pairs->len; i = end) {
		for (end = i + 1;
			end < self->pairs->len && pairs[end].instruction == pairs[i].instruction;)
			end++;
		extend_set(self, pairs + i, end - i);
	}
}

static void account_unused(const Applying *self, const char *path)
{
	for (guint i = 0; i < self->file->rows->len; i++) {
		if (self->is_used[i])
			continue;
		g_autofree char *example = g_strdup_printf(
			"%s: line %" G_GUINT64_FORMAT, path, row_at(self, i)->record_line);
		lode_profile_add_unresolved(
			self->profile, "attribute row about nothing that executed", example, 0, 0);
	}
}

void lode_user_attributes_apply(
	LodeProfile *profile, const LodeAttributeFile *file, const char *path)
{
	Applying applying = {
		.profile = profile,
		.file = file,
		.pairs = g_array_new(FALSE, FALSE, sizeof(Pair)),
		.is_used = g_new0(bool, MAX(file->rows->len, 1)),
	};

	if (file->form == LODE_ATTRIBUTE_FILE_PLACES)
		apply_places(&applying);
	else
		apply_lines(&applying);
	extend_sets(&applying);
	account_unused(&applying, path);
	g_array_unref(applying.pairs);
	g_free(applying.is_used);
}
