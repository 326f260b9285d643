/* SPDX-License-Identifier: MIT */
#include "process/interpreters/foreign_memory.h"
#include "process/interpreters/hotspot_frames.h"

#include "base/arrays/partition_point.h"

enum {
	MAX_HEAPS = 8,
	MAX_HOPS = 1 << 12,
	LEAST_FRAME_WORDS = 2,
	MAX_FRAME_WORDS = 1 << 16,
	MAX_PLACES = 1 << 20,
	MAX_METHODS = 1 << 20,
	MAX_NUMBER_BYTES = 5,
	SCOPE_BYTES = 3 * MAX_NUMBER_BYTES, /* of what is read of one */
	NAME_BYTES = 16,
};

/* How a place in compiled code is described: PcDesc. */
typedef struct {
	int32_t offset; /* in the code */
	int32_t scope, objects, flags;
} PlaceRecord;

typedef struct {
	const LodeHotspotLayout *layout;
	const LodeForeignMemory *memory;
	bool no_zeros;
} Reader;

static uint64_t pointer_at(const Reader *self, uint64_t address)
{
	return lode_foreign_pointer(self->memory, address);
}

/* An offset or length; 0 also where it cannot be read or is negative. */
static uint32_t number_at(const Reader *self, uint64_t address)
{
	int32_t value;

	return lode_foreign_read(self->memory, address, &value, sizeof(value)) && value > 0
	               ? (uint32_t)value
	               : 0;
}

/*
 * A byte below 192 is the number or its end; 64 values of one more are six bits that others follow,
 * of at most five. From JDK 20 on no byte is 0: all are one more.
 */
bool lode_hotspot_number_read(
	const uint8_t *bytes, size_t n, bool no_zeros, size_t *at, uint32_t *out)
{
	enum { HIGH = 64, SHIFT = 6 };
	uint32_t excluded = no_zeros ? 1 : 0, low = 256 - HIGH - excluded, sum = 0;

	for (unsigned i = 0; i < MAX_NUMBER_BYTES; i++) {
		if (*at >= n || bytes[*at] < excluded)
			return false;
		uint32_t byte = bytes[(*at)++] - excluded;
		sum += byte << SHIFT * i;
		if (byte < low)
			break;
	}
	*out = sum;
	return true;
}

/* --- the code cache --- */

/* The blob that an address is in, by the map of a heap's segments: each byte says how many segments
 * further back its block begins, or leads there by several. 0: none. */
static uint64_t blob_in_heap(const Reader *self, uint64_t heap, uint64_t pc)
{
	const LodeHotspotLayout *layout = self->layout;
	uint64_t memory = heap + layout->heap_memory, map = heap + layout->heap_segments;
	uint64_t low = pointer_at(self, memory + layout->space_low);
	uint64_t high = pointer_at(self, memory + layout->space_high);
	uint32_t shift = number_at(self, heap + layout->heap_shift);
	enum { FREE = 0xff, MAX_SHIFT = 16 };

	if (pc < low || pc >= high || shift > MAX_SHIFT)
		return 0;
	uint64_t segment = (pc - low) >> shift, bytes = pointer_at(self, map + layout->space_low);
	for (unsigned i = 0; i < MAX_HOPS; i++) {
		uint8_t back;
		if (!lode_foreign_read(self->memory, bytes + segment, &back, 1) || back == FREE ||
			back > segment)
			return 0;
		if (back == 0)
			return low + (segment << shift) + layout->block_bytes;
		segment -= back;
	}
	return 0;
}

static uint64_t find_blob(const Reader *self, uint64_t pc)
{
	const LodeHotspotLayout *layout = self->layout;
	uint64_t heaps = pointer_at(self, layout->heaps_at);
	uint32_t n = heaps != 0 ? number_at(self, heaps + layout->array_length) : 0;
	uint64_t data = n > 0 ? pointer_at(self, heaps + layout->array_data) : 0, blob = 0;

	for (uint32_t i = 0; i < MIN(n, MAX_HEAPS) && blob == 0 && data != 0; i++) {
		uint64_t heap = pointer_at(self, data + i * sizeof(uint64_t));
		blob = heap != 0 ? blob_in_heap(self, heap, pc) : 0;
	}
	return blob;
}

/* --- compiled methods --- */

/* The parts of a compiled method. */
typedef struct {
	uint64_t code, places, places_end, scopes, methods;
} Parts;

static bool has(uint64_t member)
{
	return member != LODE_HOTSPOT_LACKS;
}

