/* SPDX-License-Identifier: MIT */
/*
 * The source for cachegrind's choice is the behaviour of valgrind 3.19 on processors of both
 * makers, and AMD64 Architecture Programmer's Manual volume 3, CPUID functions 8000_0005h and
 * 8000_0006h.
 */
#include "machine/machine_caches.h"

#include "base/error.h"
#include "machine/machine_tlbs.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum { USUAL_WAYS = 16 };

typedef struct {
	uint64_t level, size, ways, line;
	char type; /* 'i', 'd', 'u' */
	bool is_shared;
} Found;

static GArray *find_caches(hwloc_topology_t machine)
{
	static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE,
		HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L2ICACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L3ICACHE,
		HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
	static const char letters[] = {[HWLOC_OBJ_CACHE_UNIFIED] = 'u',
		[HWLOC_OBJ_CACHE_DATA] = 'd',
		[HWLOC_OBJ_CACHE_INSTRUCTION] = 'i'};
	GArray *all = g_array_new(FALSE, FALSE, sizeof(Found));
	hwloc_obj_t processor = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, 0);

	for (size_t i = 0; processor != NULL && i < G_N_ELEMENTS(types); i++) {
		hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(machine, types[i], processor);
		if (object == NULL)
			continue;
		const struct hwloc_cache_attr_s *cache = &object->attr->cache;
		Found found = {.level = cache->depth,
			.size = cache->size,
			.line = cache->linesize,
			.ways = (uint64_t)MAX(cache->associativity, 0),
			.type = letters[cache->type],
			/* The threads of one core share its first two levels; no other core does.
		         */
			.is_shared = cache->depth > 2 &&
		                     hwloc_bitmap_weight(object->complete_cpuset) > 1};

		if (found.line == 0 || found.size < found.line)
			continue;
		/* hwloc: −1 is fully associative, 0 unknown, as where a hypervisor hides it. */
		uint64_t lines = found.size / found.line;
		if (found.ways == 0)
			found.ways = cache->associativity < 0 ? lines : MIN(lines, USUAL_WAYS);
		if (found.size >= found.line * found.ways)
			g_array_append_val(all, found);
	}
	return all;
}

/* GArray of Found, at least one. */
static GArray *read_caches(const char *xml, GError **error)
{
	g_autoptr(GArray) all = NULL;
	hwloc_topology_t machine;

	if (hwloc_topology_init(&machine) == 0) {
		/* Caches may be shared with processors that this process may not run on. */
		hwloc_topology_set_flags(machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
		hwloc_topology_set_all_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);
		hwloc_topology_set_cache_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL);
		hwloc_topology_set_icache_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL);
		if ((xml == NULL || hwloc_topology_set_xml(machine, xml) == 0) &&
			hwloc_topology_load(machine) == 0)
			all = find_caches(machine);
		hwloc_topology_destroy(machine);
	}
	if (all != NULL && all->len > 0)
		return g_steal_pointer(&all);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"%s does not describe its caches: describe them, or name a preset",
		xml != NULL ? xml : "this machine");
	return NULL;
}

static uint64_t power_of_two_below(uint64_t n)
{
	while ((n & (n - 1)) != 0)
		n &= n - 1;
	return n;
}

static void append_cache(GString *out, const char *name, const Found *cache)
{
	g_string_append_printf(out,
		"%s%s=%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
		out->len > 0 ? "," : "", name, cache->size, cache->ways, cache->line);
}

char *lode_machine_caches_text(const char *xml, GError **error)
{
	g_autoptr(GArray) all = read_caches(xml, error);
	g_autoptr(GString) out = g_string_new(NULL);

	for (guint i = 0; all != NULL && i < all->len; i++) {
		Found cache = g_array_index(all, Found, i);
		uint64_t lines = cache.size / cache.line;
		uint64_t sets = power_of_two_below(lines / cache.ways);
		char name[3] = {cache.type == 'u' && cache.level > 1 ? 'l' : cache.type,
			(char)('0' + cache.level), '\0'};

		cache.ways = lines / sets;
		cache.size = sets * cache.ways * cache.line;
		append_cache(out, name, &cache);
		g_string_append(out, cache.is_shared ? ":shared" : ":private");
	}
	return all != NULL ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

#if defined(__x86_64__) || defined(__i386__)
/* Cachegrind treats an unknown code as a direct-mapped cache. */
static uint64_t amd_ways(unsigned code)
{
	static const uint8_t ways[16] = {1, 1, 2, 1, 4, 1, 8, 1, 16, 1, 32, 48, 64, 96, 128, 255};

	return ways[code & 15];
}

static Found amd_first_level(unsigned word)
{
	return (Found){
		.size = (uint64_t)(word >> 24) << 10, .ways = word >> 16 & 255, .line = word & 255};
}

/* i1, d1 and the last level by the CPUID functions that cachegrind uses on AMD's processors. */
static bool ask_amd(Found out[3])
{
	unsigned a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d) || (b != signature_AMD_ebx && b != 0x6f677948))
		return false;
	if (!__get_cpuid(0x80000005, &a, &b, &c, &d))
		return false;
	out[0] = amd_first_level(d);
	out[1] = amd_first_level(c);
	if (!__get_cpuid(0x80000006, &a, &b, &c, &d))
		return false;
	if (d >> 18 > 0)
		out[2] = (Found){.size = (uint64_t)(d >> 18) << 19,
			.ways = amd_ways(d >> 12),
			.line = d & 255};
	else
		out[2] = (Found){.size = (uint64_t)(c >> 16) << 10,
			.ways = amd_ways(c >> 12),
			.line = c & 255};
	return out[0].size > 0 && out[0].ways > 0 && out[0].line > 0 && out[1].size > 0 &&
	       out[1].ways > 0 && out[1].line > 0 && out[2].size > 0 && out[2].line > 0;
}
#else
static bool ask_amd(Found out[3])
{
	(void)out;
	return false;
}
#endif

