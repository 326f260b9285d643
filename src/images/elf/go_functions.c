/* SPDX-License-Identifier: MIT */
/*
 * The table as Go 1.2, 1.16, 1.18 and 1.20 write it (src/runtime/symtab.go, src/debug/gosym and
 * "Go 1.2 Runtime Symbol Information"). Numbers are in the file's byte order, words have the size
 * of a pointer, and offsets count from the part named, in Go 1.2 from the beginning:
 *
 *   header      magic, 0, 0, quantum of code addresses, size of a pointer
 *               n functions, n files, text (from 1.18 on), then where the parts begin
 *   names       strings
 *   units       (from 1.16 on) for each compile unit the files' offsets
 *   files       strings; in Go 1.2 offsets of strings
 *   pc values   for each function and value runs of (change of value, change of address)
 *   functions   address and offset of each, then the end; from 1.18 on 4 bytes each, and addresses
 *               count from `text`; then their records
 *
 * Where the table has no section of its own (the system's linker put it into another one, or
 * sections were stripped away), it is looked for in the segments.
 */
#include "images/elf/go_functions.h"

#include "base/arrays/partition_point.h"
#include "images/elf/symbol_table.h"

#include <string.h>

typedef enum {
	GO_1_2 = 0xfffffffb,
	GO_1_16 = 0xfffffffa,
	GO_1_18 = 0xfffffff0,
	GO_1_20 = 0xfffffff1,
} Version;

enum {
	HEADER = 8,         /* bytes before the first word */
	ALIGNMENT = 8,      /* of a table that is looked for */
	MAX_TRIED = 64,     /* places that look like one */
	MAX_RUNS = 1 << 20, /* of a function's value */
};

#define NO_FILE UINT64_C(0xffffffff)

/* A value of a function, as far as it was followed. */
typedef struct {
	uint64_t at;     /* of the next run, in the table */
	uint64_t end;    /* of the current run: an address */
	uint64_t n_left; /* runs that may follow */
	int64_t value;   /* up to `end` */
	bool is_begun, has_ended;
} Value;

struct LodeGoFunctions {
	const LodeElfFile *file;
	const uint8_t *bytes;
	uint64_t size, address;
	GHashTable *relocated; /* address of a word → the value put there; NULL: none */
	Version version;
	uint8_t quantum, word, entry; /* bytes: of a word, of a number in the list of functions */
	uint64_t n, text;
	uint64_t names, units, files, values, functions, records; /* in the table */
	/* of the function of the last look-up */
	uint64_t current, last_address;
	Value file_value, line_value;
	GStringChunk *strings;
	const char *last_name, *last_valid_name; /* of a source file */
};

/* Beyond the end there are zeros. */
static uint64_t number_at(const LodeGoFunctions *self, uint64_t at, size_t n)
{
	if (at > self->size || n > self->size - at)
		return 0;
	return lode_elf_file_number(self->file, self->bytes + at, n);
}

/* A pointer may be written only when the program is loaded. */
static uint64_t pointer_at(const LodeGoFunctions *self, uint64_t at)
{
	uint64_t address = self->address + at;
	const uint64_t *relocated = self->relocated != NULL
	                                    ? g_hash_table_lookup(self->relocated, &address)
	                                    : NULL;

	return relocated != NULL ? *relocated : number_at(self, at, self->word);
}

static const char *string_at(const LodeGoFunctions *self, uint64_t at)
{
	if (at >= self->size || memchr(self->bytes + at, '\0', self->size - at) == NULL)
		return NULL;
	return (const char *)self->bytes + at;
}

/* The header's words, from 0 on. */
static uint64_t word_at(const LodeGoFunctions *self, unsigned i)
{
	return number_at(self, HEADER + (uint64_t)i * self->word, self->word);
}

static uint64_t entry_of(const LodeGoFunctions *self, uint64_t i)
{
	uint64_t at = self->functions + 2 * i * self->entry;

	if (self->version == GO_1_2 || self->version == GO_1_16)
		return pointer_at(self, at);
	return self->text + number_at(self, at, self->entry);
}

