/* SPDX-License-Identifier: MIT */
/* An event by instruction, function, line or data object. */
#include "views/traces/event_table.h"

#include "analyses/memory/simulated_events.h"
#include "base/text/number_format.h"
#include "model/profile.h"
#include "views/code/function_name.h"
#include "views/form/display_text.h"
#include "views/form/row_stream.h"
#include "views/form/table.h"
#include "views/profile/profile_lines.h"

enum { VALUE, SHARE, FIRST, SECOND, NAME, N_COLUMNS };

typedef struct {
	const LodeEventGroups *groups;
	const LodeTerminal *terminal;
	bool is_of_data;
} Table;

static const LodeEventGroup *group_at(const LodeEventGroups *groups, size_t row)
{
	return &g_array_index(groups->groups, LodeEventGroup, row);
}

static double share_of(const LodeEventGroups *groups, double value)
{
	return groups->total > 0 ? value / groups->total : 0;
}

/* Executions and events for each, or loads and stores of data. */
static void append_detail(
	const Table *self, const LodeEventGroup *group, bool is_first, GString *out)
{
	char number[LODE_NUMBER_SIZE];

	if (!self->is_of_data && !is_first) {
		g_string_append(
			out, g_ascii_formatd(number, sizeof(number), "%.3f",
				     group->executions > 0 ? group->value / group->executions : 0));
		return;
	}
	double value = is_first ? group->executions : 0;
	if (self->is_of_data)
		value = is_first ? group->loads : group->stores;
	g_string_append(out, lode_number_format_count(value, number));
}

static LodeStyle event_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Table *self = user_data;
	const LodeEventGroup *group = group_at(self->groups, row);
	char number[LODE_NUMBER_SIZE];

	switch (column) {
	case VALUE:
		g_string_append(out, lode_number_format_count(group->value, number));
		return LODE_STYLE_STRONG;
	case SHARE:
		g_string_append(out,
			lode_number_format_share(share_of(self->groups, group->value), number));
		return LODE_STYLE_PLAIN;
	case NAME:
		lode_display_append(out, group->name, self->terminal->is_ascii);
		return LODE_STYLE_NAME;
	default:
		append_detail(self, group, column == FIRST, out);
		return LODE_STYLE_PLAIN;
	}
}

static size_t n_rows(const LodeEventGroups *groups, uint32_t top)
{
	return top > 0 ? MIN(top, groups->groups->len) : groups->groups->len;
}

/* Writes the remainder that no row shows: cut off by --top, or in no group. */
static void write_rest(const Table *self, size_t n, FILE *out)
{
	const LodeEventGroups *groups = self->groups;
	char number[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];
	double shown = 0, unknown = groups->total - groups->grouped;

	for (size_t i = 0; i < n; i++)
		shown += group_at(groups, i)->value;
	if (n < groups->groups->len)
		lode_profile_lines_print(self->terminal, out, "%s more: %s",
			lode_number_format_count((double)(groups->groups->len - n), number),
			lode_number_format_share(share_of(groups, groups->grouped - shown), share));
	if (unknown > 0.5)
		lode_profile_lines_print(self->terminal, out, "%s: %s of all (%s)",
			self->is_of_data ? "without data, as fetches have none" : "unresolved",
			lode_number_format_share(share_of(groups, unknown), share),
			lode_number_format_count(unknown, number));
}

/* "misses by class: compulsory-miss 12 · …", where they were classified. */
static void write_classes(const LodeProfile *profile, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char number[LODE_NUMBER_SIZE];

	for (const char *const *name = lode_simulated_events_classes(); *name != NULL; name++) {
		uint32_t event = lode_profile_find_event(profile, *name);
		if (event == LODE_NONE)
			return;
		g_string_append_printf(text, "%s%s %s", text->len > 0 ? " · " : "", *name,
			lode_number_format_count(
				lode_profile_event(profile, event)->total, number));
	}
	lode_profile_lines_print(
		terminal, out, "Data misses of the first level, by class: %s", text->str);
}

