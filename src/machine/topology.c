/* SPDX-License-Identifier: MIT */
#include "machine/topology.h"

#include "base/error.h"

#include <errno.h>
#include <hwloc.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* A description is a product of numbers: the size of the topology is limited before hwloc builds
 * it. */
enum { MAX_OBJECTS = 1 << 16, MAX_NODES = 1024, MAX_FILE_BYTES = 64 << 20 };

static void clear_node(void *data)
{
	LodeMemoryNode *node = data;

	g_array_unref(node->cpus);
}

static LodeTopology *topology_new(const char *description)
{
	LodeTopology *self = g_new0(LodeTopology, 1);

	self->description = g_strdup(description);
	self->nodes = g_array_new(FALSE, TRUE, sizeof(LodeMemoryNode));
	g_array_set_clear_func(self->nodes, clear_node);
	return self;
}

void lode_topology_free(LodeTopology *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->nodes);
	g_free(self->distances);
	g_free(self->description);
	g_free(self);
}

static GArray *cpus_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

LodeTopology *lode_topology_new_even(uint32_t n_memories, uint32_t cpus_per_memory)
{
	g_autofree char *description = g_strdup_printf("%u %s of %u %s", n_memories,
		n_memories == 1 ? "memory" : "memories", cpus_per_memory,
		cpus_per_memory == 1 ? "thread" : "threads");
	LodeTopology *self = topology_new(description);

	self->is_described = true;
	for (uint32_t m = 0; m < n_memories; m++) {
		LodeMemoryNode node = {.node = m, .cpus = cpus_new()};
		for (uint32_t i = 0; i < cpus_per_memory; i++) {
			uint32_t cpu = m * cpus_per_memory + i;
			g_array_append_val(node.cpus, cpu);
		}
		g_array_append_val(self->nodes, node);
	}
	self->n_cpus = self->n_cores = n_memories * cpus_per_memory;
	return self;
}

/* The numbers of a synthetic description, multiplied; a number above the limit: the limit. */
static uint64_t count_objects(const char *description)
{
	uint64_t product = 1;

	for (const char *at = description; *at != '\0' && product <= MAX_OBJECTS;) {
		char *end;
		uint64_t number = g_ascii_isdigit(*at) ? g_ascii_strtoull(at, &end, 10) : 0;
		if (number == 0) {
			at++;
			continue;
		}
		at = end;
		/* Numbers in "(memory=4GB indexes=…)" are no counts; including them makes the limit
		 * only stricter. */
		product *= MIN(number, MAX_OBJECTS + 1);
	}
	return product;
}

/* Removes the parts in parentheses. */
static char *without_attributes(const char *description)
{
	GString *plain = g_string_new(NULL);
	bool is_inside = false; /* hwloc does not nest them */

	for (; *description != '\0'; description++) {
		is_inside |= *description == '(';
		if (!is_inside)
			g_string_append_c(plain, *description);
		is_inside &= *description != ')';
	}
	return g_string_free(plain, FALSE);
}

static bool set_synthetic(hwloc_topology_t machine, const char *description, GError **error)
{
	g_autofree char *plain = without_attributes(description);

	if (count_objects(plain) > MAX_OBJECTS) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"'%s' describes a machine of more than %d parts", description, MAX_OBJECTS);
		return false;
	}
	if (hwloc_topology_set_synthetic(machine, description) == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"'%s' is neither a file nor a description of a machine such as "
		"\"numa:4 core:8 pu:1\"",
		description);
	return false;
}

/* hwloc reads to the end of the file, and a device may have no end. */
static bool check_file(const char *path, const struct stat *status, GError **error)
{
	if (!S_ISREG(status->st_mode))
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: not a regular file", path);
	else if (status->st_size > MAX_FILE_BYTES)
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%s: %jd bytes are more than the %d that a description of a machine may "
			"have",
			path, (intmax_t)status->st_size, MAX_FILE_BYTES);
	else
		return true;
	return false;
}

