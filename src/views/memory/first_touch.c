/* SPDX-License-Identifier: MIT */
/* Pages with their first touches: each as JSON and CSV, ranges of like pages for the screen. */
#include "views/memory/first_touch.h"

#include "analyses/memory/cells/address_histogram.h"
#include "analyses/memory/page_faults.h"
#include "analyses/memory/placement/first_touch.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/memory.h"
#include "model/profile.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/row_stream.h"
#include "views/form/table.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_notes.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"

typedef struct {
	const LodeProfile *profile;
	const LodeFirstTouchOptions *options;
	const LodeFirstTouch *touch;
	const LodeMemoryNotes *notes;
} View;

static const char *object_name(const LodeProfile *profile, uint32_t object)
{
	const GArray *objects = profile->memory->objects;

	return object < objects->len ? LODE_AT(objects, LodeDataObject, object).name : NULL;
}

static const char *mapping_name(const LodeProfile *profile, uint32_t mapping)
{
	const GArray *mappings = profile->memory->mappings;

	return mapping < mappings->len ? LODE_AT(mappings, LodeMemoryMapping, mapping).name : NULL;
}

static const LodePageTouch *page_at(const View *self, uint32_t index)
{
	return &LODE_AT(self->touch->pages, LodePageTouch, index);
}

static int compare_pages(const void *a, const void *b, void *user_data)
{
	const View *self = user_data;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double left_weight = page_at(self, left)->weight_by_others;
	double right_weight = page_at(self, right)->weight_by_others;

	if (left_weight != right_weight && !self->options->is_by_address)
		return left_weight > right_weight ? -1 : 1;
	return (left > right) - (left < right);
}

/* The numbers of pages in the requested order, cut at the limit; GArray of uint32_t. */
static GArray *sorted_pages(const View *self)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < self->touch->pages->len; i++)
		g_array_append_val(numbers, i);
	g_array_sort_with_data(numbers, compare_pages, (void *)self);
	if (self->options->has_limit && self->options->limit != 0)
		g_array_set_size(numbers, MIN(numbers->len, self->options->limit));
	return numbers;
}

/* The label of a thread, NULL for none. */
static char *thread_label(const LodeProfile *profile, uint32_t thread)
{
	return thread != LODE_NONE ? lode_memory_thread_label(profile, thread) : NULL;
}

/* Where it was touched; what an allocator touched is due to who allocated. */
static char *place_text(
	const LodeProfile *profile, uint32_t site, uint32_t function, uint32_t location)
{
	const GArray *sites = profile->memory->sites;

	return site < sites->len ? g_strdup(LODE_AT(sites, LodeAllocationSite, site).name)
	                         : lode_memory_place_text(profile, function, location);
}

static char *place_of(const LodeProfile *profile, const LodePageTouch *page)
{
	return page->thread != LODE_NONE
	               ? place_text(profile, page->site, page->function, page->location)
	               : NULL;
}

static void put_page(const View *self, const LodePageTouch *page, LodeRowStream *rows)
{
	const LodeProfile *profile = self->profile;
	char address[LODE_NUMBER_SIZE];
	g_autofree char *first = thread_label(profile, page->thread);
	g_autofree char *user = thread_label(profile, page->main_user);
	g_autofree char *place = place_of(profile, page);

	lode_row_begin(rows);
	lode_row_text(rows, "address", lode_number_format_address(page->address, address));
	lode_row_number(rows, "pid", page->pid);
	lode_row_text(rows, "first_thread", first);
	lode_row_number(rows, "time_ns", (double)page->time_ns);
	lode_row_number(rows, "faults", (double)page->n_faults);
	lode_row_text(rows, "touched_at", place);
	lode_row_number(rows, "accesses", (double)page->n_accesses);
	lode_row_number(rows, "accesses_by_others", (double)page->n_by_others);
	lode_row_number(rows, "weight", page->weight);
	lode_row_number(rows, "weight_by_others", page->weight_by_others);
	lode_row_text(rows, "main_thread", user);
	lode_row_number(rows, "main_weight", page->main_weight);
	lode_row_number(rows, "threads", page->n_users);
	lode_function_name_row(rows, "object", object_name(profile, page->object));
	lode_row_text(rows, "mapping", mapping_name(profile, page->mapping));
	lode_row_end(rows);
}

