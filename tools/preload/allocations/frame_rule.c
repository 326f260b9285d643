/* SPDX-License-Identifier: MIT */
#include "frame_rule.h"

#if defined(__x86_64__)

#include <dlfcn.h>
#include <stddef.h>

/* DWARF's numbers (System V ABI for x86-64, 3.6.2) of rbp, rsp and the return address. */
enum {
	REGISTER_FRAME = 6,
	REGISTER_STACK = 7,
	REGISTER_RETURN = 16,
	MAX_REMEMBERED = 8,
	MAX_CFA = 1 << 28,
};

/* DW_EH_PE_… */
enum {
	ENCODING_PCREL_SDATA4 = 0x1b,
	ENCODING_DATAREL_SDATA4 = 0x3b,
	ENCODING_UDATA4 = 0x03,
};

/* A part of the module; reading beyond its end sets is_bad. */
typedef struct {
	const uint8_t *at, *end;
	bool is_bad;
} Reader;

static const uint8_t *take(Reader *self, size_t n)
{
	const uint8_t *at = self->at;

	if (self->is_bad || (size_t)(self->end - at) < n) {
		self->is_bad = true;
		return NULL;
	}
	self->at += n;
	return at;
}

static uint64_t take_unsigned(Reader *self, size_t n)
{
	const uint8_t *at = take(self, n);
	uint64_t value = 0;

	for (size_t i = 0; at != NULL && i < n; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static uint64_t take_uleb(Reader *self)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned shift = 0;; shift += 7) {
		byte = (uint8_t)take_unsigned(self, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return value;
	}
}

static int64_t take_sleb(Reader *self)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take_unsigned(self, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) != 0);
	if (shift < 64 && (byte & 0x40) != 0)
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

typedef struct {
	const uint8_t *start, *end; /* of the module */
	const uint8_t *header;      /* .eh_frame_hdr */
} Module;

/* By _dl_find_object() of glibc 2.35 and later: unlike dl_iterate_phdr() it takes no lock, which
 * the thread that allocates may hold. */
static bool find_module(uint64_t address, Module *out_module)
{
	extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));
	struct dl_find_object found;

	if (&_dl_find_object == NULL || _dl_find_object((void *)address, &found) != 0 ||
		found.dlfo_eh_frame == NULL)
		return false;
	*out_module = (Module){found.dlfo_map_start, found.dlfo_map_end, found.dlfo_eh_frame};
	return true;
}

static int32_t signed_at(const uint8_t *at)
{
	int32_t value;

	/* Inlined, so that what touches the tables is seen to be ours. */
	__builtin_memcpy(&value, at, sizeof(value));
	return value;
}

/*
 * The header's table: pairs of (start of code, description) relative to the header, by start. The
 * description of the last that begins at or before `address`; NULL: none.
 */
static const uint8_t *find_description(const Module *module, uint64_t address)
{
	Reader reader = {.at = module->header, .end = module->end};
	const uint8_t *head = take(&reader, 4);

	if (head == NULL || head[0] != 1 || head[2] != ENCODING_UDATA4 ||
		head[3] != ENCODING_DATAREL_SDATA4)
		return NULL;
	/* The address of .eh_frame, which is not needed beside the table. */
	take(&reader, (head[1] & 0x0f) == 0x0c || (head[1] & 0x0f) == 0x04 ? 8 : 4);
	uint64_t n = take_unsigned(&reader, 4);
	const uint8_t *table = take(&reader, n * 8);
	if (table == NULL || n == 0)
		return NULL;
	int64_t wanted = (int64_t)(address - (uint64_t)module->header);
	uint64_t low = 0, high = n;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		if (signed_at(table + middle * 8) <= wanted)
			low = middle;
		else
			high = middle;
	}
	const uint8_t *found = module->header + signed_at(table + low * 8 + 4);
	return signed_at(table + low * 8) <= wanted && found >= module->start && found < module->end
	               ? found
	               : NULL;
}

/* The entry at `at`, after its length. */
static bool open_entry(const Module *module, const uint8_t *at, Reader *out_entry)
{
	Reader reader = {.at = at, .end = module->end};
	uint64_t length = take_unsigned(&reader, 4);

	if (length == 0 || length == UINT32_MAX)
		return false;
	*out_entry = (Reader){.at = reader.at};
	take(&reader, length);
	out_entry->end = reader.at;
	return !reader.is_bad;
}

typedef struct {
	Reader program;
	uint64_t code_factor;
	int64_t data_factor;
	bool has_augmentation;
} Cie;

