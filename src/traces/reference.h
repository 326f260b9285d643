/* SPDX-License-Identifier: MIT */
/* One access of a program to memory, as an address trace lists them in program order. */
#pragma once

#include <stdint.h>

typedef enum {
	LODE_REFERENCE_FETCH, /* of an instruction */
	LODE_REFERENCE_LOAD,
	LODE_REFERENCE_STORE,
	LODE_REFERENCE_MODIFY, /* read, then written, by one instruction at one address */
	LODE_N_REFERENCE_KINDS,
} LodeReferenceKind;

/* "fetch", "load", "store", "modify". */
extern const char *const lode_reference_kind_names[LODE_N_REFERENCE_KINDS];

typedef struct {
	uint64_t address; /* virtual, of the first byte */
	uint32_t size;    /* bytes; 0: the recording form has none */
	uint16_t thread;  /* by order of appearance, from 0 */
	uint8_t kind;     /* LodeReferenceKind */
} LodeReference;

enum { LODE_MAX_TRACE_THREADS = UINT16_MAX };
