/* SPDX-License-Identifier: MIT */
/*
 * The attributes of an instruction that its data addresses give, by samples and windows: stride,
 * lines, conflict, spread; and the site of the allocations that it accesses most.
 */
#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "ingest/join/attributes/address_facts.h"
#include "ingest/join/join.h"
#include "ingest/windows/window_reading.h"
#include "machine/tlb_sizes.h"
#include "model/memory.h"
#include "model/profile.h"

enum {
	PAGE = 4096,
	HUGE_PAGE = 2 << 20,
	UNKNOWN_SETS = 64, /* a first level of 32 KiB, as where windows do not know it */
	UNKNOWN_WAYS = 8,
	MOST_HUGE_FAULTS = 8, /* with more of its pages faulted, a range of 2 MiB is no huge page */
};

/* Where one of some page faults was sampled: those of a mapping, and what was accessed of it. */
typedef struct {
	double faults;
	uint32_t n_ranges; /* of 2 MiB */
} MappedRange;

/* The weight of an instruction's samples in the allocations of a site; LODE_NONE: in others. */
typedef struct {
	uint32_t instruction, site;
	double weight;
} SiteWeight;

typedef struct {
	LodeProfile *profile;
	GArray *draws; /* LodeAddressDraw, by instruction */
	GArray *sites; /* SiteWeight, by instruction and site */
	GArray *pools; /* LodeAddressPool, by number */
	const LodeJoinCode *codes;
	LodeUsedMembers *used;
	GHashTable *faulted;     /* pages with a page fault */
	GHashTable *n_faults;    /* page of 2 MiB → pages in it with a page fault */
	GHashTable *ranges;      /* pages of 2 MiB that were accessed */
	MappedRange *mapped;     /* × mappings */
	bool has_sampled_faults; /* one of some stands for all */
	GHashTable *numbers;     /* site or object → number of the pool + 1 */
	GArray *ids;             /* uint32_t: attributes of the instruction at hand */
	uint32_t reach;
	uint32_t n_sets, n_ways; /* of the first level */
} Joining;

LODE_ORDER(compare_draws, LodeAddressDraw, LODE_ASCENDING(instruction), LODE_ASCENDING(pool))
LODE_ORDER(compare_pools, LodeAddressDraw, LODE_ASCENDING(pool), LODE_ASCENDING(instruction))
LODE_ORDER(compare_sites, SiteWeight, LODE_ASCENDING(instruction), LODE_ASCENDING(site))

static uint64_t page_number(const Joining *self, const LodeMemorySample *sample, uint64_t page_size)
{
	const GArray *threads = self->profile->memory->threads;

	return sample->address / page_size ^
	       (LODE_AT(threads, LodeThread, sample->thread).pid + page_size) *
	               LODE_HASH_MULTIPLIER;
}

static void add_fault(Joining *self, const LodeMemorySample *sample)
{
	gpointer huge = GSIZE_TO_POINTER(page_number(self, sample, HUGE_PAGE));

	if (g_hash_table_add(self->faulted, GSIZE_TO_POINTER(page_number(self, sample, PAGE))))
		g_hash_table_insert(self->n_faults, huge,
			GUINT_TO_POINTER(
				GPOINTER_TO_UINT(g_hash_table_lookup(self->n_faults, huge)) + 1));
	self->has_sampled_faults = self->has_sampled_faults || sample->weight > 1;
	if (sample->mapping != LODE_NONE)
		self->mapped[sample->mapping].faults += sample->weight;
}

static void add_range(Joining *self, const LodeMemorySample *sample)
{
	gpointer huge = GSIZE_TO_POINTER(page_number(self, sample, HUGE_PAGE));

	if (sample->mapping != LODE_NONE && g_hash_table_add(self->ranges, huge))
		self->mapped[sample->mapping].n_ranges++;
}

/* Whether a mapping had too few page faults for its pages to be of 4 KiB. */
static bool is_of_huge_pages(const Joining *self, uint32_t mapping)
{
	return mapping != LODE_NONE &&
	       self->mapped[mapping].faults <= MOST_HUGE_FAULTS * self->mapped[mapping].n_ranges;
}

