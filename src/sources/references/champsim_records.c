/* SPDX-License-Identifier: MIT */
/*
 * ChampSim's binary trace, struct input_instr of its inc/trace_instruction.h, little-endian, an
 * instruction a record:
 *
 *    0        8    9    10     12     16                32                        64
 *   │ ip      │br. │tk. │dst.  │src.  │stores: 2 × u64  │loads: 4 × u64           │
 *             branch    registers      0: no access
 *
 * Branches and registers are written where the code is known, as ChampSim's tracer does; they are
 * not read. A record is a fetch, then its loads, then its stores, none with a size. Two kinds of
 * records are ours, so that any references can be written; ChampSim's tracers write neither. Where
 * "taken" is 2, what did not fit into the record before goes on, without a new fetch. Where the
 * instruction is at 0, no fetch was in front of the data references.
 */
#include "base/error.h"
#include "sources/references/reference_form.h"

#include <string.h>

enum {
	RECORD_SIZE = 64,
	BRANCH = 8,
	TAKEN = 9,
	GOES_ON = 2,  /* at TAKEN */
	WRITTEN = 10, /* registers */
	READ = 12,
	STORES = 16,
	LOADS = 32,
	N_STORES = 2,
	N_LOADS = 4,
	MAX_REFERENCES = 1 + N_STORES + N_LOADS,
};

static uint64_t read_u64(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return GUINT64_FROM_LE(value);
}

/* No text has such bytes at the place of the flags. */
static bool has_flags(const char *at)
{
	return (uint8_t)at[BRANCH] <= 1 && (uint8_t)at[TAKEN] <= GOES_ON;
}

/* Processors have 57 bits of an address at most, the highest of which is repeated above. */
static bool is_address(uint64_t address)
{
	enum { SIGN_BIT = 56 };
	uint64_t top = address >> SIGN_BIT;

	return top == 0 || top == UINT8_MAX;
}

/* How many accesses a record has in a field of so many; −1: not as the field is filled, from its
 * beginning and with addresses. */
static int count_accesses(const char *at, unsigned n)
{
	unsigned n_accesses = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t address = read_u64(at + i * sizeof(address));
		if (address == 0)
			continue;
		if (i != n_accesses || !is_address(address))
			return -1;
		n_accesses++;
	}
	return (int)n_accesses;
}

/* Whether a record with right flags is one that no tracer writes. */
static bool is_odd(const char *at)
{
	uint64_t instruction = read_u64(at);
	int n_stores = count_accesses(at + STORES, N_STORES);
	int n_loads = count_accesses(at + LOADS, N_LOADS);

	if (n_stores < 0 || n_loads < 0)
		return true;
	if (instruction != 0)
		return !is_address(instruction);
	/* One of ours, which only has accesses. */
	return n_stores + n_loads == 0 || read_u64(at + BRANCH) != 0;
}

/* Records have no mark. Flags are always right in ours; of the rest, a few may be otherwise, as
 * where a program went wrong. */
static bool is_form(const char *data, size_t size)
{
	enum { ODD = 16 }; /* one in so many records */
	size_t n = MIN(size, LODE_REFERENCE_CHECKED) / RECORD_SIZE, n_odd = 0;

	for (size_t i = 0; i < n; i++) {
		const char *at = data + i * RECORD_SIZE;
		if (!has_flags(at))
			return false;
		n_odd += is_odd(at);
	}
	return n > 0 && n_odd <= n / ODD;
}

static void add_accesses(
	LodeReferenceScan *self, const char *at, unsigned n, LodeReferenceKind kind)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t address = read_u64(at + i * sizeof(address));
		if (address != 0)
			lode_reference_scan_add(self, kind, address, 0);
	}
}

static bool scan(LodeReferenceScan *self, GError **error)
{
	while (self->room - self->n >= MAX_REFERENCES && self->end - self->at >= RECORD_SIZE) {
		uint64_t instruction = read_u64(self->at);
		if (!has_flags(self->at)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
				"%s: record at offset %" G_GUINT64_FORMAT
				": not one of ChampSim: its flags of branches are %u and %u",
				self->name, self->offset, (uint8_t)self->at[BRANCH],
				(uint8_t)self->at[TAKEN]);
			return false;
		}
		if (instruction != 0 && self->at[TAKEN] != GOES_ON)
			lode_reference_scan_add(self, LODE_REFERENCE_FETCH, instruction, 0);
		add_accesses(self, self->at + LOADS, N_LOADS, LODE_REFERENCE_LOAD);
		add_accesses(self, self->at + STORES, N_STORES, LODE_REFERENCE_STORE);
		self->at += RECORD_SIZE;
		self->offset += RECORD_SIZE;
	}
	if (!self->is_last || self->at == self->end || self->end - self->at >= RECORD_SIZE)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: record at offset %" G_GUINT64_FORMAT ": cut short, %d bytes of %d", self->name,
		self->offset, (int)(self->end - self->at), RECORD_SIZE);
	return false;
}

