/* SPDX-License-Identifier: MIT */
/*
 * Each process has a tree of disjoint ranges: its current mappings. With a history, the owner of a
 * range is a version, which knows the one that it covered: a chain, newest first, that ranges share
 * when a mapping cuts them in two. Each version also knows one further down the chain, chosen as in
 * E. W. Myers, "An applicative random-access stack", Information Processing Letters 17 (1983), so
 * that a time is found in logarithmically many steps however often memory was mapped anew.
 */
#include "process/address_space.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "sources/allocations/live_ranges.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	/* Ranges that a mapping covers, on average beside the first million: of all processes. */
	MAX_COVERED = 64,
	COVERED_FREE = 1 << 20,
	MAX_ANCESTORS = 64, /* a chain of forks without exec; hostile files make long ones */
};

/* A time and, where times are equal, what came first. */
typedef struct {
	uint64_t time_ns;
	uint32_t order;
} Moment;

/* Without a history, ranges of equal kind (name, protection, file) share one. */
typedef struct {
	Moment moment;
	uint32_t pid;
	LodeMappedRange range;
} Mapping;

/* The address space became empty, or a copy of the parent's. */
typedef struct {
	Moment moment;
	uint32_t parent; /* a pid; UINT32_MAX: none */
} Birth;

/* Version 0 ends each chain, or the one of all that is forgotten. */
typedef struct {
	uint32_t mapping;
	uint32_t before, further; /* versions that were there earlier */
	uint32_t depth;
} Version;

enum { FORGOTTEN = 1, FIRST_VERSION };

typedef struct {
	LodeLiveRanges *now; /* owner: a version; of the present a mapping */
	GArray *births;      /* Birth, by moment; of the present none */
	uint32_t grown;      /* the heap or stack that was mapped last and lies there; UINT32_MAX */
} Space;

struct LodeAddressSpaces {
	GHashTable *spaces; /* pid → Space */
	GArray *mappings;   /* Mapping; of a history in the order of the calls */
	GArray *versions;   /* Version */
	GHashTable *kinds;  /* of the present: kind as text → mapping + 1 */
	GStringChunk *names;
	bool has_history;
	uint32_t n_events;
	uint64_t n_covered; /* ranges that mappings met */
	uint64_t n_forgetting;
	uint64_t generation;
	uint32_t last_pid; /* of the last look-up, and its space */
	Space *last;
	LodeMappedRange found; /* of the present */
};

const char lode_address_spaces_why_forgotten[] =
	"mappings that overlap too often: what lay there before is not known";

static const char anonymous[] = "[anon]", shared[] = "[shared memory]";

static void space_free(void *data)
{
	Space *self = data;

	lode_live_ranges_free(self->now);
	g_array_unref(self->births);
	g_free(self);
}

LodeAddressSpaces *lode_address_spaces_new(void)
{
	LodeAddressSpaces *self = g_new0(LodeAddressSpaces, 1);

	self->spaces = g_hash_table_new_full(NULL, NULL, NULL, space_free);
	self->mappings = g_array_new(FALSE, FALSE, sizeof(Mapping));
	self->versions = g_array_new(FALSE, TRUE, sizeof(Version));
	g_array_set_size(self->versions, FIRST_VERSION);
	self->kinds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->names = g_string_chunk_new(4096);
	self->has_history = true;
	return self;
}

LodeAddressSpaces *lode_address_spaces_new_live(void)
{
	LodeAddressSpaces *self = lode_address_spaces_new();

	self->has_history = false;
	return self;
}

void lode_address_spaces_free(LodeAddressSpaces *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->spaces);
	g_array_unref(self->mappings);
	g_array_unref(self->versions);
	g_hash_table_unref(self->kinds);
	g_string_chunk_free(self->names);
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
	space->now = lode_live_ranges_new();
	space->births = g_array_new(FALSE, FALSE, sizeof(Birth));
	space->grown = UINT32_MAX;
	g_hash_table_insert(self->spaces, GUINT_TO_POINTER(pid), space);
	self->last = space;
	return space;
}

