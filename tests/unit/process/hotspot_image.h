/* SPDX-License-Identifier: MIT */
/* Memory of a process that runs HotSpot's virtual machine (JDK 17, 25): its tables, one thread. */
#pragma once

#include "foreign_image.h"
#include "process/interpreters/hotspot_frames.h"

enum {
	HOTSPOT_IMAGE_BYTES = 1 << 18,
	HOTSPOT_IMAGE_TID = 4712,
	HOTSPOT_IMAGE_SYMBOLS = 0x100, /* each a word */
	HOTSPOT_IMAGE_STRUCTS = 0x1000,
	HOTSPOT_IMAGE_STRUCT_STRIDE = 48,
	HOTSPOT_IMAGE_TYPES = 0x4000,
	HOTSPOT_IMAGE_TYPE_STRIDE = 32,
	HOTSPOT_IMAGE_STATICS = 0x5000,
	HOTSPOT_IMAGE_THREAD = 0x5100,
	HOTSPOT_IMAGE_SYSTEM = 0x5200,
	HOTSPOT_IMAGE_LIST = 0x5300,
	HOTSPOT_IMAGE_STUBS = 0x5400,
	HOTSPOT_IMAGE_HEAP = 0x5500,
	HOTSPOT_IMAGE_INTERPRETER = 0x6000, /* its code */
	HOTSPOT_IMAGE_CODE = 0x8000,        /* the heap's */
	HOTSPOT_IMAGE_SEGMAP = 0xc000,
	HOTSPOT_IMAGE_STACK = 0x10000,
	HOTSPOT_IMAGE_ALLOCATED = 0x18000,
	/* of members, as the image has them */
	HOTSPOT_IMAGE_ANCHOR = 0x40,
	HOTSPOT_IMAGE_REST_BYTES = 48,
};

typedef struct {
	ForeignImage all;
	uint64_t symbols[LODE_HOTSPOT_N_SYMBOLS];
	bool is_new; /* of JDK 23 or later */
} HotspotImage;

void hotspot_image_init(HotspotImage *self, bool is_new);
void hotspot_image_clear(HotspotImage *self);

/* A method of 40 instructions: from line `first` on, a line more at 10 and at 20. */
uint64_t hotspot_image_add_method(
	HotspotImage *self, const char *class, const char *name, uint32_t first);

/* A frame of the interpreter in the middle of the stack; its caller's is 0x100 bytes further. */
void hotspot_image_add_interpreted(
	HotspotImage *self, uint64_t fp, uint64_t method, uint32_t bytecode, uint64_t caller_pc);

/* Where the thread left Java code. */
void hotspot_image_set_anchor(HotspotImage *self, uint64_t sp, uint64_t fp, uint64_t pc);

/* A thread that waits in the class library, interpreted and compiled, called by the user's code. */
void hotspot_image_build(HotspotImage *self);
