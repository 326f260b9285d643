/* SPDX-License-Identifier: MIT */
/*
 * How fast the machine is while a program runs, measured by another process, the recorder, which
 * otherwise sleeps: each half second, more often at first, it times a chain of additions, each of
 * which needs the one before, and a walk of an array of 16 KiB in a fixed random order. Each takes
 * some ten microseconds, three times, of which the least counts. The kernel tells what else the
 * processors did (/proc/stat, proc(5)).
 *
 *   program    ███████████████████████████████
 *   recorder   ▏▏ ▏  ▏     ▏     ▏     ▏     ▏    chain, walk
 *
 * Both take the same work each time: that they took longer in another recording says that the
 * machine was slower, whatever the program did.
 */
#pragma once

#include "machine/machine_figures.h"

#include <stdint.h>

typedef struct LodeSpeedMeter LodeSpeedMeter;

/* Starts now. `proc`: "/proc", borrowed. The caller frees it. */
LodeSpeedMeter *lode_speed_meter_new(const char *proc);
void lode_speed_meter_free(LodeSpeedMeter *self);

/* Times both if it is time to, or does nothing. */
void lode_speed_meter_update(LodeSpeedMeter *self);

/* All since the start. `program_ns`: processor time of the recorded program. */
LodeMachineSpeed lode_speed_meter_end(const LodeSpeedMeter *self, uint64_t program_ns);

/* Nanoseconds since the start. */
uint64_t lode_speed_meter_wall_ns(const LodeSpeedMeter *self);

/* The additions of a chain; they take one cycle each, on processors of x86 and ARM. */
enum { LODE_CHAIN_ADDITIONS = 1 << 16 };
void lode_chain_run(void);
