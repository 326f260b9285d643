/* SPDX-License-Identifier: MIT */
/* Planted: divisions that wait for each other, which take a processor long and cost one instruction
 * each where these are only counted. */
#include "planted_functions.h"

#ifdef PLAIN
#define DIVIDE ^
#else
#define DIVIDE /
#endif

#define WORK(n, x, sum)                                                                            \
	sum += x;                                                                                  \
	sum = MIX(n, sum);                                                                         \
	sum = sum DIVIDE((sum >> 60) + n);                                                         \
	sum = ~sum DIVIDE((sum >> 48) + 3);                                                        \
	sum = ~sum DIVIDE((sum >> 49) + n);

DEFINE_PROGRAM(1000)