static void drop_space(LodeAddressSpaces *self, uint32_t pid)
{
	self->last = NULL;
	g_hash_table_remove(self->spaces, GUINT_TO_POINTER(pid));
	self->generation++;
}

static Mapping *mapping_at(const LodeAddressSpaces *self, uint32_t index)
{
	return &g_array_index(self->mappings, Mapping, index);
}

static Moment next_moment(LodeAddressSpaces *self, uint64_t time_ns)
{
	return (Moment){time_ns, self->n_events++};
}

static int compare_moments(const Moment *left, const Moment *right)
{
	return LODE_FIRST_DIFFERENCE(LODE_ASCENDING(time_ns), LODE_ASCENDING(order));
}

const char *lode_address_spaces_name(LodeAddressSpaces *self, const char *path)
{
	if (path[0] == '\0' || g_str_has_prefix(path, "//anon") || strcmp(path, "anon_inode:") == 0)
		path = anonymous;
	else if (g_str_has_prefix(path, "/dev/zero")) /* the kernel's name where it has no file */
		path = shared;
	return g_string_chunk_insert_const(self->names, path);
}

/* --- the present --- */

/* A stack that grew, or was reported again, still belongs to that thread. */
static const char *name_now(
	LodeAddressSpaces *self, const Space *space, const LodeMappedRange *range)
{
	const char *name = range->name != NULL ? lode_address_spaces_name(self, range->name) : NULL;
	const LodeLiveRange *old = lode_live_ranges_find(space->now, range->end - 1);

	if (name == NULL || strcmp(name, anonymous) != 0 || old == NULL || old->end != range->end)
		return name;
	const char *before = mapping_at(self, old->owner)->range.name;
	return before != NULL && g_str_has_prefix(before, "[stack of") ? before : name;
}

static uint32_t kind_of(LodeAddressSpaces *self, const LodeMappedRange *range)
{
	g_autofree char *text = g_strdup_printf(
		"%x %x %s", range->protection, range->file, range->name != NULL ? range->name : "");
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(self->kinds, text));
	const Mapping mapping = {.range = *range};

	if (found != 0)
		return found - 1;
	g_array_append_val(self->mappings, mapping);
	g_hash_table_insert(
		self->kinds, g_steal_pointer(&text), GUINT_TO_POINTER(self->mappings->len));
	return self->mappings->len - 1;
}

static void map_now(LodeAddressSpaces *self, uint32_t pid, const LodeMappedRange *range)
{
	Space *space = space_of(self, pid);
	LodeMappedRange named = *range;

	named.name = name_now(self, space, range);
	const LodeLiveRange put = {
		.start = range->start,
		.end = range->end,
		.origin = range->start - range->offset,
		.owner = kind_of(self, &named),
	};
	lode_live_ranges_put(space->now, &put, NULL);
	self->generation++;
}

static const LodeMappedRange *find_now(
	LodeAddressSpaces *self, const Space *space, uint64_t address)
{
	const LodeLiveRange *range = lode_live_ranges_find(space->now, address);

	if (range == NULL)
		return NULL;
	self->found = mapping_at(self, range->owner)->range;
	self->found.start = range->start;
	self->found.end = range->end;
	self->found.offset = range->start - range->origin;
	return &self->found;
}

static void fork_now(LodeAddressSpaces *self, uint32_t pid, uint32_t parent_pid)
{
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));

	lode_live_ranges_list(space_of(self, parent_pid)->now, ranges);
	drop_space(self, pid);
	Space *space = space_of(self, pid);
	for (guint i = 0; i < ranges->len; i++)
		lode_live_ranges_put(space->now, &g_array_index(ranges, LodeLiveRange, i), NULL);
}

void lode_address_spaces_set_stack(
	LodeAddressSpaces *self, uint32_t pid, uint64_t pointer, uint32_t ordinal)
{
	const LodeMappedRange *found = lode_address_spaces_find(
		self, pid, pointer, LODE_TIME_NOW, NULL);

	if (found == NULL || found->name == NULL || strcmp(found->name, anonymous) != 0)
		return;
	LodeMappedRange named = *found;
	g_autofree char *name = g_strdup_printf("[stack of thread %" G_GUINT32_FORMAT "]", ordinal);
	named.name = name;
	map_now(self, pid, &named);
}