/* Reads what 'R' says, and whether this is the frame of a signal, of which nothing is known. */
static bool read_augmentation(Cie *self, const char *text, Reader *entry)
{
	if (text[0] == '\0')
		return true;
	self->has_augmentation = text[0] == 'z';
	uint64_t size = take_uleb(entry);
	const uint8_t *data = take(entry, size);
	if (!self->has_augmentation || data == NULL)
		return false;
	Reader values = {.at = data, .end = data + size};
	for (const char *at = text + 1; *at != '\0'; at++) {
		if (*at == 'R' && take_unsigned(&values, 1) != ENCODING_PCREL_SDATA4)
			return false;
		if (*at == 'L')
			take(&values, 1);
		if (*at == 'P') {
			uint8_t encoding = (uint8_t)take_unsigned(&values, 1) & 0x0f;
			take(&values,
				encoding == 0x0c || encoding == 0x04 || encoding == 0 ? 8 : 4);
		}
		if (*at == 'S')
			return false;
	}
	return !values.is_bad;
}

static bool read_cie(const Module *module, const uint8_t *at, Cie *out_cie)
{
	Reader entry;

	if (at < module->start || at >= module->end || !open_entry(module, at, &entry) ||
		take_unsigned(&entry, 4) != 0)
		return false;
	uint8_t version = (uint8_t)take_unsigned(&entry, 1);
	const char *text = (const char *)entry.at;
	while (take_unsigned(&entry, 1) != 0)
		;
	*out_cie = (Cie){.code_factor = take_uleb(&entry)};
	out_cie->data_factor = take_sleb(&entry);
	uint64_t return_register = version == 1 ? take_unsigned(&entry, 1) : take_uleb(&entry);
	if (entry.is_bad || (version != 1 && version != 3) || return_register != REGISTER_RETURN ||
		!read_augmentation(out_cie, text, &entry))
		return false;
	out_cie->program = entry;
	return !entry.is_bad;
}

typedef struct {
	uint64_t cfa_register;
	int64_t cfa_offset, frame_offset; /* the latter from the cfa; 0: not saved */
	bool is_unknown;                  /* an expression, or another way to save */
} Row;

typedef struct {
	const Cie *cie;
	Row row, initial, remembered[MAX_REMEMBERED];
	unsigned n_remembered;
	uint64_t location, wanted;
} Machine;

static void save(Machine *self, uint64_t saved, int64_t factored)
{
	int64_t offset = factored * self->cie->data_factor;

	if (saved == REGISTER_FRAME)
		self->row.frame_offset = offset;
	/* where call leaves it, just below the CFA; elsewhere this is not a plain function */
	else if (saved == REGISTER_RETURN && offset != -8)
		self->row.is_unknown = true;
}

static void restore(Machine *self, uint64_t restored)
{
	if (restored == REGISTER_FRAME)
		self->row.frame_offset = self->initial.frame_offset;
}

static void advance(Machine *self, uint64_t delta)
{
	self->location += delta * self->cie->code_factor;
}

static void remember(Machine *self)
{
	if (self->n_remembered < MAX_REMEMBERED)
		self->remembered[self->n_remembered] = self->row;
	self->n_remembered++;
}

static void recall(Machine *self)
{
	if (self->n_remembered > 0)
		self->n_remembered--;
	if (self->n_remembered < MAX_REMEMBERED)
		self->row = self->remembered[self->n_remembered];
	else
		self->row.is_unknown = true;
}

/* A register has a rule that is not followed here, which matters only for those that we need. */
static void lose_register(Machine *self, uint64_t number)
{
	if (number == REGISTER_FRAME || number == REGISTER_RETURN || number == REGISTER_STACK)
		self->row.is_unknown = true;
}

