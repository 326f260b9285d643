/* SPDX-License-Identifier: MIT */
/* The keys by which a report is sorted. */
#include "views/findings/report_key.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/mining_run.h"

#include <stdlib.h>
#include <string.h>

static const char *const key_words[] = {
	[LODE_REPORT_KEY_EXCESS] = "excess",
	[LODE_REPORT_KEY_WEIGHT] = "weight",
	[LODE_REPORT_KEY_FREQUENCY] = "frequency",
	[LODE_REPORT_KEY_MAXIMAL] = "maximal",
	[LODE_REPORT_KEY_DIFFERENTIAL] = "differential",
	[LODE_REPORT_KEY_PLACES] = "places",
	[LODE_REPORT_KEY_FUNCTIONS] = "functions",
	[LODE_REPORT_KEY_EXECUTIONS] = "executions",
	[LODE_REPORT_KEY_COUNT] = "count",
	[LODE_REPORT_KEY_SEQUENCE] = "sequence",
};

static bool parse_event(
	const LodeMiningRun *run, const char *name, LodeReportKey *out_key, GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < run->events->len; i++) {
		const char *known = g_ptr_array_index(run->events, i);
		if (strcmp(known, name) == 0) {
			*out_key = (LodeReportKey){LODE_REPORT_KEY_EVENT, i};
			return true;
		}
		g_string_append_printf(names, " %s", known);
	}
	if (g_strcmp0(run->parameters.weight, name) == 0 && !run->parameters.is_instruction_mode) {
		*out_key = (LodeReportKey){.kind = LODE_REPORT_KEY_WEIGHT};
		return true;
	}
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"no event '%s' in run '%s' to sort by; it has:%s", name, run->name,
		names->len > 0 ? names->str : " none");
	return false;
}

static bool fits_run(const LodeMiningRun *run, LodeReportKeyKind kind)
{
	if (run->parameters.is_instruction_mode)
		return kind == LODE_REPORT_KEY_COUNT || kind == LODE_REPORT_KEY_SEQUENCE;
	return kind != LODE_REPORT_KEY_COUNT;
}

static bool fail_word(const LodeMiningRun *run, const char *text, GError **error)
{
	g_autoptr(GString) words = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(key_words); i++)
		if (fits_run(run, (LodeReportKeyKind)i))
			g_string_append_printf(words, " %s", key_words[i]);
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"run '%s' cannot be sorted by '%s'; it can by:%s event:NAME", run->name, text,
		words->str);
	return false;
}

bool lode_report_key_parse(
	const LodeMiningRun *run, const char *text, LodeReportKey *out_key, GError **error)
{
	if (text == NULL)
		text = run->parameters.is_instruction_mode ? "count" : "excess";
	if (g_str_has_prefix(text, "event:"))
		return parse_event(run, text + strlen("event:"), out_key, error);
	for (size_t i = 0; i < G_N_ELEMENTS(key_words); i++) {
		if (strcmp(key_words[i], text) == 0 && fits_run(run, (LodeReportKeyKind)i)) {
			*out_key = (LodeReportKey){.kind = (LodeReportKeyKind)i};
			return true;
		}
	}
	return fail_word(run, text, error);
}

bool lode_report_key_is_share(const LodeMiningRun *run, const LodeReportKey *key)
{
	if (key->kind == LODE_REPORT_KEY_EVENT)
		return !run->parameters.is_instruction_mode;
	return key->kind <= LODE_REPORT_KEY_DIFFERENTIAL;
}

double lode_report_key_value(const LodeMiningRun *run, const LodeReportKey *key, size_t index)
{
	const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, index);

	switch (key->kind) {
	case LODE_REPORT_KEY_EXCESS:
		return lode_sequence_excess(sequence);
	case LODE_REPORT_KEY_WEIGHT:
		return sequence->weight;
	case LODE_REPORT_KEY_FREQUENCY:
		return sequence->frequency;
	case LODE_REPORT_KEY_MAXIMAL:
		return lode_sequence_maximal(sequence);
	case LODE_REPORT_KEY_DIFFERENTIAL:
		return lode_sequence_differential(sequence);
	case LODE_REPORT_KEY_PLACES:
		return sequence->places;
	case LODE_REPORT_KEY_FUNCTIONS:
		return sequence->functions;
	case LODE_REPORT_KEY_EXECUTIONS:
		return sequence->executions;
	case LODE_REPORT_KEY_COUNT:
		return sequence->count;
	case LODE_REPORT_KEY_EVENT:
		return g_array_index(
			run->event_supports, double, index * run->events->len + key->event);
	case LODE_REPORT_KEY_SEQUENCE:
		break;
	}
	return 0;
}

typedef struct {
	uint64_t order;   /* of the value */
	uint32_t n_items; /* of the sequence, here so that comparing touches nothing else */
	uint32_t index;
} Keyed;

/* Falling values as rising numbers. */
static uint64_t order_of(double value)
{
	double plain = value + 0.0; /* no negative zero */
	uint64_t bits;

	memcpy(&bits, &plain, sizeof(bits));
	return (bits >> 63) != 0 ? bits : ~bits & (UINT64_MAX >> 1);
}