uint64_t lode_address_spaces_generation(const LodeAddressSpaces *self)
{
	return self->generation;
}

/* --- what happened --- */

void lode_address_spaces_map(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns, const LodeMappedRange *range)
{
	if (range->start >= range->end)
		return;
	if (!self->has_history) {
		map_now(self, pid, range);
		return;
	}
	Mapping mapping = {next_moment(self, time_ns), pid, *range};
	if (range->name != NULL)
		mapping.range.name = lode_address_spaces_name(self, range->name);
	g_array_append_val(self->mappings, mapping);
	space_of(self, pid);
}

void lode_address_spaces_exec(LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns)
{
	Birth birth = {next_moment(self, time_ns), UINT32_MAX};

	if (self->has_history)
		g_array_append_val(space_of(self, pid)->births, birth);
	else
		drop_space(self, pid);
}

void lode_address_spaces_fork(
	LodeAddressSpaces *self, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	Birth birth = {next_moment(self, time_ns), parent_pid};

	if (pid == parent_pid)
		return;
	if (self->has_history)
		g_array_append_val(space_of(self, pid)->births, birth);
	else
		fork_now(self, pid, parent_pid);
}

void lode_address_spaces_exit(LodeAddressSpaces *self, uint32_t pid)
{
	if (!self->has_history)
		drop_space(self, pid);
}

/* --- the history --- */

static const Moment *moment_of(const LodeAddressSpaces *self, uint32_t version)
{
	static const Moment earliest = {0, 0};

	if (version < FIRST_VERSION)
		return &earliest;
	uint32_t mapping = g_array_index(self->versions, Version, version).mapping;

	return &mapping_at(self, mapping)->moment;
}

static bool is_after(const LodeAddressSpaces *self, uint32_t version, const Moment *moment)
{
	return compare_moments(moment_of(self, version), moment) > 0;
}

static uint32_t add_version(LodeAddressSpaces *self, uint32_t mapping, uint32_t before)
{
	const Version *versions = (const Version *)(const void *)self->versions->data;
	const Version *last = &versions[before], *jump = &versions[last->further];
	const Version added = {
		.mapping = mapping,
		.before = before,
		.further = last->depth - jump->depth == jump->depth - versions[jump->further].depth
	                           ? jump->further
	                           : before,
		.depth = last->depth + 1,
	};

	g_array_append_val(self->versions, added);
	return self->versions->len - 1;
}

/* How many births there were until then. */
static guint count_births(const Space *self, const Moment *moment)
{
	return LODE_PARTITION_POINT(self->births->len, i,
		compare_moments(&g_array_index(self->births, Birth, i).moment, moment) <= 0);
}

/* The heap and the first stack are reported again each time they grow. Other memory at the same
 * place may have been unmapped in between. */
static bool is_growing(const LodeMappedRange *range)
{
	return range->name != NULL && range->name[0] == '[' &&
	       strcmp(range->name, anonymous) != 0 && strcmp(range->name, shared) != 0;
}

static bool is_grown_from(const Space *space, const Mapping *mapping, const Mapping *old)
{
	const LodeMappedRange *before = &old->range, *now = &mapping->range;

	return now->name == before->name && now->protection == before->protection &&
	       now->start <= before->start && now->end >= before->end &&
	       (now->start == before->start || now->end == before->end) &&
	       count_births(space, &old->moment) == count_births(space, &mapping->moment);
}

/* The new part of a mapping: if it has grown, the additional part. */
static void find_new_part(const LodeAddressSpaces *self, Space *space, uint32_t index,
	uint64_t *out_start, uint64_t *out_end)
{
	const Mapping *mapping = mapping_at(self, index);
	const Mapping *old = space->grown != UINT32_MAX ? mapping_at(self, space->grown) : NULL;
	bool meets = old != NULL && mapping->range.start < old->range.end &&
	             old->range.start < mapping->range.end;

	*out_start = mapping->range.start;
	*out_end = mapping->range.end;
	if (meets && is_grown_from(space, mapping, old)) {
		if (old->range.start == mapping->range.start)
			*out_start = old->range.end;
		else
			*out_end = old->range.start;
		space->grown = index;
	} else if (is_growing(&mapping->range)) {
		space->grown = index;
	} else if (meets) {
		space->grown = UINT32_MAX;
	}
}

