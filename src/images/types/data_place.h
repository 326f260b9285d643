/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: from what registers are known to hold to the object that a memory operand
 * lies in.
 *
 * A register holds a pointer into an object of a type, the address of a variable, an address in the
 * frame, a number (an index), or nothing that is known.
 */
#pragma once

#include "images/dwarf/type_table.h"
#include "images/types/data_types.h"
#include "images/variants/elf_image.h"

typedef struct LodeFunctionVariables LodeFunctionVariables;
typedef struct LodeVariablePlace LodeVariablePlace;

enum { LODE_MAX_TRACKED_SLOTS = 32 };

typedef enum {
	LODE_HELD_VALUE_NONE,           /* copies have the same `type`, which is the number of the
	                                   unknown value; 0: not told apart */
	LODE_HELD_VALUE_ZERO,           /* a null pointer, which agrees with every pointer */
	LODE_HELD_VALUE_NUMBER,         /* `offset`; with a step: plus that × the unknown value
	                                   `type`, or any (0) */
	LODE_HELD_VALUE_RETURNED,       /* the result of the call in question */
	LODE_HELD_VALUE_THREAD_POINTER, /* fs:0, plus any multiple of `offset` unless that is 0 */
	LODE_HELD_VALUE_THREAD_OFFSET,  /* the place at `offset` in the image's thread-local block,
	                                   as an offset from the thread pointer */
	LODE_HELD_VALUE_POINTER,        /* to `type`, plus `offset` bytes */
	LODE_HELD_VALUE_ADDRESS,        /* `offset`, in the image */
	LODE_HELD_VALUE_FRAME,          /* the canonical frame address plus `offset` */
	LODE_HELD_VALUE_THREAD_LOCAL,   /* `offset`, in the image's thread-local block */
} LodeHeldValueKind;

typedef struct {
	uint8_t kind;  /* LodeHeldValueKind */
	uint32_t step; /* plus any multiple of so many bytes; 0: exact */
	uint32_t type;
	int64_t offset;
	const char *variable; /* of a pointer: the variable that what it leads to is of, as a
	                         language has it; NULL: none, or unknown */
} LodeHeldValue;

typedef struct {
	LodeHeldValue registers[LODE_N_GENERAL_REGISTERS];
	struct {
		int64_t offset; /* from the canonical frame address */
		LodeHeldValue value;
	} slots[LODE_MAX_TRACKED_SLOTS]; /* spilled registers, eight bytes each */
	uint8_t n_slots;
} LodeRegisterTypes;

/* A memory operand, with registers by number; −1: none. */
typedef struct {
	int base, index;
	uint8_t scale;
	bool is_absolute;  /* the displacement is an address in the image */
	bool is_segmented; /* relative to fs or gs */
	bool is_thread;    /* relative to fs, the thread pointer */
	int64_t displacement;
	LodeAccessShape shape;
	uint64_t valid_from; /* where what the instruction leaves there is valid: after one that
	                        only stores, at any other */
} LodeMemoryOperand;

/* One function, with all that answers questions about it; borrowed. */
typedef struct {
	LodeTypeTable *types; /* NULL: no debug information */
	LodeElfImage *image;
	const LodeUnitIndex *unit;              /* NULL: as `variables` */
	const LodeFunctionVariables *variables; /* NULL: the function is not described */
	Dwarf_CFI *frames;                      /* NULL: none */
} LodeFunctionContext;

/* An object, and where in it. */
typedef struct {
	uint32_t type;           /* LODE_NO_TYPE: only the variable is known */
	int64_t offset;          /* bytes from its beginning */
	bool is_element;         /* one of many */
	bool is_reference;       /* there is a pointer to one of `type` */
	bool is_variable_itself; /* not what the variable points to */
	bool is_owner;           /* what the pointer here leads to is the variable's own */
	bool is_home;            /* of a variable in memory: it is always there */
	const char *variable;    /* borrowed; NULL: none */
} LodeDataPlace;

