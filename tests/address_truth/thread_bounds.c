/* SPDX-License-Identifier: MIT */
#include "thread_bounds.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
	uint32_t tid;
	uint64_t start, end;
	bool is_stack;
} Bounds;

GArray *thread_bounds_read(const char *path, GError **error)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	g_autoptr(GArray) result = g_array_new(FALSE, FALSE, sizeof(Bounds));

	if (!g_file_get_contents(path, &text, NULL, error))
		return NULL;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++) {
		Bounds bounds;
		char what[8];
		if (sscanf(*line, "%" SCNu32 " %" SCNx64 " %" SCNx64 " %7s", &bounds.tid,
			    &bounds.start, &bounds.end, what) != 4)
			continue;
		bounds.is_stack = strcmp(what, "stack") == 0;
		g_array_append_val(result, bounds);
	}
	if (result->len > 0)
		return g_steal_pointer(&result);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: no bounds in it", path);
	return NULL;
}

bool thread_bounds_has(const GArray *bounds, uint32_t tid)
{
	for (guint i = 0; i < bounds->len; i++)
		if (g_array_index(bounds, Bounds, i).tid == tid)
			return true;
	return false;
}

ThreadSide thread_bounds_side(const GArray *bounds, uint32_t tid, uint64_t address)
{
	for (guint i = 0; i < bounds->len; i++) {
		const Bounds *row = &g_array_index(bounds, Bounds, i);
		if (address < row->start || address >= row->end)
			continue;
		if (row->tid != tid)
			return THREAD_FOREIGN;
		return row->is_stack ? THREAD_OWN_STACK : THREAD_OWN_ARRAY;
	}
	return THREAD_ELSEWHERE;
}
