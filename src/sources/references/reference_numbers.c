/* SPDX-License-Identifier: MIT */
/* Numbers of the text forms: there are hundreds of millions of them in a trace. */
#include "sources/references/reference_form.h"

#include <string.h>

#define NO_DIGITS_16 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16

/* clang-format off */
const uint8_t lode_reference_hex_digits[256] = {
	NO_DIGITS_16, NO_DIGITS_16, NO_DIGITS_16,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 16, 16, 16, 16, 16,
	16, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16,
	NO_DIGITS_16,
	16, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16,
	NO_DIGITS_16, NO_DIGITS_16, NO_DIGITS_16, NO_DIGITS_16, NO_DIGITS_16,
	NO_DIGITS_16, NO_DIGITS_16, NO_DIGITS_16, NO_DIGITS_16,
};
/* clang-format on */

bool lode_reference_hex(const char **at, const char *end, uint64_t max, uint64_t *out)
{
	const char *first = *at;
	uint64_t value = 0;
	uint8_t digit;

	for (; *at < end && (digit = lode_reference_hex_digits[(uint8_t)(*at)[0]]) < 16; (*at)++) {
		if (value > UINT64_MAX >> 4)
			return false;
		value = value << 4 | digit;
	}
	*out = value;
	return *at > first && value <= max;
}

bool lode_reference_decimal(const char **at, const char *end, uint64_t max, uint64_t *out)
{
	const char *first = *at;
	uint64_t value = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
		uint64_t digit = (uint64_t)(**at - '0');
		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*out = value;
	return *at > first && value <= max;
}

/* The eight digits of a number, as the bytes of another, the first one lowest. */
static uint64_t eight_digits(uint32_t value)
{
	uint64_t nibbles = GUINT32_SWAP_LE_BE(value);

	/* Four bytes, then their halves, spread over eight. */
	nibbles = (nibbles | nibbles << 16) & UINT64_C(0x0000ffff0000ffff);
	nibbles = (nibbles | nibbles << 8) & UINT64_C(0x00ff00ff00ff00ff);
	nibbles = (nibbles >> 4 | nibbles << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	uint64_t is_letter = (nibbles + UINT64_C(0x0606060606060606)) >> 4 &
	                     UINT64_C(0x0101010101010101);
	return nibbles + UINT64_C(0x3030303030303030) + is_letter * ('a' - '0' - 10);
}

static void put_digits(char *at, uint64_t digits)
{
	digits = GUINT64_TO_LE(digits);
	memcpy(at, &digits, sizeof(digits));
}

char *lode_reference_put_hex(char *at, uint64_t value, unsigned width)
{
	unsigned needed = value == 0 ? 1 : (67U - (unsigned)__builtin_clzll(value)) / 4;
	unsigned n = MAX(needed, width);
	uint64_t low = eight_digits((uint32_t)value);

	if (n <= sizeof(low)) {
		put_digits(at, low >> 8 * (sizeof(low) - n));
	} else {
		uint64_t high = eight_digits((uint32_t)(value >> 32));
		put_digits(at, high >> 8 * (2 * sizeof(low) - n));
		put_digits(at + n - sizeof(low), low);
	}
	return at + n;
}

char *lode_reference_put_decimal(char *at, uint64_t value)
{
	char digits[20];
	size_t n = 0;

	if (value < 10) {
		*at = (char)('0' + value);
		return at + 1;
	}
	do
		digits[sizeof(digits) - ++n] = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	memcpy(at, digits + sizeof(digits) - n, n);
	return at + n;
}
