/* SPDX-License-Identifier: MIT */
/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A (opcode maps).
 */
#include "instruction_traits.h"

enum {
	ESCAPE = 0x0f,
	VEX_2 = 0xc5,
	VEX_3 = 0xc4,
	EVEX = 0x62,
	LOCK = 0xf0,
	REPNE = 0xf2,
	REPE = 0xf3,
	OPERAND_SIZE = 0x66,
};

typedef struct {
	const uint8_t *at, *end;
	bool has_lock, has_repeat;
	uint8_t mandatory; /* the prefix that chooses among instructions; 0: none */
} Cursor;

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case LOCK:
	case REPNE:
	case REPE:
		return true;
	default:
		return (byte & 0xf0) == 0x40; /* REX, which counts only right in front */
	}
}

static void skip_prefixes(Cursor *self)
{
	for (; self->at < self->end && is_prefix(*self->at); self->at++) {
		self->has_lock |= *self->at == LOCK;
		self->has_repeat |= *self->at == REPNE || *self->at == REPE;
		if (*self->at == REPNE || *self->at == REPE ||
			(*self->at == OPERAND_SIZE && self->mandatory == 0))
			self->mandatory = *self->at;
	}
}

static uint8_t byte_at(const Cursor *self, size_t index)
{
	return (size_t)(self->end - self->at) > index ? self->at[index] : 0;
}

static bool is_memory(uint8_t modrm)
{
	return modrm >> 6 != 3;
}

static unsigned extension(uint8_t modrm)
{
	return modrm >> 3 & 7;
}

/* A gather's accesses are separate ones, wherever they lie. */
static bool is_gather(const Cursor *self, uint8_t opcode)
{
	unsigned map = byte_at(self, 1) & (opcode == EVEX ? 7 : 31);
	uint8_t operation = byte_at(self, opcode == EVEX ? 4 : 3);

	if (opcode == VEX_2 || map != 2)
		return false;
	return (operation >= 0x90 && operation <= 0x93) || (operation >= 0xa0 && operation <= 0xa3);
}

static bool is_string(uint8_t opcode)
{
	return (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf);
}

/* Of a one-byte opcode: by its ModRM byte, or on the stack, or a string instruction. */
static bool may_access(uint8_t opcode, uint8_t modrm)
{
	bool has_modrm = (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 ||
	                 opcode == 0x6b || (opcode >= 0x80 && opcode <= 0x8f) || opcode == 0xc0 ||
	                 opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
	                 (opcode >= 0xd0 && opcode <= 0xdf) || opcode == 0xf6 || opcode == 0xf7 ||
	                 opcode >= 0xfe;

	if (has_modrm)
		return is_memory(modrm) && opcode != 0x8d; /* lea */
	return (opcode & 0xf0) == 0x50 || opcode == 0x68 || opcode == 0x6a || opcode == 0xe8 ||
	       opcode == 0xc2 || opcode == 0xc3 || opcode == 0xc9 || is_string(opcode);
}

/* Of a one-byte opcode without LOCK. Shifts by CL and what is rare are left out. */
static MemoryUse memory_use(uint8_t opcode, uint8_t modrm)
{
	unsigned group = extension(modrm);

	switch (opcode) {
	case 0x68:
	case 0x6a:
	case 0xe8:
		return MEMORY_STORE;
	case 0xc2:
	case 0xc3:
	case 0xc9:
		return MEMORY_LOAD;
	default:
		break;
	}
	if ((opcode & 0xf0) == 0x50)
		return opcode < 0x58 ? MEMORY_STORE : MEMORY_LOAD;
	if (!is_memory(modrm))
		return MEMORY_OTHER;
	if (opcode < 0x40 && (opcode & 7) < 4)
		return (opcode & 7) < 2 && opcode < 0x38 ? MEMORY_MODIFY : MEMORY_LOAD;
	switch (opcode) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x84:
	case 0x85:
	case 0x8a:
	case 0x8b:
		return MEMORY_LOAD;
	case 0x80:
	case 0x81:
	case 0x83:
		return group == 7 ? MEMORY_LOAD : MEMORY_MODIFY;
	case 0x88:
	case 0x89:
		return MEMORY_STORE;
	case 0xc6:
	case 0xc7:
		return group == 0 ? MEMORY_STORE : MEMORY_OTHER;
	case 0xf6:
	case 0xf7:
		return group == 2 || group == 3 ? MEMORY_MODIFY : MEMORY_LOAD;
	case 0xfe:
	case 0xff:
		if (opcode == 0xff && group == 4)
			return MEMORY_LOAD;
		return group < 2 ? MEMORY_MODIFY : MEMORY_OTHER;
	default:
		return MEMORY_OTHER;
	}
}

