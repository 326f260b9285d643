/* SPDX-License-Identifier: MIT */
/* What /proc and /sys say of the machine, for the feature sections. */
#include "record/perf_features.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU_FOLDER "/sys/devices/system/cpu/cpu"
#define NODE_FOLDER "/sys/devices/system/node/"

/* The value after "model name\t: " in the text of /proc/cpuinfo or the like; NULL: none. */
static char *value_of(const char *text, const char *key)
{
	g_autofree char *start = g_strconcat("\n", key, NULL);
	const char *at = g_str_has_prefix(text, key) ? text : strstr(text, start);

	at = at != NULL ? strchr(at, ':') : NULL;
	if (at == NULL)
		return NULL;
	return g_strstrip(g_strndup(at + 1, strcspn(at + 1, "\n")));
}

char *lode_perf_machine_processor(void)
{
	g_autofree char *text = NULL;

	if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL))
		return NULL;
	return value_of(text, "model name");
}

char *lode_perf_machine_processor_id(void)
{
	/* as perf's "GenuineIntel,6,85,7"; "model" without the tab would find "model name" */
	static const char *const keys[] = {"vendor_id", "cpu family", "model\t", "stepping"};
	g_autofree char *text = NULL;
	g_autoptr(GString) id = g_string_new(NULL);

	if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL))
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		g_autofree char *value = value_of(text, keys[i]);
		if (value == NULL)
			return NULL;
		g_string_append_printf(id, "%s%s", i > 0 ? "," : "", value);
	}
	return g_strdup(id->str);
}

/* The text of a CPU's topology file, or NULL. */
static char *cpu_text(long cpu, const char *name)
{
	g_autofree char *path = g_strdup_printf(CPU_FOLDER "%ld/topology/%s", cpu, name);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? g_strchomp(text) : NULL;
}

static uint32_t cpu_number(long cpu, const char *name)
{
	g_autofree char *text = cpu_text(cpu, name);

	return text != NULL ? (uint32_t)strtol(text, NULL, 10) : UINT32_MAX;
}

/* Each list once, in the order of the CPUs. */
static void add_siblings(GByteArray *section, const char *name, long n_cpus)
{
	g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(g_free);

	for (long cpu = 0; cpu < n_cpus; cpu++) {
		g_autofree char *text = cpu_text(cpu, name);
		if (text != NULL &&
			!g_ptr_array_find_with_equal_func(lists, text, g_str_equal, NULL))
			g_ptr_array_add(lists, g_steal_pointer(&text));
	}
	lode_perf_feature_add_list(section, (const char *const *)lists->pdata, lists->len);
}

GByteArray *lode_perf_machine_cpus(void)
{
	GByteArray *section = g_byte_array_new();
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (cpu_number(0, "core_id") == UINT32_MAX)
		return section;
	add_siblings(section, "core_siblings_list", n_cpus);
	add_siblings(section, "thread_siblings_list", n_cpus);
	for (long cpu = 0; cpu < n_cpus; cpu++) {
		lode_perf_feature_add_u32(section, cpu_number(cpu, "core_id"));
		lode_perf_feature_add_u32(section, cpu_number(cpu, "physical_package_id"));
	}
	return section;
}

static uint64_t kilobytes(const char *text, uint32_t node, const char *key)
{
	g_autofree char *line = g_strdup_printf("Node %u %s", node, key);
	g_autofree char *value = value_of(text, line);

	return value != NULL ? g_ascii_strtoull(value, NULL, 10) : 0;
}

static bool add_node(GByteArray *section, uint32_t node)
{
	g_autofree char *list_path = g_strdup_printf(NODE_FOLDER "node%u/cpulist", node);
	g_autofree char *memory_path = g_strdup_printf(NODE_FOLDER "node%u/meminfo", node);
	g_autofree char *cpus = NULL;
	g_autofree char *memory = NULL;

	if (!g_file_get_contents(list_path, &cpus, NULL, NULL) ||
		!g_file_get_contents(memory_path, &memory, NULL, NULL))
		return false;
	lode_perf_feature_add_u32(section, node);
	lode_perf_feature_add_u64(section, kilobytes(memory, node, "MemTotal"));
	lode_perf_feature_add_u64(section, kilobytes(memory, node, "MemFree"));
	lode_perf_feature_add_text(section, g_strchomp(cpus));
	return true;
}

static int compare_nodes(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

GByteArray *lode_perf_machine_numa(void)
{
	GByteArray *section = g_byte_array_new(), *nodes = g_byte_array_new();
	g_autoptr(GDir) listing = g_dir_open(NODE_FOLDER, 0, NULL);
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t n = 0;
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		if (g_str_has_prefix(name, "node") && g_ascii_isdigit(name[4])) {
			uint32_t number = (uint32_t)strtoul(name + 4, NULL, 10);
			g_array_append_val(numbers, number);
		}
	g_array_sort(numbers, compare_nodes);
	for (guint i = 0; i < numbers->len; i++)
		n += add_node(nodes, g_array_index(numbers, uint32_t, i));
	if (n > 0) {
		lode_perf_feature_add_u32(section, n);
		g_byte_array_append(section, nodes->data, nodes->len);
	}
	g_byte_array_unref(nodes);
	return section;
}
