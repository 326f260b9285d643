/* SPDX-License-Identifier: MIT */
#include "record/probes/probe_places.h"

#include "base/arrays/id_cache.h"
#include "images/targets/branch_way.h"
#include "model/index.h"
#include "record/probes/probe_events.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum {
	RECENT = 512,      /* samples that say where the program is now */
	MAX_IPS = 1 << 14, /* sampled addresses whose code is kept… */
	MAX_PLACES = 1 << 15,
	PAGE = 4096,
	MAX_DECODED = 96,  /* instructions, from one sampled address */
	MAX_STRAIGHT = 40, /* of them in a row */
	MAX_BRANCHES = 3,  /* on the way */
	NEAR = 12,         /* accesses further away have nothing to do with the sample */
	AFTER_CLOCK = 24,  /* instructions whose branches may go by how long something took, */
	AFTER_ATOMIC = 6,  /* or by what another thread did: not asked for */
	LINE = 64,
	CHANGED_AFTER = 3, /* times without a hit: the code is not what it was */
};

#define KERNEL_HALF (UINT64_C(1) << 63)

typedef enum { BRANCH, INDIRECT, ACCESS, STRING } Kind;

typedef struct {
	uint64_t address;
	double recent; /* of the last samples, those nearby */
	uint64_t last_target;
	uint32_t n_hits;
	uint32_t n_misses; /* times in a row that no hit came */
	uint8_t kind;      /* Kind */
	bool has_several;  /* targets */
} Place;

/* A sampled address, and what is near. */
typedef struct {
	uint32_t first, n; /* of `nearby` */
	uint32_t n_recent;
	bool is_explored;
	uint64_t address;
} Ip;

typedef struct {
	uint32_t place;
	float factor; /* executions of it for each sampled one, roughly */
} Nearby;

typedef struct {
	uint32_t ip;
	pid_t tid;
} Recent;

struct LodeProbePlaces {
	pid_t pid;
	LodeIdCache ip_numbers, place_numbers; /* by address */
	GArray *ips, *places, *nearby;
	Recent recent[RECENT];
	uint64_t n_samples;
	LodeInstructionDecoder decoder;
	/* The page read last: code is read anew for each choice, as it may be made at run time. */
	uint8_t page[2 * PAGE];
	uint64_t page_address;
	size_t page_bytes;
};

LodeProbePlaces *lode_probe_places_new(pid_t pid)
{
	LodeProbePlaces *self = g_new0(LodeProbePlaces, 1);

	self->pid = pid;
	lode_id_cache_init(&self->ip_numbers);
	lode_id_cache_init(&self->place_numbers);
	self->ips = g_array_new(FALSE, TRUE, sizeof(Ip));
	self->places = g_array_new(FALSE, TRUE, sizeof(Place));
	self->nearby = g_array_new(FALSE, FALSE, sizeof(Nearby));
	lode_instruction_decoder_init(&self->decoder);
	return self;
}

void lode_probe_places_free(LodeProbePlaces *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->ip_numbers);
	lode_id_cache_clear(&self->place_numbers);
	g_array_unref(self->ips);
	g_array_unref(self->places);
	g_array_unref(self->nearby);
	g_free(self);
}

/* --- code --- */

static ssize_t read_memory(const LodeProbePlaces *self, uint64_t address, void *to, size_t size)
{
	const struct iovec local = {to, size};
	const struct iovec remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(self->pid, &local, 1, &remote, 1, 0);
}

static bool read_word(void *data, uint64_t address, uint64_t *out_word)
{
	return read_memory(data, address, out_word, sizeof(*out_word)) == sizeof(*out_word);
}

/* As many as lie on its page and the next one. */
const uint8_t *lode_probe_places_code(LodeProbePlaces *self, uint64_t address, size_t *out_size)
{
	uint64_t page = address & ~(uint64_t)(PAGE - 1);

	if (page != self->page_address || self->page_bytes == 0) {
		ssize_t n = read_memory(self, page, self->page, sizeof(self->page));
		/* A page that is the last of its mapping. */
		if (n < 0)
			n = read_memory(self, page, self->page, PAGE);
		self->page_address = page;
		self->page_bytes = n > 0 ? (size_t)n : 0;
	}
	if (self->page_bytes <= address - page)
		return NULL;
	*out_size = self->page_bytes - (size_t)(address - page);
	return self->page + (address - page);
}

bool lode_probe_places_decode(LodeProbePlaces *self, uint64_t address, LodeDecodedInstruction *out)
{
	size_t size;
	const uint8_t *code = address < KERNEL_HALF ? lode_probe_places_code(self, address, &size)
	                                            : NULL;

	return code != NULL &&
	       lode_instruction_decoder_decode(&self->decoder, code, size, address, out);
}

/* --- places near a sample --- */