/* The page of an address. Where page faults were recorded, a page of 4 KiB that had none, among
 * some that had, is a part of a huge page; where some of them were, a mapping is taken as one. */
static uint64_t find_page(const Joining *self, const LodeMemorySample *sample)
{
	uint64_t page = page_number(self, sample, PAGE);
	uint64_t huge = page_number(self, sample, HUGE_PAGE);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(self->n_faults, GSIZE_TO_POINTER(huge)));
	bool is_huge = n > 0 && n <= MOST_HUGE_FAULTS &&
	               !g_hash_table_contains(self->faulted, GSIZE_TO_POINTER(page));

	if (self->has_sampled_faults)
		is_huge = is_of_huge_pages(self, sample->mapping);
	return is_huge ? huge : page;
}

/* Blocks of one site are one object; so is what has one name. */
static uint32_t pool_of(Joining *self, uint32_t object)
{
	const LodeDataObject *it = &LODE_AT(self->profile->memory->objects, LodeDataObject, object);
	gsize key = it->site != LODE_NONE ? (gsize)it->site << 1 : (gsize)object << 1 | 1;
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(self->numbers, GSIZE_TO_POINTER(key)));

	if (found == 0) {
		const LodeAddressPool pool = {0};
		g_array_append_val(self->pools, pool);
		found = self->pools->len;
		g_hash_table_insert(self->numbers, GSIZE_TO_POINTER(key), GUINT_TO_POINTER(found));
	}
	return found - 1;
}

static void add_draw(Joining *self, const LodeMemorySample *sample, bool is_of_window)
{
	const LodeAddressDraw draw = {
		.page = find_page(self, sample),
		.address = sample->address,
		.time_ns = sample->time_ns,
		.size = sample->size,
		.instruction = sample->access_instruction,
		.thread = sample->thread,
		.pool = sample->object != LODE_NONE ? pool_of(self, sample->object) : LODE_NONE,
		.used_bytes = lode_used_members_of_line(self->used, sample),
		.is_of_time = !is_of_window,
	};

	g_array_append_val(self->draws, draw);
}

static void add_site(Joining *self, const LodeMemorySample *sample)
{
	const SiteWeight site = {
		.instruction = sample->access_instruction,
		.site = LODE_AT(self->profile->memory->objects, LodeDataObject, sample->object)
	                        .site,
		.weight = sample->weight,
	};

	g_array_append_val(self->sites, site);
}

static bool is_fault(const Joining *self, const LodeMemorySample *sample)
{
	return lode_is_page_fault_event(lode_profile_event(self->profile, sample->event)->name);
}

/* A program that was started has some faults before it touches its data, of which none may have
 * been sampled where each stands for many. */
static bool counted_faults(const Joining *self)
{
	enum { FAULTS_OF_A_START = 32 };

	for (guint i = 0; i < self->profile->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(self->profile, i);
		if (lode_is_page_fault_event(event->name) && event->total >= FAULTS_OF_A_START)
			return true;
	}
	return false;
}

static void add_samples(Joining *self)
{
	const GArray *samples = self->profile->memory->samples;
	uint32_t windows = lode_profile_find_event(self->profile, LODE_WINDOW_ACCESSES);

	for (guint i = 0; i < samples->len; i++)
		if (is_fault(self, &LODE_AT(samples, LodeMemorySample, i)))
			add_fault(self, &LODE_AT(samples, LodeMemorySample, i));
		else if (LODE_AT(samples, LodeMemorySample, i).rule != LODE_RULE_NONE)
			add_range(self, &LODE_AT(samples, LodeMemorySample, i));
	if (g_hash_table_size(self->faulted) == 0)
		self->has_sampled_faults = counted_faults(self);
	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		bool is_of_window = sample->event == windows;
		if (sample->access_instruction == LODE_NONE || sample->is_next ||
			sample->rule == LODE_RULE_TRACED || is_fault(self, sample))
			continue;
		if (sample->rule != LODE_RULE_NONE)
			add_draw(self, sample, is_of_window);
		if (sample->object != LODE_NONE && !is_of_window)
			add_site(self, sample);
	}
	g_array_sort(self->draws, compare_draws);
	g_array_sort(self->sites, compare_sites);
}

