/* SPDX-License-Identifier: MIT */
/*
 * The cost of instructions on the cores of a family of processors, by their classes: latencies,
 * ports and slots, from cores.ini.
 */
#pragma once

#include "images/cores/instruction_class.h"

enum { LODE_CORE_MAX_USES = 4, LODE_CORE_MAX_PORTS = 64 };

/* Work for one of several ports. */
typedef struct {
	uint64_t ports;  /* bits: any of them does it */
	double cycles;   /* of one port */
	bool is_divider; /* it is the divider's */
} LodePortUse;

typedef struct {
	double latency; /* cycles from the operands to the result */
	double slots;   /* of the core's width */
	LodePortUse uses[LODE_CORE_MAX_USES];
	uint8_t n_uses;
} LodeClassCost;

typedef struct {
	char *name;    /* "Zen 3"; of a similar processor "Ice Lake (similar)" */
	double width;  /* slots in a cycle */
	double taken;  /* branches that are taken in a cycle */
	double modify; /* further slots of load, work and store */
	double wide;   /* instructions of 512 bits use their ports so many times as long */
	double divider_256, divider_512;
	double mispredict; /* least cycles of a mispredicted branch after it is resolved; 0: unknown
	                    */
	double add_after_add; /* latency of an addition after another; 0: as of any */
	/* Cycles from a store to the load of it; indexed: by an address with an index register */
	double forward, forward_indexed, forward_vector;
	uint64_t divider_ports;
	uint64_t without_512, with_512; /* instructions of 512 bits use the latter instead */
	bool fuses_arithmetic;
	LodeClassCost costs[LODE_N_CLASSES]; /* all 0: no figures */
} LodeCore;

/* The core of a processor, as perf writes it: "GenuineIntel,6,143,8"; NULL, and one that is none of
 * the families: "other". Never NULL. */
LodeCore *lode_core_new(const char *processor);

/* The one of this name, as LodeProgramRun.core; NULL: there is none. */
LodeCore *lode_core_named(const char *name);

/* The first from the text of a file. NULL: _CORRUPT, with line or group and key. */
LodeCore *lode_core_parse(const char *text, const char *processor, GError **error);

void lode_core_free(LodeCore *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCore, lode_core_free)

/* The cost of one of an instruction's classes, by its width. False: it is not known. */
bool lode_core_cost(const LodeCore *self, const LodeInstructionWork *instruction,
	LodeInstructionClass of, LodeClassCost *out);