enum { DIGIT_BITS = 11, N_DIGITS = 1 << DIGIT_BITS };

/* 0 … 5 are digits of the value, from the lowest; −3 … −1 are of the size, falling. */
static uint32_t digit_of(const Keyed *keyed, int digit)
{
	uint64_t number = digit >= 0 ? keyed->order >> (digit * DIGIT_BITS)
	                             : (uint64_t)~keyed->n_items >> ((digit + 3) * DIGIT_BITS);

	return (uint32_t)(number & (N_DIGITS - 1));
}

/* Stable. False: all have the same digit, and nothing was done. */
static bool sort_by_digit(const Keyed *from, Keyed *to, size_t n, int digit)
{
	g_autofree size_t *ends = g_new0(size_t, N_DIGITS + 1);

	for (size_t i = 0; i < n; i++)
		ends[digit_of(&from[i], digit) + 1]++;
	if (ends[digit_of(&from[0], digit) + 1] == n)
		return false;
	for (int i = 0; i < N_DIGITS; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < n; i++)
		to[ends[digit_of(&from[i], digit)]++] = from[i];
	return true;
}

/* By falling values, then sizes; `keyed` is in the order of the run. Digit after digit (D. E.
 * Knuth, "The Art of Computer Programming", volume 3, 5.2.5): the page waits for it. */
static void sort_values(Keyed **keyed, size_t n)
{
	g_autofree Keyed *other = g_new(Keyed, n + 1);

	for (int digit = -3; digit < 6; digit++) {
		if (!sort_by_digit(*keyed, other, n, digit))
			continue;
		Keyed *sorted = other;
		other = *keyed;
		*keyed = sorted;
	}
}

static int compare_names(const void *a, const void *b, void *user_data)
{
	const GPtrArray *names = user_data;

	return strcmp(g_ptr_array_index(names, *(const uint32_t *)a),
		g_ptr_array_index(names, *(const uint32_t *)b));
}

/* The place of each attribute among all by the bytes of their names; equal names have one. The
 * caller frees it. */
static uint32_t *rank_attributes(const LodeMiningRun *run)
{
	guint n = run->attributes->len;
	g_autofree uint32_t *order = g_new(uint32_t, n + 1);
	uint32_t *ranks = g_new0(uint32_t, n + 1);

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n > 0)
		qsort_r(order, n, sizeof(*order), compare_names, run->attributes);
	for (uint32_t i = 1; i < n; i++)
		ranks[order[i]] = ranks[order[i - 1]] +
		                  (compare_names(&order[i - 1], &order[i], run->attributes) != 0);
	return ranks;
}

typedef struct {
	const LodeMiningRun *run;
	const uint32_t *ranks; /* [attributes] */
} ItemOrder;

/* By the bytes of the attributes, an item inside an element before one that starts a new one. */
static int compare_items(const void *a, const void *b, void *user_data)
{
	uint32_t left = ((const Keyed *)a)->index, right = ((const Keyed *)b)->index;
	const ItemOrder *order = user_data;
	const LodeMiningRun *run = order->run;
	const uint32_t *left_items = lode_mining_run_items(run, left);
	const uint32_t *right_items = lode_mining_run_items(run, right);
	uint32_t left_n = ((const Keyed *)a)->n_items, right_n = ((const Keyed *)b)->n_items;

	for (uint32_t i = 0; i < MIN(left_n, right_n); i++) {
		if (left_items[i] == right_items[i])
			continue;
		uint32_t left_rank = order->ranks[LODE_ITEM_ATTRIBUTE(left_items[i])];
		uint32_t right_rank = order->ranks[LODE_ITEM_ATTRIBUTE(right_items[i])];
		if (left_rank != right_rank)
			return left_rank < right_rank ? -1 : 1;
		return (left_items[i] & LODE_ITEM_START) != 0 ? 1 : -1;
	}
	if (left_n != right_n)
		return left_n < right_n ? -1 : 1;
	return lode_number_order(left, right);
}

void lode_report_key_sort(const LodeMiningRun *run, const LodeReportKey *key, bool is_reversed,
	uint32_t *indices, size_t n)
{
	g_autofree Keyed *keyed = g_new(Keyed, n + 1);

	for (size_t i = 0; i < n; i++)
		keyed[i] = (Keyed){order_of(lode_report_key_value(run, key, indices[i])),
			g_array_index(run->sequences, LodeSequence, indices[i]).n_items,
			indices[i]};
	if (n > 0 && key->kind == LODE_REPORT_KEY_SEQUENCE) {
		g_autofree uint32_t *ranks = rank_attributes(run);
		ItemOrder order = {run, ranks};
		qsort_r(keyed, n, sizeof(*keyed), compare_items, &order);
	} else if (n > 0) {
		sort_values(&keyed, n);
	}
	for (size_t i = 0; i < n; i++)
		indices[is_reversed ? n - 1 - i : i] = keyed[i].index;
}
