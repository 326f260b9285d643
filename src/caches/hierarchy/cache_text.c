/* SPDX-License-Identifier: MIT */
/* One cache as text and back: its name gives its place, then its geometry and options. */
#include "caches/hierarchy/cache_text.h"

#include "base/error.h"
#include "base/text/byte_size.h"
#include "base/text/suggestion.h"
#include "base/text/words.h"
#include "caches/hierarchy/hierarchy_text.h"

#include <string.h>

static const char *const replacement_names[LODE_N_REPLACEMENTS] = {
	[LODE_REPLACEMENT_LRU] = "lru",
	[LODE_REPLACEMENT_PLRU] = "plru",
	[LODE_REPLACEMENT_FIFO] = "fifo",
	[LODE_REPLACEMENT_RANDOM] = "random",
	[LODE_REPLACEMENT_SRRIP] = "srrip",
};

static const char *const prefetch_names[LODE_N_PREFETCHES] = {
	[LODE_PREFETCH_NONE] = "no-prefetch",
	[LODE_PREFETCH_NEXT_LINE] = "next-line",
	[LODE_PREFETCH_STRIDE] = "stride",
};

/* The other options: each sets one flag. */
typedef struct {
	const char *name;
	size_t flag; /* its offset in a cache */
	bool value;
} FlagOption;

static const FlagOption flag_options[] = {
	{"write-back", offsetof(LodeCache, is_write_through), false},
	{"write-through", offsetof(LodeCache, is_write_through), true},
	{"allocate", offsetof(LodeCache, is_no_allocate), false},
	{"no-allocate", offsetof(LodeCache, is_no_allocate), true},
	{"private", offsetof(LodeCache, is_shared), false},
	{"shared", offsetof(LodeCache, is_shared), true},
};

static const char *const option_words[] = {"lru", "plru", "fifo", "random", "srrip", "no-prefetch",
	"next-line", "stride", "write-back", "write-through", "allocate", "no-allocate", "private",
	"shared", NULL};

const char *lode_replacement_name(LodeReplacement replacement)
{
	return replacement_names[replacement];
}

bool lode_cache_read_number(const char *text, uint64_t *out_number)
{
	uint64_t value;
	char *end;

	if (!g_ascii_isdigit(*text))
		return false;
	value = g_ascii_strtoull(text, &end, 10);
	unsigned shift = lode_byte_size_shift(*end);
	if (shift > 0)
		end++;
	if (*end != '\0' || value > UINT64_MAX >> shift ||
		(value == UINT64_MAX && strcmp(text, "18446744073709551615") != 0))
		return false;
	*out_number = value << shift;
	return true;
}

static bool is_power_of_two(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

/* i1, d1, u1, l2 … l6: a letter for what it holds and the level. */
static bool read_cache_name(LodeCache *cache, const char *name)
{
	if (strlen(name) != 2 || name[1] < '1' || name[1] > '0' + LODE_HIERARCHY_MAX_LEVELS)
		return false;
	cache->level = (uint8_t)(name[1] - '0');
	cache->is_shared = cache->level > 2;
	if (name[0] == 'i')
		cache->holds = LODE_CACHE_INSTRUCTIONS;
	else if (name[0] == 'd')
		cache->holds = LODE_CACHE_DATA;
	else if (name[0] == 'u' || (name[0] == 'l' && cache->level > 1))
		cache->holds = LODE_CACHE_INSTRUCTIONS | LODE_CACHE_DATA;
	return cache->holds != 0;
}

static bool read_name(LodeCache *cache, const char *name, const char *part, GError **error)
{
	static const struct {
		const char *name;
		uint8_t level, holds;
	} tlbs[] = {
		{"itlb", 1, LODE_CACHE_INSTRUCTIONS},
		{"dtlb", 1, LODE_CACHE_DATA},
		{"itlb2", 2, LODE_CACHE_INSTRUCTIONS},
		{"dtlb2", 2, LODE_CACHE_DATA},
		{"stlb", 2, LODE_CACHE_INSTRUCTIONS | LODE_CACHE_DATA},
	};

	g_strlcpy(cache->name, name, sizeof(cache->name));
	for (size_t i = 0; i < G_N_ELEMENTS(tlbs); i++) {
		if (strcmp(name, tlbs[i].name) != 0)
			continue;
		cache->is_tlb = true;
		cache->level = tlbs[i].level;
		cache->holds = tlbs[i].holds;
		return true;
	}
	if (read_cache_name(cache, name))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"'%s': no cache is called '%s': it is i1, d1, u1, i2, d2, u2 or l2 … l%d, itlb, "
		"dtlb, itlb2, dtlb2, stlb, or cores",
		part, name, LODE_HIERARCHY_MAX_LEVELS);
	return false;
}