/* Floating-point arithmetic on one number, after an escape byte or a VEX prefix. */
static MemoryUse scalar_memory_use(uint8_t opcode, uint8_t modrm, uint8_t mandatory)
{
	if (!is_memory(modrm) || (mandatory != REPNE && mandatory != REPE))
		return MEMORY_OTHER;
	if (opcode == 0x11)
		return MEMORY_STORE;
	return opcode == 0x10 || opcode == 0x51 || (opcode >= 0x58 && opcode <= 0x5a) ||
	                       (opcode >= 0x5c && opcode <= 0x5f)
	               ? MEMORY_LOAD
	               : MEMORY_OTHER;
}

/* Also cmov, setcc, imul, movzx, movsx. */
static MemoryUse escaped_memory_use(uint8_t opcode, uint8_t modrm, uint8_t mandatory)
{
	if (is_memory(modrm) && (opcode & 0xf0) == 0x90)
		return MEMORY_STORE;
	if (is_memory(modrm) && ((opcode & 0xf0) == 0x40 || opcode == 0xaf || opcode == 0xb6 ||
					opcode == 0xb7 || opcode == 0xbe || opcode == 0xbf))
		return MEMORY_LOAD;
	return scalar_memory_use(opcode, modrm, mandatory);
}

static MemoryUse vex_memory_use(const Cursor *self)
{
	static const uint8_t prefixes[] = {0, OPERAND_SIZE, REPE, REPNE};
	bool is_short = byte_at(self, 0) == VEX_2;
	size_t last = is_short ? 1 : 2;

	if (byte_at(self, 0) == EVEX || (!is_short && (byte_at(self, 1) & 31) != 1))
		return MEMORY_OTHER;
	return scalar_memory_use(byte_at(self, last + 1), byte_at(self, last + 2),
		prefixes[byte_at(self, last) & 3]);
}

/* Square roots, sums, products, quotients, extrema, conversions, comparisons; fused products; and
 * vzeroupper, after which code of SSE may come. */
static bool is_vex_arithmetic(const Cursor *self)
{
	bool is_short = byte_at(self, 0) == VEX_2;
	unsigned map = is_short ? 1 : byte_at(self, 1) & 31;
	uint8_t opcode = byte_at(self, is_short ? 2 : 3);

	if (byte_at(self, 0) == EVEX)
		return false;
	if (map == 1)
		return (opcode >= 0x51 && opcode <= 0x53) || (opcode >= 0x58 && opcode <= 0x5f) ||
		       opcode == 0x77 || opcode == 0x7c || opcode == 0x7d || opcode == 0xc2 ||
		       opcode == 0xd0 || opcode == 0xe6;
	return map == 2 && opcode >= 0x96 && opcode <= 0xbf && (opcode & 15) >= 6;
}

/* Of a one-byte opcode without LOCK. Divisions fail, and what loads a segment or works on the old
 * floating-point registers may. */
static bool is_quiet(uint8_t opcode, uint8_t modrm)
{
	unsigned group = extension(modrm);

	if (opcode == 0x8d || (opcode & 0xf0) == 0x70 || (opcode & 0xf8) == 0x90 ||
		(opcode & 0xf0) == 0xb0 || (opcode < 0x40 && (opcode & 7) - 4u < 2))
		return true;
	switch (opcode) {
	case 0x98:
	case 0x99:
	case 0xa8:
	case 0xa9:
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
	case 0xe9:
	case 0xeb:
		return true;
	default:
		break;
	}
	if (is_memory(modrm))
		return false;
	if (opcode == 0xf6 || opcode == 0xf7)
		return group < 6;
	if (opcode == 0xfe || opcode == 0xff)
		return group < 2 || (opcode == 0xff && group == 4);
	if (opcode == 0xc6 || opcode == 0xc7)
		return group == 0;
	return (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 ||
	       opcode == 0x6b || (opcode >= 0x80 && opcode <= 0x8b && opcode != 0x82) ||
	       opcode == 0xc0 || opcode == 0xc1 || (opcode >= 0xd0 && opcode <= 0xd3);
}

/* After the escape byte, or with a VEX prefix of its opcode map; the masked move stores where a
 * register says. */
static bool is_quiet_vector(uint8_t opcode, uint8_t modrm)
{
	if (is_memory(modrm) || opcode == 0x2b || opcode == 0xf7 || opcode == 0xff)
		return false;
	return (opcode >= 0x10 && opcode <= 0x17) || (opcode >= 0x28 && opcode <= 0x2f) ||
	       (opcode >= 0x50 && opcode <= 0x7f && opcode != 0x78 && opcode != 0x79) ||
	       opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) || opcode >= 0xd0;
}

static bool is_quiet_escaped(const Cursor *self)
{
	uint8_t opcode = byte_at(self, 1), modrm = byte_at(self, 2);

	if (opcode == 0x1f || (opcode & 0xf0) == 0x80)
		return true;
	if (opcode == 0x38)
		return !is_memory(byte_at(self, 3));
	if (is_memory(modrm))
		return (opcode & 0xf8) == 0xc8; /* bswap */
	return opcode == 0x1e || (opcode & 0xf0) == 0x40 || (opcode & 0xf0) == 0x90 ||
	       opcode == 0xa3 || opcode == 0xa4 || opcode == 0xa5 || opcode == 0xab ||
	       opcode == 0xac || opcode == 0xad || (opcode >= 0xaf && opcode <= 0xb1) ||
	       opcode == 0xb3 || opcode == 0xb6 || opcode == 0xb7 || opcode == 0xb8 ||
	       (opcode >= 0xba && opcode <= 0xc1) || (opcode & 0xf8) == 0xc8 ||
	       is_quiet_vector(opcode, modrm);
}

