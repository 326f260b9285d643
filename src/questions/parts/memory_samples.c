/* SPDX-License-Identifier: MIT */
#include "questions/parts/memory_samples.h"

#include "analyses/memory/cells/address_histogram.h"

#include "questions/parts/rows.h"

typedef LodeSampleFilterOptions Filter;

const LodeParameter lode_memory_sample_rows[] = {
	{"where", LODE_TEXT(Filter, where), .value = "EXPRESSION",
		.summary = "only samples for which this is true, such as 'function =~ \"^parse\" "
			   "&& latency > 100'"},
	{"define", LODE_TEXTS(Filter, definitions), .value = "NAME=EXPRESSION",
		.summary = "define a further attribute, such as 'region=address >> 20'; may be "
			   "repeated"},
	{"thread", LODE_TEXTS(Filter, threads), .value = "N",
		.summary = "only this thread: 3, or 4711.3 where there are several processes; may "
			   "be repeated"},
	{"event", LODE_TEXTS(Filter, events), .value = "NAME",
		.summary = "only samples of this event; may be repeated"},
	{"pc", LODE_TEXT(Filter, pc), .value = "MIN-MAX|NAME",
		.summary = "only accesses by these instructions, or by this function or image"},
	{"address", LODE_TEXT(Filter, address), .value = "MIN-MAX|NAME",
		.summary = "only accesses to these addresses, or to this object, type or variable"},
	{"loads", LODE_FLAG(Filter, loads_only), .summary = "only accesses that read"},
	{"stores", LODE_FLAG(Filter, stores_only),
		.summary = "only accesses that write; with --loads: all accesses whose kind is "
			   "known"},
	LODE_OWN_ROW(Filter, own),
	{NULL},
};

void lode_memory_samples_clear(LodeMemorySamples *self)
{
	g_clear_pointer(&self->numbers, g_array_unref);
}

/* A key of all parameters that select samples. */
static char *make_key(const LodeAsking *asking, const char *const *groups)
{
	static const char *const filters[] = {"where", "event", "thread", "pc", "address", "loads",
		"stores", "define", "own", "weight", NULL};
	g_autofree char *given = lode_asking_key(asking, "samples", filters, false);
	GString *key = g_string_new(given);

	for (; groups != NULL && *groups != NULL; groups++)
		g_string_append_printf(key, "\nby %s", *groups);
	return g_string_free(key, FALSE);
}

bool lode_memory_samples_choose(LodeMemorySamples *self, LodeAsking *asking,
	LodeSampleFilterOptions *filter, const char *weight, GError **error)
{
	const LodeProfileChoice choice = {.has_memory = true, .weight = weight};
	g_autofree char *key = make_key(asking, filter->groups);

	*self = (LodeMemorySamples){.profile = lode_asking_memory(asking, &choice, error)};
	if (self->profile == NULL)
		return false;
	filter->progress = asking->progress;
	self->numbers = asking->asker->find(asking, &lode_kept_list, key);
	if (self->numbers == NULL) {
		self->numbers = lode_sample_filter_apply(self->profile, filter, error);
		if (self->numbers == NULL)
			return false;
		asking->asker->keep(asking, &lode_kept_list, key, self->numbers);
	}
	self->samples = (const uint32_t *)(const void *)self->numbers->data;
	self->n = self->numbers->len;
	return true;
}

bool lode_memory_granularity_read(const char *text, uint64_t *out_bytes, GError **error)
{
	return text == NULL || lode_address_granularity_from_text(text, out_bytes) ||
	       lode_parameter_refuse(error,
		       "--granularity: '%s' is not page, line, word or a power of two up to 1024G",
		       text);
}
