/* SPDX-License-Identifier: MIT */
#include "record/placement_orders_writer.h"

#include "base/error.h"
#include "images/named_symbol.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#define PAGE_SIZE UINT64_C(4096)

typedef struct {
	const LodePlacementRunOptions *options;
	const char *path;
	GPtrArray *notes;
	GArray *threads; /* uint32_t */
	GArray *masks;   /* PlacementMask; the first is what we may run on */
	GArray *pieces, *objects;
	GByteArray *names;
	bool is_one_memory;
	GError **error;
} Writer;

static const LodePlacement *placement_of(const Writer *self)
{
	return self->options->placement;
}

static bool fail(Writer *self, LodeErrorCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(Writer *self, LodeErrorCode code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error_literal(self->error, LODE_ERROR, (int)code, message);
	return false;
}

static bool check_memories(Writer *self)
{
	uint32_t n = placement_of(self)->n_memories;
	uint32_t n_nodes = self->options->topology->nodes->len;

	self->is_one_memory = n_nodes == 1;
	if (n_nodes == 1) {
		g_ptr_array_add(self->notes,
			g_strdup("this machine has one memory: nothing changes in where pages "
				 "are"));
		return true;
	}
	if (n <= n_nodes)
		return true;
	return fail(self, LODE_ERROR_UNSUPPORTED,
		"the placement is for %u memories, and this machine has %u; make it anew for this "
		"machine with lode place",
		n, n_nodes);
}

static const LodeMemoryNode *node_of(const Writer *self, uint32_t memory)
{
	return lode_topology_node(self->options->topology, self->is_one_memory ? 0 : memory);
}

static bool set_cpu(Writer *self, PlacementMask *mask, uint32_t cpu)
{
	if (cpu >= PLACEMENT_ORDERS_MAX_CPUS)
		return fail(self, LODE_ERROR_LIMIT,
			"processor %u: threads can be bound to the first %d only", cpu,
			PLACEMENT_ORDERS_MAX_CPUS);
	mask->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
	return true;
}

static bool add_memory_mask(Writer *self, uint32_t memory)
{
	const LodeMemoryNode *node = node_of(self, memory);
	PlacementMask mask = {{0}};

	for (guint i = 0; i < node->cpus->len; i++)
		if (!set_cpu(self, &mask, LODE_AT(node->cpus, uint32_t, i)))
			return false;
	g_array_append_val(self->masks, mask);
	return true;
}

/* The first mask is ours, then follows one for each memory. */
static bool add_masks(Writer *self)
{
	PlacementMask ours = {{0}};

	G_STATIC_ASSERT(sizeof(cpu_set_t) == sizeof(PlacementMask));
	if (sched_getaffinity(0, sizeof(ours), (cpu_set_t *)(void *)&ours) != 0)
		return fail(self, LODE_ERROR_LIMIT, "this machine has more than %d processors",
			PLACEMENT_ORDERS_MAX_CPUS);
	g_array_append_val(self->masks, ours);
	for (uint32_t m = 0; m < placement_of(self)->n_memories; m++)
		if (!add_memory_mask(self, m))
			return false;
	return true;
}

/* On one memory instead of several a processor's number may mean none. */
static bool add_bound_cpu(Writer *self, uint32_t thread, uint32_t memory, uint32_t cpu)
{
	const LodeMemoryNode *node = node_of(self, memory);
	PlacementMask mask = {{0}};
	uint32_t number = self->masks->len;

	if (cpu >= node->cpus->len)
		return fail(self, LODE_ERROR_UNSUPPORTED,
			"thread %u is to use cpu %u of memory %u, which has %u", thread, cpu,
			memory, node->cpus->len);
	if (!set_cpu(self, &mask, LODE_AT(node->cpus, uint32_t, cpu)))
		return false;
	g_array_append_val(self->masks, mask);
	g_array_append_val(self->threads, number);
	return true;
}

static bool add_threads(Writer *self)
{
	const LodePlacement *placement = placement_of(self);

	for (uint32_t i = 0; i < placement->n_threads; i++) {
		uint32_t memory = LODE_AT(placement->thread_memories, uint32_t, i);
		uint32_t cpu = LODE_AT(placement->thread_cpus, uint32_t, i);
		uint32_t mask = memory != LODE_NONE ? memory + 1 : UINT32_MAX;
		if (memory == LODE_NONE || cpu == LODE_NONE)
			g_array_append_val(self->threads, mask);
		else if (!add_bound_cpu(self, i, memory, cpu))
			return false;
	}
	return true;
}

static bool check_nodes(Writer *self)
{
	for (uint32_t m = 0; m < placement_of(self)->n_memories; m++)
		if (node_of(self, m)->node >= PLACEMENT_ORDERS_MAX_NODES)
			return fail(self, LODE_ERROR_LIMIT, "memory %u is node %u, beyond %d", m,
				node_of(self, m)->node, PLACEMENT_ORDERS_MAX_NODES);
	return true;
}

static void add_pieces(Writer *self)
{
	g_autoptr(GArray) pieces = lode_placement_pieces(placement_of(self), PAGE_SIZE);

	for (guint i = 0; i < pieces->len; i++) {
		const LodePlacementPiece *row = &LODE_AT(pieces, LodePlacementPiece, i);
		PlacementPiece piece = {row->start, row->end, PLACEMENT_ORDERS_INTERLEAVED};
		if (row->memory != LODE_NONE)
			piece.node = node_of(self, row->memory)->node;
		g_array_append_val(self->pieces, piece);
	}
}

/* "int counts[]", as views name it, is the variable counts. */
static char *variable_name(const char *object)
{
	const char *start = strrchr(object, ' ');

	start = start != NULL ? start + 1 : object;
	start += strspn(start, "*");
	return g_strndup(start, strcspn(start, "["));
}

static void add_object(Writer *self, const char *name, uint32_t memory)
{
	g_autofree char *variable = variable_name(name);
	PlacementObject object = {
		.kind = PLACEMENT_OBJECT_SYMBOL, .node = node_of(self, memory)->node};

	if (strchr(name, '@') != NULL) {
		g_ptr_array_add(self->notes,
			g_strdup_printf("'%s' is an allocation site, whose blocks have no fixed "
					"place; place the ranges that lode place writes",
				name));
		return;
	}
	const char *text = variable;
	if (name[0] == '[' || strchr(name, '/') != NULL || strstr(name, ".so") != NULL) {
		object.kind = PLACEMENT_OBJECT_MAPPING;
		text = name;
	} else if (lode_named_symbol_variable(
			   self->path, variable, &object.start, &object.size, NULL)) {
		object.kind = PLACEMENT_OBJECT_PROGRAM;
	}
	object.name = self->names->len;
	g_byte_array_append(self->names, (const guint8 *)text, (guint)strlen(text) + 1);
	g_array_append_val(self->objects, object);
}

static void add_objects(Writer *self)
{
	const GArray *ranges = placement_of(self)->ranges;

	for (guint i = 0; i < ranges->len; i++) {
		const LodePlacedRange *range = &LODE_AT(ranges, LodePlacedRange, i);
		if (range->kind == LODE_PLACE_OBJECT)
			add_object(self, range->object, range->memory);
	}
}

/* Appends a table at a multiple of 8 and gives its offset. */
static uint64_t append(GByteArray *bytes, const void *rows, size_t size)
{
	static const guint8 zeros[8] = {0};

	g_byte_array_append(bytes, zeros, (8 - bytes->len % 8) % 8);
	uint64_t offset = bytes->len;
	if (size > 0)
		g_byte_array_append(bytes, rows, (guint)size);
	return offset;
}

static GByteArray *put_together(Writer *self)
{
	GByteArray *bytes = g_byte_array_new();
	PlacementOrders head = {
		.magic = PLACEMENT_ORDERS_MAGIC,
		.lode_pid = getpid(),
		.is_strict = self->options->is_strict,
		.n_threads = self->threads->len,
		.n_masks = self->masks->len,
		.n_pieces = self->pieces->len,
		.n_objects = self->objects->len,
	};

	for (uint32_t m = 0; m < placement_of(self)->n_memories; m++) {
		uint32_t node = node_of(self, m)->node;
		head.nodes.words[node / 64] |= UINT64_C(1) << (node % 64);
	}
	append(bytes, &head, sizeof(head));
	uint64_t names = append(bytes, self->names->data, self->names->len);
	for (guint i = 0; i < self->objects->len; i++)
		LODE_AT(self->objects, PlacementObject, i).name += names;
	head.threads = append(bytes, self->threads->data, self->threads->len * sizeof(uint32_t));
	head.masks = append(bytes, self->masks->data, self->masks->len * sizeof(PlacementMask));
	head.pieces = append(bytes, self->pieces->data, self->pieces->len * sizeof(PlacementPiece));
	head.objects = append(
		bytes, self->objects->data, self->objects->len * sizeof(PlacementObject));
	head.size_bytes = bytes->len;
	memcpy(bytes->data, &head, sizeof(head));
	return bytes;
}

GByteArray *lode_placement_orders_new(
	const LodePlacementRunOptions *options, const char *path, GPtrArray *notes, GError **error)
{
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) masks = g_array_new(FALSE, FALSE, sizeof(PlacementMask));
	g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(PlacementPiece));
	g_autoptr(GArray) objects = g_array_new(FALSE, TRUE, sizeof(PlacementObject));
	g_autoptr(GByteArray) names = g_byte_array_new();
	Writer writer = {
		options, path, notes, threads, masks, pieces, objects, names, false, error};

	if (!check_memories(&writer) || !check_nodes(&writer) || !add_masks(&writer) ||
		!add_threads(&writer))
		return NULL;
	if (!writer.is_one_memory) {
		add_pieces(&writer);
		add_objects(&writer);
	}
	return put_together(&writer);
}
