/* SPDX-License-Identifier: MIT */
/*
 * A jitdump file (jit-PID.dump): the code that a just-in-time compiler made, when it made it and
 * where it put it, with bytes, names and source lines.
 *
 *   LOAD ─▶ unit (bytes, name, lines) ─▶ placement (address, from … until)
 *   MOVE ─▶ another placement of the same unit
 *
 * The bytes of a unit stand in the file, and where they stand there is the unit's address in the
 * image (see images/): unlike the run-time address it never stands for two things.
 *
 * Format: tools/perf/Documentation/jitdump-specification.txt of Linux, version 1.
 *
 * lode's agent for Java adds what lines were inlined by: docs/reference/formats/jitdump.md.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The code that a line is for, as a discriminator of lode's agent for Java. With any other one a
 * line is for the code from its address on, up to the next line's.
 */
enum {
	/* back from the next line's address, but not beyond a branch or the target of one */
	LODE_JIT_LINE_BACK = 0x4c4f4401,
	/* the call that ends at the next line's address, or else what begins there */
	LODE_JIT_LINE_HERE = 0x4c4f4402,
};

enum { LODE_JIT_MAX_INLINED = 64 };
#define LODE_JIT_NO_CALL UINT32_MAX

/* A call of a method that was inlined. */
typedef struct {
	const char *function; /* borrowed; NULL: unknown */
	const char *file;     /* of the call; likewise */
	uint32_t line;        /* 0: unknown */
	uint32_t outer; /* in `calls`, before this one; LODE_JIT_NO_CALL: in the unit itself */
	uint32_t depth; /* of calls, with this one; at most LODE_JIT_MAX_INLINED */
} LodeJitCall;

typedef struct {
	uint64_t address; /* inside the unit: offset from its start, less than its size */
	const char *file; /* borrowed; NULL: unknown, as is the line then */
	uint32_t line, discriminator;
	uint32_t
		call; /* that it is inlined by, the innermost, in `calls`; LODE_JIT_NO_CALL: none */
} LodeJitLine;

typedef struct {
	const char *name;             /* as the compiler wrote it, valid UTF-8; borrowed */
	uint64_t code_offset;         /* of its bytes in the file: its address in the image */
	uint64_t size;                /* bytes; never 0 */
	uint64_t index;               /* the compiler's own number */
	uint32_t first_line, n_lines; /* range of `lines` */
	uint64_t unwinding_size;      /* bytes of unwinding information; 0: none */
} LodeJitUnit;

/*
 * Where a unit, or the part of it that nothing newer overlay, lay in memory: [address, address +
 * size) in [start_ns, end_ns). No two placements share an address and a moment.
 */
typedef struct {
	uint64_t address, size;
	uint64_t offset;           /* of `address` inside the unit: its head may be overlaid */
	uint64_t start_ns, end_ns; /* of the dump's clock; end UINT64_MAX: to the end */
	uint32_t unit;
} LodeJitPlacement;

typedef struct {
	char *path;
	uint32_t pid, elf_machine;
	bool is_swapped;
	bool is_truncated;  /* the process died while writing; all before is here */
	bool is_arch_clock; /* times are the processor's counter, not nanoseconds */
	uint8_t *data;      /* the whole file */
	size_t size;
	GStringChunk *strings;
	GArray *units;      /* LodeJitUnit, by code_offset */
	GArray *lines;      /* LodeJitLine, by address inside a unit */
	GArray *calls;      /* LodeJitCall */
	GArray *placements; /* LodeJitPlacement, by (address, start_ns) */
	uint64_t n_unknown_records;
	uint64_t n_broken_lines;  /* records of source lines that make no sense and are left out */
	uint64_t n_ignored;       /* code of no bytes, moves of code that the dump does not know */
	GArray *reaches;          /* private: uint64_t, for look-ups in `placements` */
	GHashTable *script_lines; /* private: file → how many lines it has */
} LodeJitdump;

/*
 * Reads the whole dump. Times are CLOCK_MONOTONIC's with all writers known, unless is_arch_clock.
 * V8 adds the size of an ELF header to the addresses of its source lines; it is taken off again. A
 * record cut short at the end of the file ends the dump without error (the program may have been
 * killed). Errors: _IO, _CORRUPT (with offset), _UNSUPPORTED (a newer version), _LIMIT.
 */
LodeJitdump *lode_jitdump_open(const char *path, GError **error);
void lode_jitdump_close(LodeJitdump *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeJitdump, lode_jitdump_close)

bool lode_jitdump_is_format(const char *data, size_t size);

/* The code at a run-time address at that time; UINT64_MAX: the last code there. NULL: none. Where
 * code replaced other code, the newest that had begun is given. */
const LodeJitPlacement *lode_jitdump_find(
	const LodeJitdump *self, uint64_t address, uint64_t time_ns);

/* The first code there after that time; NULL: none. A virtual machine may report code a little
 * after it has begun to run. */
const LodeJitPlacement *lode_jitdump_find_next(
	const LodeJitdump *self, uint64_t address, uint64_t time_ns);

/* Where the byte at a run-time address stands in the file: its address in the image. */
uint64_t lode_jitdump_image_address(
	const LodeJitdump *self, const LodeJitPlacement *placement, uint64_t address);