static uint32_t number_of(LodeIdCache *numbers, GArray *rows, uint64_t address, uint32_t most)
{
	const LodeIdKey key = {{address, 0, 0}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(numbers, &key, most, &is_new);

	if (slot == NULL)
		return LODE_NONE;
	if (is_new) {
		slot->id = rows->len;
		g_array_set_size(rows, rows->len + 1);
	}
	return slot->id;
}

static void add_near(LodeProbePlaces *self, uint64_t address, Kind kind, double factor)
{
	uint32_t number = number_of(&self->place_numbers, self->places, address, MAX_PLACES);
	const Nearby nearby = {number, (float)factor};

	if (number == LODE_NONE)
		return;
	Place *place = &LODE_AT(self->places, Place, number);
	place->address = address;
	place->kind = (uint8_t)kind;
	g_array_append_val(self->nearby, nearby);
}

/* After how many further instructions branches no longer go by the time or by another thread. */
static unsigned count_unrepeatable(const LodeDecodedInstruction *decoded)
{
	char text[32];

	if ((decoded->kinds & 1u << LODE_KIND_ATOMIC) != 0)
		return AFTER_ATOMIC;
	const char *name = lode_instruction_mnemonic(decoded, text, sizeof(text));
	if (g_str_has_prefix(name, "rdtsc"))
		return AFTER_CLOCK;
	return strcmp(name, "pause") == 0 ? AFTER_ATOMIC : 0;
}

/* An access whose address may tell something: not of the stack, and not always to one place. */
static bool is_telling_access(const LodeDecodedInstruction *decoded)
{
	const unsigned telling = 1u << LODE_MEMORY_POINTER | 1u << LODE_MEMORY_INDEXED;

	return (decoded->memory & telling) != 0 &&
	       (decoded->kinds & (1u << LODE_KIND_LOAD | 1u << LODE_KIND_STORE)) != 0;
}

typedef struct {
	uint64_t address;
	double factor;
	unsigned n_branches;
} Way;

static void take_instruction(LodeProbePlaces *self, uint64_t address,
	const LodeDecodedInstruction *decoded, double factor, unsigned n_near)
{
	if (lode_instruction_string_width(decoded) > 0)
		add_near(self, address, STRING, factor);
	else if (decoded->branch == LODE_BRANCH_CONDITIONAL)
		add_near(self, address, BRANCH, factor);
	else if (decoded->branch == LODE_BRANCH_INDIRECT_JUMP ||
		 decoded->branch == LODE_BRANCH_INDIRECT_CALL)
		add_near(self, address, INDIRECT, factor);
	else if (decoded->branch == LODE_BRANCH_NONE && n_near < NEAR && is_telling_access(decoded))
		add_near(self, address, ACCESS, factor);
}

/* Follows the code from a sampled address, both ways of each branch, the likelier one first. */
static void explore(LodeProbePlaces *self, Ip *ip)
{
	Way ways[2 * MAX_BRANCHES + 1] = {{ip->address, 1, 0}};
	unsigned n_ways = 1, n_decoded = 0;
	uint64_t seen[MAX_DECODED];

	ip->first = self->nearby->len;
	while (n_ways > 0 && n_decoded < MAX_DECODED) {
		Way way = ways[--n_ways];
		unsigned n_unrepeatable = 0;
		for (unsigned n = 0; n < MAX_STRAIGHT && n_decoded < MAX_DECODED; n++) {
			LodeDecodedInstruction decoded;
			bool is_seen = false;
			for (unsigned i = 0; i < n_decoded && !is_seen; i++)
				is_seen = seen[i] == way.address;
			if (is_seen || !lode_probe_places_decode(self, way.address, &decoded))
				break;
			seen[n_decoded++] = way.address;
			if (n_unrepeatable == 0)
				take_instruction(self, way.address, &decoded, way.factor,
					way.n_branches > 0 ? NEAR : n);
			n_unrepeatable = MAX(count_unrepeatable(&decoded),
				n_unrepeatable - (n_unrepeatable > 0));
			if (decoded.branch == LODE_BRANCH_CONDITIONAL) {
				way.factor /= 2;
				if (++way.n_branches > MAX_BRANCHES)
					break;
				if (n_ways < G_N_ELEMENTS(ways))
					ways[n_ways++] = (Way){
						decoded.target, way.factor, way.n_branches};
			}
			if (decoded.branch == LODE_BRANCH_RETURN ||
				decoded.branch == LODE_BRANCH_STOP ||
				decoded.branch == LODE_BRANCH_INDIRECT_JUMP)
				break;
			way.address = decoded.branch == LODE_BRANCH_JUMP
			                      ? decoded.target
			                      : way.address + decoded.length;
		}
	}
	ip->n = self->nearby->len - ip->first;
	ip->is_explored = true;
}

void lode_probe_places_add_sample(LodeProbePlaces *self, pid_t tid, uint64_t address)
{
	uint32_t number = number_of(&self->ip_numbers, self->ips, address, MAX_IPS);

	if (number == LODE_NONE)
		return;
	LODE_AT(self->ips, Ip, number).address = address;
	self->recent[self->n_samples++ % RECENT] = (Recent){number, tid};
}

static uint32_t n_recent(const LodeProbePlaces *self)
{
	return (uint32_t)MIN(self->n_samples, RECENT);
}

pid_t lode_probe_places_thread(const LodeProbePlaces *self)
{
	g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
	guint most = 0;
	pid_t found = 0;

	for (uint32_t i = 0; i < n_recent(self); i++) {
		void *key = GINT_TO_POINTER(self->recent[i].tid);
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key)) + 1;
		g_hash_table_insert(counts, key, GUINT_TO_POINTER(n));
		if (n > most) {
			most = n;
			found = self->recent[i].tid;
		}
	}
	return found;
}

