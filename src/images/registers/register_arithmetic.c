/* SPDX-License-Identifier: MIT */
#include "images/registers/register_arithmetic.h"

#include "base/bits.h"

#include <stddef.h>

#define CF ((uint64_t)ZYDIS_CPUFLAG_CF)
#define PF ((uint64_t)ZYDIS_CPUFLAG_PF)
#define ZF ((uint64_t)ZYDIS_CPUFLAG_ZF)
#define SF ((uint64_t)ZYDIS_CPUFLAG_SF)
#define OF ((uint64_t)ZYDIS_CPUFLAG_OF)

static bool sign_of(uint64_t value, unsigned bits)
{
	return value >> (bits - 1) & 1;
}

static int64_t sign_extended(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* Zero, sign and parity of the result; carry and overflow as given. */
static void set_flags(
	const LodeArithmeticInputs *in, LodeArithmeticResult *out, bool carry, bool overflow)
{
	uint64_t value = out->value & lode_low_bits(in->width);

	out->flags = (carry ? CF : 0) | (overflow ? OF : 0) | (value == 0 ? ZF : 0) |
	             (sign_of(value, in->width) ? SF : 0) |
	             (__builtin_parityll(value & 0xff) ? 0 : PF);
	out->known_flags = CF | PF | ZF | SF | OF;
}

static bool add(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	uint64_t mask = lode_low_bits(in->width);
	uint64_t sum = (in->a + in->b + in->carry) & mask;
	/* with a carry in, a sum that is equal to an operand has wrapped too */
	bool carry = in->carry ? sum <= in->a : sum < in->a;

	out->value = sum;
	set_flags(in, out, carry, sign_of((in->a ^ sum) & (in->b ^ sum), in->width));
	return true;
}

static bool subtract(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	uint64_t difference = (in->a - in->b - in->carry) & lode_low_bits(in->width);
	bool carry = in->carry ? in->a <= in->b : in->a < in->b;

	out->value = difference;
	set_flags(in, out, carry, sign_of((in->a ^ in->b) & (in->a ^ difference), in->width));
	return true;
}

/* inc and dec leave the carry as it is: it is not among the flags that they change. */
static bool increment(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	LodeArithmeticInputs with_one = {.width = in->width, .a = in->a, .b = 1};

	add(&with_one, out);
	out->known_flags &= ~CF;
	return true;
}

static bool decrement(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	LodeArithmeticInputs with_one = {.width = in->width, .a = in->a, .b = 1};

	subtract(&with_one, out);
	out->known_flags &= ~CF;
	return true;
}

static bool negate(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	LodeArithmeticInputs from_zero = {.width = in->width, .a = 0, .b = in->a};

	return subtract(&from_zero, out);
}

static bool complement(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = ~in->a;
	return true;
}

static bool bit_and(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a & in->b;
	set_flags(in, out, false, false);
	return true;
}

static bool bit_or(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a | in->b;
	set_flags(in, out, false, false);
	return true;
}

static bool bit_xor(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a ^ in->b;
	set_flags(in, out, false, false);
	return true;
}

static bool and_not(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = ~in->a & in->b;
	set_flags(in, out, false, false);
	/* Unlike after and, parity is undefined, and processors differ in it. */
	out->known_flags &= ~PF;
	return true;
}

static bool test_bit(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->flags = in->a >> (in->b & (in->width - 1)) & 1 ? CF : 0;
	out->known_flags = CF;
	return true;
}

static unsigned shift_count(const LodeArithmeticInputs *in)
{
	return (unsigned)in->b & (in->width == 64 ? 63 : 31);
}

/* Overflow is defined for shifts by one only, carry for less than the width. */
static void set_shift_flags(const LodeArithmeticInputs *in, LodeArithmeticResult *out,
	unsigned count, bool carry, bool overflow)
{
	set_flags(in, out, carry, overflow);
	out->keeps_flags = count == 0;
	if (count != 1)
		out->known_flags &= ~OF;
	if (count >= in->width)
		out->known_flags &= ~CF;
}

static bool shift_left(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	unsigned count = shift_count(in);
	bool carry = count > 0 && count <= in->width && in->a >> (in->width - count) & 1;

	out->value = in->a << count & lode_low_bits(in->width);
	set_shift_flags(in, out, count, carry, sign_of(out->value, in->width) != carry);
	return true;
}

static bool shift_right(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	unsigned count = shift_count(in);
	bool carry = count > 0 && in->a >> (count - 1) & 1;

	out->value = in->a >> count;
	set_shift_flags(in, out, count, carry, sign_of(in->a, in->width));
	return true;
}

static bool shift_right_signed(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	unsigned count = shift_count(in);
	int64_t a = sign_extended(in->a, in->width);
	bool carry = count > 0 && a >> (count - 1) & 1;

	out->value = (uint64_t)(a >> count) & lode_low_bits(in->width);
	set_shift_flags(in, out, count, carry, false);
	return true;
}

static bool shift_only_left(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a << shift_count(in);
	return true;
}

static bool shift_only_right(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a >> shift_count(in);
	return true;
}

static bool shift_only_right_signed(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = (uint64_t)(sign_extended(in->a, in->width) >> shift_count(in));
	return true;
}

/* Carry and overflow are left unknown, and with them what depends on them. */
static bool rotate_left(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	unsigned masked = shift_count(in), count = masked & (in->width - 1);

	out->value = count == 0 ? in->a : in->a << count | in->a >> (in->width - count);
	out->keeps_flags = masked == 0;
	return true;
}

static bool rotate_right(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	unsigned masked = shift_count(in), count = masked & (in->width - 1);

	out->value = count == 0 ? in->a : in->a >> count | in->a << (in->width - count);
	out->keeps_flags = masked == 0;
	return true;
}

static bool rotate_only_right(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	return rotate_right(in, out);
}

static bool multiply(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a * in->b;
	return true;
}

static bool swap_bytes(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	if (in->width == 16)
		return false;
	out->value = in->width == 64 ? __builtin_bswap64(in->a)
	                             : __builtin_bswap32((uint32_t)in->a);
	return true;
}

static bool copy(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a;
	return true;
}

static bool extend_sign(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = (uint64_t)sign_extended(in->a, in->width_a);
	return true;
}

/* cwd, cdq, cqo */
static bool spread_sign(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = sign_of(in->a, in->width_a) ? UINT64_MAX : 0;
	return true;
}

static bool count_ones(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = (uint64_t)__builtin_popcountll(in->a);
	out->flags = in->a == 0 ? ZF : 0;
	out->known_flags = CF | PF | ZF | SF | OF;
	return true;
}

static bool count_trailing_zeros(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a == 0 ? in->width : (uint64_t)__builtin_ctzll(in->a);
	out->flags = (in->a == 0 ? CF : 0) | (out->value == 0 ? ZF : 0);
	out->known_flags = CF | ZF;
	return true;
}

static bool count_leading_zeros(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a == 0 ? in->width : (uint64_t)__builtin_clzll(in->a) - (64 - in->width);
	out->flags = (in->a == 0 ? CF : 0) | (out->value == 0 ? ZF : 0);
	out->known_flags = CF | ZF;
	return true;
}

static bool find_lowest(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	if (in->a == 0)
		return false;
	out->value = (uint64_t)__builtin_ctzll(in->a);
	out->known_flags = ZF;
	return true;
}

static bool find_highest(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	if (in->a == 0)
		return false;
	out->value = 63 - (uint64_t)__builtin_clzll(in->a);
	out->known_flags = ZF;
	return true;
}

static bool reset_lowest(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a & (in->a - 1);
	return true;
}

static bool isolate_lowest(const LodeArithmeticInputs *in, LodeArithmeticResult *out)
{
	out->value = in->a & (~in->a + 1);
	return true;
}

static const LodeArithmeticOperation OPERATIONS[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	[ZYDIS_MNEMONIC_ADC] = {add, LODE_FORM_UPDATE_WITH, true},
	[ZYDIS_MNEMONIC_ADD] = {add, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_AND] = {bit_and, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_ANDN] = {and_not, LODE_FORM_FROM_TWO},
	[ZYDIS_MNEMONIC_BLSI] = {isolate_lowest, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_BLSR] = {reset_lowest, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_BSF] = {find_lowest, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_BSR] = {find_highest, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_BSWAP] = {swap_bytes, LODE_FORM_UPDATE},
	[ZYDIS_MNEMONIC_BT] = {test_bit, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_CBW] = {extend_sign, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_CDQ] = {spread_sign, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_CDQE] = {extend_sign, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_CMP] = {subtract, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_CQO] = {spread_sign, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_CWD] = {spread_sign, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_CWDE] = {extend_sign, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_DEC] = {decrement, LODE_FORM_UPDATE},
	[ZYDIS_MNEMONIC_INC] = {increment, LODE_FORM_UPDATE},
	[ZYDIS_MNEMONIC_LZCNT] = {count_leading_zeros, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_MOV] = {copy, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_MOVSX] = {extend_sign, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_MOVSXD] = {extend_sign, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_MOVZX] = {copy, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_NEG] = {negate, LODE_FORM_UPDATE},
	[ZYDIS_MNEMONIC_NOT] = {complement, LODE_FORM_UPDATE},
	[ZYDIS_MNEMONIC_OR] = {bit_or, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_POPCNT] = {count_ones, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_ROL] = {rotate_left, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_ROR] = {rotate_right, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_RORX] = {rotate_only_right, LODE_FORM_FROM_TWO},
	[ZYDIS_MNEMONIC_SAR] = {shift_right_signed, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_SARX] = {shift_only_right_signed, LODE_FORM_FROM_TWO},
	[ZYDIS_MNEMONIC_SBB] = {subtract, LODE_FORM_UPDATE_WITH, true},
	[ZYDIS_MNEMONIC_SHL] = {shift_left, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_SHLX] = {shift_only_left, LODE_FORM_FROM_TWO},
	[ZYDIS_MNEMONIC_SHR] = {shift_right, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_SHRX] = {shift_only_right, LODE_FORM_FROM_TWO},
	[ZYDIS_MNEMONIC_SUB] = {subtract, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_TEST] = {bit_and, LODE_FORM_UPDATE_WITH},
	[ZYDIS_MNEMONIC_TZCNT] = {count_trailing_zeros, LODE_FORM_FROM},
	[ZYDIS_MNEMONIC_XOR] = {bit_xor, LODE_FORM_UPDATE_WITH},
};

static const LodeArithmeticOperation MULTIPLY_TWO = {multiply, LODE_FORM_UPDATE_WITH, false};

const LodeArithmeticOperation *lode_arithmetic_operation(ZydisMnemonic mnemonic)
{
	if (mnemonic == ZYDIS_MNEMONIC_IMUL)
		return &MULTIPLY_TWO;
	if ((unsigned)mnemonic > ZYDIS_MNEMONIC_MAX_VALUE || OPERATIONS[mnemonic].compute == NULL)
		return NULL;
	return &OPERATIONS[mnemonic];
}
