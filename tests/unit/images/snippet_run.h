/* SPDX-License-Identifier: MIT */
/*
 * Runs snippets on the processor, one instruction at a time, and notes the registers before each
 * and what it accesses. The addresses come from the snippet's own notes and the registers that the
 * kernel gives, by none of the code under test. What an access would do to registers is done by the
 * tracer, with random values for what is loaded, so that any address will do.
 */
#pragma once

#include "images/data/data_access.h"
#include "random_snippet.h"

#include <sys/types.h>

enum { SNIPPET_MAX_STEPS = 120, SNIPPET_STACK_BYTES = 256 };

typedef struct {
	LodeUserRegisters registers;        /* before */
	uint8_t stack[SNIPPET_STACK_BYTES]; /* what lies at rsp and above */
	size_t stack_size;                  /* 0: rsp is not in the stack */
	uint64_t offset;                    /* of the instruction in the snippet */
	bool is_indirect;                   /* it goes where a register or the stack says */
	unsigned n_operands;                /* 0: no access */
	LodeDataOperand operands[LODE_MAX_DATA_OPERANDS];
} SnippetStep;

typedef struct {
	pid_t child;
	uint8_t *code;  /* shared with the child, at the same address there */
	uint8_t *stack; /* the same */
	GRand *rand;
	SnippetStep steps[SNIPPET_MAX_STEPS];
	unsigned n;
} SnippetRun;

/* False: no process may be traced here. */
bool snippet_run_open(SnippetRun *self, GRand *rand);
void snippet_run_close(SnippetRun *self);

/* Fills `steps`. */
void snippet_run(SnippetRun *self, const Snippet *snippet);
