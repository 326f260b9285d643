/* SPDX-License-Identifier: MIT */
#include "analyses/compare/moved_code.h"

#include "model/code.h"

#include <string.h>

/* A function that both have. */
typedef struct {
	const char *files[2];
	uint32_t starts[2];
} Start;

typedef struct {
	const char *files[2];
	guint n; /* functions in common */
} FilePair;

struct LodeRenamedFiles {
	GArray *starts;        /* Start, of functions in files that are paired, by the second's */
	GHashTable *others[2]; /* file → that of the other side */
};

/* Paths, and their last parts. */
static GHashTable *names_of(const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < code->locations->len; i++) {
		const char *file = LODE_AT(code->locations, LodeLocation, i).file;
		const char *base = file != NULL ? strrchr(file, '/') : NULL;
		if (file != NULL)
			g_hash_table_add(names, (char *)file);
		if (base != NULL)
			g_hash_table_add(names, (char *)base + 1);
	}
	return names;
}

static bool is_known(GHashTable *names, const char *file)
{
	const char *base = strrchr(file, '/');

	return g_hash_table_contains(names, file) ||
	       g_hash_table_contains(names, base != NULL ? base + 1 : file);
}

/* The file of a function's own lines that are not inlined, and the lowest of them; NULL: none. */
static const char *find_start(
	const LodeProfile *profile, const LodeOwnLines *own, uint32_t function, uint32_t *out_line)
{
	const LodeFunction *one = lode_profile_function(profile, function);
	const char *file = NULL;

	for (uint32_t i = 0; i < one->n_instructions; i++) {
		uint32_t id = lode_own_lines_find(own, one->first_instruction + i);
		if (id == LODE_NONE)
			continue;
		const LodeLocation *at = &LODE_AT(
			lode_code_of(profile)->locations, LodeLocation, id);
		if (at->file == NULL || at->line == 0 || at->inlined != NULL ||
			!lode_own_lines_is_own(own, id) ||
			(file != NULL && strcmp(file, at->file) != 0))
			continue;
		*out_line = file != NULL ? MIN(*out_line, at->line) : at->line;
		file = at->file;
	}
	return file;
}

static void count_function(GHashTable *counts, const char *file)
{
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, file));

	g_hash_table_insert(counts, (char *)file, GUINT_TO_POINTER(n + 1));
}

static int compare_pairs(const void *a, const void *b)
{
	const FilePair *left = a, *right = b;

	if (left->n != right->n)
		return left->n > right->n ? -1 : 1;
	return strcmp(left->files[0], right->files[0]);
}

static int compare_starts(const void *a, const void *b)
{
	const Start *left = a, *right = b;
	int order = strcmp(left->files[1], right->files[1]);

	if (order != 0)
		return order;
	if (left->starts[1] != right->starts[1])
		return left->starts[1] < right->starts[1] ? -1 : 1;
	return left->starts[0] < right->starts[0] ? -1 : left->starts[0] > right->starts[0];
}

/* `counts`: functions of each file. */
static void pair_files(LodeRenamedFiles *self, const GArray *starts, GHashTable *const counts[2])
{
	g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(FilePair));
	g_autoptr(GHashTable)
		indices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < starts->len; i++) {
		const Start *one = &g_array_index(starts, Start, i);
		char *key = g_strdup_printf("%s\n%s", one->files[0], one->files[1]);
		guint index = GPOINTER_TO_UINT(g_hash_table_lookup(indices, key));
		if (index == 0) {
			FilePair pair = {{one->files[0], one->files[1]}, 0};
			g_array_append_val(pairs, pair);
			index = pairs->len;
		}
		g_hash_table_replace(indices, key, GUINT_TO_POINTER(index));
		g_array_index(pairs, FilePair, index - 1).n++;
	}
	g_array_sort(pairs, compare_pairs);
	for (guint i = 0; i < pairs->len; i++) {
		const FilePair *one = &g_array_index(pairs, FilePair, i);
		guint least = MIN(GPOINTER_TO_UINT(g_hash_table_lookup(counts[0], one->files[0])),
			GPOINTER_TO_UINT(g_hash_table_lookup(counts[1], one->files[1])));
		if (2 * one->n < least || lode_renamed_files_has(self, 0, one->files[0]) ||
			lode_renamed_files_has(self, 1, one->files[1]))
			continue;
		for (int side = 0; side < 2; side++)
			g_hash_table_insert(self->others[side], (char *)one->files[side],
				(char *)one->files[1 - side]);
	}
}

