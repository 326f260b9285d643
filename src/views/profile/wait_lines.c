/* SPDX-License-Identifier: MIT */
#include "views/profile/wait_lines.h"

#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/waits.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/profile/program_lines.h"

#include <math.h>

/* The share of the time from which on the head speaks of waiting, and of a wait. */
static const double MUCH_WAITING = 0.1, LEAST_PART = 0.02;
enum { MOST_PARTS = 3, OBJECT_WIDTH = 40 };

void lode_wait_append_place(GString *out, const LodeWaitPlace *place, const LodeTerminal *terminal)
{
	g_autofree char *base = place->file != NULL ? g_path_get_basename(place->file) : NULL;
	g_autoptr(GString) line = g_string_new(NULL);

	if (place->function == NULL)
		return;
	lode_function_name_append(out, place->function, terminal);
	if (base != NULL)
		lode_display_append(line, base, terminal->is_ascii);
	if (base != NULL && place->line > 0)
		g_string_append_printf(out, " (%s:%u)", line->str, place->line);
}

/* What is waited for, at all lines together. */
typedef struct {
	const LodeWaitGroup *first;
	double ns;
} Part;

LODE_ORDER(compare_parts, Part, LODE_DESCENDING(ns), LODE_ASCENDING(first->reason),
	g_strcmp0(left->first->object, right->first->object))

static GArray *sum_parts(const LodeProfile *profile, const GArray *groups, bool is_of_path)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));

	for (guint i = 0; i < groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		const Part added = {group, is_of_path ? group->path_ns : group->waiting_ns};
		guint k = 0;
		if (!(added.ns > 0) || !lode_wait_group_counts(profile, group))
			continue;
		for (; k < parts->len; k++) {
			Part *part = &g_array_index(parts, Part, k);
			if (part->first->reason == group->reason &&
				g_strcmp0(part->first->object, group->object) == 0) {
				part->ns += added.ns;
				break;
			}
		}
		if (k == parts->len)
			g_array_append_val(parts, added);
	}
	g_array_sort(parts, compare_parts);
	return parts;
}

static void append_part(
	GString *text, const LodeWaitGroup *group, double share, const LodeTerminal *terminal)
{
	g_autofree char *words = lode_wait_group_text(group);
	g_autoptr(GString) shown = g_string_new(NULL);

	lode_display_append(shown, words, terminal->is_ascii);
	if (group->reason == LODE_WAIT_SLEEP && group->place.function != NULL) {
		g_autofree char *name = lode_function_name_text(group->place.function, terminal);
		g_string_append(shown, " in ");
		lode_display_append(shown, name, terminal->is_ascii);
	}
	if (terminal->width != 0)
		lode_display_shorten_middle(shown, OBJECT_WIDTH, terminal->is_ascii);
	g_string_append_printf(text, ", %.0f %% %s", 100 * share, shown->str);
}

/* The parts of `all`, after "… by the clock". */
static char *describe(const LodeProfile *profile, const GArray *parts, bool is_of_path, double all,
	const LodeTerminal *terminal)
{
	const LodeWaits *waits = lode_waits_of(profile);
	double running = is_of_path ? waits->path_running_ns : waits->running_ns, waiting = 0,
	       shown = 0;
	GString *text = g_string_new(NULL);
	guint n = 0;

	for (guint i = 0; i < parts->len; i++)
		waiting += g_array_index(parts, Part, i).ns;
	if (!(all > 0) || waiting < MUCH_WAITING * all)
		return g_string_free(text, TRUE);
	g_string_append_printf(text, "%s s by the clock%s: %.0f %% running",
		LODE_AMOUNT_TEXT(waits->clock_ns / 1e9), is_of_path ? "" : "; of the threads' time",
		100 * running / all);
	for (; n < MIN(parts->len, MOST_PARTS); n++) {
		const Part *part = &g_array_index(parts, Part, n);
		if (part->ns < LEAST_PART * all)
			break;
		append_part(text, part->first, part->ns / all, terminal);
		shown += part->ns;
	}
	if (waiting - shown >= LEAST_PART * all)
		g_string_append_printf(
			text, ", %.0f %% other waits", 100 * (waiting - shown) / all);
	return g_string_free(text, FALSE);
}

/* Of several programs: those that the end waited for, then the waits. */
static char *describe_programs(
	const LodeWaits *waits, const GArray *parts, const LodeTerminal *terminal)
{
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%s s by the clock", LODE_AMOUNT_TEXT(waits->clock_ns / 1e9));
	lode_programs_append_path(text, waits);
	for (guint n = 0; n < MIN(parts->len, MOST_PARTS); n++) {
		const Part *part = &g_array_index(parts, Part, n);
		if (part->first->reason == LODE_WAIT_PROCESSOR)
			continue;
		if (part->ns < LEAST_PART * waits->clock_ns)
			break;
		append_part(text, part->first, part->ns / waits->clock_ns, terminal);
	}
	return g_string_free(text, FALSE);
}

char *lode_waits_head(const LodeProfile *profile, const LodeTerminal *terminal)
{
	const LodeWaits *waits = lode_waits_of(profile);
	char *text = NULL;

	if (waits == NULL || !(waits->clock_ns > 0))
		return NULL;
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	g_autoptr(GArray) groups = lode_wait_groups_new(profile, own);
	if (waits->has_path && lode_waits_have_processes(waits)) {
		g_autoptr(GArray) parts = sum_parts(profile, groups, true);
		return describe_programs(waits, parts, terminal);
	}
	if (waits->has_path) {
		g_autoptr(GArray) parts = sum_parts(profile, groups, true);
		text = describe(profile, parts, true, waits->clock_ns, terminal);
	}
	/* The path goes through those who have what others wait for. */
	if (text == NULL) {
		g_autoptr(GArray) parts = sum_parts(profile, groups, false);
		text = describe(
			profile, parts, false, waits->running_ns + waits->waiting_ns, terminal);
	}
	return text;
}
