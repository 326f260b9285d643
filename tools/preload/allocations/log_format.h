/* SPDX-License-Identifier: MIT */
/*
 * The allocation log as it lies in the file; docs/reference/formats/allocation-log.md has the
 * description.
 *
 *   │ header, a page │ chunk of thread 7: record, record, 0 … │ chunk of thread 9: … │
 *
 * A record is whole or packed. It begins with a word or, if packed, a byte, which is written last:
 * so an unfinished record is not read.
 */
#pragma once

#include <stdint.h>

#define LOG_MAGIC "lodealoc"

enum {
	LOG_VERSION = 3,
	LOG_PAGE = 4096,
	LOG_CHUNK_MAGIC = 0x4b4e4843, /* "CHNK" */
	LOG_MAX_FRAMES = 16,
};

/*
 * In a traced program, times are those of the trace: each is LOG_NO_TIME at first. A system call
 * with this number, which the kernel does not have, gives the tracer the offset of the time in the
 * file, and the number of the process's file (0, 1 …). The tracer writes the time there.
 */
enum { LOG_TICK_CALL = 0x10de71c };
#define LOG_NO_TIME (UINT64_MAX >> 1)

/* Flags of the header. */
enum { LOG_OWN_MALLOC = 1 /* the program's malloc is its own and was not followed */ };

typedef struct {
	char magic[8];
	uint32_t version, page;
	uint32_t pid, parent;
	uint64_t begin_ns;
	uint64_t used;      /* bytes of the file that were given out, this page with them */
	uint64_t n_unseen;  /* calls that were let through without a record */
	uint64_t n_dropped; /* records that there was no room for */
	uint32_t flags, max_frames;
} LogHeader;

typedef struct {
	uint32_t magic, tid;
	uint32_t size, zero; /* bytes, a multiple of pages, with this header */
} LogChunk;

enum {
	LOG_END,        /* no more in this chunk */
	LOG_ALLOCATION, /* head with kind and stack; time, address, size */
	LOG_FREE,       /* head; time, address */
	LOG_UNMAP,      /* head; time, address, size */
	LOG_STACK,      /* head with n and id; n addresses */
	LOG_THREAD,     /* head with tid; time of its creation, thread pointer */
	LOG_THREAD_END, /* head with tid; time */
	LOG_PAD = 0x7f, /* a byte before a whole record, which begins at a multiple of 8 */
};

/*
 * Packed records: a first byte, then numbers in LEB128 (seven bits a byte, the lowest first).
 *
 *   allocation   10kkkttt   time, address, size, stack      k: kind, t: the lowest bits of time
 *   free         11tttttt   time, address
 *
 * Time is since the packed record before in the chunk, or since 0. The address is in words, since
 * that of the packed record before, or since 0, its sign in the lowest bit.
 */
enum {
	LOG_PACKED = 0x80,
	LOG_PACKED_FREE = 0xc0,
	LOG_PACKED_KIND_SHIFT = 3,
	LOG_PACKED_ALLOCATION_TIME_BITS = 3,
	LOG_PACKED_FREE_TIME_BITS = 6,
	LOG_MAX_PACKED = 1 + 4 * 10, /* bytes */
};

/* As LodeAllocationKind. */
enum {
	LOG_KIND_MALLOC,
	LOG_KIND_CALLOC,
	LOG_KIND_REALLOC,
	LOG_KIND_ALIGNED,
	LOG_KIND_NEW,
	LOG_KIND_MAP,
};

typedef union {
	struct {
		uint8_t type, kind, n, zero;
		uint32_t value; /* a stack or a thread */
	};
	uint64_t word;
} LogHead;
