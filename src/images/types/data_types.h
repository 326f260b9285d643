/* SPDX-License-Identifier: MIT */
/*
 * Names of data from an image's debug information: the type and member that a memory operand
 * accesses, and the variable at an address.
 *
 *   operand of an instruction ──▶ base register holds a T *   ──▶ member of T at the displacement
 *                             ──▶ stack slot (frame base)     ──▶ local variable, and its member
 *                             ──▶ rip-relative, absolute      ──▶ global variable, and its member
 *                             ──▶ anything else: follow the register back in straight code
 *
 * Following back means: the facts on which each block's predecessors agree, carried through moves,
 * pointer arithmetic, loads of members that are pointers, calls by what they return, and spills.
 * Where the debug information and the code leave a choice:
 *
 *   - variables of functions inlined into each other share a register: the one whose type has a
 *     member of the access's size at that place, else one that covers it;
 *   - a union: the members that begin there and have the access's size, else those that begin
 *     there, else those that cover it; of these the ones for whose values the instruction is made
 *     (floating-point, or integers with or without a sign); where several remain, the union;
 *   - bit fields: all of those in the accessed bytes, without those whose bits the instructions
 *     that follow in the block drop by shifts and masks;
 *   - a wide access to several members: the first of them;
 *   - scopes that share a slot of the frame: the innermost that the instruction is in; what a
 *     store leaves there, where no variable is at home, is one that is valid after it;
 *   - a variable that is smaller than the access: none;
 *   - a displacement outside the structure that is pointed to: none, unless an index or pointer
 *     arithmetic says that there are many.
 *
 * `void *` says nothing. A variable that an optimiser found equal to another object does not name
 * it.
 *
 * All answers are static, one for each operand of each instruction, and may be kept. DWARF 4 and 5;
 * units without .debug_aranges are found by their own ranges.
 */
#pragma once

#include "images/code/control_flow.h"
#include "images/data/data_access.h"
#include "images/elf/binary_image.h"
#include "model/data_type.h"

typedef struct LodeDataTypes LodeDataTypes;

typedef struct {
	uint32_t type;   /* index into lode_data_types_types(): a structure, or a scalar as it is
	                    declared, of an array its elements; LODE_NONE: unknown */
	uint32_t member; /* index into lode_data_types_members(); LODE_NONE: none, or one of several
	                  */
	const char *group; /* where it is one of several: the part of the structure that has them;
	                      NULL: the structure itself. Borrowed */
	bool is_whole;     /* the access is to a whole member, or to an element of one */
	bool is_element;   /* one of many: of an array, or reached by an index */
	const char *variable; /* local or global that the access is in, not one that points to it;
	                         borrowed; NULL: none is known */
	bool is_variable_named_first; /* the type is that of a named array or scalar: describe it as
	                                 "int counts[]" rather than by type and member alone */
} LodeDataReference;

/*
 * Answers from an image's debug information, and from its symbols where it has none: then only
 * variables are known. NULL for an image that is no ELF file. `image` must outlive the result; it
 * is not to be asked by several threads at once.
 */
LodeDataTypes *lode_data_types_new(LodeBinaryImage *image);
void lode_data_types_free(LodeDataTypes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDataTypes, lode_data_types_free)

/*
 * The data that operand `operand` (Zydis's number) of the instruction at `address` accesses. `flow`
 * is the control flow of its function, in which straight code is followed back; may be NULL. False
 * if nothing is known.
 */
bool lode_data_types_find(LodeDataTypes *self, uint64_t address, uint8_t operand,
	const LodeControlFlow *flow, LodeDataReference *out_reference);

/* The data that a register points at before the instruction at `address`, as an access of `shape`
 * would find it. `number` is that of the register's encoding; `flow` as above. */
bool lode_data_types_find_pointed(LodeDataTypes *self, uint64_t address, int number,
	const LodeAccessShape *shape, const LodeControlFlow *flow,
	LodeDataReference *out_reference);

/* The same of an address, whatever instruction accesses it: the static variable of the image at
 * `address`. */
bool lode_data_types_find_static(LodeDataTypes *self, uint64_t address,
	const LodeAccessShape *shape, LodeDataReference *out_reference);

/* The same of an offset in the image's block of thread-local variables. */
bool lode_data_types_find_thread_local(LodeDataTypes *self, uint64_t offset,
	const LodeAccessShape *shape, LodeDataReference *out_reference);

/* How operand `operand` of the instruction at `address` is used; size 0: unknown. */
LodeAccessShape lode_data_types_use(
	LodeDataTypes *self, uint64_t address, uint8_t operand, const LodeControlFlow *flow);

