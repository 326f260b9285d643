/* SPDX-License-Identifier: MIT */
/* Pages with their first touches: each as JSON and CSV, ranges of like pages for the screen. */
#include "views/memory/memory_views.h"

#include "analyses/memory/cells/address_histogram.h"
#include "analyses/memory/page_faults.h"
#include "analyses/memory/placement/first_touch.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/memory.h"
#include "model/profile.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_notes.h"
#include "views/profile/profile_json.h"

#include <math.h>

typedef struct {
	const LodeProfile *profile;
	const LodeFirstTouchOptions *options;
	const LodeFirstTouch *touch;
	const LodeMemoryNotes *notes;
	GArray *pages;     /* their numbers, in the order shown */
	GArray *ranges;    /* LodeTouchRange, likewise */
	uint64_t begin_ns; /* of the text's times */
} View;

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

/* Where it was touched; what an allocator touched is due to who allocated. NULL: no touch was seen.
 */
static char *place_text(const LodeProfile *profile, uint32_t thread, uint32_t site,
	uint32_t function, uint32_t location)
{
	const GArray *sites = profile->memory->sites;

	if (thread == LODE_NONE)
		return NULL;
	return site < sites->len ? g_strdup(LODE_AT(sites, LodeAllocationSite, site).name)
	                         : lode_memory_place_text(profile, function, location);
}

typedef struct {
	LodePageTouch of;
	char *first, *user, *place;
	const char *object, *mapping;
} Page;

static const LodeColumn page_columns[] = {
	{"address", LODE_CELL_ADDRESS(Page, of.address)},
	{"pid", LODE_CELL_NUMBER(Page, of.pid)},
	{"first_thread", LODE_CELL_TEXT(Page, first)},
	{"time_ns", LODE_CELL_NUMBER(Page, of.time_ns)},
	{"faults", LODE_CELL_NUMBER(Page, of.n_faults)},
	{"touched_at", LODE_CELL_TEXT(Page, place)},
	{"accesses", LODE_CELL_NUMBER(Page, of.n_accesses)},
	{"accesses_by_others", LODE_CELL_NUMBER(Page, of.n_by_others)},
	{"weight", LODE_CELL_NUMBER(Page, of.weight)},
	{"weight_by_others", LODE_CELL_NUMBER(Page, of.weight_by_others)},
	{"main_thread", LODE_CELL_TEXT(Page, user)},
	{"main_weight", LODE_CELL_NUMBER(Page, of.main_weight)},
	{"threads", LODE_CELL_NUMBER(Page, of.n_users)},
	{"object", LODE_CELL_NAME(Page, object)},
	{"mapping", LODE_CELL_TEXT(Page, mapping)},
};
const LodeColumns lode_touched_page_columns = LODE_COLUMNS("pages", page_columns, Page);

static void fill_page(size_t number, void *out, const void *user_data)
{
	const View *self = user_data;
	const LodeProfile *profile = self->profile;
	const LodePageTouch *of = page_at(self, g_array_index(self->pages, uint32_t, number));

	*(Page *)out = (Page){
		.of = *of,
		.first = thread_label(profile, of->thread),
		.user = thread_label(profile, of->main_user),
		.place = place_text(profile, of->thread, of->site, of->function, of->location),
		.object = lode_memory_object_name(profile->memory, of->object),
		.mapping = lode_memory_mapping_name(profile->memory, of->mapping),
	};
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

static void write_json(const View *self, const LodeListing *pages, FILE *out)
{
	LodeJsonStream json;

	lode_profile_json_open(&json, out, self->profile);
	lode_json_member_number(&json, "page_bytes", (double)self->touch->page_bytes);
	lode_json_line(&json);
	lode_memory_notes_json(self->notes, &json);
	lode_json_line(&json);
	put_json_sums(self->touch, &json);
	lode_json_line(&json);
	lode_listing_put_json(pages, &json);
	lode_json_end(&json, '}');
}

enum { LINES_SHOWN = 20, OBJECTS_SHOWN = 5 };

static const double least_share = 0.001; /* of all weight, by others: what has less is not named */

void lode_first_touch_options_init(LodeFirstTouchOptions *self)
{
	*self = (LodeFirstTouchOptions){.page_bytes = LODE_PAGE_BYTES};
}

typedef struct {
	LodeTouchRange of;
	double share, by_others; /* no number: of no weight */
	char *first, *user, *time, *place;
	const char *contents;
	LodeStyle others_style;
} Range;

static const LodeColumn range_columns[] = {
	{NULL, LODE_CELL_SHARE(Range, share), .title = "weight", .at = 1,
		.style = LODE_STYLE_STRONG},
	{NULL, LODE_CELL_SHARE(Range, by_others), .title = "by others", .at = 2,
		.styled = offsetof(Range, others_style)},
	{NULL, LODE_CELL_TEXT(Range, first), .title = "first", .at = 3, .missing = "-"},
	{NULL, LODE_CELL_TEXT(Range, user), .title = "main user", .at = 4, .missing = "-"},
	{NULL, LODE_CELL_ADDRESS(Range, of.first), .title = "from", .at = 5},
	{NULL, LODE_CELL_COUNT(Range, of.n_pages), .title = "pages", .at = 6},
	{NULL, LODE_CELL_TEXT(Range, time), .title = "at", .at = 7, .is_right = true, .dropped = 2},
	{NULL, LODE_CELL_NAME(Range, place), .title = "touched by", .at = 8, .dropped = 1},
	{NULL, LODE_CELL_NAME(Range, contents), .title = "object, mapping", .at = 9, .missing = "?",
		.style = LODE_STYLE_NAME},
};
const LodeColumns lode_touched_range_columns = LODE_COLUMNS("ranges", range_columns, Range);

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

/* "1 (95.2 %)" */
static char *user_text(const LodeProfile *profile, const LodeTouchRange *of)
{
	g_autofree char *label = thread_label(profile, of->main_user);
	double share = share_of(of->main_weight, of->weight);

	if (label == NULL)
		return NULL;
	return g_strdup_printf("%s (%s)", label, isnan(share) ? "" : LODE_SHARE_TEXT(share));
}

static void fill_range(size_t number, void *out, const void *user_data)
{
	const View *self = user_data;
	const LodeProfile *profile = self->profile;
	const LodeTouchRange *of = &LODE_AT(self->ranges, LodeTouchRange, number);
	const char *object = of->n_pages == 1 ? lode_memory_object_name(profile->memory, of->object)
	                                      : NULL;

	*(Range *)out = (Range){
		.of = *of,
		.share = share_of(of->weight, self->notes->weight),
		.by_others = of->thread != LODE_NONE ? share_of(of->weight_by_others, of->weight)
	                                             : (double)NAN,
		.first = thread_label(profile, of->thread),
		.user = user_text(profile, of),
		.time = of->time_ns > 0 ? g_strdup_printf("%.3f s",
						  (double)(of->time_ns - self->begin_ns) / 1e9)
	                                : NULL,
		.place = place_text(profile, of->thread, of->site, of->function, of->location),
		.contents = object != NULL ? object
	                                   : lode_memory_mapping_name(profile->memory, of->mapping),
		.others_style = of->weight_by_others * 2 > of->weight ? LODE_STYLE_ALARM
	                                                              : LODE_STYLE_PLAIN,
	};
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
			LODE_COUNT_TEXT(n_samples), LODE_COUNT_TEXT(n_faults));
}