static bool set_source(hwloc_topology_t machine, const char *description, GError **error)
{
	struct stat status;

	if (description == NULL)
		return true;
	if (stat(description, &status) != 0)
		return set_synthetic(machine, description, error);
	if (!check_file(description, &status, error))
		return false;
	if (hwloc_topology_set_xml(machine, description) == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
		"%s: cannot be read as a description of a machine, expected XML of lstopo",
		description);
	return false;
}

static LodeMemoryNode node_of(hwloc_obj_t object)
{
	LodeMemoryNode node = {
		.node = object->os_index,
		.cpus = cpus_new(),
		.size_bytes = object->attr->numanode.local_memory,
	};

	for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0;
		cpu = hwloc_bitmap_next(object->cpuset, cpu)) {
		uint32_t number = (uint32_t)cpu;
		g_array_append_val(node.cpus, number);
	}
	return node;
}

/* The n × n distances of all of hwloc's nodes, picked for ours, as multiples of those at home. */
static void take_distances(
	LodeTopology *self, const struct hwloc_distances_s *given, const GArray *objects)
{
	unsigned n = self->nodes->len;
	const size_t n_pairs = (size_t)n * n;
	g_autofree double *distances = g_new(double, n_pairs);

	for (unsigned from = 0; from < n; from++) {
		hwloc_obj_t source = g_array_index(objects, hwloc_obj_t, from);
		int i = hwloc_distances_obj_index((struct hwloc_distances_s *)given, source);
		if (i < 0)
			return;
		double home = (double)given->values[(unsigned)i * given->nbobjs + (unsigned)i];
		for (unsigned to = 0; to < n; to++) {
			hwloc_obj_t target = g_array_index(objects, hwloc_obj_t, to);
			int j = hwloc_distances_obj_index(
				(struct hwloc_distances_s *)given, target);
			if (j < 0 || home <= 0)
				return;
			distances[from * n + to] =
				(double)given->values[(unsigned)i * given->nbobjs + (unsigned)j] /
				home;
		}
	}
	self->distances = g_steal_pointer(&distances);
}

static void read_distances(LodeTopology *self, hwloc_topology_t machine, const GArray *objects)
{
	struct hwloc_distances_s *given = NULL;
	unsigned n = 1;

	if (hwloc_distances_get_by_type(machine, HWLOC_OBJ_NUMANODE, &n, &given,
		    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
		n == 0)
		return;
	take_distances(self, given, objects);
	hwloc_distances_release(machine, given);
}

static bool take_nodes(LodeTopology *self, hwloc_topology_t machine, GError **error)
{
	g_autoptr(GArray) objects = g_array_new(FALSE, FALSE, sizeof(hwloc_obj_t));
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, object)) != NULL) {
		/* memory without processors, such as CXL memory: no thread can be near it */
		if (hwloc_bitmap_iszero(object->cpuset))
			continue;
		LodeMemoryNode node = node_of(object);
		self->n_cpus += node.cpus->len;
		g_array_append_val(self->nodes, node);
		g_array_append_val(objects, object);
	}
	if (self->nodes->len == 0 || self->nodes->len > MAX_NODES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"'%s' has %u memories with processors, expected 1 to %d", self->description,
			self->nodes->len, MAX_NODES);
		return false;
	}
	int n_cores = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE);
	self->n_cores = n_cores > 0 ? (uint32_t)n_cores : self->n_cpus;
	read_distances(self, machine, objects);
	return true;
}

LodeTopology *lode_topology_read(const char *description, GError **error)
{
	g_autoptr(LodeTopology)
		self = topology_new(description != NULL ? description : "this machine");
	hwloc_topology_t machine;
	bool is_read = false;

	self->is_described = description != NULL;
	if (hwloc_topology_init(&machine) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"the machine's topology cannot be read: %s", g_strerror(errno));
		return NULL;
	}
	if (set_source(machine, description, error)) {
		if (hwloc_topology_load(machine) == 0)
			is_read = take_nodes(self, machine, error);
		else
			g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
				"the topology of '%s' cannot be read: %s", self->description,
				g_strerror(errno));
	}
	hwloc_topology_destroy(machine);
	return is_read ? g_steal_pointer(&self) : NULL;
}
