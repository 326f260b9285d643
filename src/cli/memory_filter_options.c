/* SPDX-License-Identifier: MIT */
#include "cli/memory_filter_options.h"

static struct {
	char *where, *pc, *address;
	char **definitions, **threads, **events;
	gboolean loads, stores;
} given;

const GOptionEntry lode_memory_filter_options[] = {
	{"where", 0, 0, G_OPTION_ARG_STRING, &given.where,
		"only samples for which this is true, such as 'function =~ \"^parse\" && "
		"latency > 100'",
		"EXPRESSION"},
	{"define", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.definitions,
		"define a further attribute, such as 'region=address >> 20'; may be repeated",
		"NAME=EXPRESSION"},
	{"thread", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.threads,
		"only this thread: 3, or 4711.3 where there are several processes; may be "
		"repeated",
		"N"},
	{"event", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.events,
		"only samples of this event; may be repeated", "NAME"},
	{"pc", 0, 0, G_OPTION_ARG_STRING, &given.pc,
		"only accesses by these instructions, or by this function or image",
		"MIN-MAX|NAME"},
	{"address", 0, 0, G_OPTION_ARG_STRING, &given.address,
		"only accesses to these addresses, or to this object, type or variable",
		"MIN-MAX|NAME"},
	{"loads", 0, 0, G_OPTION_ARG_NONE, &given.loads, "only accesses that read", NULL},
	{"stores", 0, 0, G_OPTION_ARG_NONE, &given.stores,
		"only accesses that write; with --loads: all accesses whose kind is known", NULL},
	G_OPTION_ENTRY_NULL,
};

void lode_memory_filter_options_read(LodeSampleFilterOptions *out_options)
{
	*out_options = (LodeSampleFilterOptions){
		.where = given.where,
		.events = (const char *const *)given.events,
		.threads = (const char *const *)given.threads,
		.pc = given.pc,
		.address = given.address,
		.loads_only = given.loads,
		.stores_only = given.stores,
		.definitions = (const char *const *)given.definitions,
	};
}
