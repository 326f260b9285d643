/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/early_addresses.h"

#include "base/bits.h"
#include "model/index.h"

#include <string.h>

/* Iterations until nothing more is added; dependences through more registers and stores than these
 * are not followed. */
enum { MAX_ROUNDS = 24, BITS = 64 };

/* Bits beside those of the loads, which are from FIRST_LOAD on: of what a call has made, and of
 * what is no sum. */
enum { UNKNOWN, NOT_LINEAR, FIRST_LOAD };

typedef struct {
	LodeEarlyAddresses *memory;
	const LodeDependenceGraph *graph;
	const uint32_t *iteration, *forwarders;
	uint32_t n, n_words;
} Search;

void lode_early_addresses_init(LodeEarlyAddresses *self)
{
	self->registers = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	self->stored = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	self->addresses = g_array_new(FALSE, TRUE, sizeof(uint64_t));
}

void lode_early_addresses_clear(LodeEarlyAddresses *self)
{
	g_array_unref(self->registers);
	g_array_unref(self->stored);
	g_array_unref(self->addresses);
}

static const LodeDependenceNode *node_at(const Search *self, uint32_t place)
{
	return &self->graph->nodes[self->iteration[place]];
}

static bool is_from_memory(const Search *self, uint32_t place)
{
	return (node_at(self, place)->makes >> LODE_NEED_LOAD & 1) != 0 &&
	       self->forwarders[place] == LODE_NONE;
}

static uint64_t *set_at(const Search *self, GArray *sets, uint32_t number)
{
	return &g_array_index(sets, uint64_t, (size_t)number * self->n_words);
}

static void add_bit(uint64_t *set, uint32_t bit)
{
	set[bit / BITS] |= LODE_BIT(bit % BITS);
}

static void unite(const Search *self, uint64_t *set, const uint64_t *other)
{
	for (uint32_t i = 0; i < self->n_words; i++)
		set[i] |= other[i];
}

static bool has_all(const Search *self, const uint64_t *set, const uint64_t *other)
{
	for (uint32_t i = 0; i < self->n_words; i++)
		if ((other[i] & ~set[i]) != 0)
			return false;
	return true;
}

/* Adds what registers depend on. */
static void add_registers(const Search *self, uint64_t *set, LodeRegisterMask registers)
{
	for (; registers != 0; registers &= registers - 1)
		unite(self, set,
			set_at(self, self->memory->registers,
				(uint32_t)__builtin_ctzll(registers)));
}

/* The values that an instruction's result is made of: `value` is cleared first. */
static void make_value(const Search *self, uint32_t place, uint32_t load, uint64_t *value)
{
	const LodeDependenceNode *node = node_at(self, place);
	uint32_t forwarder = self->forwarders[place];

	memset(value, 0, self->n_words * sizeof(*value));
	add_registers(self, value,
		forwarder == LODE_NONE ? node->use.reads : node->use.reads & ~node->use.address);
	if (forwarder != LODE_NONE)
		unite(self, value, set_at(self, self->memory->stored, forwarder));
	if (node->is_call)
		add_bit(value, UNKNOWN);
	if (!node->use.is_linear && (node->use.reads != 0 || is_from_memory(self, place)))
		add_bit(value, NOT_LINEAR);
	if (is_from_memory(self, place)) {
		add_bit(value, NOT_LINEAR);
		add_bit(value, load);
	}
}

/* One iteration. Whether what the registers or the
 * stored values depend on has become more. */
static bool do_iteration(const Search *self, uint64_t *value)
{
	LodeEarlyAddresses *memory = self->memory;
	size_t size = (size_t)self->n_words * LODE_N_REGISTER_BITS * sizeof(*value);
	g_autofree void *before = g_memdup2(memory->registers->data, size);
	uint32_t load = FIRST_LOAD - 1;
	bool is_changed = false;

	for (uint32_t i = 0; i < self->n; i++) {
		const LodeRegisterUse *use = &node_at(self, i)->use;
		LodeRegisterMask written = use->kills | use->writes;

		load += is_from_memory(self, i);
		add_registers(self, set_at(self, memory->addresses, i), use->address);
		make_value(self, i, load, value);
		if (use->memory.is_store) {
			uint64_t *stored = set_at(self, memory->stored, i);
			is_changed |= !has_all(self, stored, value);
			unite(self, stored, value);
		}
		for (; written != 0; written &= written - 1)
			memcpy(set_at(self, memory->registers, (uint32_t)__builtin_ctzll(written)),
				value, self->n_words * sizeof(*value));
	}
	return is_changed || memcmp(before, memory->registers->data, size) != 0;
}

/* The loads whose addresses depend on themselves, and what is not known. */
static void find_recurrent(const Search *self, uint64_t *out_set)
{
	uint32_t load = FIRST_LOAD - 1;

	memset(out_set, 0, self->n_words * sizeof(*out_set));
	add_bit(out_set, UNKNOWN);
	for (uint32_t i = 0; i < self->n; i++) {
		if (!is_from_memory(self, i))
			continue;
		load++;
		if ((set_at(self, self->memory->addresses, i)[load / BITS] >> load % BITS & 1) != 0)
			add_bit(out_set, load);
	}
}

static bool is_apart(const Search *self, const uint64_t *a, const uint64_t *b)
{
	for (uint32_t i = 0; i < self->n_words; i++)
		if ((a[i] & b[i]) != 0)
			return false;
	return true;
}

static void resize(GArray *sets, size_t n)
{
	g_array_set_size(sets, 0);
	g_array_set_size(sets, (guint)n);
}

void lode_early_addresses_find(LodeEarlyAddresses *self, const LodeDependenceGraph *graph,
	const uint32_t *iteration, uint32_t n, const uint32_t *forwarders, bool *out_are_early,
	bool *out_are_linear)
{
	Search search = {.memory = self,
		.graph = graph,
		.iteration = iteration,
		.forwarders = forwarders,
		.n = n};
	uint32_t n_loads = FIRST_LOAD;
	bool is_changed = true;

	for (uint32_t i = 0; i < n; i++)
		n_loads += is_from_memory(&search, i);
	search.n_words = (n_loads + BITS - 1) / BITS;
	resize(self->registers, (size_t)search.n_words * LODE_N_REGISTER_BITS);
	resize(self->stored, (size_t)search.n_words * n);
	resize(self->addresses, (size_t)search.n_words * n);
	g_autofree uint64_t *set = g_new0(uint64_t, search.n_words);
	for (int round = 0; round < MAX_ROUNDS && is_changed; round++)
		is_changed = do_iteration(&search, set);
	find_recurrent(&search, set);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *address = set_at(&search, self->addresses, i);
		bool is_known = !is_changed && node_at(&search, i)->use.memory.size > 0;
		out_are_early[i] = is_known && is_apart(&search, address, set);
		out_are_linear[i] = is_known &&
		                    (address[0] & (1u << UNKNOWN | 1u << NOT_LINEAR)) == 0;
	}
}
