/* SPDX-License-Identifier: MIT */
/*
 * The accessed object, by all layers. The first that has one gives the name:
 *
 *   type        the debug information says what the operand is to, or    "struct node.next"
 *               the type of the variable at the address; or, by the log of
 *               a garbage-collected heap, the object's class       "java.lang.String"
 *   variable    a symbol of the image is at the address                  "table"
 *   allocation  an allocation log has the block                          "malloc@list.c:12"
 *   mapping     always has a name, also for unknown memory             "[heap]", "[unknown]"
 *
 * A plain type ("int") without a variable gives the name only where there is neither an allocation
 * nor a mapping that is one object: a file, shared memory, a stack.
 *
 * Private to ingest/.
 */
#pragma once

#include "ingest/memory/memory_objects.h"
#include "ingest/memory/memory_sites.h"
#include "process/access_resolver.h"

typedef struct LodeAllocation LodeAllocation;
typedef struct LodeMemory LodeMemory;
typedef struct LodeObjectLayers LodeObjectLayers;

/* Borrows all; objects go to `memory`, that `known` has its types in. */
LodeObjectLayers *lode_object_layers_new(
	LodeMemory *memory, LodeMemoryObjects *known, LodeCodeImages *images);
void lode_object_layers_free(LodeObjectLayers *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeObjectLayers, lode_object_layers_free)

/* 0 and LODE_NONE: nothing is known. */
typedef struct {
	uint32_t operand_object; /* of `known`: what the instruction's operand is to */
	uint32_t place_object;   /* likewise: what lies at the address */
	uint32_t site;           /* of the memory */
	char *mapping;           /* equal texts are one pointer */
} LodeLayers;

/* The names found by the address itself. */
typedef struct {
	uint64_t address;
	uint32_t size;
	uint32_t image; /* of the code; LODE_NONE: unknown */
	uint64_t pc;    /* of the access, in that image, and its operand's number */
	uint8_t operand;
	LodeAccessedFrame frame;
	uint32_t load_image; /* that the address lies in; LODE_NONE: in none */
	uint64_t load_address;
	const LodeAllocation *allocation; /* that the address lies in; NULL: in none */
	const LodeAllocatingCall *call;   /* that made it; NULL: not known */
	uint32_t managed; /* of the layers' objects: what a garbage collector has there; 0 */
} LodeAccessedAddress;

/* Whether the operand leaves it open which variable lies at the address: then the place is to know
 * the image that it lies in. */
bool lode_object_layers_is_open(
	const LodeObjectLayers *self, const LodeLayers *layers, bool has_frame);

/* Adds what lies there; of two that contradict each other the address is believed. */
void lode_object_layers_find(
	LodeObjectLayers *self, const LodeAccessedAddress *place, LodeLayers *inout_layers);

/* The object of such layers, an index into the memory's objects, where it is added. */
uint32_t lode_object_layers_intern(LodeObjectLayers *self, const LodeLayers *layers);
