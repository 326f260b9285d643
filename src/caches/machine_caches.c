/* SPDX-License-Identifier: MIT */
/*
 * Reads cache/index0, index1 … of sysfs: level, type, size, ways_of_associativity,
 * coherency_line_size, shared_cpu_list.
 *
 * Source of cachegrind's choice: the behaviour of valgrind 3.19 on processors of both makers, and
 * AMD64 Architecture Programmer's Manual volume 3, CPUID functions 8000_0005h and 8000_0006h.
 */
#include "caches/machine_caches.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum { MAX_INDICES = 16 };

typedef struct {
	uint64_t level, size, ways, line;
	char type; /* 'i', 'd', 'u' */
	bool is_shared;
} Found;

static char *read_attribute(const char *folder, unsigned index, const char *name)
{
	g_autofree char *path = g_strdup_printf("%s/index%u/%s", folder, index, name);
	char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	return g_strstrip(text);
}

static uint64_t read_number(const char *folder, unsigned index, const char *name)
{
	g_autofree char *text = read_attribute(folder, index, name);
	char *end;
	uint64_t value;

	if (text == NULL)
		return 0;
	value = g_ascii_strtoull(text, &end, 10);
	if (value > UINT32_MAX)
		return 0;
	return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

/* The list names other processors too: "0-1", "0,4". Threads of one core share a level that is
 * still private to the core; they are few. */
static bool is_shared_list(const char *list)
{
	unsigned n = 0;
	g_auto(GStrv) ranges = g_strsplit(list != NULL ? list : "", ",", -1);

	for (char **range = ranges; *range != NULL; range++) {
		const char *dash = strchr(*range, '-');
		uint64_t first = g_ascii_strtoull(*range, NULL, 10);
		uint64_t last = dash != NULL ? g_ascii_strtoull(dash + 1, NULL, 10) : first;

		n += last >= first && last - first < 1 << 16 ? (unsigned)(last - first + 1) : 1;
	}
	return n > 1;
}

static bool read_index(const char *folder, unsigned index, Found *out)
{
	g_autofree char *type = read_attribute(folder, index, "type");
	g_autofree char *sharers = read_attribute(folder, index, "shared_cpu_list");

	if (type == NULL)
		return false;
	*out = (Found){
		.level = read_number(folder, index, "level"),
		.size = read_number(folder, index, "size"),
		.ways = read_number(folder, index, "ways_of_associativity"),
		.line = read_number(folder, index, "coherency_line_size"),
		.type = (char)g_ascii_tolower(*type),
	};
	/* the threads of a core share its first two levels, which makes them no other core's */
	out->is_shared = out->level > 2 && is_shared_list(sharers);
	if (out->line == 0 || out->size < out->line)
		return true;
	if (out->ways == 0)
		out->ways = out->size / out->line;
	return true;
}

static GArray *read_folder(const char *folder, GError **error)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Found));
	Found found;

	for (unsigned i = 0; i < MAX_INDICES && read_index(folder, i, &found); i++) {
		if (found.level > 0 && found.line > 0 && found.size >= found.line * found.ways)
			g_array_append_val(all, found);
	}
	if (all->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s does not describe this machine's caches: describe them, or name a "
			"preset",
			folder);
		return NULL;
	}
	return g_steal_pointer(&all);
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

char *lode_machine_caches_text(const char *folder, GError **error)
{
	g_autoptr(GArray) all = read_folder(folder, error);
	g_autoptr(GString) out = g_string_new(NULL);

	for (guint i = 0; all != NULL && i < all->len; i++) {
		Found cache = g_array_index(all, Found, i);
		uint64_t lines = cache.size / cache.line;
		uint64_t sets = power_of_two_below(lines / cache.ways);
		char name[3] = {cache.type == 'u' && cache.level > 1 ? 'l' : cache.type,
			(char)('0' + MIN(cache.level, 9)), '\0'};

		cache.ways = lines / sets;
		cache.size = sets * cache.ways * cache.line;
		append_cache(out, name, &cache);
		g_string_append(out, cache.is_shared ? ":shared" : ":private");
	}
	return all != NULL ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

#if defined(__x86_64__) || defined(__i386__)
/* Cachegrind takes a code that it does not know for a direct-mapped cache. */
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

/* i1, d1 and the last level by the instruction that cachegrind asks on AMD's processors. */
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

static bool choose_by_folder(const char *folder, Found out[3], GError **error)
{
	g_autoptr(GArray) all = read_folder(folder, error);

	memset(out, 0, 3 * sizeof(*out));
	for (guint i = 0; all != NULL && i < all->len; i++) {
		const Found *found = &g_array_index(all, Found, i);

		if (found->level == 1 && found->type != 'd')
			out[0] = *found;
		if (found->level == 1 && found->type != 'i')
			out[1] = *found;
		if (found->level > 1 && found->level >= out[2].level)
			out[2] = *found;
	}
	if (all != NULL && (out[0].size == 0 || out[1].size == 0 || out[2].size == 0))
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s has not the two levels that cachegrind simulates", folder);
	return all != NULL && out[0].size != 0 && out[1].size != 0 && out[2].size != 0;
}

/* One and a half times a power of two of sets becomes half as many more ways; any other number of
 * sets is cut down. */
static void round_as_cachegrind(Found *cache)
{
	uint64_t sets = cache->size / (cache->line * cache->ways);

	if (sets >= 4 && (sets & (sets - 1)) != 0 && sets % 3 == 0 &&
		power_of_two_below(sets / 3) == sets / 3 && cache->ways % 2 == 0)
		cache->ways += cache->ways / 2;
	sets = power_of_two_below(cache->size / (cache->line * cache->ways));
	cache->size = sets * cache->ways * cache->line;
}

char *lode_machine_caches_as_cachegrind(const char *folder, GError **error)
{
	static const char *const names[] = {"i1", "d1", "l2"};
	g_autoptr(GString) out = g_string_new(NULL);
	Found found[3];

	if (!ask_amd(found) && !choose_by_folder(folder, found, error))
		return NULL;
	for (unsigned i = 0; i < 3; i++) {
		round_as_cachegrind(&found[i]);
		append_cache(out, names[i], &found[i]);
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}