static bool choose_three(const char *xml, const GArray *all, Found out[3], GError **error)
{
	memset(out, 0, 3 * sizeof(*out));
	for (guint i = 0; i < all->len; i++) {
		const Found *found = &g_array_index(all, Found, i);

		if (found->level == 1 && found->type != 'd')
			out[0] = *found;
		if (found->level == 1 && found->type != 'i')
			out[1] = *found;
		if (found->level > 1 && found->level >= out[2].level)
			out[2] = *found;
	}
	if (out[0].size != 0 && out[1].size != 0 && out[2].size != 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"%s does not have the two levels that cachegrind simulates",
		xml != NULL ? xml : "this machine");
	return false;
}

/* A number of sets of 1.5 times a power of two is rounded down and the ways multiplied by 1.5; any
 * other number is rounded down to a power of two. */
static void round_as_cachegrind(Found *cache)
{
	uint64_t sets = cache->size / (cache->line * cache->ways);

	if (sets >= 4 && (sets & (sets - 1)) != 0 && sets % 3 == 0 &&
		power_of_two_below(sets / 3) == sets / 3 && cache->ways % 2 == 0)
		cache->ways += cache->ways / 2;
	sets = power_of_two_below(cache->size / (cache->line * cache->ways));
	cache->size = sets * cache->ways * cache->line;
}

static char *text_of_three(Found found[3])
{
	static const char *const names[] = {"i1", "d1", "l2"};
	g_autoptr(GString) out = g_string_new(NULL);

	for (unsigned i = 0; i < 3; i++) {
		round_as_cachegrind(&found[i]);
		append_cache(out, names[i], &found[i]);
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}

char *lode_machine_caches_first_and_last(const char *xml, GError **error)
{
	g_autoptr(GArray) all = read_caches(xml, error);
	Found found[3];

	return all != NULL && choose_three(xml, all, found, error) ? text_of_three(found) : NULL;
}

static void append_tlb(GString *out, const char *name, const LodeTlb *tlb)
{
	if (tlb->n_entries > 0)
		g_string_append_printf(
			out, ",%s=%u:%u:4K", name, (unsigned)tlb->n_entries, (unsigned)tlb->n_ways);
}

char *lode_machine_caches_counted(const char *xml, GError **error)
{
	g_autoptr(GArray) all = read_caches(xml, error);
	LodeMachineTlbs tlbs;
	Found found[3];

	if (all == NULL || !choose_three(xml, all, found, error))
		return NULL;
	g_autofree char *three = text_of_three(found);
	g_autoptr(GString) out = g_string_new(three);
	for (guint i = 0; i < all->len; i++) {
		Found second = g_array_index(all, Found, i);
		if (second.level != 2 || second.type != 'u' || found[2].level <= 2)
			continue;
		/* the last one is then the third */
		*strstr(out->str, ",l2=") = '\0';
		g_string_set_size(out, strlen(out->str));
		round_as_cachegrind(&second);
		append_cache(out, "l2", &second);
		append_cache(out, "l3", &found[2]);
	}
	if (xml == NULL && lode_machine_tlbs_init(&tlbs)) {
		append_tlb(out, "dtlb", &tlbs.first);
		append_tlb(out, "dtlb2", &tlbs.second);
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}

char *lode_machine_caches_as_cachegrind(const char *xml, GError **error)
{
	Found found[3];

	return xml == NULL && ask_amd(found) ? text_of_three(found)
	                                     : lode_machine_caches_first_and_last(xml, error);
}