static void put_pages(const View *self, LodeRowStream *rows)
{
	g_autoptr(GArray) order = sorted_pages(self);

	for (guint i = 0; i < order->len; i++)
		put_page(self, page_at(self, g_array_index(order, uint32_t, i)), rows);
}

static void put_json_sums(const LodeFirstTouch *touch, LodeJsonStream *json)
{
	lode_json_member_begin(json, "sums", '{');
	lode_json_member_number(json, "faults", (double)touch->n_faults);
	lode_json_member_number(json, "pages_touched", (double)touch->n_touched);
	lode_json_member_number(json, "accesses", (double)touch->n_accesses);
	lode_json_member_number(json, "accesses_by_others", (double)touch->n_by_others);
	lode_json_member_number(json, "weight", touch->weight);
	lode_json_member_number(json, "weight_by_others", touch->weight_by_others);
	lode_json_member_number(json, "pages_without_fault", (double)touch->n_untouched);
	lode_json_member_number(
		json, "accesses_without_fault", (double)touch->n_untouched_accesses);
	lode_json_member_number(json, "weight_without_fault", touch->untouched_weight);
	lode_json_member_number(json, "accesses_before_fault", (double)touch->n_early);
	lode_json_end(json, '}');
}

static void write_json(const View *self, FILE *out)
{
	LodeJsonStream json;
	LodeRowStream rows;

	lode_profile_json_open(&json, out, self->profile);
	lode_json_member_number(&json, "page_bytes", (double)self->touch->page_bytes);
	lode_json_line(&json);
	lode_memory_notes_json(self->notes, &json);
	lode_json_line(&json);
	put_json_sums(self->touch, &json);
	lode_json_line(&json);
	lode_json_member_begin(&json, "pages", '[');
	lode_row_stream_init_json(&rows, &json);
	put_pages(self, &rows);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void write_csv(const View *self, FILE *out)
{
	const LodePageTouch none = {.thread = LODE_NONE,
		.main_user = LODE_NONE,
		.site = LODE_NONE,
		.object = LODE_NONE,
		.mapping = LODE_NONE};
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_page(self, &none, &rows);
	put_pages(self, &rows);
}

enum { LINES_SHOWN = 20, OBJECTS_SHOWN = 5 };

static const double least_share = 0.001; /* of all weight, by others: what has less is not named */

enum {
	COLUMN_WEIGHT,
	COLUMN_OTHERS,
	COLUMN_FIRST,
	COLUMN_USER,
	COLUMN_FROM,
	COLUMN_PAGES,
	COLUMN_TIME,
	COLUMN_PLACE,
	COLUMN_CONTENTS,
	N_COLUMNS,
};

typedef struct {
	const View *view;
	GArray *ranges;    /* LodeTouchRange, in the order shown */
	uint64_t begin_ns; /* times are from here */
} Lines;

void lode_first_touch_options_init(LodeFirstTouchOptions *self)
{
	*self = (LodeFirstTouchOptions){.page_bytes = LODE_PAGE_BYTES};
}

static void append_share(GString *out, double part, double whole)
{
	char text[LODE_NUMBER_SIZE];

	if (whole > 0)
		g_string_append(out, lode_number_format_share(part / whole, text));
}

static void append_thread(GString *out, const LodeProfile *profile, uint32_t thread)
{
	g_autofree char *label = thread != LODE_NONE ? lode_memory_thread_label(profile, thread)
	                                             : g_strdup("-");
	g_string_append(out, label);
}

static void append_user(GString *out, const LodeProfile *profile, const LodeTouchRange *range)
{
	append_thread(out, profile, range->main_user);
	if (range->main_user == LODE_NONE)
		return;
	g_string_append(out, " (");
	append_share(out, range->main_weight, range->weight);
	g_string_append(out, ")");
}

static void append_contents(GString *out, const Lines *self, const LodeTouchRange *range)
{
	const LodeProfile *profile = self->view->profile;
	const char *object = object_name(profile, range->object);
	const char *mapping = mapping_name(profile, range->mapping);
	const char *name = range->n_pages == 1 && object != NULL ? object : mapping;

	lode_function_name_append(out, name != NULL ? name : "?", &self->view->options->terminal);
}

static void append_place(GString *out, const Lines *self, const LodeTouchRange *range)
{
	if (range->thread == LODE_NONE)
		return;
	g_autofree char *place = place_text(
		self->view->profile, range->site, range->function, range->location);
	lode_function_name_append(out, place, &self->view->options->terminal);
}

static LodeStyle range_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Lines *self = user_data;
	const LodeTouchRange *range = &LODE_AT(self->ranges, LodeTouchRange, row);
	const LodeProfile *profile = self->view->profile;
	char text[LODE_NUMBER_SIZE];

	switch (column) {
	case COLUMN_WEIGHT:
		append_share(out, range->weight, self->view->notes->weight);
		return LODE_STYLE_STRONG;
	case COLUMN_OTHERS:
		if (range->thread != LODE_NONE)
			append_share(out, range->weight_by_others, range->weight);
		return range->weight_by_others * 2 > range->weight ? LODE_STYLE_ALARM
		                                                   : LODE_STYLE_PLAIN;
	case COLUMN_FIRST:
		append_thread(out, profile, range->thread);
		break;
	case COLUMN_USER:
		append_user(out, profile, range);
		break;
	case COLUMN_FROM:
		g_string_append(out, lode_number_format_address(range->first, text));
		break;
	case COLUMN_PAGES:
		g_string_append(out, lode_number_format_count(range->n_pages, text));
		break;
	case COLUMN_TIME:
		if (range->time_ns > 0)
			g_string_append_printf(
				out, "%.3f s", (double)(range->time_ns - self->begin_ns) / 1e9);
		break;
	case COLUMN_PLACE:
		append_place(out, self, range);
		break;
	default:
		append_contents(out, self, range);
		return LODE_STYLE_NAME;
	}
	return LODE_STYLE_PLAIN;
}