/* The object in which `operand` of the instruction at `address` lies, before it runs. */
bool lode_data_place_find(const LodeFunctionContext *context, uint64_t address,
	const LodeRegisterTypes *state, const LodeMemoryOperand *operand, LodeDataPlace *out_place);

/* The pointer that is read from there; NONE where it is none. */
LodeHeldValue lode_data_place_load(const LodeFunctionContext *context, const LodeDataPlace *place);

/* The type that the call which returns to `after` returns: by its call site, else by its target (0:
 * unknown). LODE_NO_TYPE: unknown. */
uint32_t lode_data_place_call_type(
	const LodeFunctionContext *context, uint64_t after, uint64_t target);

/* The variable at an address of the image. */
bool lode_data_place_static(
	const LodeFunctionContext *context, uint64_t address, LodeDataPlace *out_place);
/* The value so many bytes from the thread pointer, in the image's thread-local block; or NONE. */
LodeHeldValue lode_held_value_of_thread(const LodeFunctionContext *context, int64_t displacement);

/* The variable at an offset in the image's thread-local block. */
bool lode_data_place_thread_local(
	const LodeFunctionContext *context, uint64_t offset, LodeDataPlace *out_place);
/* Makes a place in a variable, of whatever type, one in a structure or scalar that an access of
 * this shape is to; where none suits, the type is LODE_NO_TYPE then. */
void lode_data_place_settle(
	const LodeFunctionContext *context, LodeDataPlace *place, const LodeAccessShape *shape);
/* Whether data so many bytes apart, the first of them at the place, are of the same kind: in
 * elements of an array. */
bool lode_data_place_recurs(
	const LodeFunctionContext *context, const LodeDataPlace *place, int64_t apart);
/* Whether the place is in a structure that ends in a flexible array, which no other follows. */
bool lode_data_place_is_extended(const LodeFunctionContext *context, const LodeDataPlace *place);
/* Whether the place is a member of that size, from its beginning, or in a scalar. */
bool lode_data_place_is_whole(const LodeFunctionContext *context, const LodeDataPlace *place,
	const LodeAccessShape *shape);
/* The variable that an instruction finds at an offset from the canonical frame address: one that
 * lives there before one whose value is there at times, then that of the innermost scope. At any
 * address: that some instruction finds there, `state` may then be NULL. */
#define LODE_ANY_ADDRESS UINT64_MAX
bool lode_data_place_frame(const LodeFunctionContext *context, uint64_t address,
	const LodeRegisterTypes *state, int64_t offset, LodeDataPlace *out_place);

/*
 * The fields of a structure that suit an access at an offset best: those that begin there and have
 * its size before those that begin there, before those that cover it; then an array of known length
 * before a flexible one; then of a union those whose values the instruction's kind of use is for.
 * Bit fields have the bytes that hold them: all in the accessed bytes suit whose bits are used,
 * better than a member of another size that begins there.
 */
enum { LODE_MAX_FIELD_CHOICES = 8 };

typedef struct {
	const LodeTypeField *fields[LODE_MAX_FIELD_CHOICES]; /* the first of them, by offset */
	uint32_t n;                                          /* all that suit equally; 0: none */
	bool is_whole; /* they begin there and have the size, or are bit fields */
} LodeFieldChoice;

LodeFieldChoice lode_data_place_fields(
	LodeTypeTable *types, uint32_t type, int64_t offset, const LodeAccessShape *shape);

/* A pointer by its type, as a variable or function is declared; NONE where it is none. */
LodeHeldValue lode_held_value_of_type(LodeTypeTable *types, uint32_t type);
/* The pointer that the DWARF variables say a register holds; NONE. */
LodeHeldValue lode_held_value_of_variable(LodeTypeTable *types, const LodeVariablePlace *place);

/* The canonical frame address as register + offset, before an instruction runs. */
bool lode_frame_address(
	Dwarf_CFI *frames, uint64_t address, int *out_register, int64_t *out_offset);