/* The offset in a function's record after the address with which it begins. */
static uint64_t record_of(const LodeGoFunctions *self, uint64_t i)
{
	uint64_t at = self->functions + (2 * i + 1) * self->entry;

	return self->records + number_at(self, at, self->entry) + self->entry;
}

/* The 32-bit fields of a record that follow the address. */
enum { FIELD_NAME, FIELD_FILE_VALUE = 4, FIELD_LINE_VALUE, FIELD_UNIT = 7 };

static uint64_t field_of(const LodeGoFunctions *self, uint64_t i, unsigned field)
{
	return number_at(self, record_of(self, i) + 4 * field, 4);
}

/* Adds the words that the loader writes into the table, by relocations of that many bytes. */
static void add_relocations(LodeGoFunctions *self, const uint8_t *bytes, uint64_t n_bytes)
{
	const size_t word = self->word, size = 3 * word;

	for (uint64_t at = 0; bytes != NULL && n_bytes - at >= size; at += size) {
		uint64_t address = lode_elf_file_number(self->file, bytes + at, word);
		uint64_t info = lode_elf_file_number(self->file, bytes + at + word, word);
		uint64_t addend = lode_elf_file_number(self->file, bytes + at + 2 * word, word);

		/* one of a symbol is not the table's */
		if (address - self->address >= self->size || info >> (word == 8 ? 32 : 8) != 0)
			continue;
		if (self->relocated == NULL)
			self->relocated = g_hash_table_new_full(
				g_int64_hash, g_int64_equal, g_free, g_free);
		g_hash_table_insert(self->relocated, g_memdup2(&address, sizeof address),
			g_memdup2(&addend, sizeof addend));
	}
}

/* The value of the dynamic section's entry with that tag; 0: none. */
static uint64_t dynamic_value(const LodeGoFunctions *self, uint64_t tag)
{
	const size_t word = self->word;
	const Elf64_Phdr *segments = self->file->segments;

	for (size_t i = 0; i < self->file->n_segments; i++) {
		size_t size = 0;
		const uint8_t *bytes = segments[i].p_type == PT_DYNAMIC
		                               ? lode_elf_file_loaded_bytes(
							 self->file, segments[i].p_vaddr, &size)
		                               : NULL;

		for (; bytes != NULL && size >= 2 * word; bytes += 2 * word, size -= 2 * word) {
			uint64_t own = lode_elf_file_number(self->file, bytes, word);

			if (own == tag)
				return lode_elf_file_number(self->file, bytes + word, word);
			if (own == DT_NULL)
				break;
		}
	}
	return 0;
}

static void read_relocations(LodeGoFunctions *self)
{
	size_t size = 0;

	for (guint i = 0; i < self->file->sections->len; i++) {
		const LodeElfSection *section = &g_array_index(
			self->file->sections, LodeElfSection, i);

		if (section->type == SHT_RELA && !(section->flags & SHF_COMPRESSED))
			add_relocations(self, lode_elf_section_bytes(section), section->size);
	}
	if (self->file->sections->len > 1)
		return;
	const uint8_t *bytes = lode_elf_file_loaded_bytes(
		self->file, dynamic_value(self, DT_RELA), &size);
	add_relocations(self, bytes, MIN(size, dynamic_value(self, DT_RELASZ)));
}

static bool is_code(const LodeGoFunctions *self, uint64_t address)
{
	return lode_elf_file_find_range(self->file, address) != NULL;
}