/* False: of a version whose tables do not say it. */
static bool find_parts(const Reader *self, uint64_t blob, Parts *out)
{
	const LodeHotspotLayout *layout = self->layout;

	if (!has(layout->code_places) ||
		(!has(layout->blob_code) && !has(layout->blob_code_offset)))
		return false;
	out->code = has(layout->blob_code)
	                    ? pointer_at(self, blob + layout->blob_code)
	                    : blob + number_at(self, blob + layout->blob_code_offset);
	if (has(layout->code_constant) && has(layout->code_scopes_offset) &&
		has(layout->code_mutable) && has(layout->code_relocations)) {
		uint64_t constant = pointer_at(self, blob + layout->code_constant);
		out->places = constant + number_at(self, blob + layout->code_places);
		out->scopes = constant + number_at(self, blob + layout->code_scopes_offset);
		out->places_end = out->scopes;
		out->methods = pointer_at(self, blob + layout->code_mutable) +
		               number_at(self, blob + layout->code_relocations);
		return constant != 0;
	}
	if (!has(layout->code_places_end) || !has(layout->code_scopes) ||
		!has(layout->code_methods))
		return false;
	out->places = blob + number_at(self, blob + layout->code_places);
	out->places_end = blob + number_at(self, blob + layout->code_places_end);
	out->scopes = pointer_at(self, blob + layout->code_scopes);
	out->methods = blob + number_at(self, blob + layout->code_methods);
	return true;
}

static PlaceRecord record_at(const Reader *self, const Parts *parts, uint64_t i)
{
	PlaceRecord record = {.offset = G_MAXINT32};

	lode_foreign_read(
		self->memory, parts->places + i * sizeof(record), &record, sizeof(record));
	return record;
}

/* Where the scope of a place is told; 0: nowhere. */
static uint32_t find_scope(const Reader *self, const Parts *parts, uint64_t pc)
{
	uint64_t n = parts->places_end > parts->places
	                     ? (parts->places_end - parts->places) / sizeof(PlaceRecord)
	                     : 0;

	if (n > MAX_PLACES || pc < parts->code || pc - parts->code > G_MAXINT32)
		return 0;
	int32_t offset = (int32_t)(pc - parts->code);
	uint64_t first = LODE_PARTITION_POINT(n, i, record_at(self, parts, i).offset < offset);
	if (first == n)
		return 0;
	PlaceRecord record = record_at(self, parts, first);
	return record.offset == offset && record.scope > 0 ? (uint32_t)record.scope : 0;
}

/* Follows the scopes outwards: offset of the caller's, number of the method, instruction. */
static void read_scopes(
	const Reader *self, const Parts *parts, uint32_t scope, LodeHotspotCode *out)
{
	uint8_t bytes[SCOPE_BYTES];
	uint32_t outer, number, bytecode;

	while (scope != 0 && out->n_places < LODE_HOTSPOT_MOST_INLINED) {
		size_t n = self->memory->read(
			self->memory->data, parts->scopes + scope, bytes, sizeof(bytes));
		size_t at = 0;
		if (!lode_hotspot_number_read(bytes, n, self->no_zeros, &at, &outer) ||
			!lode_hotspot_number_read(bytes, n, self->no_zeros, &at, &number) ||
			!lode_hotspot_number_read(bytes, n, self->no_zeros, &at, &bytecode) ||
			number == 0 || number > MAX_METHODS)
			return;
		/* It counts from the entry on, which is −1. */
		out->places[out->n_places++] = (LodeHotspotPlace){
			pointer_at(self, parts->methods + (number - 1) * sizeof(uint64_t)),
			bytecode > 0 ? bytecode - 1 : 0};
		/* That of the caller was written before. */
		scope = outer < scope ? outer : 0;
	}
}

bool lode_hotspot_code_read(const LodeHotspotLayout *layout, const LodeForeignMemory *memory,
	bool no_zeros, uint64_t pc, LodeHotspotCode *out_code)
{
	const Reader self = {layout, memory, no_zeros};
	char name[NAME_BYTES] = "";
	Parts parts;

	out_code->n_places = 0;
	uint64_t blob = find_blob(&self, pc);
	if (blob == 0)
		return false;
	out_code->frame_words = number_at(&self, blob + layout->blob_frame_words);
	uint64_t text = pointer_at(&self, blob + layout->blob_name);
	if (text == 0 || out_code->frame_words < LEAST_FRAME_WORDS ||
		out_code->frame_words > MAX_FRAME_WORDS)
		return false;
	memory->read(memory->data, text, name, sizeof(name) - 1);
	if (strcmp(name, "nmethod") != 0)
		return true;
	uint32_t scope = find_parts(&self, blob, &parts) ? find_scope(&self, &parts, pc) : 0;
	read_scopes(&self, &parts, scope, out_code);
	return out_code->n_places > 0;
}