static void write_text(const LodeProfile *profile, const LodeEventGroups *groups,
	const LodeEventTableOptions *options, FILE *out)
{
	const LodeEvent *event = lode_profile_event(profile, groups->event);
	bool is_of_data = lode_event_by_is_of_data(groups->by);
	const LodeTableColumn columns[N_COLUMNS] = {
		[VALUE] = {event->name},
		[SHARE] = {"share"},
		[FIRST] = {is_of_data ? "loads" : "executions", .dropped = 1},
		[SECOND] = {is_of_data ? "stores" : "per execution", .dropped = 2},
		[NAME] = {lode_event_by_to_text(groups->by), .is_text = true},
	};
	Table self = {groups, &options->terminal, is_of_data};
	LodeTable table = {columns, N_COLUMNS, n_rows(groups, options->top), event_cell, &self};
	char total[LODE_NUMBER_SIZE];

	lode_profile_lines_print(&options->terminal, out, "%s · %s by %s · %s in all%s%s",
		profile->program != NULL ? profile->program : "?", event->name,
		lode_event_by_to_text(groups->by), lode_number_format_count(groups->total, total),
		event->description != NULL ? " · " : "",
		event->description != NULL ? event->description : "");
	fputc('\n', out);
	if (groups->groups->len == 0)
		fputs("None.\n", out);
	else
		lode_table_write(&table, &options->terminal, out);
	write_rest(&self, table.n_rows, out);
	if (groups->groups->len > 0 && !is_of_data && groups->by != LODE_EVENT_BY_INSTRUCTION)
		lode_profile_lines_print(&options->terminal, out,
			"executions: those of each %s's most executed instruction",
			lode_event_by_to_text(groups->by));
	write_classes(profile, &options->terminal, out);
}

static void put_group(
	const LodeEventGroups *groups, const LodeEventGroup *group, LodeRowStream *rows)
{
	lode_row_begin(rows);
	lode_function_name_row(rows, "name", group->name);
	lode_row_number(rows, "value", group->value);
	lode_row_number(rows, "share", share_of(groups, group->value));
	lode_row_number(rows, "executions", group->executions);
	lode_row_number(rows, "loads", group->loads);
	lode_row_number(rows, "stores", group->stores);
	lode_row_end(rows);
}

static void write_json(const LodeProfile *profile, const LodeEventGroups *groups,
	const LodeEventTableOptions *options, FILE *out)
{
	LodeJsonStream json;
	LodeRowStream rows;

	lode_json_stream_init(&json, out);
	lode_row_stream_init_json(&rows, &json);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "program", profile->program);
	lode_json_member_string(&json, "event", lode_profile_event(profile, groups->event)->name);
	lode_json_member_string(&json, "by", lode_event_by_to_text(groups->by));
	lode_json_member_number(&json, "total", groups->total);
	lode_json_member_number(&json, "grouped", groups->grouped);
	lode_json_member_number(&json, "groups", groups->groups->len);
	lode_json_key(&json, "rows");
	lode_json_begin(&json, '[');
	for (size_t i = 0; i < n_rows(groups, options->top); i++)
		put_group(groups, group_at(groups, i), &rows);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void write_csv(
	const LodeEventGroups *groups, const LodeEventTableOptions *options, FILE *out)
{
	const LodeEventGroup none = {0};
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_group(groups, &none, &rows);
	for (size_t i = 0; i < n_rows(groups, options->top); i++)
		put_group(groups, group_at(groups, i), &rows);
}

bool lode_event_table_write(const LodeProfile *profile, const LodeEventGroups *groups,
	const LodeEventTableOptions *options, FILE *out, GError **error)
{
	if (options->format == LODE_VIEW_JSON)
		write_json(profile, groups, options, out);
	else if (options->format == LODE_VIEW_CSV)
		write_csv(groups, options, out);
	else
		write_text(profile, groups, options, out);
	return lode_view_flush(out, error);
}