/* Whether a table begins here: its parts lie inside, and its first function in code. */
static bool read_header(LodeGoFunctions *self)
{
	unsigned first; /* of the words that say where parts begin */

	self->version = (Version)number_at(self, 0, 4);
	self->quantum = (uint8_t)number_at(self, 6, 1);
	self->word = (uint8_t)number_at(self, 7, 1);
	if (number_at(self, 4, 2) != 0 ||
		(self->quantum != 1 && self->quantum != 2 && self->quantum != 4) ||
		(self->word != 4 && self->word != 8))
		return false;
	self->n = word_at(self, 0);
	self->entry = self->word;
	switch (self->version) {
	case GO_1_2:
		self->functions = HEADER + self->word;
		break;
	case GO_1_16:
	case GO_1_18:
	case GO_1_20:
		first = self->version == GO_1_16 ? 2 : 3;
		self->names = word_at(self, first);
		self->units = word_at(self, first + 1);
		self->files = word_at(self, first + 2);
		self->values = word_at(self, first + 3);
		self->functions = self->records = word_at(self, first + 4);
		self->entry = self->version == GO_1_16 ? self->word : 4;
		break;
	default:
		return false;
	}
	if (self->n == 0 || self->functions > self->size ||
		self->n > (self->size - self->functions) / self->entry / 2)
		return false;
	if (self->version == GO_1_2)
		self->files = number_at(self, self->functions + (2 * self->n + 1) * self->entry, 4);
	if (self->names >= self->size || self->units >= self->size || self->files >= self->size ||
		self->values >= self->size)
		return false;
	read_relocations(self);
	if (self->version == GO_1_18 || self->version == GO_1_20)
		self->text = pointer_at(self, HEADER + 2 * (uint64_t)self->word);
	/* Go's own reader takes the section's address, too, as it may be written by the loader */
	const LodeElfSection *text = lode_elf_file_find_section(self->file, ".text");
	if (self->text == 0 && text != NULL)
		self->text = text->address;
	return is_code(self, entry_of(self, 0));
}

static bool take_table(LodeGoFunctions *self, const uint8_t *bytes, uint64_t size, uint64_t address)
{
	self->bytes = bytes;
	self->size = size;
	self->address = address;
	self->text = self->names = self->units = self->values = self->records = 0;
	g_clear_pointer(&self->relocated, g_hash_table_unref);
	return bytes != NULL && read_header(self);
}

static bool find_section(LodeGoFunctions *self)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		const LodeElfSection *section = lode_elf_file_find_section(self->file, names[i]);

		if (section != NULL && !(section->flags & SHF_COMPRESSED) &&
			take_table(self, lode_elf_section_bytes(section), section->size,
				section->address))
			return true;
	}
	return false;
}

static bool may_be_go(const LodeElfFile *file)
{
	return file->sections->len <= 1 ||
	       lode_elf_file_find_section(file, ".go.buildinfo") != NULL ||
	       lode_elf_file_find_section(file, ".note.go.buildid") != NULL;
}

static bool find_in_segments(LodeGoFunctions *self)
{
	int n_tried = 0;

	for (size_t i = 0; may_be_go(self->file) && i < self->file->n_segments; i++) {
		const Elf64_Phdr *segment = &self->file->segments[i];
		size_t size = 0;
		const uint8_t *bytes = segment->p_type == PT_LOAD
		                               ? lode_elf_file_loaded_bytes(
							 self->file, segment->p_vaddr, &size)
		                               : NULL;

		for (size_t at = 0; bytes != NULL && at + HEADER < size; at += ALIGNMENT) {
			uint64_t magic = lode_elf_file_number(self->file, bytes + at, 4);

			if (magic != GO_1_2 && magic != GO_1_16 && magic != GO_1_18 &&
				magic != GO_1_20)
				continue;
			if (take_table(self, bytes + at, size - at, segment->p_vaddr + at))
				return true;
			if (++n_tried == MAX_TRIED)
				return false;
		}
	}
	return false;
}

LodeGoFunctions *lode_go_functions_open(const LodeElfFile *file)
{
	g_autoptr(LodeGoFunctions) self = g_new0(LodeGoFunctions, 1);

	self->file = file;
	self->current = UINT64_MAX;
	self->strings = g_string_chunk_new(1024);
	return find_section(self) || find_in_segments(self) ? g_steal_pointer(&self) : NULL;
}

void lode_go_functions_free(LodeGoFunctions *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->relocated, g_hash_table_unref);
	g_string_chunk_free(self->strings);
	g_free(self);
}

