/* SPDX-License-Identifier: MIT */
/* Private to images/: what the rules of data_access.h share while they look for an access. */
#pragma once

#include "images/data/data_access.h"
#include "images/instructions/memory_operands.h"
#include "images/registers/stack_memory.h"

typedef struct {
	const LodeDataAccessContext *context;
	const LodeDataAccessQuestion *question;
	LodeRegisterState state; /* before `full` */
	LodeStackMemory stack;   /* likewise; forward only, else that of the sample */
	LodeFullInstruction full;
	LodeDataAccess found; /* what the rule will say */
	bool is_at_access;    /* got as far as an access, whether or not it can be said where */
} LodeAccessSearch;

void lode_access_search_init(LodeAccessSearch *self, const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question);

/* Decodes what stands at an address of the image; false: no bytes, or no instruction. */
bool lode_access_search_decode(LodeAccessSearch *self, uint64_t address);

/* Ends with a reason. */
void lode_access_search_fail(LodeAccessSearch *self, LodeAddressReason reason);

/* Whether `full` is an access, as far as is known of repetitions: then `found` says where, or why
 * that cannot be said. `state` is that before it. */
bool lode_access_search_take(LodeAccessSearch *self, LodeAddressRule rule);

/* A base of an operand of `full` whose address is lost, if it may be accessed so; 0: none. */
uint64_t lode_access_search_base(const LodeAccessSearch *self, const LodeDataOperand *operand);

/* The rule backward; `found` and `is_at_access` are set, and `full` is the access when that is
 * true.
 */
void lode_access_search_backward(LodeAccessSearch *self);

/*
 * The access that a timer's interrupt waited for (access_waiting.c): `found` is the answer. Where
 * it is that one of several instructions waited, gives up to LODE_MAX_DATA_WAYS of them if these
 * are all; else 0. `out_ways` may be NULL.
 */
unsigned lode_access_search_waiting(LodeAccessSearch *self, LodeDataWay *out_ways);

/*
 * The rule next-round (access_next_round.c), from the sampled registers: `found` is the address of
 * the access when it runs again. False: not known, or it does not run again. Either way `found`,
 * `full` and `state` are changed.
 */
bool lode_access_search_next_round(LodeAccessSearch *self, const LodeRegisterState *sampled,
	const LodeFullInstruction *access);

enum { LODE_ACCESS_SEARCH_STEPS = 32 };
