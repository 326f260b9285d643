/* SPDX-License-Identifier: MIT */
/*
 * The data object that an instruction's operand accesses, by the debug information: found once for
 * each, and added to the profile's own lists of types and members. Private to ingest/.
 */
#pragma once

#include "process/images/code_images.h"

typedef struct LodeMemory LodeMemory;
typedef struct LodeMemoryObjects LodeMemoryObjects;
typedef struct LodeProfile LodeProfile;

/* An object from debug information and symbols. Texts are the profile's. */
typedef struct {
	char *name;      /* "struct node.next"; NULL: nothing is known */
	char *type_name; /* "struct node", where `name` is of a member of it; else NULL */
	char *variable;
	uint32_t type, member; /* of the profile's memory, or of the one to be; LODE_NONE */
	bool is_whole;         /* the access is to a whole member */
	bool is_class;         /* the type is the class of a managed heap, which names an object */
} LodeOperandObject;

/* Borrows both; types go to `memory`. */
LodeMemoryObjects *lode_memory_objects_new(
	LodeProfile *profile, LodeMemory *memory, LodeCodeImages *images);
void lode_memory_objects_free(LodeMemoryObjects *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryObjects, lode_memory_objects_free)

/* The number of what operand `operand` (the decoder's number) of an instruction accesses, from 1;
 * 0: nothing is known. */
uint32_t lode_memory_objects_find(
	LodeMemoryObjects *self, uint32_t image, uint64_t address, uint8_t operand);

/* Sets how the operand is used; the size stays. */
void lode_memory_objects_use(LodeMemoryObjects *self, uint32_t image, uint64_t address,
	uint8_t operand, LodeAccessShape *inout_shape);

/* The same of an address in an image, of an offset in its block of thread-local variables, and of a
 * place in a frame of one of its functions. */
uint32_t lode_memory_objects_find_static(
	LodeMemoryObjects *self, uint32_t image, uint64_t address, const LodeAccessShape *shape);
/* Likewise where it is not known which part of the variable is accessed. */
uint32_t lode_memory_objects_find_base(LodeMemoryObjects *self, uint32_t image, uint64_t address);
uint32_t lode_memory_objects_find_thread_local(
	LodeMemoryObjects *self, uint32_t image, uint64_t offset, const LodeAccessShape *shape);
uint32_t lode_memory_objects_find_local(LodeMemoryObjects *self, uint32_t image,
	const LodeFramePlace *place, const LodeAccessShape *shape);
/* And of a place in memory that a call in the image allocated. */
uint32_t lode_memory_objects_find_allocated(LodeMemoryObjects *self, uint32_t image,
	const LodeAllocatedPlace *place, const LodeAccessShape *shape);

/* And of a part of a Go map, accessed by a function of its runtime; of `view` the type and member
 * are those of object `plain` (0: not known). 0: the map's type is not known, or it is no part of
 * one. */
uint32_t lode_memory_objects_find_in_map(
	LodeMemoryObjects *self, uint32_t image, const LodeGoMapView *view, uint32_t plain);

/* The number of an object of a class that a garbage-collected heap's log names; `size` 0: of
 * objects of many sizes. */
uint32_t lode_memory_objects_add_class(LodeMemoryObjects *self, const char *name, uint64_t size);

const LodeOperandObject *lode_memory_objects_at(const LodeMemoryObjects *self, uint32_t number);