/* Most weight of others first, then most weight, then by address. */
LODE_ORDER(compare_ranges, LodeTouchRange, LODE_DESCENDING(weight_by_others),
	LODE_DESCENDING(weight), LODE_ASCENDING(pid), LODE_ASCENDING(first))

/* The earliest time of any sample: that of the recording, nearly. */
static uint64_t find_begin(const LodeMemory *memory)
{
	uint64_t begin_ns = UINT64_MAX;

	for (guint i = 0; i < memory->samples->len; i++) {
		uint64_t time_ns = LODE_AT(memory->samples, LodeMemorySample, i).time_ns;
		if (time_ns != 0)
			begin_ns = MIN(begin_ns, time_ns);
	}
	return begin_ns != UINT64_MAX ? begin_ns : 0;
}

/* Where faults were sampled, one stands for several: of most pages nothing is seen. */
static void print_sampled(const LodeProfile *profile, const LodeTerminal *terminal, FILE *out)
{
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	const GArray *samples = profile->memory->samples;
	char n[LODE_NUMBER_SIZE], of[LODE_NUMBER_SIZE];
	double n_samples = 0, n_faults = 0;

	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		n_samples += are_faults[sample->event];
		n_faults += are_faults[sample->event] ? sample->weight : 0;
	}
	if (n_faults > n_samples)
		lode_display_print(terminal, out,
			"Page faults were sampled: %s stand for %s ('lode memory record' records "
			"each).",
			lode_number_format_count(n_samples, n),
			lode_number_format_count(n_faults, of));
}