/* The data at an offset in an allocated block of `allocated` bytes: the type is that which the code
 * after the call that returns to `return_address` gives its result. Beyond the first element the
 * type is given only if elements fill the block. `flow` as for lode_data_types_find(). */
typedef struct {
	uint64_t return_address;
	uint64_t allocated, offset;
} LodeAllocatedPlace;

/* The bytes from one element of such a block to the next; UINT64_MAX: there is only one, with a
 * flexible array; 0: the type is not known. */
uint64_t lode_data_types_allocated_step(
	LodeDataTypes *self, uint64_t return_address, const LodeControlFlow *flow);

bool lode_data_types_find_allocated(LodeDataTypes *self, const LodeAllocatedPlace *place,
	const LodeAccessShape *shape, const LodeControlFlow *flow,
	LodeDataReference *out_reference);

/*
 * The maps of Go up to 1.23: functions of its runtime search the buckets of all of them, so that
 * the type is known only by the call of such a function.
 */
typedef enum {
	LODE_GO_MAP_NONE,
	LODE_GO_MAP_CALLED, /* by code that gives it the type */
	LODE_GO_MAP_CALLED_FOR_STRINGS,
	LODE_GO_MAP_INNER, /* called by the others */
} LodeGoMapRole;

/* The part that the function of this name, as linked, has in maps; NULL: none. */
LodeGoMapRole lode_go_map_role(const char *function);

/* An access in such a function, as its own types have it: none of them is of a map's type. */
typedef struct {
	uint64_t return_address;   /* of the call by which the type is known */
	const char *type, *member; /* "struct runtime.bmap", "tophash[]"; NULL: not known */
	bool is_in_heap;           /* no variable is there */
	bool is_of_strings;        /* bytes of keys are accessed too, which are in no bucket */
} LodeGoMapView;

/* The part of a map that is accessed so; of a header, "struct hash<string,int>", or of a bucket,
 * "struct bucket<string,int>". `flow` is of the caller. False: the type is not known, or it is of
 * neither. */
bool lode_data_types_find_map(LodeDataTypes *self, const LodeGoMapView *view,
	const LodeControlFlow *flow, LodeDataReference *out_reference);

/* Where in a frame of the stack something lies. */
typedef struct {
	uint64_t pc;    /* in the image: of the sample, or inside the call that a caller is at */
	int64_t offset; /* from the canonical frame address */
	bool is_caller;
} LodeFramePlace;

/* The frame of a run-time address, by the registers and the stack of the question: that of the
 * sampled function or of a caller, inside the image. False: in no known frame. */
bool lode_data_types_find_frame(LodeDataTypes *self, const LodeDataAccessQuestion *question,
	uint64_t address, LodeFramePlace *out_place);

/* The variable that lies at a place in a frame while the function is at its pc; one whose scope the
 * function has left does not count. `flow` as for lode_data_types_find(). */
bool lode_data_types_find_local(LodeDataTypes *self, const LodeFramePlace *place,
	const LodeAccessShape *shape, const LodeControlFlow *flow,
	LodeDataReference *out_reference);

/*
 * Every type and member that was an answer so far; they grow, and keep their numbers. Names are
 * borrowed. LodeDataType.first_member points into the members, all of the type's, by offset. Equal
 * types of several units are one; those that differ under one name stay apart. Members of base
 * classes and of anonymous structures stand as if they were the type's own. An array of scalars is
 * one member, "slots[]"; of an array of structures each member stands once, "points[].x", where it
 * is in the first of them.
 */
const GArray *lode_data_types_types(const LodeDataTypes *self);   /* LodeDataType */
const GArray *lode_data_types_members(const LodeDataTypes *self); /* LodeDataMember */

/* A type by its name ("struct node", "node"), with its members, for layouts; LODE_NONE. */
uint32_t lode_data_types_find_name(LodeDataTypes *self, const char *name);

/* The fault in the debug information, a static phrase; NULL: none. */
const char *lode_data_types_warning(const LodeDataTypes *self);

/*
 * How an access is named; free with g_free(). NULL when neither a type nor a variable is known.
 *
 *   "struct node.next", "struct body.points[].x"   type and member, also in a variable
 *   "options.verbose", "slots[].size"              a variable's structure that has no name
 *   "struct body.u", "union value"                 a union, where its member is not known
 *   "struct flags.a/b"                             bit fields that share the accessed bytes
 *   "int counts[]", "int total", "char *names[]"   a named array or scalar
 *   "int"                                          a scalar that is pointed to
 *   "counts"                                       a variable of unknown type
 */
char *lode_data_reference_text(const LodeDataTypes *self, const LodeDataReference *reference);
