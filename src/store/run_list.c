/* SPDX-License-Identifier: MIT */
#include "store/run_list.h"

#include "store/profile_store.h"
#include "store/row_reader.h"

static void free_summary(void *data)
{
	LodeRunSummary *summary = data;

	g_free(summary->name);
	g_free(summary->weight);
	g_free(summary->parameters);
	g_free(summary);
}

GPtrArray *lode_run_list_read(LodeDatabase *database, GArray *out_ids, GError **error)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_summary);
	uint64_t last_id = 0;
	LodeRowReader rows;

	lode_row_reader_init(&rows, database, "run",
		"SELECT id, name, weight, parameters, is_complete, seconds, sequences "
		"FROM run ORDER BY id");
	while (lode_row_reader_next(&rows)) {
		uint64_t id = lode_row_reader_integer(&rows, 0, INT32_MAX);
		LodeRunSummary *summary = g_new0(LodeRunSummary, 1);
		g_ptr_array_add(list, summary);
		summary->name = g_strdup(lode_row_reader_text(&rows, 1));
		summary->weight = g_strdup(lode_row_reader_optional_text(&rows, 2));
		summary->parameters = g_strdup(lode_row_reader_text(&rows, 3));
		summary->is_complete = lode_row_reader_integer(&rows, 4, 1) != 0;
		summary->seconds = lode_row_reader_amount(&rows, 5);
		summary->n_sequences = lode_row_reader_integer(&rows, 6, UINT32_MAX);
		if (id <= last_id)
			lode_row_reader_fail(&rows, "its id is not above the one before");
		last_id = id;
		if (out_ids != NULL)
			g_array_append_val(out_ids, id);
	}
	return lode_row_reader_finish(&rows, error) ? g_steal_pointer(&list) : NULL;
}

GPtrArray *lode_profile_store_list_runs(const char *path, GError **error)
{
	g_autoptr(LodeDatabase) database = lode_database_open(path, NULL, error);
	GPtrArray *list = database != NULL ? lode_run_list_read(database, NULL, error) : NULL;

	if (list == NULL)
		g_prefix_error(error, "%s: ", path);
	return list;
}
