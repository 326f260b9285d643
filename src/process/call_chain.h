/* SPDX-License-Identifier: MIT */
/*
 * Who called the code of a sample:
 *
 *   registers, dumped stack ── unwind tables ─▶ r1 r2      exact, as far as the dump reaches
 *   recorded chain ── frame pointers ─▶            r2 r3 …  without callers that set up no frame
 *                                               ─────────
 *                                               r1 r2 r3 …  return addresses, the innermost first
 *
 * A chain by frame pointers lacks the caller of a function that has not set up its frame (yet), and
 * is garbage in code that uses the register for other things: it ends at the first address where no
 * code is.
 */
#pragma once

#include "model/index.h"
#include "process/access_resolver.h"

/* Stands for an image where a place is a function of the kernel, and the address its number. */
enum { LODE_CALLER_IN_KERNEL = LODE_NONE - 1 };

enum { LODE_MAX_CALLERS = 1024 }; /* of a chain; what leads there is left out */
enum { LODE_MAX_TOP_CALLERS = 32 };

/* Whether samples of an event have their callers. */
bool lode_call_chain_is_recorded(const LodePerfEvent *event);

/* Whether samples of an event have registers and the top of the stack, but no call chain. */
bool lode_call_chain_has_top(const LodePerfEvent *event);

/*
 * Appends the return addresses (uint64_t) of a recorded chain that lie in one context
 * (PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER), the innermost first, without the sampled address
 * itself.
 */
void lode_call_chain_find_returns(
	const LodePerfSample *sample, uint64_t context, GArray *out_returns);

/* Appends the callers of a sample of user code (LodePlace), the innermost first, each inside the
 * calling instruction; none where nothing is known. `registers` are those of the sample; known 0:
 * none. */
void lode_call_chain_find(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, GArray *out_callers);

/* The same where lode_call_chain_has_top(): at most LODE_MAX_TOP_CALLERS, as far as the recorded
 * bytes reach, and no further than the first caller of a system library or an interpreter that is
 * neither in one nor of its language's own library (or a module built into Node.js), or is a method
 * that HotSpot interprets. In code without unwind tables, the word above a frame of the size that
 * the code's beginning says, at the stack pointer, or above what the frame pointer points to, is a
 * return address if a call stands before what it points to. A frame of HotSpot's interpreter is the
 * method's that it executes, where the dump has its bytecodes. */
void lode_call_chain_find_top(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, GArray *out_callers);

/* The same as far as the recorded bytes reach. */
void lode_call_chain_find_stack(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, GArray *out_callers);

/* The bytes between the stack pointer and the return address at an offset in code, if that begins
 * as what HotSpot compiles for x86-64 does; 0: it does not, or the frame is not made there yet. */
uint32_t lode_call_chain_frame_bytes(const uint8_t *code, size_t n, uint64_t offset);

/* A caller as it was before the call: of its registers, those are known that a called function
 * leaves as they are (rbx, rbp, r12 to r15), and the stack pointer. */
typedef struct {
	LodePlace code; /* inside the calling instruction */
	LodeUserRegisters registers;
} LodeCallerFrame;

/* Appends the nearest callers of a sample of user code, by the unwind tables and its stack, as far
 * as both reach, at most `most`, and none from a library of the system on that calls other code:
 * what starts a program, or calls back. */
void lode_call_chain_find_frames(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, guint most, GArray *out_frames);
