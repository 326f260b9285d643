/* SPDX-License-Identifier: MIT */
/* Each page with its first touch, as JSON and as CSV. */
#include "views/first_touch_rows.h"

#include "views/memory_names.h"
#include "views/profile_json.h"
#include "views/row_stream.h"

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

static char *place_of(const LodeProfile *profile, const LodePageTouch *page)
{
	return page->thread != LODE_NONE
	               ? lode_memory_place_text(profile, page->function, page->location)
	               : NULL;
}

static void put_page(const LodeFirstTouchView *self, const LodePageTouch *page, LodeRowStream *rows)
{
	const LodeProfile *profile = self->profile;
	char address[LODE_ADDRESS_TEXT_SIZE];
	g_autofree char *first = thread_label(profile, page->thread);
	g_autofree char *user = thread_label(profile, page->main_user);
	g_autofree char *place = place_of(profile, page);

	lode_row_begin(rows);
	lode_row_text(rows, "address", lode_memory_address_text(page->address, address));
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
	lode_row_text(rows, "object", lode_first_touch_object_name(profile, page->object));
	lode_row_text(rows, "mapping", lode_first_touch_mapping_name(profile, page->mapping));
	lode_row_end(rows);
}

static void put_pages(const LodeFirstTouchView *self, LodeRowStream *rows)
{
	g_autoptr(GArray) order = lode_first_touch_sorted_pages(self);

	for (guint i = 0; i < order->len; i++)
		put_page(self, page_at(self, g_array_index(order, uint32_t, i)), rows);
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
	LodeJsonStream json;
	LodeRowStream rows;

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
	lode_row_stream_init_json(&rows, &json);
	put_pages(self, &rows);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

void lode_first_touch_csv(const LodeFirstTouchView *self, FILE *out)
{
	const LodePageTouch none = {.thread = LODE_NONE,
		.main_user = LODE_NONE,
		.object = LODE_NONE,
		.mapping = LODE_NONE};
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_page(self, &none, &rows);
	put_pages(self, &rows);
}
