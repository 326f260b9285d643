/* SPDX-License-Identifier: MIT */
/*
 * From a sample's registers to the data address of the load or store that it is charged to.
 *
 * A timer's interrupt is taken when the instruction that the processor waits for has finished: the
 * access charged is that of the instruction just before the sampled one, on the way that the thread
 * came (access_waiting.c). If that accesses no memory, the time belongs to no access (not-memory);
 * if it may be one of several that differ, it is ambiguous, unless registers, flags and the stack
 * contradict all but one. Its address is found by one of three rules, in this order:
 *
 *   backward   the registers of the operand are unchanged, or the changes can be undone
 *   recomputed they are computed again as the code did, from unchanged registers (access_path.h)
 *   next-round if it is lost: that of the same instruction when it runs again, if emulation
 *              reaches it (access_next_round.c)
 *
 * The rules for one that is not charged to what waited, tried in order (wants_next; for the
 * overflow of a counter backward is first and the others are not tried; for an exact sample at-pc
 * alone):
 *
 *   at-pc     the instruction at the sampled address has an explicit memory operand: evaluate it
 *   forward   carry the registers on through arithmetic, jumps, calls and returns, as far as flags,
 *             registers and the dumped stack tell where these lead inside the image, to the next
 *             access; at most 32 instructions
 *   backward  walk back inside the basic block, and out of it where only one way leads into it, to
 *             the last access, undoing what can be undone; at most 32 instructions; refuse where
 *             control may have come from elsewhere in between, and in functions with indirect jumps
 *             whose tables are not known
 *
 * A claimed address has passed `is_valid`; a failure has one reason: that of the rule which went
 * furthest. A rule that reached an access whose address cannot be said (tls, vector-index,
 * clobbered, invalid-address) went further than one that met none; of two that went as far it is
 * the first in the order above. US 5,974,536 and US 8,065,665 describe the backward walk.
 *
 * Accesses are those of explicit memory operands, and of string instructions, xlat and maskmov; the
 * stack of push, pop, call, ret and leave is carried along and never an access, nor are lea, nop
 * and prefetches. A string instruction with a rep prefix and rcx = 0 accesses nothing. Vector
 * accesses under a mask are given whole.
 */
#pragma once

#include "images/code/control_flow.h"
#include "images/instructions/data_operand.h"
#include "images/instructions/user_registers.h"
#include "images/targets/branch_targets.h"
#include "model/address_rule.h"

typedef struct {
	uint64_t pc;   /* where it was sampled, as an address in the image */
	uint64_t bias; /* run-time address − address in the image */
	const LodeUserRegisters *registers;
	const uint8_t *stack; /* what lay at the sampled rsp and above; NULL: not known */
	size_t stack_size;
	const LodeControlFlow *flow;      /* of the function that holds pc; NULL: no way back */
	const LodeBranchTargets *targets; /* of the image; NULL: unknown, then what other functions
	                                     jump to is not seen, and no block is left upwards */
	bool is_trigger_before;           /* a counter's event: backward first */
	bool is_exact;                    /* the sampled instruction caused the event */
	bool is_go;      /* calls preserve rsp, rbp and r14 only, whatever the System V ABI says */
	bool wants_next; /* the next access, as dprof has it: the three rules in their order,
	                    whatever waited */
} LodeDataAccessQuestion;

typedef struct {
	LodeAddressRule rule;     /* NONE: then there is a reason, and no operand */
	LodeAddressReason reason; /* NONE: then there is a rule */
	bool is_unverified; /* backward, where jumps that are not seen may lead in between: in a
	                       function with indirect jumps, whose tables are guessed, past a
	                       guessed target that no indirect jump of the function explains, in
	                       code that nothing seems to lead to, or without the image's targets */
	uint64_t pc;        /* of the access, in the image */
	LodeDataOperand operands[LODE_MAX_DATA_OPERANDS];
	uint8_t n_operands;
	uint64_t waiting_pc; /* without a rule: the access that waited, in the image, whose address
	                        is lost. 0: none such */
	uint8_t waiting_operand; /* the number of its first memory operand */
	uint8_t waiting_access;  /* what that operand is: LODE_ACCESS_… */
	uint32_t waiting_size;   /* and its bytes */
	uint64_t base; /* run-time, where the address of waiting_pc is lost: the base of its operand
	                  has survived (a register, or the displacement that is a symbol) and the
	                  index has not. It lies in the object that is accessed, not at the element;
	                  its mapping may be accessed so. 0: lost too */
} LodeDataAccess;

/* One of the instructions that may have run just before a sample. */
typedef struct {
	uint64_t source;       /* the last instruction on this way, in the image */
	LodeDataAccess access; /* the charged access if the thread came this way */
} LodeDataWay;

enum { LODE_MAX_DATA_WAYS = 6 };

/* Where code and mappings come from; all borrowed. */
typedef struct {
	/* Code at an address of the image, up to *out_n bytes; NULL: none. */
	const uint8_t *(*bytes)(void *data, uint64_t address, size_t *out_n);
	/* Whether [address, address + size) may be accessed so, at run time. */
	bool (*is_valid)(void *data, uint64_t address, uint32_t size, uint8_t access);
	void *data; /* of both */
} LodeDataAccessContext;

/* Never fails: an answer without an address has a reason. Allocates nothing. */
void lode_data_access_find(const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question, LodeDataAccess *out_access);

/*
 * The ways of which one may have waited, where the answer is LODE_REASON_AMBIGUOUS: a caller that
 * knows the executions of each way can choose. The way from the instruction above is the first.
 * Returns their number; 0: not all are known.
 */
unsigned lode_data_access_ways(const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question, LodeDataWay out_ways[LODE_MAX_DATA_WAYS]);

/* One rule alone, for tests and benchmarks that compare each with the truth. Forward alone begins
 * with the instruction at pc itself, as if at-pc were part of it. */
void lode_data_access_apply(const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question, LodeAddressRule rule, LodeDataAccess *out_access);

/* The operands in memory of the instruction in these bytes, without their addresses; how many, 0
 * where it is none. The order is the decoder's. */
unsigned lode_data_access_operands(
	const uint8_t *code, size_t size, LodeDataOperand out_operands[LODE_MAX_DATA_OPERANDS]);