/* Puts it there as if nothing had been there. */
static void forget_below(
	LodeAddressSpaces *self, Space *space, uint32_t index, uint64_t start, uint64_t end)
{
	const LodeLiveRange whole = {
		.start = start, .end = end, .owner = add_version(self, index, FORGOTTEN)};

	lode_live_ranges_put(space->now, &whole, NULL);
	self->n_forgetting++;
}

static void cover(LodeAddressSpaces *self, uint32_t index)
{
	Space *space = space_of(self, mapping_at(self, index)->pid);
	uint64_t limit = COVERED_FREE + (uint64_t)MAX_COVERED * self->mappings->len;
	uint64_t at, end;

	find_new_part(self, space, index, &at, &end);
	while (at < end) {
		const LodeLiveRange *old = lode_live_ranges_find_in(space->now, at, end);
		if (old != NULL && self->n_covered > limit) {
			forget_below(self, space, index, at, end);
			return;
		}
		bool is_free = old == NULL || old->start > at;
		uint64_t part_end = is_free ? (old != NULL ? old->start : end) : MIN(old->end, end);
		const LodeLiveRange part = {
			.start = at,
			.end = part_end,
			.owner = add_version(self, index, is_free ? 0 : old->owner),
		};
		lode_live_ranges_put(space->now, &part, NULL);
		at = part_end;
		self->n_covered++;
	}
}

LODE_ORDER(compare_births, Birth, compare_moments(&left->moment, &right->moment))

static int compare_mappings(const void *a, const void *b, void *data)
{
	const LodeAddressSpaces *self = data;

	return compare_moments(&mapping_at(self, *(const uint32_t *)a)->moment,
		&mapping_at(self, *(const uint32_t *)b)->moment);
}

uint64_t lode_address_spaces_freeze(LodeAddressSpaces *self, const LodeProgress *progress)
{
	guint n = self->mappings->len;
	g_autofree uint32_t *order = g_new(uint32_t, MAX(n, 1));
	GHashTableIter iterator;
	void *space;

	g_hash_table_iter_init(&iterator, self->spaces);
	while (g_hash_table_iter_next(&iterator, NULL, &space))
		g_array_sort(((Space *)space)->births, compare_births);
	for (guint i = 0; i < n; i++)
		order[i] = i;
	if (n > 1)
		g_qsort_with_data(order, (gint)n, sizeof(uint32_t), compare_mappings, self);
	for (guint i = 0; i < n && !lode_progress_is_cancelled(progress); i++)
		cover(self, order[i]);
	return self->n_forgetting;
}

/* The newest version of a chain that had begun at that moment; 0: none. `out_next` is the one that
 * came after it; 0: none. */
static uint32_t version_at(
	const LodeAddressSpaces *self, uint32_t newest, const Moment *moment, uint32_t *out_next)
{
	uint32_t version = newest;

	*out_next = 0;
	while (version != 0 && is_after(self, version, moment)) {
		const Version *row = &g_array_index(self->versions, Version, version);
		bool is_far = row->further != 0 && is_after(self, row->further, moment);
		if (!is_far)
			*out_next = version;
		version = is_far ? row->further : row->before;
	}
	return version;
}

/* The newest version from `version` on down its chain that may be executed; 0: none. Code under
 * data was there earlier: if thousands are stacked, only some are searched. */
static uint32_t find_executable(const LodeAddressSpaces *self, uint32_t version)
{
	enum { MAX_STEPS = 256 };

	for (unsigned i = 0; version >= FIRST_VERSION && i < MAX_STEPS; i++) {
		const Version *row = &g_array_index(self->versions, Version, version);
		if ((mapping_at(self, row->mapping)->range.protection & PROT_EXEC) != 0)
			return version;
		version = row->before;
	}
	return 0;
}

/* The result for a process at a moment. */
typedef struct {
	const LodeMappedRange *range, *under;
	const Birth *birth; /* of its address space then; NULL: none is known */
	LodeMappedPeriod period;
} Found;