static void put_sums(const View *self, FILE *out)
{
	const LodeFirstTouch *touch = self->touch;
	const LodeTerminal *terminal = &self->options->terminal;
	char number[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE], others[LODE_NUMBER_SIZE];
	const double weight = self->notes->weight;

	if (touch->n_touched == 0) {
		bool is_traced = lode_memory_is_traced(self->profile->memory);
		lode_display_print(terminal, out, "No page fault was recorded on these pages%s",
			is_traced ? ": an address trace has none."
				  : "; record with --event page-faults.");
		return;
	}
	lode_display_print(terminal, out,
		"Pages whose first touch was seen: %s, with %s of weight · by threads other than "
		"the first: %s of that.",
		lode_number_format_count((double)touch->n_touched, number),
		lode_number_format_share(lode_share_of(touch->weight, weight), share),
		lode_number_format_share(
			lode_share_of(touch->weight_by_others, touch->weight), others));
	print_sampled(self->profile, terminal, out);
	if (touch->n_untouched > 0)
		lode_display_print(terminal, out,
			"Without a page fault: %s, with %s of weight (mapped along with a "
			"neighbour, or before recording).",
			lode_number_format_count((double)touch->n_untouched, number),
			lode_number_format_share(
				lode_share_of(touch->untouched_weight, weight), share));
	if (touch->n_early > 0)
		lode_display_print(terminal, out,
			"Accesses before the first fault of their page, not counted: %s.",
			lode_number_format_count((double)touch->n_early, number));
}

/* "malloc@a.c:12: 82.0 % of weight, 47.0 % of it by threads other than the first toucher" */
static void put_objects(const View *self, FILE *out)
{
	const GArray *objects = self->touch->objects;
	const LodeTerminal *terminal = &self->options->terminal;
	char share[LODE_NUMBER_SIZE], others[LODE_NUMBER_SIZE];

	for (guint i = 0; i < MIN(objects->len, OBJECTS_SHOWN); i++) {
		const LodeTouchedObject *object = &LODE_AT(objects, LodeTouchedObject, i);
		if (object->weight_by_others < least_share * self->notes->weight)
			break;
		if (i == 0)
			fputc('\n', out);
		lode_display_print(terminal, out,
			"%s: %s of weight, %s of it by threads other than the first toucher",
			object_name(self->profile, object->object),
			lode_number_format_share(
				lode_share_of(object->weight, self->notes->weight), share),
			lode_number_format_share(
				lode_share_of(object->weight_by_others, object->weight), others));
	}
}

static void put_table(const View *self, FILE *out)
{
	static const LodeTableColumn columns[N_COLUMNS] = {
		{"weight"},
		{"by others"},
		{"first", .is_text = true},
		{"main user", .is_text = true},
		{"from", .is_text = true},
		{"pages"},
		{"at", .dropped = 2},
		{"touched by", .is_text = true, .dropped = 1},
		{"object, mapping", .is_text = true},
	};
	g_autoptr(GArray) ranges = g_array_copy(self->touch->ranges);
	Lines lines = {self, ranges, find_begin(self->profile->memory)};
	guint limit = self->options->has_limit ? self->options->limit : LINES_SHOWN;
	guint shown = limit == 0 ? ranges->len : MIN(limit, ranges->len);
	LodeTable table = {columns, N_COLUMNS, shown, range_cell, &lines};

	if (!self->options->is_by_address)
		g_array_sort(ranges, compare_ranges);
	fputc('\n', out);
	lode_table_write(&table, &self->options->terminal, out);
	if (shown < ranges->len)
		fprintf(out, "%u more range%s: --top 0 shows all.\n", ranges->len - shown,
			ranges->len - shown == 1 ? "" : "s");
}

static void write_text(const View *self, FILE *out)
{
	const char *program = self->profile->program;
	char size[LODE_NUMBER_SIZE];

	lode_display_print(&self->options->terminal, out,
		"%s · first touch of pages of %s, against who uses them", program ? program : "?",
		lode_number_format_bytes(self->touch->page_bytes, size));
	lode_memory_notes_losses(self->notes, &self->options->terminal, out);
	put_sums(self, out);
	put_objects(self, out);
	if (self->touch->ranges->len > 0)
		put_table(self, out);
	fputc('\n', out);
	lode_memory_notes_text(self->notes, &self->options->terminal, out);
}

bool lode_first_touch_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodeFirstTouchOptions *options, FILE *out, GError **error)
{
	g_autoptr(LodeFirstTouch) touch = lode_first_touch_new(
		profile, samples, n_samples, options->page_bytes, options->own);
	g_auto(LodeMemoryNotes) notes = {0};
	View view = {profile, options, touch, &notes};

	lode_memory_notes_init(&notes, profile, samples, n_samples);
	if (options->format == LODE_VIEW_TEXT)
		write_text(&view, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(&view, out);
	else
		write_csv(&view, out);
	return lode_view_flush(out, error);
}
