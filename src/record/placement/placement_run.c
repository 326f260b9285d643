/* SPDX-License-Identifier: MIT */
#include "record/placement/placement_run.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/files/own_library.h"
#include "base/files/temporary_path.h"
#include "images/dwarf/named_symbol.h"
#include "record/placement/placement_orders.h"
#include "record/programs/child.h"
#include "record/programs/preloaded_library.h"
#include "record/programs/program_check.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- orders --- */

/* Makes the orders for the preloaded library; placement_orders.h has their layout. */

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
	mask->words[cpu / 64] |= LODE_BIT(cpu % 64);
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
		head.nodes.words[node / 64] |= LODE_BIT(node % 64);
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

/*
 * The orders for the program at `path`, as bytes; the caller unrefs them. Orders that cannot be
 * followed are added to `notes`. Errors: _UNSUPPORTED, _LIMIT.
 */
static GByteArray *make_orders(
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

/* --- the run --- */

#define LIBRARY LODE_OWN_LIBRARY("placement")

typedef struct {
	char *path;
	PlacementOrders *mapped; /* shared with the program */
	size_t size;
} OrdersFile;

void lode_placement_run_free(LodePlacementRun *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->notes);
	g_free(self);
}

static void close_orders(OrdersFile *self)
{
	if (self->mapped != NULL)
		munmap(self->mapped, self->size);
	if (self->path != NULL)
		g_unlink(self->path);
	lode_temporary_path_forget(self->path);
	g_free(self->path);
}

static bool open_orders(OrdersFile *self, const GByteArray *bytes, GError **error)
{
	int file = g_file_open_tmp("lode-placement-XXXXXX", &self->path, error);

	if (file < 0)
		return false;
	lode_temporary_path_add(self->path);
	self->size = bytes->len;
	void *place = MAP_FAILED;
	errno = ENOSPC; /* a short write sets none */
	if (write(file, bytes->data, bytes->len) == (ssize_t)bytes->len)
		place = mmap(NULL, self->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	int code = errno;
	close(file);
	if (place != MAP_FAILED) {
		self->mapped = place;
		return true;
	}
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot be written: %s", self->path,
		g_strerror(code));
	return false;
}

static char **environment_with(const char *library, const char *orders)
{
	char **environment = lode_preloaded_library_environment(NULL, library);

	return g_environ_setenv(environment, PLACEMENT_ORDERS_VARIABLE, orders, TRUE);
}

static void G_GNUC_PRINTF(2, 3) note(LodePlacementRun *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_ptr_array_add(self->notes, g_strdup_vprintf(format, arguments));
	va_end(arguments);
}

/* Notes objects that the program's library could not find. Offsets are our own: it may have written
 * anywhere. */
static void note_objects(
	LodePlacementRun *self, const PlacementOrders *orders, const GByteArray *written)
{
	const PlacementOrders *head = (const void *)written->data;
	const PlacementObject *asked = (const void *)(written->data + head->objects);
	const PlacementObject *answered = (const void *)((const char *)orders + head->objects);

	for (uint32_t i = 0; i < head->n_objects; i++)
		if (!answered[i].is_found)
			note(self, "object '%s' is not loaded when the program starts",
				(const char *)written->data + asked[i].name);
}

static void take_answers(LodePlacementRun *self, const LodePlacementRunOptions *options,
	const PlacementOrders *orders, const GByteArray *written)
{
	uint32_t n_placed = options->placement->n_threads;

	self->n_threads = orders->n_created;
	self->n_bound = orders->n_bound;
	self->n_policies = orders->n_policies;
	if (orders->pid == 0) {
		note(self, "the program did not load lode's library, so nothing was placed (it is "
			   "linked statically, set-user-ID, or of another architecture)");
		return;
	}
	if (orders->n_unbound > 0)
		note(self, "%u of %u threads could not be bound: %s", orders->n_unbound,
			orders->n_created, g_strerror((int)orders->bind_error));
	if (orders->n_created > n_placed)
		note(self,
			"the program created %u threads, the placement is for %u; the others "
			"run anywhere",
			orders->n_created, n_placed);
	else if (orders->n_created < n_placed)
		note(self, "the program created %u threads, the placement is for %u",
			orders->n_created, n_placed);
	if (orders->n_failed_policies > 0)
		note(self, "the kernel refused the placement of %u ranges: %s",
			orders->n_failed_policies, g_strerror((int)orders->policy_error));
	note_objects(self, orders, written);
}

static bool run(LodePlacementRun *self, const LodePlacementRunOptions *options, const char *path,
	const char *library, GError **error)
{
	g_autoptr(GByteArray) written = make_orders(options, path, self->notes, error);
	OrdersFile orders = {0};
	LodeChildEnd end;
	bool has_run = false;

	if (written == NULL)
		return false;
	if (open_orders(&orders, written, error)) {
		g_autoptr(GPtrArray) argv = g_ptr_array_new();
		g_auto(GStrv) environment = environment_with(library, orders.path);
		g_ptr_array_add(argv, (void *)path);
		for (size_t i = 1; options->argv[i] != NULL; i++)
			g_ptr_array_add(argv, (void *)options->argv[i]);
		g_ptr_array_add(argv, NULL);
		LodeChildOptions child = {
			.argv = (const char *const *)argv->pdata,
			.environment = (const char *const *)environment,
			.has_fixed_addresses = !options->is_randomised,
			.notes = options->notes,
		};
		has_run = lode_child_run(&child, &end, error);
	}
	if (has_run) {
		self->exit_status = end.status;
		self->stop_signal = end.stop_signal;
		take_answers(self, options, orders.mapped, written);
	}
	close_orders(&orders);
	return has_run;
}

LodePlacementRun *lode_placement_run(const LodePlacementRunOptions *options, GError **error)
{
	g_autofree char *path = lode_program_find(options->argv[0], error);
	g_autofree char *library = path != NULL ? lode_preloaded_library_find(
							  "preload/placement", LIBRARY, error)
	                                        : NULL;

	if (library == NULL)
		return NULL;
	g_autoptr(LodePlacementRun) self = g_new0(LodePlacementRun, 1);
	self->notes = g_ptr_array_new_with_free_func(g_free);
	return run(self, options, path, library, error) ? g_steal_pointer(&self) : NULL;
}
