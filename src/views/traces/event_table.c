/* SPDX-License-Identifier: MIT */
/* An event by instruction, function, line or data object. */
#include "views/traces/event_table.h"

#include "analyses/memory/simulated_events.h"
#include "base/text/number_format.h"
#include "model/code.h"
#include "model/run/program_run.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"

typedef struct {
	const LodeEventGroups *groups;
	const LodeTerminal *terminal;
	bool is_of_data;
} Table;

typedef struct {
	const char *name;
	LodeEventGroup group;
	double share;
	double each; /* executions have so many */
} Row;

enum { OF_CODE = 1, OF_DATA = 2 };

static const LodeColumn columns[] = {
	{"name", LODE_CELL_NAME(Row, name)},
	{"value", LODE_CELL_COUNT(Row, group.value), .titled = 1, .at = 1,
		.style = LODE_STYLE_STRONG},
	{"share", LODE_CELL_SHARE(Row, share), .at = 2},
	{"executions", LODE_CELL_COUNT(Row, group.executions)},
	{"loads", LODE_CELL_COUNT(Row, group.loads)},
	{"stores", LODE_CELL_COUNT(Row, group.stores)},
	{NULL, LODE_CELL_COUNT(Row, group.executions), .title = "executions", .at = 3, .dropped = 1,
		.when = OF_CODE},
	{NULL, LODE_CELL_NUMBER(Row, each), .title = "per execution", .at = 4, .dropped = 2,
		.decimals = 3, .when = OF_CODE},
	{NULL, LODE_CELL_COUNT(Row, group.loads), .title = "loads", .at = 3, .dropped = 1,
		.when = OF_DATA},
	{NULL, LODE_CELL_COUNT(Row, group.stores), .title = "stores", .at = 4, .dropped = 2,
		.when = OF_DATA},
	{NULL, LODE_CELL_TEXT(Row, name), .titled = 2, .at = 5, .style = LODE_STYLE_NAME},
};
const LodeColumns lode_event_table_columns = LODE_COLUMNS("rows", columns, Row);

static const LodeEventGroup *group_at(const LodeEventGroups *groups, size_t row)
{
	return &g_array_index(groups->groups, LodeEventGroup, row);
}

static double share_of(const LodeEventGroups *groups, double value)
{
	return groups->total > 0 ? value / groups->total : 0;
}

static void fill_row(size_t number, void *out, const void *user_data)
{
	const LodeEventGroups *groups = user_data;
	const LodeEventGroup *group = group_at(groups, number);

	*(Row *)out = (Row){group->name, *group, share_of(groups, group->value),
		group->executions > 0 ? group->value / group->executions : 0};
}

static size_t n_rows(const LodeEventGroups *groups, uint32_t top)
{
	return top > 0 ? MIN(top, groups->groups->len) : groups->groups->len;
}

/* Writes the remainder that no row shows: cut off by --top, or in no group. */
static void write_rest(const Table *self, size_t n, FILE *out)
{
	const LodeEventGroups *groups = self->groups;
	double shown = 0, unknown = groups->total - groups->grouped;

	for (size_t i = 0; i < n; i++)
		shown += group_at(groups, i)->value;
	if (n < groups->groups->len)
		lode_display_print(self->terminal, out, "%s more: %s",
			LODE_COUNT_TEXT((groups->groups->len - n)),
			LODE_SHARE_TEXT(share_of(groups, groups->grouped - shown)));
	if (unknown > 0.5)
		lode_display_print(self->terminal, out, "%s: %s of all (%s)",
			self->is_of_data ? "without data, as fetches have none" : "unresolved",
			LODE_SHARE_TEXT(share_of(groups, unknown)), LODE_COUNT_TEXT(unknown));
}

/* "misses by class: compulsory-miss 12 · …", where they were classified. */
static void write_classes(const LodeProfile *profile, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (const char *const *name = lode_simulated_events_classes(); *name != NULL; name++) {
		uint32_t event = lode_profile_find_event(profile, *name);
		if (event == LODE_NONE)
			return;
		g_string_append_printf(text, "%s%s %s", text->len > 0 ? " · " : "", *name,
			LODE_COUNT_TEXT(lode_profile_event(profile, event)->total));
	}
	lode_display_print(
		terminal, out, "Data misses of the first level, by class: %s", text->str);
}

static void write_text(const LodeProfile *profile, const LodeEventGroups *groups,
	const LodeListing *listing, const LodeEventTableOptions *options, FILE *out)
{
	const LodeProgramRun *run = lode_program_run_of(profile);
	const LodeEvent *event = lode_profile_event(profile, groups->event);
	bool is_of_data = lode_event_by_is_of_data(groups->by);
	Table self = {groups, &options->terminal, is_of_data};

	lode_display_print(&options->terminal, out, "%s · %s by %s · %s in all%s%s",
		run->program != NULL ? run->program : "?", event->name,
		lode_event_by_to_text(groups->by), LODE_COUNT_TEXT(groups->total),
		event->description != NULL ? " · " : "",
		event->description != NULL ? event->description : "");
	fputc('\n', out);
	if (groups->groups->len == 0)
		fputs("None.\n", out);
	else
		lode_listing_write_text(listing, &options->terminal, out);
	write_rest(&self, listing->n_rows, out);
	if (groups->groups->len > 0 && !is_of_data && groups->by != LODE_EVENT_BY_INSTRUCTION)
		lode_display_print(&options->terminal, out,
			"executions: those of each %s's most executed instruction",
			lode_event_by_to_text(groups->by));
	write_classes(profile, &options->terminal, out);
}

static void write_json(const LodeProfile *profile, const LodeEventGroups *groups,
	const LodeListing *listing, FILE *out)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "program", lode_program_run_of(profile)->program);
	lode_json_member_string(&json, "event", lode_profile_event(profile, groups->event)->name);
	lode_json_member_string(&json, "by", lode_event_by_to_text(groups->by));
	lode_json_member_number(&json, "total", groups->total);
	lode_json_member_number(&json, "grouped", groups->grouped);
	lode_json_member_number(&json, "groups", groups->groups->len);
	lode_listing_put_json(listing, &json);
	lode_json_end(&json, '}');
}

bool lode_event_table_write(const LodeProfile *profile, const LodeEventGroups *groups,
	const LodeEventTableOptions *options, FILE *out, GError **error)
{
	const LodeListing listing = {
		.columns = &lode_event_table_columns,
		.n_rows = n_rows(groups, options->top),
		.fill = fill_row,
		.user_data = groups,
		.what = lode_event_by_is_of_data(groups->by) ? OF_DATA : OF_CODE,
		.titles = {lode_profile_event(profile, groups->event)->name,
			lode_event_by_to_text(groups->by)},
	};

	if (options->format == LODE_VIEW_JSON)
		write_json(profile, groups, &listing, out);
	else if (options->format == LODE_VIEW_CSV)
		lode_listing_write_csv(&listing, out);
	else
		write_text(profile, groups, &listing, options, out);
	return lode_view_flush(out, error);
}