static bool check_line(uint64_t line, bool is_tlb, const char *part, GError **error)
{
	uint64_t least = is_tlb ? LODE_TLB_MIN_PAGE : LODE_CACHE_MIN_LINE;
	uint64_t most = is_tlb ? LODE_TLB_MAX_PAGE : LODE_CACHE_MAX_LINE;

	if (is_power_of_two(line) && line >= least && line <= most)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"'%s': a %s is a power of two from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
		" bytes, not %" G_GUINT64_FORMAT,
		part, is_tlb ? "page" : "line", least, most, line);
	return false;
}

static bool check_geometry(
	LodeCache *cache, uint64_t n_lines, uint64_t ways, const char *part, GError **error)
{
	if (n_lines > LODE_CACHE_MAX_LINES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"'%s': %" G_GUINT64_FORMAT " %s are more than %d", part, n_lines,
			cache->is_tlb ? "entries" : "lines", LODE_CACHE_MAX_LINES);
		return false;
	}
	if (ways == 0 || ways > LODE_CACHE_MAX_WAYS) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': the number of ways is from 1 to %d", part, LODE_CACHE_MAX_WAYS);
		return false;
	}
	if (n_lines % ways != 0 || !is_power_of_two(n_lines / ways)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': the number of sets, %s / ways, is a power of two: here "
			"%" G_GUINT64_FORMAT " / %" G_GUINT64_FORMAT,
			part, cache->is_tlb ? "entries" : "size / line", n_lines, ways);
		return false;
	}
	cache->n_ways = (uint32_t)ways;
	cache->n_sets = n_lines / ways;
	cache->size_bytes = n_lines * cache->line_bytes;
	return true;
}

static bool read_geometry(LodeCache *cache, char **fields, const char *part, GError **error)
{
	uint64_t size, ways = 0, line, n_lines;
	bool is_full = strcmp(fields[1], "full") == 0;

	if (!lode_cache_read_number(fields[0], &size) ||
		(!is_full && !lode_cache_read_number(fields[1], &ways)) ||
		!lode_cache_read_number(fields[2], &line)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': a number is digits, and K, M or G after them; ways may be 'full'",
			part);
		return false;
	}
	if (!check_line(line, cache->is_tlb, part, error))
		return false;
	cache->line_bytes = (uint32_t)line;
	n_lines = cache->is_tlb ? size : size / line;
	if (!cache->is_tlb && size % line != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': the size is not a multiple of the line", part);
		return false;
	}
	return check_geometry(cache, n_lines, is_full ? n_lines : ways, part, error);
}

static bool read_seed(LodeCache *cache, const char *option, const char *part, GError **error)
{
	if (lode_cache_read_number(option, &cache->seed))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "'%s': a seed is a number, not '%s'", part,
		option);
	return false;
}

/* Whether the word is an option of one of the tables, which is then set. */
static bool set_option(LodeCache *cache, const char *option)
{
	int replacement = lode_word_find(replacement_names, LODE_N_REPLACEMENTS, option);
	int prefetch = lode_word_find(prefetch_names, LODE_N_PREFETCHES, option);

	if (replacement >= 0)
		cache->replacement = (LodeReplacement)replacement;
	if (prefetch >= 0)
		cache->prefetch = (LodePrefetch)prefetch;
	if (replacement >= 0 || prefetch >= 0)
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(flag_options); i++) {
		if (strcmp(option, flag_options[i].name) == 0) {
			G_STRUCT_MEMBER(bool, cache, flag_options[i].flag) = flag_options[i].value;
			return true;
		}
	}
	return false;
}