static void add_attribute(Joining *self, const char *text)
{
	uint32_t id = lode_profile_attribute(self->profile, text);

	g_array_append_val(self->ids, id);
}

/* "site:malloc@parse.c:120": of the one that has at least half of the weight. `next`: the first
 * row of the instruction, or of one after it; moved on. */
static void add_best_site(Joining *self, uint32_t instruction, guint *next)
{
	uint32_t best = LODE_NONE;
	double all = 0, most = 0, own = 0;

	for (guint i = *next; i < self->sites->len; *next = ++i) {
		const SiteWeight *row = &LODE_AT(self->sites, SiteWeight, i);
		if (row->instruction != instruction)
			break;
		own = i > 0 && row[-1].instruction == instruction && row[-1].site == row->site
		              ? own + row->weight
		              : row->weight;
		all += row->weight;
		if (own > most) {
			most = own;
			best = row->site;
		}
	}
	if (best == LODE_NONE || !(most >= all / 2))
		return;
	g_autofree char *text = g_strconcat("site:",
		LODE_AT(self->profile->memory->sites, LodeAllocationSite, best).name, NULL);
	add_attribute(self, text);
}

/* The draws of an instruction. */
typedef struct {
	LodeAddressDraw *draws;
	guint n;
	uint32_t pool; /* of most of them; LODE_NONE: there are none, or the object is not known */
} Own;

/* `next`: the first draw of the instruction, or of one after it; moved on. */
static Own own_draws(const Joining *self, uint32_t instruction, guint *next)
{
	Own own = {.pool = LODE_NONE};
	guint n_of_pool = 0, most = 0;

	own.draws = &LODE_AT(self->draws, LodeAddressDraw, *next);
	for (; *next < self->draws->len; ++*next, own.n++) {
		const LodeAddressDraw *draw = &own.draws[own.n];
		if (draw->instruction != instruction)
			break;
		bool is_same = own.n > 0 && draw[-1].pool == draw->pool;
		n_of_pool = is_same ? n_of_pool + 1 : 1;
		if (n_of_pool > most) {
			most = n_of_pool;
			own.pool = draw->pool;
		}
	}
	return own;
}

static const LodeObservedInstruction *windows_of(const Joining *self, uint32_t instruction)
{
	const LodeWindows *windows = self->profile->windows;

	return windows != NULL ? lode_windows_find(windows, instruction) : NULL;
}

static void add_to_pool(Joining *self, uint32_t instruction, const Own *own)
{
	LodeAddressPool *pool = &LODE_AT(self->pools, LodeAddressPool, own->pool);
	const LodeObservedInstruction *windows = windows_of(self, instruction);
	LodeAddressMoves moves = lode_address_facts_moves(own->draws, own->n);

	pool->moves.n_up += moves.n_up;
	pool->moves.n_down += moves.n_down;
	if (windows == NULL)
		return;
	pool->compared += lode_window_compared_accesses(windows);
	pool->judged += lode_window_judged_accesses(windows);
	pool->page_changes += windows->page_changes;
	pool->conflicting += windows->loads.conflicting;
	pool->line_visits += windows->line_visits;
	pool->line_used_bytes += windows->line_used_bytes;
}

static void fill_pools(Joining *self)
{
	LodeAddressDraw *draws = (LodeAddressDraw *)(void *)self->draws->data;
	guint n = self->draws->len, next = 0;

	while (next < n) {
		uint32_t instruction = draws[next].instruction;
		Own own = own_draws(self, instruction, &next);
		if (own.pool != LODE_NONE)
			add_to_pool(self, instruction, &own);
	}
	g_array_sort(self->draws, compare_pools);
	for (guint i = 0, end; i < n && draws[i].pool != LODE_NONE; i = end) {
		LodeAddressPool *pool = &LODE_AT(self->pools, LodeAddressPool, draws[i].pool);
		pool->least = pool->most = draws[i].address;
		for (end = i; end < n && draws[end].pool == draws[i].pool; end++) {
			pool->least = MIN(pool->least, draws[end].address);
			pool->most = MAX(pool->most, draws[end].address);
		}
		pool->n_draws = end - i;
		pool->n_pairs = lode_address_facts_count_pairs(&draws[i], end - i);
	}
	g_array_sort(self->draws, compare_draws);
}

