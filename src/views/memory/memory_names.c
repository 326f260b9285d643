/* SPDX-License-Identifier: MIT */
/* How the views of data addresses name threads, addresses and sizes. */
#include "views/memory/memory_names.h"

#include "model/code.h"
#include "model/memory.h"

#include <math.h>

static const LodeThread *find_thread(const LodeProfile *profile, uint32_t thread)
{
	const GArray *threads = lode_memory_of(profile)->threads;

	return thread < threads->len ? &LODE_AT(threads, LodeThread, thread) : NULL;
}

/* Threads are sorted by process. */
static bool has_processes(const LodeProfile *profile)
{
	const GArray *threads = lode_memory_of(profile)->threads;

	return threads->len > 0 && LODE_AT(threads, LodeThread, 0).pid !=
	                                   LODE_AT(threads, LodeThread, threads->len - 1).pid;
}

char *lode_memory_thread_label(const LodeProfile *profile, uint32_t thread)
{
	const LodeThread *row = find_thread(profile, thread);

	if (row == NULL)
		return g_strdup("?");
	if (has_processes(profile))
		return g_strdup_printf("%u.%u", row->pid, row->ordinal);
	return g_strdup_printf("%u", row->ordinal);
}

char *lode_memory_thread_name(const LodeProfile *profile, uint32_t thread)
{
	const LodeThread *row = find_thread(profile, thread);
	g_autofree char *label = lode_memory_thread_label(profile, thread);

	if (row == NULL)
		return g_strdup("no thread");
	return g_strdup_printf("thread %s%s%s (tid %u)", label, row->name != NULL ? " " : "",
		row->name != NULL ? row->name : "", row->tid);
}

static void put_number(LodeJsonStream *json, const char *name, const LodeThread *row, double value)
{
	lode_json_member_number(json, name, row != NULL ? value : (double)NAN);
}

void lode_memory_thread_json(LodeJsonStream *json, const LodeProfile *profile, uint32_t thread)
{
	const LodeThread *row = find_thread(profile, thread);
	g_autofree char *label = row != NULL ? lode_memory_thread_label(profile, thread) : NULL;

	lode_json_member_string(json, "thread", label);
	put_number(json, "pid", row, row != NULL ? row->pid : 0);
	put_number(json, "tid", row, row != NULL ? row->tid : 0);
	put_number(json, "ordinal", row, row != NULL ? row->ordinal : 0);
	lode_json_member_string(json, "name", row != NULL ? row->name : NULL);
}

char *lode_memory_place_text(const LodeProfile *profile, uint32_t function, uint32_t location)
{
	const LodeCode *code = lode_code_of(profile);
	GString *text = g_string_new(NULL);

	if (function < code->functions->len)
		g_string_append(text, lode_profile_function(profile, function)->name);
	if (location < code->locations->len) {
		const LodeLocation *row = &LODE_AT(code->locations, LodeLocation, location);
		g_autofree char *base = row->file != NULL ? g_path_get_basename(row->file) : NULL;
		if (base != NULL)
			g_string_append_printf(
				text, "%s%s:%u", text->len > 0 ? " " : "", base, row->line);
	}
	if (text->len == 0)
		g_string_append_c(text, '?');
	return g_string_free(text, FALSE);
}
