/* SPDX-License-Identifier: MIT */
#include "process/address_space.h"

#include "base/error.h"
#include "base/partition_point.h"

#include <stdlib.h>

enum {
	MAX_VERSIONS = 1 << 26, /* of all processes together */
	MAX_ANCESTORS = 64,     /* a chain of forks without exec; hostile files make long ones */
};

/* A time and, where times are equal, what came first. */
typedef struct {
	uint64_t time_ns;
	uint32_t order;
} Moment;

typedef struct {
	Moment moment;
	LodeMappedRange range;
} Mapping;

/* The address space became empty, or a copy of the parent's. */
typedef struct {
	Moment moment;
	uint32_t parent; /* a pid; UINT32_MAX: none */
} Birth;

typedef struct {
	GArray *mappings;   /* Mapping, by moment */
	GArray *births;     /* Birth, by moment */
	GArray *bounds;     /* uint64_t, ascending: piece i is [bounds[i], bounds[i + 1]) */
	uint32_t *first;    /* of each piece and one more: range of `versions` */
	uint32_t *versions; /* mappings that covered the piece, by moment */
} Space;

struct LodeAddressSpaces {
	GHashTable *spaces; /* pid → Space */
	uint32_t n_events;
	uint64_t n_versions;
	uint32_t last_pid; /* of the last look-up, and its space */
	Space *last;
};

static void space_free(void *data)
{
	Space *self = data;

	g_array_unref(self->mappings);
	g_array_unref(self->births);
	g_array_unref(self->bounds);
	g_free(self->first);
	g_free(self->versions);
	g_free(self);
}

LodeAddressSpaces *lode_address_spaces_new(void)
{
	LodeAddressSpaces *self = g_new0(LodeAddressSpaces, 1);

	self->spaces = g_hash_table_new_full(NULL, NULL, NULL, space_free);
	return self;
}

void lode_address_spaces_free(LodeAddressSpaces *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->spaces);
	g_free(self);
}

static Space *find_space(LodeAddressSpaces *self, uint32_t pid)
{
	if (self->last == NULL || self->last_pid != pid) {
		self->last = g_hash_table_lookup(self->spaces, GUINT_TO_POINTER(pid));
		self->last_pid = pid;
	}
	return self->last;
}

static Space *space_of(LodeAddressSpaces *self, uint32_t pid)
{
	Space *space = find_space(self, pid);

	if (space != NULL)
		return space;
	space = g_new0(Space, 1);
	space->mappings = g_array_new(FALSE, FALSE, sizeof(Mapping));
	space->births = g_array_new(FALSE, FALSE, sizeof(Birth));
	space->bounds = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_hash_table_insert(self->spaces, GUINT_TO_POINTER(pid), space);
	self->last = space;
	return space;
}

static Moment next_moment(LodeAddressSpaces *self, uint64_t time_ns)
{
	return (Moment){time_ns, self->n_events++};
}

void lode_address_spaces_map(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns, const LodeMappedRange *range)
{
	Mapping mapping = {next_moment(self, time_ns), *range};

	if (range->start < range->end)
		g_array_append_val(space_of(self, pid)->mappings, mapping);
}

void lode_address_spaces_exec(LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns)
{
	Birth birth = {next_moment(self, time_ns), UINT32_MAX};

	g_array_append_val(space_of(self, pid)->births, birth);
}

void lode_address_spaces_fork(
	LodeAddressSpaces *self, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	Birth birth = {next_moment(self, time_ns), parent_pid};

	if (pid != parent_pid)
		g_array_append_val(space_of(self, pid)->births, birth);
}

/* Both rows begin with their moment. */
static int compare_moments(const void *a, const void *b)
{
	const Moment *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void find_bounds(Space *self)
{
	guint kept = 0;

	for (guint i = 0; i < self->mappings->len; i++) {
		const LodeMappedRange *range = &g_array_index(self->mappings, Mapping, i).range;
		g_array_append_val(self->bounds, range->start);
		g_array_append_val(self->bounds, range->end);
	}
	g_array_sort(self->bounds, compare_addresses);
	for (guint i = 0; i < self->bounds->len; i++) {
		uint64_t bound = g_array_index(self->bounds, uint64_t, i);
		if (kept == 0 || g_array_index(self->bounds, uint64_t, kept - 1) != bound)
			g_array_index(self->bounds, uint64_t, kept++) = bound;
	}
	g_array_set_size(self->bounds, kept);
}

/* The last piece that begins at or before the address; UINT32_MAX: none. */
static uint32_t find_piece(const Space *self, uint64_t address)
{
	guint n = LODE_PARTITION_POINT(
		self->bounds->len, i, g_array_index(self->bounds, uint64_t, i) <= address);

	return n > 0 && n < self->bounds->len ? n - 1 : UINT32_MAX;
}

static uint32_t last_piece(const Space *self, const LodeMappedRange *range)
{
	return find_piece(self, range->end - 1);
}

/* Counts how many mappings cover each piece, so that first[i + 1] is the number of piece i. */
static bool count_versions(LodeAddressSpaces *self, Space *space, GError **error)
{
	space->first = g_new0(uint32_t, (size_t)space->bounds->len + 1);
	for (guint i = 0; i < space->mappings->len; i++) {
		const LodeMappedRange *range = &g_array_index(space->mappings, Mapping, i).range;
		uint32_t end = last_piece(space, range) + 1;
		for (uint32_t piece = find_piece(space, range->start); piece < end; piece++) {
			space->first[piece + 1]++;
			self->n_versions++;
		}
		if (self->n_versions > MAX_VERSIONS) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
				"its mappings overlap too often");
			return false;
		}
	}
	for (guint i = 0; i < space->bounds->len; i++)
		space->first[i + 1] += space->first[i];
	return true;
}