static void put_sums(const View *self, FILE *out)
{
	const LodeFirstTouch *touch = self->touch;
	const LodeTerminal *terminal = &self->options->terminal;
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
		LODE_COUNT_TEXT(touch->n_touched),
		LODE_SHARE_TEXT(lode_share_of(touch->weight, weight)),
		LODE_SHARE_TEXT(lode_share_of(touch->weight_by_others, touch->weight)));
	print_sampled(self->profile, terminal, out);
	if (touch->n_untouched > 0)
		lode_display_print(terminal, out,
			"Without a page fault: %s, with %s of weight (mapped along with a "
			"neighbour, or before recording).",
			LODE_COUNT_TEXT(touch->n_untouched),
			LODE_SHARE_TEXT(lode_share_of(touch->untouched_weight, weight)));
	if (touch->n_early > 0)
		lode_display_print(terminal, out,
			"Accesses before the first fault of their page, not counted: %s.",
			LODE_COUNT_TEXT(touch->n_early));
}

/* "malloc@a.c:12: 82.0 % of weight, 47.0 % of it by threads other than the first toucher" */
static void put_objects(const View *self, FILE *out)
{
	const GArray *objects = self->touch->objects;
	const LodeTerminal *terminal = &self->options->terminal;

	for (guint i = 0; i < MIN(objects->len, OBJECTS_SHOWN); i++) {
		const LodeTouchedObject *object = &LODE_AT(objects, LodeTouchedObject, i);
		if (object->weight_by_others < least_share * self->notes->weight)
			break;
		if (i == 0)
			fputc('\n', out);
		lode_display_print(terminal, out,
			"%s: %s of weight, %s of it by threads other than the first toucher",
			lode_memory_object_name(self->profile->memory, object->object),
			LODE_SHARE_TEXT(lode_share_of(object->weight, self->notes->weight)),
			LODE_SHARE_TEXT(lode_share_of(object->weight_by_others, object->weight)));
	}
}

static void put_table(const View *self, FILE *out)
{
	guint n = self->ranges->len;
	guint limit = self->options->has_limit ? self->options->limit : LINES_SHOWN;
	guint shown = limit == 0 ? n : MIN(limit, n);
	const LodeListing listing = {
		&lode_touched_range_columns, shown, .fill = fill_range, .user_data = self};

	if (!self->options->is_by_address)
		g_array_sort(self->ranges, compare_ranges);
	fputc('\n', out);
	lode_listing_write_text(&listing, &self->options->terminal, out);
	if (shown < n)
		fprintf(out, "%u more range%s: --top 0 shows all.\n", n - shown,
			n - shown == 1 ? "" : "s");
}

static void write_text(const View *self, FILE *out)
{
	const char *program = self->profile->run.program;

	lode_display_print(&self->options->terminal, out,
		"%s · first touch of pages of %s, against who uses them", program ? program : "?",
		LODE_BYTES_TEXT(self->touch->page_bytes));
	lode_memory_notes_losses(self->notes, &self->options->terminal, out);
	put_sums(self, out);
	put_objects(self, out);
	if (self->ranges->len > 0)
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
	view.pages = sorted_pages(&view);
	view.ranges = g_array_copy(touch->ranges);
	view.begin_ns = find_begin(profile->memory);
	const LodeListing pages = {
		&lode_touched_page_columns, view.pages->len, .fill = fill_page, .user_data = &view};
	if (options->format == LODE_VIEW_TEXT)
		write_text(&view, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(&view, &pages, out);
	else
		lode_listing_write_csv(&pages, out);
	g_array_unref(view.pages);
	g_array_unref(view.ranges);
	return lode_view_flush(out, error);
}
