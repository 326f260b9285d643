/* SPDX-License-Identifier: MIT */
/* The natural logarithm, where so many are needed that the call of log() is what takes the time. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * As log(), within 4e-15 of it or of 1: x = 2^e · m with m around 1, and log m by the series of
 * 2 artanh((m − 1) / (m + 1)), whose argument is at most 0.172.
 */
static inline double lode_quick_log(double x)
{
	const uint64_t least_mantissa = 0x3fe6a09e667f3bcd; /* √½ */
	uint64_t bits;
	double m;

	if (!(x >= DBL_MIN && x <= DBL_MAX))
		return log(x);
	memcpy(&bits, &x, sizeof(bits));
	int64_t exponent = (int64_t)(bits - least_mantissa) >> 52;
	bits -= (uint64_t)exponent << 52;
	memcpy(&m, &bits, sizeof(m));
	double z = (m - 1) / (m + 1), w = z * z;
	double low = 1 + w * (1.0 / 3 + w * (1.0 / 5 + w * (1.0 / 7)));
	double high = 1.0 / 9 + w * (1.0 / 11 + w * (1.0 / 13 + w * (1.0 / 15 + w * (1.0 / 17))));
	return (double)exponent * 0.693147180559945309 + 2 * z * (low + w * w * w * w * high);
}
