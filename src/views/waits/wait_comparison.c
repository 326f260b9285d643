/* SPDX-License-Identifier: MIT */
#include "views/waits/wait_list.h"

#include "analyses/waits/wait_groups.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/waits.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/profile/wait_lines.h"

#include <math.h>

/* Of the time by the clock, and of the longer of the two: less is not told. */
static const double LEAST_OF_CLOCK = 0.05, LEAST_OF_ITSELF = 0.2;

typedef struct {
	const LodeWaitGroup *group; /* the costliest, of the new profile if it has it */
	const char *match;
	const char *reason, *object, *function, *file;
	uint32_t line;
	double base_seconds, new_seconds, change, size;
	bool is_told;
} Row;

static const LodeColumn columns[] = {
	{"reason", LODE_CELL_TEXT(Row, reason)},
	{"object", LODE_CELL_TEXT(Row, object)},
	{"function", LODE_CELL_NAME(Row, function), .is_nullable = true},
	{"file", LODE_CELL_TEXT(Row, file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(Row, line)},
	{"match", LODE_CELL_TEXT(Row, match), .type = "\"same\" | \"new\" | \"gone\""},
	{"base_seconds", LODE_CELL_NUMBER(Row, base_seconds)},
	{"new_seconds", LODE_CELL_NUMBER(Row, new_seconds)},
	{"change_seconds", LODE_CELL_NUMBER(Row, change)},
	{"is_told", LODE_CELL_FLAG(Row, is_told)},
};
const LodeColumns lode_compared_wait_columns = LODE_COLUMNS("waits", columns, Row);

typedef struct {
	GArray *groups[2];
	GArray *rows; /* Row, the largest change first */
} Compared;

static void compared_clear(Compared *self)
{
	g_clear_pointer(&self->rows, g_array_unref);
	g_clear_pointer(&self->groups[0], g_array_unref);
	g_clear_pointer(&self->groups[1], g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Compared, compared_clear)

LODE_ORDER(compare_rows, Row, LODE_DESCENDING(size), g_strcmp0(left->reason, right->reason),
	g_strcmp0(left->object, right->object), g_strcmp0(left->function, right->function))

static void add_groups(Compared *self, int side, GHashTable *numbers)
{
	for (guint i = 0; i < self->groups[side]->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(self->groups[side], i);
		if (group->is_idle || group->reason == LODE_WAIT_UNSEEN)
			continue;
		const char *word = lode_wait_reason_to_text(group->reason);
		char *key = g_strdup_printf("%s\n%s\n%s", word,
			group->object != NULL && lode_wait_is_of_object(group->reason)
				? group->object
				: "",
			group->place.function != NULL ? group->place.function : "");
		guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));
		if (number == 0) {
			const Row row = {.reason = word};
			g_array_append_val(self->rows, row);
			number = self->rows->len;
			g_hash_table_insert(
				numbers, g_steal_pointer(&key), GUINT_TO_POINTER(number));
		}
		g_free(key);
		Row *row = &g_array_index(self->rows, Row, number - 1);
		double *seconds = side == 0 ? &row->base_seconds : &row->new_seconds;
		/* The first of a side is the costliest. */
		if (*seconds == 0)
			row->group = group;
		*seconds += group->waiting_ns / 1e9;
	}
}

/* False: one of the profiles has no waits. */
static bool compare(Compared *self, const LodeProfile *const profiles[2], const char *const *own)
{
	g_autoptr(GHashTable)
		numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	double clock = 0;

	if (lode_waits_of(profiles[0]) == NULL || lode_waits_of(profiles[1]) == NULL)
		return false;
	self->rows = g_array_new(FALSE, FALSE, sizeof(Row));
	for (int side = 0; side < 2; side++) {
		g_autoptr(LodeOwnLines) lines = lode_own_lines_new(profiles[side], own);
		self->groups[side] = lode_wait_groups_new(profiles[side], lines);
		clock = MAX(clock, lode_waits_of(profiles[side])->clock_ns / 1e9);
		add_groups(self, side, numbers);
	}
	for (guint i = 0; i < self->rows->len; i++) {
		Row *row = &g_array_index(self->rows, Row, i);
		row->change = row->new_seconds - row->base_seconds;
		row->size = fabs(row->change);
		row->match = !(row->base_seconds > 0)  ? "new"
		             : !(row->new_seconds > 0) ? "gone"
		                                       : "same";
		row->is_told = row->size >= LEAST_OF_CLOCK * clock &&
		               row->size >=
		                       LEAST_OF_ITSELF * MAX(row->base_seconds, row->new_seconds);
		row->object = row->group->object != NULL ? row->group->object : row->reason;
		row->function = row->group->place.function;
		row->file = row->group->place.file;
		row->line = row->group->place.line;
	}
	g_array_sort(self->rows, compare_rows);
	return true;
}

static void put_row(const Row *row, const LodeTerminal *terminal, FILE *out)
{
	g_autofree char *words = lode_wait_group_text(row->group);
	bool is_new = !(row->base_seconds > 0), is_gone = !(row->new_seconds > 0);
	g_autoptr(GString) text = g_string_new(is_gone           ? "Gone: "
					       : is_new          ? "New: "
					       : !row->is_told   ? "Same: "
					       : row->change > 0 ? "Longer: "
								 : "Shorter: ");

	g_string_append(text, words);
	if (row->function != NULL) {
		g_string_append(text, " in ");
		lode_wait_append_place(text, &row->group->place, terminal);
	}
	g_string_append(text, ", ");
	if (!is_new)
		g_string_append(text, LODE_TIME_TEXT(row->base_seconds * 1e9));
	if (!is_new && !is_gone)
		g_string_append(text, " → ");
	if (!is_gone)
		g_string_append(text, LODE_TIME_TEXT(row->new_seconds * 1e9));
	lode_display_print(terminal, out, "%s.", text->str);
}

void lode_wait_comparison_write(
	const LodeProfile *const profiles[2], const LodeWaitListOptions *options, FILE *out)
{
	g_auto(Compared) self = {0};
	guint n = 0, n_left = 0;

	if (!compare(&self, profiles, options->own))
		return;
	for (guint i = 0; i < self.rows->len; i++) {
		const Row *row = &g_array_index(self.rows, Row, i);
		if (!row->is_told && !options->is_all)
			continue;
		if (options->limit != 0 && n >= options->limit) {
			n_left++;
			continue;
		}
		if (n++ == 0)
			fputs("\nWaits\n", out);
		put_row(row, &options->terminal, out);
	}
	if (n_left > 0)
		lode_display_print(
			&options->terminal, out, "%u more waits; --limit shows them.", n_left);
}

void lode_wait_comparison_json(
	const LodeProfile *const profiles[2], const char *const *own, LodeJsonStream *json)
{
	g_auto(Compared) self = {0};

	if (!compare(&self, profiles, own))
		return;
	const LodeListing listing = {.columns = &lode_compared_wait_columns,
		.n_rows = self.rows->len,
		.rows = self.rows->data};
	lode_json_line(json);
	lode_listing_put_json(&listing, json);
}
