/* SPDX-License-Identifier: MIT */
/*
 * A file with code as lode needs it: functions with bounds, bytes by address, source lines.
 *
 *   ELF file     .symtab / .dynsym / separate debug file ─┐
 *                .gnu_debugdata (where no .symtab is)    ─┤
 *                .eh_frame (where no symbol covers)      ─┼─▶ functions, sorted, not overlapping
 *                .gopclntab (where symbols or lines lack) ┤
 *                .debug_line, .debug_info                ─┴─▶ file:line, inlined function
 *   jitdump      a function is a unit of code, also one that was never placed; its address is where
 *                its bytes stand in the dump, so that units that lay at one place in memory, one
 *                after the other, stay apart; lines are those of the dump, in
 *                Java with what they are inlined by. No build-id.
 *   perf map     functions at run-time addresses; neither bytes nor lines nor build-id.
 *
 * The content tells the kind of a file; a perf map is recognised by its name, perf-PID.map.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeBinaryImage LodeBinaryImage;

typedef struct {
	uint64_t address, size; /* in the image, as said above; size never 0 */
	const char *name;       /* demangled; "fn_<hex>" where only .eh_frame knows it; borrowed */
	const char *symbol; /* as linked, or as a JIT compiler wrote it, which then is the name too;
	                       NULL when from .eh_frame; borrowed */
} LodeBinaryFunction;

typedef struct {
	const char *file;        /* borrowed; may be NULL */
	uint32_t line;           /* 0: unknown */
	const char *inlined;     /* demangled name of the innermost inlined function; NULL: none */
	const char *caller_file; /* where the outermost one was called, in the function itself; as
	                            file and line */
	uint32_t caller_line;
} LodeBinaryLocation;

/* A function that was inlined at an address, and where it is called. */
typedef struct {
	uint32_t index;       /* of the address */
	const char *function; /* demangled; NULL: unknown */
	const char *file;     /* of the call; borrowed; may be NULL */
	uint32_t line;
} LodeInlinedCall;

typedef struct {
	bool allow_debuginfod;       /* ask the servers in DEBUGINFOD_URLS */
	const char *debug_directory; /* NULL: /usr/lib/debug */
	const char *debug_file;      /* looked at first, and taken if its build-id is the image's */
} LodeBinaryImageOptions;

/*
 * Opens an image. Errors: _IO, _CORRUPT (with offset or line), _UNSUPPORTED (a file of a
 * different kind), _LIMIT. Debug information that is broken is not an error, nor is a
 * jitdump that is cut short: lode_binary_image_warning() says what.
 */
LodeBinaryImage *lode_binary_image_open(
	const char *path, const LodeBinaryImageOptions *options, GError **error);
void lode_binary_image_close(LodeBinaryImage *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeBinaryImage, lode_binary_image_close)

const char *lode_binary_image_build_id(const LodeBinaryImage *self); /* hex; NULL: none */
const char *lode_binary_image_warning(const LodeBinaryImage *self);  /* NULL: none */
/* The name of the machine that the code is of ("AArch64"), where that is not x86-64 and lode does
 * not decode it: functions and lines are known, bytes are not given. NULL: it is decoded. */
const char *lode_binary_image_undecoded(const LodeBinaryImage *self);
bool lode_binary_image_is_go(const LodeBinaryImage *self);     /* made by Go's linker; NULL: not */
bool lode_binary_image_has_lines(const LodeBinaryImage *self); /* any line table */

/* Functions sorted by address, none overlapping another; borrowed. */
const LodeBinaryFunction *lode_binary_image_functions(const LodeBinaryImage *self, size_t *out_n);

/* Bytes at an address, up to the end of their section or segment, of a jitdump's their unit
 * (*out_n); NULL outside executable contents, and where code is not decoded. Borrowed from the
 * file. */
const uint8_t *lode_binary_image_bytes(
	const LodeBinaryImage *self, uint64_t address, size_t *out_n);

/*
 * Source locations of `n` addresses in ascending order, in one pass over the line tables (falls
 * back to scanning the compile units where .debug_aranges is missing, as with clang). Unknown ones
 * get file NULL, line 0. Thread-safe for different images only.
 */
void lode_binary_image_locate(LodeBinaryImage *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations);

/* The same, and all functions that were inlined at the addresses (LodeInlinedCall), appended: those
 * of one address together, the innermost first. */
void lode_binary_image_locate_calls(LodeBinaryImage *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *out_calls);

/*
 * A function that has code at an address, its own or inlined, and the place in it, as compilers
 * find it again by a profile: by the lines from where the function is declared.
 */
typedef struct {
	uint32_t index;      /* of the address */
	uint32_t first_line; /* where the function is declared */
	uint32_t line;       /* of the address, or of the call of the function before; 0: unknown */
	uint32_t discriminator; /* tells apart blocks on that line; compilers number them in
	                           different ways */
	const char *symbol;     /* as linked, without what compilers add to the names of copies
	                           (".constprop.0"); borrowed */
	const char *producer;   /* the compiler ("GNU C17 12.2.0 -O2"); borrowed; NULL: unknown */
} LodeSourceScope;

/* Appends all of each address (LodeSourceScope), as the debug information has them: the innermost
 * inlined first, the function that is not inlined last. Addresses ascend. An address without such a
 * function, or with one whose line is not known, has none. */
void lode_binary_image_scopes(
	LodeBinaryImage *self, const uint64_t *addresses, size_t n, GArray *out_scopes);

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

/* Converts a distance from the thread pointer (the base of fs) to an offset in the image's block of
 * thread-local variables. False: outside of it, or the image is a library, whose block may be
 * anywhere. */
bool lode_binary_image_thread_local_offset(
	LodeBinaryImage *image, int64_t from_thread_pointer, uint64_t *out_offset);
