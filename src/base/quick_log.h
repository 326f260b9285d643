/* SPDX-License-Identifier: MIT */
/* The natural logarithm, where so many are needed that the call of log() is what takes the time. */
#pragma once

#include <stdint.h>
#include <string.h>

/*
 * As log(), within 4e-15 of it or of 1: x = 2^e · m with m around 1, and log m by the series of 2
 * artanh((m − 1) / (m + 1)), whose argument is at most 0.172. x must be at least DBL_MIN; an x that
 * is not finite gives NaN. Without a branch and a conversion of integers, so that a compiler can
 * make several at once.
 */
static inline double lode_quick_log_of_normal(double x)
{
	const uint64_t least_mantissa = 0x3fe6a09e667f3bcd; /* √½ */
	const uint64_t bias = 1023, two_to_52 = 0x4330000000000000;
	uint64_t bits, exponent_bits;
	double m, exponent;

	memcpy(&bits, &x, sizeof(bits));
	uint64_t biased = (bits - least_mantissa + (bias << 52)) >> 52;
	/* In the mantissa of 2^52 a small integer is itself. */
	exponent_bits = biased | two_to_52;
	memcpy(&exponent, &exponent_bits, sizeof(exponent));
	exponent -= 0x1p52 + 1023;
	bits -= (biased - bias) << 52;
	memcpy(&m, &bits, sizeof(m));
	double z = (m - 1) / (m + 1), w = z * z;
	double low = 1 + w * (1.0 / 3 + w * (1.0 / 5 + w * (1.0 / 7)));
	double high = 1.0 / 9 + w * (1.0 / 11 + w * (1.0 / 13 + w * (1.0 / 15 + w * (1.0 / 17))));
	double is_finite = x - x; /* 0, or NaN */
	return exponent * 0.693147180559945309 + 2 * z * (low + w * w * w * w * high) + is_finite;
}
