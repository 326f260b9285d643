/* SPDX-License-Identifier: MIT */
#include "views/placement/placement_views.h"

#include "base/error.h"
#include "views/form/format.h"

#include <string.h>

typedef struct {
	const LodePlacement *placement;
	const LodeTopology *topology;
	FILE *out;
} Export;

static uint32_t node_of(const Export *self, uint32_t memory)
{
	return lode_topology_node(self->topology, memory)->node;
}

/* The nodes of all memories that a thread runs on (or of all, if no thread is placed), "0,1". */
static char *used_nodes(const Export *self, bool of_threads)
{
	GString *text = g_string_new(NULL);

	for (uint32_t m = 0; m < self->placement->n_memories; m++) {
		bool is_used = !of_threads;
		for (uint32_t i = 0; i < self->placement->n_threads && !is_used; i++)
			is_used = lode_placement_thread_memory(self->placement, i) == m;
		if (is_used)
			g_string_append_printf(
				text, "%s%u", text->len > 0 ? "," : "", node_of(self, m));
	}
	return g_string_free(text, FALSE);
}

/* --- numactl --- */

/* One policy for all pages: what most of the placed bytes have. */
static bool is_mostly_interleaved(const LodePlacement *placement)
{
	uint64_t interleaved = 0, placed = 0;

	for (guint i = 0; i < placement->ranges->len; i++) {
		const LodePlacedRange *range = &LODE_AT(placement->ranges, LodePlacedRange, i);
		if (range->kind == LODE_PLACE_INTERLEAVE)
			interleaved += range->end - range->start;
		else if (range->kind == LODE_PLACE_RANGE)
			placed += range->end - range->start;
	}
	return interleaved > placed;
}

static void write_numactl(const Export *self)
{
	g_autofree char *threads = used_nodes(self, true);
	g_autofree char *all = used_nodes(self, false);
	bool is_one = strchr(threads, ',') == NULL && *threads != '\0';

	fputs("#!/bin/sh\n"
	      "# Run a program by this script: sh SCRIPT PROGRAM ARGUMENT...\n"
	      "# numactl has one policy for a whole process: which thread runs on which memory,\n"
	      "# and which range is on which, it cannot say (lode place apply can).\n",
		self->out);
	fputs("exec numactl", self->out);
	if (*threads != '\0')
		fprintf(self->out, " --cpunodebind=%s", threads);
	if (is_one)
		fprintf(self->out, " --preferred=%s", threads);
	else if (is_mostly_interleaved(self->placement))
		fprintf(self->out, " --interleave=%s", all);
	else
		fputs(" --localalloc", self->out);
	fputs(" -- \"$@\"\n", self->out);
}

/* --- hwloc --- */

static void write_hwloc(const Export *self)
{
	const LodePlacement *placement = self->placement;

	fputs("#!/bin/sh\n"
	      "# Bind the threads of a running process by this script: sh SCRIPT PID\n"
	      "# The k-th thread is the k-th by its number, the order of creation unless numbers\n"
	      "# began anew. hwloc-bind has no word for address ranges (lode place apply has).\n"
	      "pid=${1:?the number of the process is missing}\n"
	      "set -- $(ls \"/proc/$pid/task\" | sort -n)\n"
	      "bind() {\n"
	      "\thwloc-bind --tid \"$2\" \"$1\"\n"
	      "}\n",
		self->out);
	for (uint32_t i = 0; i < placement->n_threads; i++) {
		uint32_t memory = lode_placement_thread_memory(placement, i);
		uint32_t cpu = LODE_AT(placement->thread_cpus, uint32_t, i);
		if (memory == LODE_NONE)
			continue;
		fprintf(self->out, "[ $# -le %u ] || bind numanode:%u%s", i, memory,
			cpu != LODE_NONE ? ".pu:" : "");
		if (cpu != LODE_NONE)
			fprintf(self->out, "%u", cpu);
		fprintf(self->out, " \"${%u}\"\n", i + 1);
	}
}

/* --- c --- */

