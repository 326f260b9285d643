/* SPDX-License-Identifier: MIT */
/* This machine and described ones; distances by an XML file; descriptions that make no sense. */
#include "base/error.h"
#include "machine/topology.h"

#include <glib/gstdio.h>
#include <hwloc.h>
#include <unistd.h>

static LodeTopology *read_good(const char *description)
{
	GError *error = NULL;
	LodeTopology *topology = lode_topology_read(description, &error);

	g_assert_no_error(error);
	return topology;
}

static void test_this_machine(void)
{
	g_autoptr(LodeTopology) topology = read_good(NULL);

	g_assert_cmpuint(topology->nodes->len, >=, 1);
	g_assert_cmpuint(topology->n_cpus, ==, (guint)g_get_num_processors());
	g_assert_false(topology->is_described);
}

static void test_synthetic(void)
{
	g_autoptr(LodeTopology) topology = read_good("numa:4 core:8 pu:2");

	g_assert_cmpuint(topology->nodes->len, ==, 4);
	g_assert_cmpuint(topology->n_cpus, ==, 64);
	g_assert_cmpuint(topology->n_cores, ==, 32);
	for (uint32_t m = 0; m < 4; m++) {
		const LodeMemoryNode *node = lode_topology_node(topology, m);
		g_assert_cmpuint(node->node, ==, m);
		g_assert_cmpuint(node->cpus->len, ==, 16);
		g_assert_cmpuint(g_array_index(node->cpus, uint32_t, 3), ==, m * 16 + 3);
	}
	g_assert_null(topology->distances);
	g_assert_cmpfloat(lode_topology_distance(topology, 1, 1), ==, 1);
	g_assert_cmpfloat(lode_topology_distance(topology, 1, 2), ==, 2);
}

/* A machine of two nodes with the distances of a kernel's table: 10 at home. */
static char *write_xml(void)
{
	hwloc_uint64_t values[4] = {10, 21, 20, 10};
	hwloc_obj_t nodes[2];
	hwloc_topology_t machine;
	char *path;

	close(g_file_open_tmp("lode-XXXXXX.xml", &path, NULL));
	g_assert_cmpint(hwloc_topology_init(&machine), ==, 0);
	g_assert_cmpint(hwloc_topology_set_synthetic(machine, "numa:2 core:2 pu:1"), ==, 0);
	g_assert_cmpint(hwloc_topology_load(machine), ==, 0);
	for (unsigned i = 0; i < 2; i++)
		nodes[i] = hwloc_get_obj_by_type(machine, HWLOC_OBJ_NUMANODE, i);
	hwloc_distances_add_handle_t distances = hwloc_distances_add_create(machine, NULL,
		HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
	g_assert_cmpint(hwloc_distances_add_values(machine, distances, 2, nodes, values, 0), ==, 0);
	g_assert_cmpint(hwloc_distances_add_commit(machine, distances, 0), ==, 0);
	g_assert_cmpint(hwloc_topology_export_xml(machine, path, 0), ==, 0);
	hwloc_topology_destroy(machine);
	return path;
}

static void test_xml(void)
{
	g_autofree char *path = write_xml();
	g_autoptr(LodeTopology) topology = read_good(path);

	g_unlink(path);
	g_assert_cmpuint(topology->nodes->len, ==, 2);
	g_assert_nonnull(topology->distances);
	g_assert_cmpfloat_with_epsilon(lode_topology_distance(topology, 0, 0), 1, 1e-9);
	g_assert_cmpfloat_with_epsilon(lode_topology_distance(topology, 0, 1), 2.1, 1e-9);
	g_assert_cmpfloat_with_epsilon(lode_topology_distance(topology, 1, 0), 2.0, 1e-9);
}

static void test_even(void)
{
	g_autoptr(LodeTopology) topology = lode_topology_new_even(3, 2);

	g_assert_cmpstr(topology->description, ==, "3 memories of 2 threads");
	g_assert_cmpuint(topology->n_cpus, ==, 6);
	g_assert_cmpuint(g_array_index(lode_topology_node(topology, 2)->cpus, uint32_t, 1), ==, 5);
}

static void test_errors(void)
{
	static const struct {
		const char *description;
		int code;
	} cases[] = {
		{"no such thing", LODE_ERROR_USAGE},
		{"", LODE_ERROR_USAGE},
		{"numa:0 pu:1", LODE_ERROR_USAGE},
		{"numa:1000000 core:1000000 pu:1000000", LODE_ERROR_LIMIT},
		{"numa:2000 pu:1", LODE_ERROR_LIMIT},
		{"/dev/null", LODE_ERROR_IO},
		{"/dev/zero", LODE_ERROR_IO},
		{"/", LODE_ERROR_IO},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(lode_topology_read(cases[i].description, &error));
		g_assert_error(error, LODE_ERROR, cases[i].code);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/topology/this-machine", test_this_machine);
	g_test_add_func("/topology/synthetic", test_synthetic);
	g_test_add_func("/topology/xml", test_xml);
	g_test_add_func("/topology/even", test_even);
	g_test_add_func("/topology/errors", test_errors);
	return g_test_run();
}