LodeRenamedFiles *lode_renamed_files_new(const LodeProfile *const profiles[2],
	const LodeFunctionPairs *pairs, const LodeOwnLines *const own[2])
{
	LodeRenamedFiles *self = g_new0(LodeRenamedFiles, 1);
	g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(Start));
	GHashTable *names[2], *counts[2];

	self->starts = g_array_new(FALSE, FALSE, sizeof(Start));
	for (int side = 0; side < 2; side++) {
		self->others[side] = g_hash_table_new(g_str_hash, g_str_equal);
		names[side] = names_of(profiles[side]);
		counts[side] = g_hash_table_new(g_str_hash, g_str_equal);
	}
	for (guint i = 0; i < pairs->pairs->len; i++) {
		const uint32_t *both = g_array_index(pairs->pairs, LodeFunctionPair, i).functions;
		Start start = {{NULL, NULL}, {0, 0}};
		for (int side = 0; side < 2; side++) {
			if (both[side] != LODE_NONE)
				start.files[side] = find_start(
					profiles[side], own[side], both[side], &start.starts[side]);
			if (start.files[side] != NULL)
				count_function(counts[side], start.files[side]);
		}
		if (start.files[0] != NULL && start.files[1] != NULL &&
			!is_known(names[1], start.files[0]) && !is_known(names[0], start.files[1]))
			g_array_append_val(starts, start);
	}
	pair_files(self, starts, counts);
	for (guint i = 0; i < starts->len; i++) {
		const Start *one = &g_array_index(starts, Start, i);
		const char *other = g_hash_table_lookup(self->others[1], one->files[1]);
		if (other != NULL && strcmp(other, one->files[0]) == 0)
			g_array_append_val(self->starts, *one);
	}
	g_array_sort(self->starts, compare_starts);
	for (int side = 0; side < 2; side++) {
		g_hash_table_unref(names[side]);
		g_hash_table_unref(counts[side]);
	}
	return self;
}

void lode_renamed_files_free(LodeRenamedFiles *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->starts);
	for (int side = 0; side < 2; side++)
		g_hash_table_unref(self->others[side]);
	g_free(self);
}

bool lode_renamed_files_has(const LodeRenamedFiles *self, int side, const char *file)
{
	return g_hash_table_contains(self->others[side], file);
}

bool lode_renamed_files_find(const LodeRenamedFiles *self, const LodeLocation *location,
	const char **out_file, uint32_t *out_line)
{
	const char *file = g_hash_table_lookup(self->others[1], location->file);
	guint low = 0, high = self->starts->len;

	if (file == NULL)
		return false;
	/* The first start below the line. */
	while (low < high) {
		guint middle = low + (high - low) / 2;
		const Start *one = &g_array_index(self->starts, Start, middle);
		int order = strcmp(one->files[1], location->file);
		if (order < 0 || (order == 0 && one->starts[1] <= location->line))
			low = middle + 1;
		else
			high = middle;
	}
	const Start *above = low > 0 ? &g_array_index(self->starts, Start, low - 1) : NULL;
	/* Lines above all functions are as far above the first one. */
	if (above == NULL || strcmp(above->files[1], location->file) != 0)
		above = &g_array_index(self->starts, Start, low);
	int64_t line = (int64_t)location->line - above->starts[1] + above->starts[0];
	*out_file = file;
	*out_line = (uint32_t)CLAMP(line, 1, UINT32_MAX);
	return true;
}
