/* SPDX-License-Identifier: MIT */
/* Planted: divisions that wait for each other, which take a processor long and cost one instruction
 * each where these are only counted. */
#include "planted_functions.h"

#define WORK(n, x, sum)                                                                            \
	sum += x;                                                                                  \
	sum = MIX(n, sum);                                                                         \
	sum /= (sum >> 60) + n;                                                                    \
	sum = ~sum / ((sum >> 48) + 3);                                                            \
	sum = ~sum / ((sum >> 49) + n);

DEFINE_PROGRAM(1000)