/* DW_CFA_… without operand bits. False: not known. */
static bool execute_extended(Machine *self, uint8_t code, Reader *reader)
{
	uint64_t operand;

	switch (code) {
	case 0x00: /* nop */
		return true;
	case 0x02: /* advance_loc1 */
		advance(self, take_unsigned(reader, 1));
		return true;
	case 0x03: /* advance_loc2 */
		advance(self, take_unsigned(reader, 2));
		return true;
	case 0x04: /* advance_loc4 */
		advance(self, take_unsigned(reader, 4));
		return true;
	case 0x05: /* offset_extended */
		operand = take_uleb(reader);
		save(self, operand, (int64_t)take_uleb(reader));
		return true;
	case 0x06: /* restore_extended */
		restore(self, take_uleb(reader));
		return true;
	case 0x07: /* undefined */
	case 0x08: /* same_value */
		lose_register(self, take_uleb(reader));
		return true;
	case 0x09: /* register */
		lose_register(self, take_uleb(reader));
		take_uleb(reader);
		return true;
	case 0x0a: /* remember_state */
		remember(self);
		return true;
	case 0x0b: /* restore_state */
		recall(self);
		return true;
	case 0x0c: /* def_cfa */
		self->row.cfa_register = take_uleb(reader);
		self->row.cfa_offset = (int64_t)take_uleb(reader);
		return true;
	case 0x0d: /* def_cfa_register */
		self->row.cfa_register = take_uleb(reader);
		return true;
	case 0x0e: /* def_cfa_offset */
		self->row.cfa_offset = (int64_t)take_uleb(reader);
		return true;
	case 0x0f: /* def_cfa_expression */
		take(reader, take_uleb(reader));
		self->row.is_unknown = true;
		return true;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		lose_register(self, take_uleb(reader));
		take(reader, take_uleb(reader));
		return true;
	case 0x11: /* offset_extended_sf */
		operand = take_uleb(reader);
		save(self, operand, take_sleb(reader));
		return true;
	case 0x12: /* def_cfa_sf */
		self->row.cfa_register = take_uleb(reader);
		self->row.cfa_offset = take_sleb(reader) * self->cie->data_factor;
		return true;
	case 0x13: /* def_cfa_offset_sf */
		self->row.cfa_offset = take_sleb(reader) * self->cie->data_factor;
		return true;
	case 0x2e: /* GNU_args_size */
		take_uleb(reader);
		return true;
	default:
		return false;
	}
}

static bool execute(Machine *self, uint8_t code, Reader *reader)
{
	switch (code >> 6) {
	case 1:
		advance(self, code & 0x3f);
		return true;
	case 2:
		save(self, code & 0x3f, (int64_t)take_uleb(reader));
		return true;
	case 3:
		restore(self, code & 0x3f);
		return true;
	default:
		return execute_extended(self, code, reader);
	}
}

/* Up to the wanted place, or the end. */
static bool run(Machine *self, Reader program)
{
	while (program.at < program.end && self->location <= self->wanted) {
		Row before = self->row;
		uint8_t code = (uint8_t)take_unsigned(&program, 1);
		if (!execute(self, code, &program) || program.is_bad)
			return false;
		if (self->location > self->wanted)
			self->row = before;
	}
	return true;
}

static bool to_rule(const Row *row, FrameRule *out_rule)
{
	if (row->is_unknown || row->cfa_offset < 8 || row->cfa_offset > MAX_CFA ||
		(row->cfa_register != REGISTER_STACK && row->cfa_register != REGISTER_FRAME) ||
		row->frame_offset > 0 || row->frame_offset < -(int64_t)UINT16_MAX)
		return false;
	*out_rule = (FrameRule){
		.cfa_offset = (uint32_t)row->cfa_offset,
		.frame_offset = (uint16_t)-row->frame_offset,
		.is_from_frame_pointer = row->cfa_register == REGISTER_FRAME,
	};
	return true;
}

/* False: the module does not say. */
static bool find_in_module(const Module *module, uint64_t address, FrameRule *out_rule)
{
	Reader entry;
	Cie cie;

	const uint8_t *at = find_description(module, address);
	if (at == NULL || !open_entry(module, at, &entry))
		return false;
	const uint8_t *cie_field = entry.at;
	uint64_t back = take_unsigned(&entry, 4);
	if (back == 0 || !read_cie(module, cie_field - back, &cie))
		return false;
	uint64_t start = (uint64_t)entry.at;
	start += (uint64_t)(int64_t)(int32_t)take_unsigned(&entry, 4);
	uint64_t size = take_unsigned(&entry, 4);
	if (cie.has_augmentation)
		take(&entry, take_uleb(&entry));
	if (entry.is_bad || address - start >= size)
		return false;
	Machine machine = {.cie = &cie, .wanted = UINT64_MAX};
	if (!run(&machine, cie.program))
		return false;
	machine.initial = machine.row;
	machine.location = start;
	machine.wanted = address;
	return run(&machine, entry) && to_rule(&machine.row, out_rule);
}

bool frame_rule_find(uint64_t address, FrameRule *out_rule)
{
	Module module;

	/* The rule of the call is wanted, and the call may be the last instruction of its function.
	 */
	address--;
	if (!find_module(address, &module))
		return false;
	if (!find_in_module(&module, address, out_rule))
		*out_rule = (FrameRule){0};
	return true;
}

#else

bool frame_rule_find(uint64_t address, FrameRule *out_rule)
{
	(void)address;
	(void)out_rule;
	return false;
}

#endif