static void add_facts(Joining *self, uint32_t instruction, guint *next)
{
	char texts[LODE_ADDRESS_FACTS_MOST][LODE_ADDRESS_FACT_SIZE];
	Own own = own_draws(self, instruction, next);
	const LodeAddressEvidence evidence = {
		.windows = windows_of(self, instruction),
		.draws = own.draws,
		.n = own.n,
		.pool = own.pool != LODE_NONE ? &LODE_AT(self->pools, LodeAddressPool, own.pool)
	                                      : NULL,
		.is_step_known = self->codes[instruction].loop_depth == 0 ||
	                         self->codes[instruction].is_on_way,
		.is_linear = self->codes[instruction].is_linear,
		.walk = self->codes[instruction].walk,
		.n_sets = self->n_sets,
		.n_ways = self->n_ways,
		.reach = self->reach,
	};

	unsigned n = lode_address_facts_make(&evidence, texts);
	for (unsigned i = 0; i < n; i++)
		add_attribute(self, texts[i]);
}

static void extend_set(Joining *self, uint32_t number)
{
	LodeProfile *profile = self->profile;
	LodeInstruction *instruction = lode_profile_instruction(profile, number);
	uint32_t n;
	const uint32_t *members = lode_profile_set_members(profile, instruction->attribute_set, &n);

	g_array_append_vals(self->ids, members, n);
	instruction->attribute_set = lode_profile_attribute_set(
		profile, (const uint32_t *)(const void *)self->ids->data, self->ids->len);
}

void lode_join_addresses(LodeProfile *profile, const LodeJoinCode *codes,
	const LodeJoinObjects *objects, const LodeJoinContext *context)
{
	const LodeWindowReading *windows = context->windows;
	Joining joining = {
		.profile = profile,
		.draws = g_array_new(FALSE, FALSE, sizeof(LodeAddressDraw)),
		.sites = g_array_new(FALSE, FALSE, sizeof(SiteWeight)),
		.pools = g_array_new(FALSE, FALSE, sizeof(LodeAddressPool)),
		.codes = codes,
		.used = lode_used_members_new(profile, codes, objects),
		.faulted = g_hash_table_new(g_direct_hash, NULL),
		.n_faults = g_hash_table_new(g_direct_hash, NULL),
		.ranges = g_hash_table_new(g_direct_hash, NULL),
		.mapped = g_new0(MappedRange,
			profile->memory != NULL ? MAX(profile->memory->mappings->len, 1) : 1),
		.numbers = g_hash_table_new(g_direct_hash, NULL),
		.ids = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.reach = lode_tlb_sizes_of(context->processor)->second,
		.n_sets = windows != NULL ? windows->cache_sets : UNKNOWN_SETS,
		.n_ways = windows != NULL ? windows->cache_ways : UNKNOWN_WAYS,
	};
	guint draw = 0, site = 0;

	if (profile->memory != NULL)
		add_samples(&joining);
	fill_pools(&joining);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		g_array_set_size(joining.ids, 0);
		add_facts(&joining, i, &draw);
		add_best_site(&joining, i, &site);
		if (joining.ids->len > 0)
			extend_set(&joining, i);
	}
	g_array_unref(joining.draws);
	g_array_unref(joining.sites);
	g_array_unref(joining.pools);
	lode_used_members_free(joining.used);
	g_hash_table_unref(joining.faulted);
	g_hash_table_unref(joining.n_faults);
	g_hash_table_unref(joining.ranges);
	g_free(joining.mapped);
	g_hash_table_unref(joining.numbers);
	g_array_unref(joining.ids);
}
