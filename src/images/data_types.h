/* SPDX-License-Identifier: MIT */
/*
 * What the debug information of an image says of data: the type and member that a memory operand
 * accesses, and the variable at an address.
 *
 *   operand of an instruction ──▶ base register holds a T *   ──▶ member of T at the displacement
 *                             ──▶ stack slot (frame base)     ──▶ local variable, and its member
 *                             ──▶ rip-relative, absolute      ──▶ global variable, and its member
 *                             ──▶ none of these: follow the register back in straight code
 *
 * All answers are static, one for each operand of each instruction, and may be kept. DWARF 4 and 5;
 * units without .debug_aranges are found by their own ranges.
 */
#pragma once

#include "images/binary_image.h"
#include "images/control_flow.h"
#include "model/memory.h"

typedef struct LodeDataTypes LodeDataTypes;

typedef struct {
	uint32_t type;        /* index into lode_data_types_types(); LODE_NONE: unknown */
	uint32_t member;      /* index into lode_data_types_members(); LODE_NONE: none */
	bool is_element;      /* reached by an index: "int counts[]" */
	const char *variable; /* local or global that the access is in; NULL: none is known */
	bool is_variable_named_first; /* the type is that of a named array or scalar: describe it as
	                                 "int counts[]" rather than by type and member alone */
} LodeDataReference;

/*
 * Opens the debug information of an image for types; NULL when it has none (no error: symbols may
 * still name variables, see below). `image` must outlive the result.
 */
LodeDataTypes *lode_data_types_new(LodeBinaryImage *image);
void lode_data_types_free(LodeDataTypes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDataTypes, lode_data_types_free)

/*
 * What operand `operand` (Zydis's number) of the instruction at `address` accesses. `flow` is the
 * control flow of its function, which straight code is followed back in; may be NULL. False when
 * nothing is known.
 */
bool lode_data_types_find(LodeDataTypes *self, uint64_t address, uint8_t operand,
	const LodeControlFlow *flow, LodeDataReference *out_reference);

/* Every type and member that was an answer so far; they grow, and keep their numbers. Names are
 * borrowed. LodeDataType.first_member points into the members, all of the type's, by offset. */
const GArray *lode_data_types_types(const LodeDataTypes *self);   /* LodeDataType */
const GArray *lode_data_types_members(const LodeDataTypes *self); /* LodeDataMember */

/* A type by its name ("struct node", "node"), with its members, for layouts; LODE_NONE. */
uint32_t lode_data_types_find_name(LodeDataTypes *self, const char *name);

/* What is wrong with the debug information, a static phrase; NULL: nothing. */
const char *lode_data_types_warning(const LodeDataTypes *self);

/*
 * The variable of the symbol tables (STT_OBJECT) at an address of the image, also where there is no
 * debug information; demangled, borrowed from the image. NULL: none.
 */
typedef struct {
	const char *name;
	uint64_t address, size;
} LodeDataSymbol;

bool lode_binary_image_find_data_symbol(
	LodeBinaryImage *image, uint64_t address, LodeDataSymbol *out_symbol);

/* "struct node.next", "int counts[]", "counts": how an access is named. Free with g_free(); NULL
 * when neither a type nor a variable is known. */
char *lode_data_reference_text(const LodeDataTypes *self, const LodeDataReference *reference);
