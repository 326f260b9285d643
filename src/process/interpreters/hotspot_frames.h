/* SPDX-License-Identifier: MIT */
/*
 * The Java methods that a thread is in, while it waits in HotSpot's virtual machine or in native
 * code (x86-64):
 *
 *   gHotSpotVMStructs ─▶ where members are      list of threads ─▶ JavaThread (by its number)
 *                                                                     └▶ anchor: sp, fp, pc
 *   pc in the interpreter: fp ─▶ Method*, bytecode, caller's fp, pc, sp
 *   pc in a method that was compiled: its table of places ─▶ Method* and bytecode, of what is
 *                                     inlined, too; its frame's size ─▶ caller's fp, pc, sp
 *   Method ─▶ ConstMethod ─▶ lines, ConstantPool ─▶ name, signature, class, file
 *
 * libjvm.so exports the tables for the Serviceability Agent; offsets are theirs. A thread that runs
 * Java code has no anchor. What is read is of one moment if the anchor is the same afterwards.
 *
 * Private to process/interpreters/.
 */
#pragma once

#include "process/interpreters/interpreter.h"

/* Of the symbols. */
enum {
	LODE_HOTSPOT_STRUCTS,
	LODE_HOTSPOT_STRUCT_TYPE,
	LODE_HOTSPOT_STRUCT_FIELD,
	LODE_HOTSPOT_STRUCT_OFFSET,
	LODE_HOTSPOT_STRUCT_ADDRESS,
	LODE_HOTSPOT_STRUCT_STRIDE,
	LODE_HOTSPOT_TYPES,
	LODE_HOTSPOT_TYPE_NAME,
	LODE_HOTSPOT_TYPE_SIZE,
	LODE_HOTSPOT_TYPE_STRIDE,
	LODE_HOTSPOT_N_SYMBOLS,
};

/* What the tables do not have. */
#define LODE_HOTSPOT_LACKS UINT64_MAX

/* Offsets of members, but for addresses of static ones and sizes of types. */
typedef struct {
	uint64_t threads_at, stubs_at, heaps_at, major_at; /* static */
	uint64_t list_length, list_threads, thread_anchor, thread_system, system_number;
	uint64_t anchor_sp, anchor_fp, anchor_pc;
	uint64_t stubs_buffer, stubs_limit; /* of the interpreter's code */
	/* Method, ConstMethod, ConstantPool, Klass, Symbol */
	uint64_t method_rest, rest_pool, rest_flags, rest_code_size, rest_name, rest_signature,
		rest_bytes;
	uint64_t pool_class, pool_file, pool_length, pool_bytes;
	uint64_t class_name, class_file, symbol_length, symbol_text;
	/* CodeHeap, and what its blocks begin with; VirtualSpace, GrowableArray */
	uint64_t heap_memory, heap_segments, heap_shift, block_bytes, space_low, space_high,
		array_length, array_data;
	/* CodeBlob, nmethod; its parts are behind its code up to JDK 22, from 23 on apart */
	uint64_t blob_name, blob_frame_words, blob_code, blob_code_offset, code_places,
		code_places_end, code_scopes, code_scopes_offset, code_methods, code_constant,
		code_mutable, code_relocations;
} LodeHotspotLayout;

/* False: the tables cannot be read, or lack what is needed. */
bool lode_hotspot_layout_read(
	LodeHotspotLayout *out, const uint64_t *symbols, const LodeForeignMemory *memory);

/* The next number of a compressed stream (share/utilities/unsigned5.hpp), *at is moved behind it.
 * `no_zeros`: as from JDK 20 on. False: it does not end before `n`. */
bool lode_hotspot_number_read(
	const uint8_t *bytes, size_t n, bool no_zeros, size_t *at, uint32_t *out);

/* A method at a place in it. */
typedef struct {
	uint64_t method;
	uint32_t bytecode; /* offset of the instruction */
} LodeHotspotPlace;

enum { LODE_HOTSPOT_MOST_INLINED = 32 };

/* Code at an address that is not the interpreter's. */
typedef struct {
	uint32_t frame_words; /* from the stack pointer to above the return address */
	unsigned n_places;    /* 0: a stub, or native code */
	LodeHotspotPlace places[LODE_HOTSPOT_MOST_INLINED]; /* the innermost first */
} LodeHotspotCode;

/* False: what is there is not known, or has no frame that is: the first after native code. */
bool lode_hotspot_code_read(const LodeHotspotLayout *layout, const LodeForeignMemory *memory,
	bool no_zeros, uint64_t pc, LodeHotspotCode *out_code);

/* As LodeInterpreter has them. */
void *lode_hotspot_frames_open(
	const uint64_t *symbols, const LodeForeignMemory *memory, uint32_t *next_code);
void lode_hotspot_frames_close(void *frames);
LodeFramesOutcome lode_hotspot_frames_read(
	void *frames, const LodeFramesThread *thread, LodeScriptLook *out_look, GArray *out_codes);
