/* SPDX-License-Identifier: MIT */
/* The state of the flow step, shared by its files. Private to ingest/join/. */
#pragma once

#include "ingest/join/join.h"

typedef struct {
	LodeProfile *profile;
	const LodeRecording *recording;
	GArray *transfers; /* LodeJoinTransfer */
	const LodeJoinCode *codes;
	double *in;             /* what flows into each instruction, as far as known */
	double *out;            /* of each instruction: what does not fall through */
	double *signal_returns; /* of each function: returns into the signal trampoline */
	double *returned;       /* of each call instruction: how often it came back */
	double arrived;         /* returns of calls, seen where they arrive */
	GArray *lacking;  /* uint32_t: instructions that lack inflow, once plain flow is known */
	GArray *exits;    /* uint32_t: returns and indirect jumps */
	double undecoded; /* executions of what could not be decoded */
	uint32_t n;       /* instructions */
} LodeJoinFlow;

/* The instruction that follows in memory, if it ran; else LODE_NONE. Instructions can overlap (a
 * jump after a lock prefix), so that it need not be the next row. */
uint32_t lode_join_flow_following(const LodeJoinFlow *self, uint32_t index);

void lode_join_flow_add_edge(
	LodeJoinFlow *self, uint32_t source, uint32_t target, LodeEdgeKind kind, double count);

/* The executions of an instruction above its known inflow; 0 if there are none. */
double lode_join_flow_lack(const LodeJoinFlow *self, uint32_t index);

/*
 * Adds transfers that callgrind never writes, by rule; each only where the counts of both ends
 * agree. Gives the number of returns that left a callee but never arrived, or the other way.
 */
double lode_join_unwritten(LodeJoinFlow *self);

/*
 * Gives the dynamic linker's resolver its own jumps back: callgrind takes it off its call stack
 * first, and so writes the jump to the resolved function as a call by the resolver's caller. The
 * caller calls it before transfers are added; it leaves them out of order.
 */
void lode_join_reroute_resolver(LodeJoinFlow *self);

/* All flow of a trace, in which nothing is left to be concluded; return edges among it. */
void lode_join_traced_flow(LodeJoinFlow *self);

/* The ways by which weight is divided where executions are inferred: LodeCauseWay, by target. The
 * marks are LodeCauseMark sets, one for each instruction. The caller unrefs the result. */
GArray *lode_join_ways(const LodeProfile *profile, const LodeJoinCode *codes, const uint8_t *marks);

LodeEdgeKind lode_join_flow_jump_kind(const LodeJoinFlow *self, uint32_t source, uint32_t target);

/* Counts entries of the target's function, where it is its first instruction. */
void lode_join_flow_enter_function(LodeJoinFlow *self, uint32_t target, double count);

/* Flow from an instruction to the next one in memory. */
void lode_join_flow_add_fall_through(
	LodeJoinFlow *self, uint32_t source, uint32_t target, double count);

/* Appends edges of kind return to the profile's edges, which must be sorted. */
void lode_join_add_return_edges(LodeJoinFlow *self);