static bool is_quiet_vex(const Cursor *self)
{
	bool is_short = byte_at(self, 0) == VEX_2;
	unsigned map = is_short ? 1 : byte_at(self, 1) & 31;
	uint8_t opcode = byte_at(self, is_short ? 2 : 3), modrm = byte_at(self, is_short ? 3 : 4);

	if (byte_at(self, 0) == EVEX || is_memory(modrm))
		return false;
	return map == 1 ? is_quiet_vector(opcode, modrm) : map == 2 || map == 3;
}

static bool is_branch(uint8_t opcode, uint8_t modrm)
{
	if (opcode == 0xff)
		return extension(modrm) >= 2 && extension(modrm) <= 5;
	return (opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3) ||
	       (opcode >= 0xe8 && opcode <= 0xeb) || (opcode >= 0xc2 && opcode <= 0xc3) ||
	       (opcode >= 0xca && opcode <= 0xcf);
}

/* Of a direct branch, which ends with it. */
static int32_t displacement_at(const Cursor *self, size_t index, size_t size)
{
	uint32_t value = 0;

	if (size == 1)
		return (int8_t)byte_at(self, index);
	for (size_t i = 0; i < size; i++)
		value |= (uint32_t)byte_at(self, index + i) << (8 * i);
	return (int32_t)value;
}

static InstructionTraits escaped_traits(const Cursor *self)
{
	uint8_t opcode = byte_at(self, 1);
	bool is_conditional = (opcode & 0xf0) == 0x80;
	bool is_pair = opcode == 0xc7 && extension(byte_at(self, 2)) == 1; /* cmpxchg8b, 16b */

	return (InstructionTraits){
		.can_follow_itself = is_conditional || opcode == 0x05,
		.is_locked = self->has_lock,
		.is_wide = true,
		.may_access = !is_conditional && is_memory(byte_at(self, 2)) && opcode != 0x1f,
		.is_conditional = is_conditional,
		.displacement = is_conditional ? displacement_at(self, 2, 4) : 0,
		.compares_and_exchanges = opcode == 0xb0 || opcode == 0xb1 || is_pair,
		.is_quiet = !self->has_lock && is_quiet_escaped(self),
		.memory = self->has_lock
	                          ? MEMORY_OTHER
	                          : escaped_memory_use(opcode, byte_at(self, 2), self->mandatory),
	};
}

static bool is_conditional_branch(uint8_t opcode)
{
	return (opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3);
}

InstructionTraits instruction_traits(const uint8_t *bytes, size_t n)
{
	Cursor cursor = {.at = bytes, .end = bytes + n};

	skip_prefixes(&cursor);
	uint8_t opcode = byte_at(&cursor, 0), modrm = byte_at(&cursor, 1);
	if (opcode == ESCAPE)
		return escaped_traits(&cursor);
	if (opcode == VEX_2 || opcode == VEX_3 || opcode == EVEX)
		return (InstructionTraits){
			.is_wide = !is_gather(&cursor, opcode),
			.memory = vex_memory_use(&cursor),
			.is_vex_arithmetic = is_vex_arithmetic(&cursor),
			.may_access = true,
			.is_quiet = is_quiet_vex(&cursor),
		};
	bool is_exchange = (opcode == 0x86 || opcode == 0x87) && is_memory(modrm);
	bool is_80_bit = opcode == 0xdb && is_memory(modrm) && (extension(modrm) & 5) == 5;
	return (InstructionTraits){
		.can_follow_itself = is_branch(opcode, modrm) ||
	                             (cursor.has_repeat && is_string(opcode)),
		.is_locked = cursor.has_lock || is_exchange,
		.is_wide = is_80_bit,
		.memory = cursor.has_lock ? MEMORY_OTHER : memory_use(opcode, modrm),
		.may_access = may_access(opcode, modrm),
		.is_quiet = !cursor.has_lock && is_quiet(opcode, modrm),
		.is_call = opcode == 0xe8 || (opcode == 0xff && extension(modrm) == 2),
		.is_return = opcode == 0xc2 || opcode == 0xc3,
		.is_conditional = is_conditional_branch(opcode),
		.displacement = is_conditional_branch(opcode) ? displacement_at(&cursor, 1, 1) : 0,
		.is_indirect = opcode == 0xff && (extension(modrm) == 2 || extension(modrm) == 4),
		.is_repeated = cursor.has_repeat && is_string(opcode),
		.is_division = (opcode == 0xf6 || opcode == 0xf7) && extension(modrm) >= 6,
	};
}