/* Functions of x86-64 are aligned by traps, which the table counts to the one before. */
static uint64_t without_padding(const LodeGoFunctions *self, uint64_t address, uint64_t end)
{
	const LodeElfRange *code = lode_elf_file_find_range(self->file, address);

	if (self->file->undecoded != NULL || code == NULL || end - code->address > code->size)
		return end;
	while (end > address + 1 && code->bytes[end - 1 - code->address] == 0xcc)
		end--;
	return end;
}

void lode_go_functions_add(const LodeGoFunctions *self, GArray *symbols)
{
	uint64_t end, address = entry_of(self, 0);

	for (uint64_t i = 0; i < self->n; i++, address = end) {
		LodeSymbol symbol = {.address = address, .rank = LODE_SYMBOL_LOCAL};

		end = entry_of(self, i + 1);
		symbol.symbol = string_at(self, self->names + field_of(self, i, FIELD_NAME));
		if (end <= address || symbol.symbol == NULL || symbol.symbol[0] == '\0')
			continue;
		symbol.size = without_padding(self, address, end) - address;
		g_array_append_val(symbols, symbol);
	}
}

static uint64_t read_varint(const LodeGoFunctions *self, uint64_t *at)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = number_at(self, (*at)++, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) != 0);
	return value;
}

static void begin_value(LodeGoFunctions *self, unsigned field, Value *out_value)
{
	uint64_t entry = entry_of(self, self->current);

	*out_value = (Value){
		.at = self->values + field_of(self, self->current, field),
		.end = entry,
		.n_left = MIN(entry_of(self, self->current + 1) - entry, MAX_RUNS),
		.value = -1,
	};
}

/* The value at an address, not below that of an earlier call; false: none. */
static bool follow_value(const LodeGoFunctions *self, Value *value, uint64_t address)
{
	while (!value->has_ended && value->end <= address) {
		uint64_t change = read_varint(self, &value->at);

		value->has_ended = (change == 0 && value->is_begun) || value->n_left-- == 0;
		value->is_begun = true;
		value->value += (int64_t)(change >> 1) ^ -(int64_t)(change & 1);
		value->end += read_varint(self, &value->at) * self->quantum;
	}
	return !value->has_ended;
}

static const char *file_of(LodeGoFunctions *self, uint64_t number)
{
	const char *name;
	uint64_t at;

	if (self->version == GO_1_2) {
		at = number_at(self, self->files + 4 * number, 4);
	} else {
		uint64_t unit = field_of(self, self->current, FIELD_UNIT);

		at = number_at(self, self->units + 4 * (unit + number), 4);
		if (at == NO_FILE)
			return NULL;
		at += self->files;
	}
	name = string_at(self, at);
	if (name == self->last_name)
		return self->last_valid_name;
	self->last_name = self->last_valid_name = name;
	if (name != NULL && !g_utf8_validate(name, -1, NULL)) {
		g_autofree char *valid = g_utf8_make_valid(name, -1);

		self->last_valid_name = g_string_chunk_insert_const(self->strings, valid);
	}
	return self->last_valid_name;
}

void lode_go_functions_locate(LodeGoFunctions *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations)
{
	for (size_t k = 0; k < n; k++) {
		size_t low = LODE_PARTITION_POINT(self->n, i, entry_of(self, i) <= addresses[k]);

		out_locations[k] = (LodeBinaryLocation){0};
		if (low == 0 || addresses[k] >= entry_of(self, low))
			continue;
		if (self->current != low - 1 || addresses[k] < self->last_address) {
			self->current = low - 1;
			begin_value(self, FIELD_FILE_VALUE, &self->file_value);
			begin_value(self, FIELD_LINE_VALUE, &self->line_value);
		}
		self->last_address = addresses[k];
		if (follow_value(self, &self->file_value, addresses[k]) &&
			self->file_value.value >= 0 && self->file_value.value <= INT32_MAX)
			out_locations[k].file = file_of(self, (uint64_t)self->file_value.value);
		if (follow_value(self, &self->line_value, addresses[k]) &&
			self->line_value.value > 0 && self->line_value.value <= INT32_MAX)
			out_locations[k].line = (uint32_t)self->line_value.value;
	}
}