static bool read_option(LodeCache *cache, const char *option, const char *part, GError **error)
{
	const char *nearest;

	if (g_str_has_prefix(option, "random=")) {
		cache->replacement = LODE_REPLACEMENT_RANDOM;
		return read_seed(cache, option + strlen("random="), part, error);
	}
	if (set_option(cache, option))
		return true;
	nearest = lode_suggestion(option, option_words);
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"'%s': unknown option '%s'%s%s%s: lru, plru, fifo, random=SEED, srrip, next-line, "
		"stride, write-through, no-allocate, shared or private",
		part, option, nearest != NULL ? " (did you mean '" : "",
		nearest != NULL ? nearest : "", nearest != NULL ? "'?)" : "");
	return false;
}

/* Why this cache cannot have one of its options; NULL: it can. */
static const char *contradiction(const LodeCache *cache)
{
	if (cache->replacement == LODE_REPLACEMENT_PLRU && !is_power_of_two(cache->n_ways))
		return "plru is a binary tree: the number of ways is a power of two";
	if (cache->is_tlb && (cache->is_write_through || cache->is_no_allocate ||
				     cache->is_shared || cache->prefetch != LODE_PREFETCH_NONE))
		return "a TLB has options of replacement only";
	if (cache->prefetch == LODE_PREFETCH_STRIDE && cache->holds == LODE_CACHE_INSTRUCTIONS)
		return "stride is of data, and this cache holds instructions";
	return NULL;
}

bool lode_cache_read_text(
	LodeCache *out_cache, const char *name, const char *value, const char *part, GError **error)
{
	LodeCache cache = {.seed = 1};
	g_auto(GStrv) fields = g_strsplit(value, ":", -1);
	const char *wrong;

	if (!read_name(&cache, name, part, error))
		return false;
	if (g_strv_length(fields) < 3) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "'%s': a %s is %s=%s", part,
			cache.is_tlb ? "TLB" : "cache", name,
			cache.is_tlb ? "ENTRIES:WAYS:PAGE" : "SIZE:WAYS:LINE");
		return false;
	}
	if (!read_geometry(&cache, fields, part, error))
		return false;
	for (char **option = fields + 3; *option != NULL; option++) {
		if (!read_option(&cache, *option, part, error))
			return false;
	}
	wrong = contradiction(&cache);
	if (wrong != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "'%s': %s", part, wrong);
		return false;
	}
	*out_cache = cache;
	return true;
}

void lode_cache_append_text(const LodeCache *cache, GString *out)
{
	g_string_append_printf(out, "%s=", cache->name);
	lode_byte_size_append(
		out, cache->is_tlb ? cache->n_sets * cache->n_ways : cache->size_bytes);
	if (cache->n_sets == 1)
		g_string_append(out, ":full:");
	else
		g_string_append_printf(out, ":%u:", cache->n_ways);
	lode_byte_size_append(out, cache->line_bytes);
	if (cache->replacement == LODE_REPLACEMENT_RANDOM)
		g_string_append_printf(out, ":random=%" G_GUINT64_FORMAT, cache->seed);
	else if (cache->replacement != LODE_REPLACEMENT_LRU)
		g_string_append_printf(out, ":%s", replacement_names[cache->replacement]);
	if (cache->prefetch != LODE_PREFETCH_NONE)
		g_string_append_printf(out, ":%s", prefetch_names[cache->prefetch]);
	if (cache->is_write_through)
		g_string_append(out, ":write-through");
	if (cache->is_no_allocate)
		g_string_append(out, ":no-allocate");
	if (cache->is_shared != (!cache->is_tlb && cache->level > 2))
		g_string_append(out, cache->is_shared ? ":shared" : ":private");
}