/* --- what is asked next --- */

/* How much there is still to learn from a hit, from 1 on downwards. */
static double doubt(const Place *place)
{
	static const double enough[] = {
		[BRANCH] = 100, [INDIRECT] = 60, [ACCESS] = 24, [STRING] = 12};
	double n = place->n_hits;

	if (place->n_misses >= CHANGED_AFTER)
		return 0;
	/* One that went one way so far is asked again at other times of the run. */
	if (place->kind == BRANCH && n >= 8 && !place->has_several)
		return 0.3 / (1 + n / 8);
	return 1 / (1 + n / enough[place->kind]);
}

static unsigned hits_wanted(const Place *place)
{
	switch (place->kind) {
	case BRANCH:
		return place->has_several ? 40 : 8;
	case INDIRECT:
		return place->has_several ? 24 : 8;
	case STRING:
		return 6;
	default:
		return 12;
	}
}

double lode_probe_places_line_weight(const LodeProbePlaces *self, uint64_t address)
{
	uint32_t n = 0;

	for (guint i = 0; i < self->ips->len; i++) {
		const Ip *ip = &LODE_AT(self->ips, Ip, i);
		if (ip->address / LINE == address / LINE)
			n += ip->n_recent;
	}
	return (double)n / MAX(n_recent(self), 1);
}

/* Counts the last samples at each place. */
static void weigh(LodeProbePlaces *self)
{
	for (guint i = 0; i < self->places->len; i++)
		LODE_AT(self->places, Place, i).recent = 0;
	for (guint i = 0; i < self->ips->len; i++)
		LODE_AT(self->ips, Ip, i).n_recent = 0;
	for (uint32_t i = 0; i < n_recent(self); i++)
		LODE_AT(self->ips, Ip, self->recent[i].ip).n_recent++;
	for (guint i = 0; i < self->ips->len; i++) {
		Ip *ip = &LODE_AT(self->ips, Ip, i);
		if (ip->n_recent > 0 && !ip->is_explored)
			explore(self, ip);
		for (uint32_t k = 0; ip->n_recent > 0 && k < ip->n; k++) {
			const Nearby *near = &LODE_AT(self->nearby, Nearby, ip->first + k);
			LODE_AT(self->places, Place, near->place).recent += (double)near->factor *
			                                                    ip->n_recent;
		}
	}
}

bool lode_probe_places_refresh(LodeProbePlaces *self)
{
	size_t size;

	self->page_bytes = 0;
	errno = 0;
	return self->n_samples == 0 ||
	       lode_probe_places_code(
		       self, LODE_AT(self->ips, Ip, self->recent[0].ip).address, &size) != NULL ||
	       (errno != EPERM && errno != EACCES && errno != ENOSYS);
}

unsigned lode_probe_places_choose(LodeProbePlaces *self, LodeProbeAim *out_aims, unsigned n_max)
{
	unsigned n = 0;

	if (self->n_samples == 0)
		return 0;
	weigh(self);
	for (; n < n_max; n++) {
		Place *best = NULL;
		double most = 0;
		for (guint i = 0; i < self->places->len; i++) {
			Place *place = &LODE_AT(self->places, Place, i);
			double worth = place->recent > 0 ? place->recent * doubt(place) : 0;
			if (worth > most) {
				most = worth;
				best = place;
			}
		}
		if (best == NULL)
			break;
		out_aims[n] = (LodeProbeAim){best->address, hits_wanted(best),
			lode_probe_places_line_weight(self, best->address)};
		best->recent = 0;
	}
	return n;
}

static Place *find_place(LodeProbePlaces *self, uint64_t address)
{
	const LodeIdKey key = {{address, 0, 0}};
	bool is_new;
	const LodeIdSlot *slot = lode_id_cache_find_limited(&self->place_numbers, &key, 0, &is_new);

	return slot != NULL ? &LODE_AT(self->places, Place, slot->id) : NULL;
}

bool lode_probe_places_take_hit(
	LodeProbePlaces *self, const LodeProbeHit *hit, uint64_t *out_target)
{
	const LodeBranchState state = {hit->registers, hit->flags, read_word, self};
	Place *place = find_place(self, hit->address);
	size_t size;
	const uint8_t *code = lode_probe_places_code(self, hit->address, &size);

	if (place != NULL)
		place->n_hits++;
	if (code == NULL || !lode_branch_way(code, size, hit->address, &state, out_target))
		return false;
	if (place != NULL) {
		place->has_several |= place->last_target != 0 && place->last_target != *out_target;
		place->last_target = *out_target;
	}
	return true;
}

void lode_probe_places_take_end(LodeProbePlaces *self, uint64_t address, unsigned n_hits)
{
	Place *place = find_place(self, address);

	if (place != NULL)
		place->n_misses = n_hits > 0 ? 0 : place->n_misses + 1;
}