static void fill_versions(Space *self)
{
	g_autofree uint32_t *next = g_memdup2(
		self->first, sizeof(uint32_t) * ((size_t)self->bounds->len + 1));

	self->versions = g_new(uint32_t, MAX(self->first[self->bounds->len], 1));
	for (guint i = 0; i < self->mappings->len; i++) {
		const LodeMappedRange *range = &g_array_index(self->mappings, Mapping, i).range;
		uint32_t end = last_piece(self, range) + 1;
		for (uint32_t piece = find_piece(self, range->start); piece < end; piece++)
			self->versions[next[piece]++] = i;
	}
}

bool lode_address_spaces_freeze(LodeAddressSpaces *self, GError **error)
{
	GHashTableIter iterator;
	void *value;

	g_hash_table_iter_init(&iterator, self->spaces);
	while (g_hash_table_iter_next(&iterator, NULL, &value)) {
		Space *space = value;
		g_array_sort(space->mappings, compare_moments);
		g_array_sort(space->births, compare_moments);
		find_bounds(space);
		if (!count_versions(self, space, error))
			return false;
		fill_versions(space);
	}
	return true;
}

static bool is_at_or_before(const Moment *moment, const Moment *other)
{
	return compare_moments(moment, other) <= 0;
}

/* How many of the mappings that covered a piece had begun at that moment. */
static uint32_t count_begun(const Space *self, uint32_t piece, const Moment *moment)
{
	const Mapping *mappings = (const Mapping *)(const void *)self->mappings->data;
	const uint32_t *versions = self->versions + self->first[piece];

	return LODE_PARTITION_POINT(self->first[piece + 1] - self->first[piece], i,
		is_at_or_before(&mappings[versions[i]].moment, moment));
}

/* How many births there were until then. */
static guint count_births(const Space *self, const Moment *moment)
{
	return LODE_PARTITION_POINT(self->births->len, i,
		is_at_or_before(&g_array_index(self->births, Birth, i).moment, moment));
}

static const Mapping *version(const Space *self, uint32_t piece, uint32_t index)
{
	uint32_t at = self->first[piece] + index;

	return at < self->first[piece + 1]
	               ? &g_array_index(self->mappings, Mapping, self->versions[at])
	               : NULL;
}

/* What a process itself mapped there since it was born. */
static const LodeMappedRange *find_own(const Space *self, uint64_t address, const Moment *at,
	const Birth **out_birth, LodeMappedPeriod *out_period)
{
	uint32_t piece = find_piece(self, address);
	guint n_births = count_births(self, at);
	const Birth *birth = n_births > 0 ? &g_array_index(self->births, Birth, n_births - 1)
	                                  : NULL;

	*out_birth = birth;
	if (piece == UINT32_MAX)
		return NULL;
	uint32_t n = count_begun(self, piece, at);
	const Mapping *mapping = n > 0 ? version(self, piece, n - 1) : NULL;
	if (mapping == NULL ||
		(birth != NULL && compare_moments(&birth->moment, &mapping->moment) > 0))
		return NULL;
	const Mapping *next = version(self, piece, n);
	out_period->begin_ns = mapping->moment.time_ns;
	out_period->end_ns = next != NULL ? next->moment.time_ns : UINT64_MAX;
	if (n_births < self->births->len)
		out_period->end_ns = MIN(out_period->end_ns,
			g_array_index(self->births, Birth, n_births).moment.time_ns);
	return &mapping->range;
}

const LodeMappedRange *lode_address_spaces_find(LodeAddressSpaces *self, uint32_t pid,
	uint64_t address, uint64_t time_ns, LodeMappedPeriod *out_period)
{
	Moment moment = {time_ns, UINT32_MAX};
	const Birth *birth;

	for (unsigned i = 0; i < MAX_ANCESTORS; i++) {
		const Space *space = find_space(self, pid);
		LodeMappedPeriod period = {0, 0};
		if (space == NULL)
			return NULL;
		const LodeMappedRange *own = find_own(space, address, &moment, &birth, &period);
		/* What an ancestor had says nothing of the times in this process. */
		if (own != NULL && i == 0 && out_period != NULL)
			*out_period = period;
		if (own != NULL)
			return own;
		if (birth == NULL || birth->parent == UINT32_MAX)
			return NULL;
		pid = birth->parent;
		moment = birth->moment;
	}
	return NULL;
}

LodeAddressSpaceBirth lode_address_spaces_find_birth(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns)
{
	const Moment moment = {time_ns, UINT32_MAX};
	const Space *space = find_space(self, pid);
	guint n = space != NULL ? count_births(space, &moment) : 0;
	LodeAddressSpaceBirth found = {0, UINT64_MAX, UINT32_MAX};

	if (space != NULL && n < space->births->len)
		found.end_ns = g_array_index(space->births, Birth, n).moment.time_ns;
	if (n > 0) {
		const Birth *birth = &g_array_index(space->births, Birth, n - 1);
		found.time_ns = birth->moment.time_ns;
		found.parent = birth->parent;
	}
	return found;
}
