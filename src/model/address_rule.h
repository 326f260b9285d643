/* SPDX-License-Identifier: MIT */
/* How the data address of an access was found, or why it was not, and what the access does. */
#pragma once

/* How a data address was found, best first. */
typedef enum {
	LODE_RULE_NONE,     /* not at all: see the reason */
	LODE_RULE_HARDWARE, /* the processor or the kernel gave it (PEBS, IBS, SPE, a page fault) */
	LODE_RULE_AT_PC,    /* the operand of the instruction at the sampled address */
	LODE_RULE_FORWARD,  /* of the next access, registers carried on */
	LODE_RULE_BACKWARD, /* of the last access in the basic block, registers carried back */
	LODE_RULE_RECOMPUTED, /* the same, a register of it computed again as the code did */
	LODE_RULE_NEXT_ROUND, /* of the same instruction in the next round of its loop */
	LODE_RULE_TRACED,     /* out of an address trace, which has each access */
	LODE_RULE_WINDOW,     /* executed step by step, in a window: by the registers before it */
	LODE_N_RULES,
} LodeAddressRule;

/* Why there is none; counted, never dropped. */
typedef enum {
	LODE_REASON_NONE,
	LODE_REASON_NO_REGISTERS,  /* none were recorded with the sample, nor an address */
	LODE_REASON_NOT_USER_CODE, /* sampled in the kernel or outside every mapping */
	LODE_REASON_NO_DECODE,     /* bytes unknown, or no instruction */
	LODE_REASON_BLOCKED,       /* a return or an indirect jump or call in the way */
	LODE_REASON_BRANCH_TARGET, /* control may have come from elsewhere in between */
	LODE_REASON_CLOBBERED,     /* a register of the operand is lost */
	LODE_REASON_TLS,           /* relative to a thread's base, which is not known */
	LODE_REASON_VECTOR_INDEX,  /* gather, scatter: indexes are in a vector register */
	LODE_REASON_NO_ACCESS_IN_RANGE,
	LODE_REASON_INVALID_ADDRESS, /* in no mapping, or one without the permission */
	LODE_REASON_RECORDER,        /* in or to a library that lode itself put into the program */
	LODE_REASON_NOT_MEMORY,      /* the instruction that waited accesses no memory */
	LODE_REASON_AMBIGUOUS,       /* one of several instructions waited; it is unknown which */
	LODE_REASON_NOT_YET_READ,    /* live: the jumps of the sampled file are still being read */
	LODE_N_REASONS,
} LodeAddressReason;

enum { LODE_ACCESS_LOAD = 1, LODE_ACCESS_STORE = 2 }; /* bits; both: read, then written */

/* "hardware", "at-pc", "next-round" …, and "none"; −1 for an unknown word. */
const char *lode_address_rule_to_text(LodeAddressRule value);
int lode_address_rule_from_text(const char *text);
/* "no-decode", "blocked" …, and "none". */
const char *lode_address_reason_to_text(LodeAddressReason value);
int lode_address_reason_from_text(const char *text);
