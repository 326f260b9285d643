/* SPDX-License-Identifier: MIT */
/* Each page with its first touch, as JSON and as CSV. */
#include "views/first_touch_rows.h"

#include "views/csv.h"
#include "views/memory_names.h"
#include "views/profile_json.h"

const char *lode_first_touch_object_name(const LodeProfile *profile, uint32_t object)
{
	const GArray *objects = profile->memory->objects;

	return object < objects->len ? LODE_AT(objects, LodeDataObject, object).name : NULL;
}

const char *lode_first_touch_mapping_name(const LodeProfile *profile, uint32_t mapping)
{
	const GArray *mappings = profile->memory->mappings;

	return mapping < mappings->len ? LODE_AT(mappings, LodeMemoryMapping, mapping).name : NULL;
}

static const LodePageTouch *page_at(const LodeFirstTouchView *self, uint32_t index)
{
	return &LODE_AT(self->touch->pages, LodePageTouch, index);
}

static int compare_pages(const void *a, const void *b, void *user_data)
{
	const LodeFirstTouchView *self = user_data;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double left_weight = page_at(self, left)->weight_by_others;
	double right_weight = page_at(self, right)->weight_by_others;

	if (left_weight != right_weight && !self->options->is_by_address)
		return left_weight > right_weight ? -1 : 1;
	return (left > right) - (left < right);
}

GArray *lode_first_touch_sorted_pages(const LodeFirstTouchView *self)
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

static const char *time_name(const LodeProfile *profile)
{
	return lode_memory_is_traced(profile->memory) ? "reference" : "time_ns";
}

static char *place_of(const LodeProfile *profile, const LodePageTouch *page)
{
	return page->thread != LODE_NONE
	               ? lode_memory_place_text(profile, page->function, page->location)
	               : NULL;
}

static void put_json_page(
	const LodeFirstTouchView *self, const LodePageTouch *page, LodeJsonStream *json)
{
	const LodeProfile *profile = self->profile;
	char address[LODE_ADDRESS_TEXT_SIZE];
	g_autofree char *first = thread_label(profile, page->thread);
	g_autofree char *user = thread_label(profile, page->main_user);
	g_autofree char *place = place_of(profile, page);

	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "address", lode_memory_address_text(page->address, address));
	lode_json_member_number(json, "pid", page->pid);
	lode_json_member_string(json, "first_thread", first);
	lode_json_member_number(json, time_name(profile), (double)page->time_ns);
	lode_json_member_number(json, "faults", (double)page->n_faults);
	lode_json_member_string(json, "touched_at", place);
	lode_json_member_number(json, "accesses", (double)page->n_accesses);
	lode_json_member_number(json, "accesses_by_others", (double)page->n_by_others);
	lode_json_member_number(json, "weight", page->weight);
	lode_json_member_number(json, "weight_by_others", page->weight_by_others);
	lode_json_member_string(json, "main_thread", user);
	lode_json_member_number(json, "main_weight", page->main_weight);
	lode_json_member_number(json, "threads", page->n_users);
	lode_json_member_string(
		json, "object", lode_first_touch_object_name(profile, page->object));
	lode_json_member_string(
		json, "mapping", lode_first_touch_mapping_name(profile, page->mapping));
	lode_json_end(json, '}');
}

static void put_json_sums(const LodeFirstTouch *touch, LodeJsonStream *json)
{
	lode_json_key(json, "sums");
	lode_json_begin(json, '{');
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

void lode_first_touch_json(const LodeFirstTouchView *self, FILE *out)
{
	g_autoptr(GArray) order = lode_first_touch_sorted_pages(self);
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_line(&json);
	lode_profile_json_head(&json, self->profile);
	lode_json_line(&json);
	lode_json_member_number(&json, "page_bytes", (double)self->touch->page_bytes);
	lode_json_line(&json);
	lode_memory_notes_json(self->notes, &json);
	lode_json_line(&json);
	put_json_sums(self->touch, &json);
	lode_json_line(&json);
	lode_json_key(&json, "pages");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < order->len; i++)
		put_json_page(self, page_at(self, g_array_index(order, uint32_t, i)), &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void put_csv_page(const LodeFirstTouchView *self, const LodePageTouch *page, LodeCsv *csv)
{
	const LodeProfile *profile = self->profile;
	char address[LODE_ADDRESS_TEXT_SIZE];
	g_autofree char *first = thread_label(profile, page->thread);
	g_autofree char *user = thread_label(profile, page->main_user);
	g_autofree char *place = place_of(profile, page);

	lode_csv_text(csv, lode_memory_address_text(page->address, address));
	lode_csv_number(csv, page->pid);
	lode_csv_text(csv, first);
	lode_csv_number(csv, (double)page->time_ns);
	lode_csv_number(csv, (double)page->n_faults);
	lode_csv_text(csv, place);
	lode_csv_number(csv, (double)page->n_accesses);
	lode_csv_number(csv, (double)page->n_by_others);
	lode_csv_number(csv, page->weight);
	lode_csv_number(csv, page->weight_by_others);
	lode_csv_text(csv, user);
	lode_csv_number(csv, page->main_weight);
	lode_csv_number(csv, page->n_users);
	lode_csv_text(csv, lode_first_touch_object_name(profile, page->object));
	lode_csv_text(csv, lode_first_touch_mapping_name(profile, page->mapping));
	lode_csv_end_row(csv);
}

void lode_first_touch_csv(const LodeFirstTouchView *self, FILE *out)
{
	static const char *const titles[] = {"address", "pid", "first_thread", NULL, "faults",
		"touched_at", "accesses", "accesses_by_others", "weight", "weight_by_others",
		"main_thread", "main_weight", "threads", "object", "mapping"};
	g_autoptr(GArray) order = lode_first_touch_sorted_pages(self);
	LodeCsv csv;

	lode_csv_init(&csv, out);
	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
		lode_csv_text(&csv, titles[i] != NULL ? titles[i] : time_name(self->profile));
	lode_csv_end_row(&csv);
	for (guint i = 0; i < order->len; i++)
		put_csv_page(self, page_at(self, g_array_index(order, uint32_t, i)), &csv);
}