static void write_c_threads(const Export *self)
{
	const LodePlacement *placement = self->placement;

	fprintf(self->out, "static const int place_nodes[] = {");
	for (uint32_t i = 0; i < placement->n_threads; i++) {
		uint32_t memory = lode_placement_thread_memory(placement, i);
		fprintf(self->out, "%s%d", i % 16 == 0 ? "\n\t" : " ",
			memory != LODE_NONE ? (int)node_of(self, memory) : -1);
		fputc(',', self->out);
	}
	fputs("\n};\n\n"
	      "/* To be called by each thread, 0 being the first: 0, or -1 with errno. */\n"
	      "int place_thread(unsigned thread)\n"
	      "{\n"
	      "\tif (thread >= sizeof(place_nodes) / sizeof(place_nodes[0]))\n"
	      "\t\treturn 0;\n"
	      "\treturn place_nodes[thread] < 0 ? 0 : numa_run_on_node(place_nodes[thread]);\n"
	      "}\n\n",
		self->out);
}

static void write_c_ranges(const Export *self)
{
	g_autoptr(GArray) pieces = lode_placement_pieces(self->placement, 4096);

	fputs("/* To be called when the ranges are mapped; addresses are those of the recording.\n"
	      " * Places all that it can: 0, or -1 with the last errno. */\n"
	      "int place_ranges(void)\n"
	      "{\n"
	      "\tint result = 0;\n\n",
		self->out);
	for (guint i = 0; i < pieces->len; i++) {
		const LodePlacementPiece *piece = &LODE_AT(pieces, LodePlacementPiece, i);
		fprintf(self->out,
			"\tresult |= place_range(0x%" G_GINT64_MODIFIER "xUL, 0x%" G_GINT64_MODIFIER
			"xUL, %d);\n",
			piece->start, piece->end - piece->start,
			piece->memory != LODE_NONE ? (int)node_of(self, piece->memory) : -1);
	}
	fputs("\treturn result;\n}\n", self->out);
}

static void write_c(const Export *self)
{
	fputs("/* A placement written by lode. Compile it into the program with -lnuma. */\n"
	      "#include <numa.h>\n"
	      "#include <numaif.h>\n\n"
	      "int place_thread(unsigned thread);\n"
	      "int place_ranges(void);\n\n"
	      "/* node -1: interleaved over all */\n"
	      "static inline int place_range(unsigned long start, unsigned long size, int node)\n"
	      "{\n"
	      "\tstruct bitmask *nodes = numa_allocate_nodemask();\n"
	      "\tlong failed;\n\n",
		self->out);
	for (uint32_t m = 0; m < self->placement->n_memories; m++)
		fprintf(self->out,
			"\tif (node < 0 || node == %u)\n\t\tnuma_bitmask_setbit(nodes, %u);\n",
			node_of(self, m), node_of(self, m));
	fputs("\tfailed = mbind((void *)start, size, node < 0 ? MPOL_INTERLEAVE : MPOL_PREFERRED,\n"
	      "\t\tnodes->maskp, nodes->size + 1, MPOL_MF_MOVE);\n"
	      "\tnuma_free_nodemask(nodes);\n"
	      "\treturn failed == 0 ? 0 : -1;\n"
	      "}\n\n",
		self->out);
	write_c_threads(self);
	write_c_ranges(self);
}

static void write_objects(const Export *self, const char *mark, const char *end)
{
	for (guint i = 0; i < self->placement->ranges->len; i++) {
		const LodePlacedRange *range = &LODE_AT(
			self->placement->ranges, LodePlacedRange, i);
		if (range->kind != LODE_PLACE_OBJECT)
			continue;
		g_autofree char *name = g_strescape(range->object, NULL);
		g_autofree char *harmless = g_strdelimit(g_steal_pointer(&name), "*/", '.');
		fprintf(self->out, "%s not said here: object \"%s\" on memory %u%s\n", mark,
			harmless, range->memory, end);
	}
}

/* A new form is a new row. */
static const struct {
	const char *name;
	void (*write)(const Export *self);
	const char *comment, *comment_end;
} forms[] = {
	{"numactl", write_numactl, "#", ""},
	{"hwloc", write_hwloc, "#", ""},
	{"c", write_c, "/*", " */"},
};

bool lode_placement_export(const LodePlacement *placement, const LodeTopology *topology,
	const char *form, FILE *out, GError **error)
{
	Export self = {placement, topology, out};

	if (placement->n_memories > topology->nodes->len) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"the placement is for %u memories, and %s has %u; describe its machine "
			"with --topology",
			placement->n_memories, topology->description, topology->nodes->len);
		return false;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
		if (strcmp(form, forms[i].name) != 0)
			continue;
		forms[i].write(&self);
		write_objects(&self, forms[i].comment, forms[i].comment_end);
		return lode_view_flush(out, error);
	}
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_USAGE, "--as: '%s' is not numactl, hwloc or c", form);
	return false;
}