static const LodeMappedRange *range_of(
	const LodeAddressSpaces *self, uint32_t version, const Birth *birth)
{
	if (version < FIRST_VERSION || (birth != NULL && !is_after(self, version, &birth->moment)))
		return NULL;
	return &mapping_at(self, g_array_index(self->versions, Version, version).mapping)->range;
}

/* The mapping under a mapping and all others of its name. */
static const LodeMappedRange *find_under(
	const LodeAddressSpaces *self, uint32_t version, const Birth *birth)
{
	enum { MAX_STEPS = 256 };
	const char *name = range_of(self, version, birth)->name;
	const LodeMappedRange *under = NULL;

	for (unsigned i = 0; i < MAX_STEPS && (under == NULL || under->name == name); i++) {
		version = g_array_index(self->versions, Version, version).before;
		version = find_executable(self, version);
		under = range_of(self, version, birth);
		if (under == NULL)
			return NULL;
	}
	return under;
}

/* The mappings there that a process itself made since it began; all of them if its begin is
 * unknown. */
static void find_own(const LodeAddressSpaces *self, const Space *space, uint64_t address,
	const Moment *at, bool wants_code, Found *out)
{
	const LodeLiveRange *range = lode_live_ranges_find(space->now, address);
	guint n_births = count_births(space, at);
	const Birth *birth = n_births > 0 ? &g_array_index(space->births, Birth, n_births - 1)
	                                  : NULL;
	uint32_t next = 0;
	uint32_t version = range != NULL ? version_at(self, range->owner, at, &next) : 0;

	*out = (Found){.birth = version != FORGOTTEN ? birth : NULL};
	if (wants_code)
		version = find_executable(self, version);
	out->range = range_of(self, version, birth);
	if (out->range == NULL)
		return;
	if (wants_code)
		out->under = find_under(self, version, birth);
	out->period.begin_ns = moment_of(self, version)->time_ns;
	out->period.end_ns = next != 0 ? moment_of(self, next)->time_ns : UINT64_MAX;
	if (n_births < space->births->len)
		out->period.end_ns = MIN(out->period.end_ns,
			g_array_index(space->births, Birth, n_births).moment.time_ns);
}

static const LodeMappedRange *find(LodeAddressSpaces *self, uint32_t pid, uint64_t address,
	uint64_t time_ns, bool wants_code, Found *out)
{
	Moment moment = {time_ns, UINT32_MAX};

	*out = (Found){NULL};
	for (unsigned i = 0; i < MAX_ANCESTORS; i++) {
		const Space *space = find_space(self, pid);
		if (space == NULL)
			return NULL;
		if (!self->has_history) {
			const LodeMappedRange *now = find_now(self, space, address);
			return now == NULL || (wants_code && (now->protection & PROT_EXEC) == 0)
			               ? NULL
			               : now;
		}
		find_own(self, space, address, &moment, wants_code, out);
		/* A mapping of an ancestor has no times in this process. */
		if (i > 0)
			out->period = (LodeMappedPeriod){0, 0};
		if (out->range != NULL || out->birth == NULL || out->birth->parent == UINT32_MAX)
			return out->range;
		pid = out->birth->parent;
		moment = out->birth->moment;
	}
	return NULL;
}

const LodeMappedRange *lode_address_spaces_find(LodeAddressSpaces *self, uint32_t pid,
	uint64_t address, uint64_t time_ns, LodeMappedPeriod *out_period)
{
	Found found;
	const LodeMappedRange *range = find(self, pid, address, time_ns, false, &found);

	if (out_period != NULL && found.period.end_ns > 0)
		*out_period = found.period;
	return range;
}

const LodeMappedRange *lode_address_spaces_find_code(LodeAddressSpaces *self, uint32_t pid,
	uint64_t address, uint64_t time_ns, LodeMappedPeriod *out_period,
	const LodeMappedRange **out_under)
{
	Found found;
	const LodeMappedRange *range = find(self, pid, address, time_ns, true, &found);

	if (out_period != NULL && found.period.end_ns > 0)
		*out_period = found.period;
	*out_under = found.under;
	return range;
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
