/* SPDX-License-Identifier: MIT */
/* Reads all parts of a description, then checks the order of the caches; and back. */
#include "caches/hierarchy/hierarchy_text.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/byte_size.h"
#include "base/text/suggestion.h"
#include "base/text/words.h"

#include <string.h>

/* --- one cache: its name gives its place, then its geometry and options --- */

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

/* A number with K, M, G or nothing after it; false: not a number, or too large for 64 bits. */
static bool read_number(const char *text, uint64_t *out_number)
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

	if (!read_number(fields[0], &size) || (!is_full && !read_number(fields[1], &ways)) ||
		!read_number(fields[2], &line)) {
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
	if (read_number(option, &cache->seed))
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

/*
 * Reads the text after the `=`. `part` is the whole, for messages. If the name does not say which
 * kinds of reference the cache holds, lode_hierarchy_read_text() decides.
 */
static bool read_cache(
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

/* --- all of them --- */

#define CACHE(self, i) (&g_array_index((self)->caches, LodeCache, i))

LodeHierarchy *lode_hierarchy_new(const char *name)
{
	LodeHierarchy *self = g_new0(LodeHierarchy, 1);

	self->name = g_strdup(name);
	self->caches = g_array_new(FALSE, TRUE, sizeof(LodeCache));
	self->n_cores = 1;
	return self;
}

static bool read_cores(LodeHierarchy *self, const char *value, const char *part, GError **error)
{
	uint64_t n;

	if (!read_number(value, &n) || n > LODE_HIERARCHY_MAX_CORES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': cores are a number up to %d; 0 is one for each thread", part,
			LODE_HIERARCHY_MAX_CORES);
		return false;
	}
	self->n_cores = (uint32_t)n;
	return true;
}

static bool add_cache(LodeHierarchy *self, const LodeCache *cache, const char *part, GError **error)
{
	if (self->caches->len == LODE_HIERARCHY_MAX_CACHES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "'%s': more than %d caches", part,
			LODE_HIERARCHY_MAX_CACHES);
		return false;
	}
	for (guint i = 0; i < self->caches->len; i++) {
		const LodeCache *other = CACHE(self, i);

		if (other->is_tlb != cache->is_tlb || other->level != cache->level ||
			(other->holds & cache->holds) == 0)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "'%s': the same place as '%s'",
			part, other->name);
		return false;
	}
	g_array_append_val(self->caches, *cache);
	return true;
}

static bool read_part(LodeHierarchy *self, const char *part, GError **error)
{
	const char *equals = strchr(part, '=');
	g_autofree char *name = equals != NULL ? g_strndup(part, (gsize)(equals - part)) : NULL;
	LodeCache cache;

	if (equals == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': a part of a hierarchy is NAME=SIZE:WAYS:LINE or cores=N", part);
		return false;
	}
	if (strcmp(name, "cores") == 0)
		return read_cores(self, equals + 1, part, error);
	return read_cache(&cache, name, equals + 1, part, error) &&
	       add_cache(self, &cache, part, error);
}

static bool read_line(LodeHierarchy *self, char *line, GError **error)
{
	g_auto(GStrv) parts = NULL;

	line[strcspn(line, "#")] = '\0';
	parts = g_strsplit(line, ",", -1);
	for (char **part = parts; *part != NULL; part++) {
		g_strstrip(*part);
		if (**part != '\0' && !read_part(self, *part, error))
			return false;
	}
	return true;
}

LODE_ORDER(
	by_place, LodeCache, LODE_ASCENDING(is_tlb), LODE_ASCENDING(level), LODE_ASCENDING(holds))

/* The kinds of reference that the caches of a level hold together. */
static unsigned held(const LodeHierarchy *self, bool is_tlb, unsigned level)
{
	unsigned holds = 0;

	for (guint i = 0; i < self->caches->len; i++) {
		if (CACHE(self, i)->is_tlb == is_tlb && CACHE(self, i)->level == level)
			holds |= CACHE(self, i)->holds;
	}
	return holds;
}

/* References reach a level through all those before it; what no cache of the first level
 * holds does not reach the later ones either. */
static bool check_levels(LodeHierarchy *self, GError **error)
{
	for (guint i = 0; i < self->caches->len; i++) {
		LodeCache *cache = CACHE(self, i);
		unsigned seen = held(self, cache->is_tlb, 1);

		for (unsigned level = 1; level < cache->level; level++) {
			if (held(self, cache->is_tlb, level) == 0)
				seen = 0;
		}
		if ((cache->holds & seen) == 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"'%s': a level in front of it is missing", cache->name);
			return false;
		}
		cache->holds &= (uint8_t)seen;
	}
	return true;
}

/* Caches between which lines are kept coherent. */
static bool is_coherent(const LodeCache *cache)
{
	return !cache->is_tlb && !cache->is_shared && (cache->holds & LODE_CACHE_DATA) != 0;
}

static bool check_sharing(const LodeHierarchy *self, GError **error)
{
	const LodeCache *first = NULL, *shared = NULL;

	for (guint i = 0; i < self->caches->len; i++) {
		const LodeCache *cache = CACHE(self, i);

		if (cache->is_shared && shared == NULL)
			shared = cache;
		if (!cache->is_tlb && !cache->is_shared && shared != NULL &&
			shared->level < cache->level) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"'%s': a private cache after the shared '%s'", cache->name,
				shared->name);
			return false;
		}
		if (!is_coherent(cache))
			continue;
		if (first != NULL && first->line_bytes != cache->line_bytes) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"'%s': of several cores, the private caches of data have lines of "
				"one size, and '%s' has %u bytes",
				cache->name, first->name, first->line_bytes);
			return false;
		}
		first = cache;
	}
	return true;
}

bool lode_hierarchy_read_text(LodeHierarchy *self, const char *text, GError **error)
{
	g_auto(GStrv) lines = NULL;

	if (strlen(text) > LODE_HIERARCHY_MAX_TEXT) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"the description is longer than %d bytes", LODE_HIERARCHY_MAX_TEXT);
		return false;
	}
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++) {
		if (!read_line(self, *line, error))
			return false;
	}
	if (self->caches->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"no cache is described: NAME=SIZE:WAYS:LINE, as in d1=32K:8:64");
		return false;
	}
	g_array_sort(self->caches, by_place);
	return check_levels(self, error) && (self->n_cores == 1 || check_sharing(self, error));
}

/* Appends the text that reads as this cache. */
static void append_cache(const LodeCache *cache, GString *out)
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

char *lode_hierarchy_to_text(const LodeHierarchy *self)
{
	g_autoptr(GString) out = g_string_new(NULL);

	for (guint i = 0; i < self->caches->len; i++) {
		if (i > 0)
			g_string_append_c(out, ',');
		append_cache(CACHE(self, i), out);
	}
	if (self->n_cores != 1)
		g_string_append_printf(out, ",cores=%u", self->n_cores);
	return g_string_free(g_steal_pointer(&out), FALSE);
}