static char *losses(const LodeReferenceScan *self)
{
	return self->offset > 0 ? g_strdup("registers and branches of the instructions") : NULL;
}

static void put_u64(char *at, uint64_t value)
{
	value = GUINT64_TO_LE(value);
	memcpy(at, &value, sizeof(value));
}

/* `next` is what is fetched after it; 0: not known. */
static void put_details(const LodeReferenceWriter *self, char *at, uint64_t next)
{
	const LodeReferenceInstruction *details = &self->details;

	at[BRANCH] = details->is_branch;
	if (details->is_branch)
		at[TAKEN] = !details->is_conditional || (next != 0 && next == details->target);
	memcpy(at + WRITTEN, details->written, sizeof(details->written));
	memcpy(at + READ, details->read, sizeof(details->read));
}

static bool put_record(LodeReferenceWriter *self, uint64_t next, GError **error)
{
	char *at = lode_reference_writer_room(self, error);

	if (at == NULL)
		return false;
	memset(at, 0, RECORD_SIZE);
	put_u64(at, self->instruction);
	if (self->goes_on)
		at[TAKEN] = GOES_ON;
	else
		put_details(self, at, next);
	for (unsigned i = 0; i < self->n_loads; i++)
		put_u64(at + LOADS + i * sizeof(uint64_t), self->loads[i]);
	for (unsigned i = 0; i < self->n_stores; i++)
		put_u64(at + STORES + i * sizeof(uint64_t), self->stores[i]);
	self->used += RECORD_SIZE;
	self->n_loads = 0;
	self->n_stores = 0;
	return true;
}

static bool begin(LodeReferenceWriter *self, uint64_t instruction, GError **error)
{
	if (self->is_open && !put_record(self, instruction, error))
		return false;
	self->is_open = true;
	self->goes_on = false;
	self->instruction = instruction;
	self->details = (LodeReferenceInstruction){0};
	if (instruction != 0 && self->find_details != NULL &&
		!self->find_details(
			instruction, self->n_added, &self->details, self->details_data)) {
		self->details = (LodeReferenceInstruction){0};
		self->n_unknown++;
	}
	return true;
}

/* Goes on in another record where this one is full, or would give a load before earlier stores. */
static bool make_room(LodeReferenceWriter *self, bool has_load, bool has_store, GError **error)
{
	if (self->n_loads + has_load <= N_LOADS && self->n_stores + has_store <= N_STORES &&
		!(has_load && self->n_stores > 0))
		return true;
	if (!put_record(self, 0, error))
		return false;
	self->goes_on = self->instruction != 0;
	self->n_repeated += self->goes_on;
	return true;
}

static bool write_access(LodeReferenceWriter *self, const LodeReference *reference, GError **error)
{
	bool has_load = reference->kind != LODE_REFERENCE_STORE;
	bool has_store = reference->kind != LODE_REFERENCE_LOAD;

	if (!self->is_open || reference->thread != self->thread) {
		if (!begin(self, 0, error))
			return false;
	} else if (!make_room(self, has_load, has_store, error)) {
		return false;
	}
	if (has_load)
		self->loads[self->n_loads++] = reference->address;
	if (has_store)
		self->stores[self->n_stores++] = reference->address;
	return true;
}

static bool write_reference(
	LodeReferenceWriter *self, const LodeReference *reference, GError **error)
{
	if (reference->address == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"a reference to address 0 has no place in the form champsim");
		return false;
	}
	bool is_written = reference->kind == LODE_REFERENCE_FETCH
	                          ? begin(self, reference->address, error)
	                          : write_access(self, reference, error);
	self->thread = reference->thread;
	self->n_added++;
	return is_written;
}

static bool finish(LodeReferenceWriter *self, GError **error)
{
	bool is_written = !self->is_open || put_record(self, 0, error);

	self->is_open = false;
	return is_written;
}

const LodeReferenceFormRow lode_champsim_records = {
	.name = "champsim",
	.is_form = is_form,
	.scan = scan,
	.losses = losses,
	.write = write_reference,
	.finish = finish,
	.n_checked = LODE_REFERENCE_CHECKED,
	.lacks_sizes = true,
	.lacks_threads = true,
	.splits_modifies = true,
};
