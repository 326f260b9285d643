/* SPDX-License-Identifier: MIT */
#include "process/call_chain.h"

#include "model/lines/own_lines.h"
#include "model/stacks.h"

#include <linux/perf_event.h>
#include <string.h>

bool lode_call_chain_is_recorded(const LodePerfEvent *event)
{
	return (event->sample_type & PERF_SAMPLE_CALLCHAIN) != 0 && !event->has_no_user_chains;
}

bool lode_call_chain_has_top(const LodePerfEvent *event)
{
	return !lode_call_chain_is_recorded(event) &&
	       (event->sample_type & PERF_SAMPLE_STACK_USER) != 0 && event->user_registers != 0;
}

/* Makes the registers of a function those of its caller. */
static LodeFrameStep step_out(LodePlaces *places, const LodePlace *at, const LodeStackDump *dump,
	LodeUserRegisters *registers, uint64_t *out_return)
{
	LodeStackFrames *frames = lode_code_image_frames(
		lode_code_images_at(lode_places_images(places), at->image));

	return frames != NULL
	               ? lode_stack_frames_step(frames, at->address, dump, registers, out_return)
	               : LODE_FRAME_NO_RULE;
}

static LodeStackDump dump_of(const LodePerfSample *sample, const LodeUserRegisters *registers)
{
	return (LodeStackDump){
		sample->stack, sample->stack_size, registers->values[LODE_REGISTER_RSP]};
}

/* Return addresses by the unwind tables; whether they reach the thread's first function. */
static bool unwind(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *sampled_registers, GArray *out_returns)
{
	LodeUserRegisters registers = *sampled_registers;
	const LodeStackDump dump = dump_of(&sampled->record->sample, &registers);
	LodePlace at = sampled->place;

	while (at.image != LODE_NONE && out_returns->len < LODE_MAX_CALLERS) {
		uint64_t back;
		LodeFrameStep step = step_out(places, &at, &dump, &registers, &back);
		if (step != LODE_FRAME_CALLED)
			return step == LODE_FRAME_OUTERMOST;
		if (lode_places_find(places, sampled->record->pid, sampled->time_ns, back - 1,
			    &at) == LODE_PLACE_UNMAPPED)
			return false;
		g_array_append_val(out_returns, back);
	}
	return false;
}

void lode_call_chain_find_returns(
	const LodePerfSample *sample, uint64_t context, GArray *out_returns)
{
	bool is_wanted = false, is_first = true;

	for (size_t i = 0; i < sample->n_callchain && out_returns->len < LODE_MAX_CALLERS; i++) {
		uint64_t address = sample->callchain[i];
		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			is_wanted = address == context;
			is_first = true;
			continue;
		}
		if (is_wanted && !is_first)
			g_array_append_val(out_returns, address);
		is_first = false;
	}
}

static uint64_t return_at(const GArray *returns, guint i)
{
	return g_array_index(returns, uint64_t, i);
}

/* How many of `inner` before `end` are those of `outer` up to `at`. */
static guint common_run(const GArray *inner, guint end, const GArray *outer, guint at)
{
	guint run = 0;

	while (run < end && run <= at &&
		return_at(inner, end - 1 - run) == return_at(outer, at - run))
		run++;
	return run;
}

/*
 * The index from which `outer` continues `inner`, which is exact: after the longest run that ends
 * `inner`. A chain that shares only inner parts of `inner` stops before its end, and has nothing to
 * add; one that shares nothing comes further out, as in a library without frame pointers.
 */
static guint find_rest(const GArray *inner, const GArray *outer)
{
	guint best = 0, best_run = 0;

	for (guint i = 0; i < outer->len; i++) {
		guint run = common_run(inner, inner->len, outer, i);
		if (run > best_run) {
			best_run = run;
			best = i + 1;
		}
	}
	for (guint end = inner->len; best_run == 0 && end > 0; end--)
		for (guint i = 0; i < outer->len; i++)
			if (return_at(inner, end - 1) == return_at(outer, i))
				return outer->len;
	return best;
}

void lode_call_chain_find(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, GArray *out_callers)
{
	g_autoptr(GArray) returns = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GArray) recorded = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	bool has_stack = sampled->record->sample.stack_size > 0 &&
	                 (registers->known >> LODE_REGISTER_RSP & 1) != 0;
	bool is_whole = has_stack && unwind(places, sampled, registers, returns);

	if (!is_whole) {
		/* What the kernel recorded, by frame pointers. */
		lode_call_chain_find_returns(
			&sampled->record->sample, (uint64_t)PERF_CONTEXT_USER, recorded);
		for (guint i = find_rest(returns, recorded); i < recorded->len; i++)
			g_array_append_val(returns, g_array_index(recorded, uint64_t, i));
	}
	for (guint i = 0; i < MIN(returns->len, LODE_MAX_CALLERS); i++) {
		LodePlace caller;
		if (lode_places_find(places, sampled->record->pid, sampled->time_ns,
			    return_at(returns, i) - 1, &caller) == LODE_PLACE_UNMAPPED)
			return;
		g_array_append_val(out_callers, caller);
	}
}

/* Whether the code before a return address is a call: e8 with four bytes, or ff /2. `inside` is the
 * last byte of it. */
static bool is_after_call(const LodePlaces *places, const LodePlace *inside)
{
	enum { LONGEST = 8, NEAR = 5 };
	const LodeCodeImage *image = lode_code_images_peek(
		lode_places_images(places), inside->image);

	for (unsigned length = 2; length <= LONGEST && length <= inside->address + 1; length++) {
		size_t n = 0;
		const uint8_t *bytes = lode_code_image_bytes(
			image, inside->address + 1 - length, &n);
		if (bytes == NULL || n < length)
			continue;
		if (length == NEAR && bytes[0] == 0xe8)
			return true;
		unsigned at = (bytes[0] & 0xf0) == 0x40 ? 1 : 0; /* a REX prefix */
		if (at + 2 > length || bytes[at] != 0xff || (bytes[at + 1] >> 3 & 7) != 2)
			continue;
		unsigned mode = bytes[at + 1] >> 6, base = bytes[at + 1] & 7;
		bool has_index = mode != 3 && base == 4;
		if (has_index && at + 3 > length)
			continue;
		base = has_index ? bytes[at + 2] & 7 : base;
		unsigned offset = mode == 1 ? 1 : mode == 2 || (mode == 0 && base == 5) ? 4 : 0;
		if (at + 2 + has_index + offset == length)
			return true;
	}
	return false;
}

static const LodeBinaryFunction *function_at(LodePlaces *places, const LodePlace *place)
{
	return lode_code_image_function(
		lode_code_images_at(lode_places_images(places), place->image), place->address);
}

/* The function that was made at run time and has a place; NULL: it is other code. */
static const char *name_of_made(LodePlaces *places, const LodePlace *place)
{
	const LodeCodeImage *image = lode_code_images_peek(
		lode_places_images(places), place->image);
	const LodeBinaryFunction *function = image->kind == LODE_IMAGE_JIT
	                                             ? function_at(places, place)
	                                             : NULL;

	return function != NULL ? function->name : NULL;
}

/* Whether a method that HotSpot interprets is there: its frame says which. */
static bool is_interpreted(LodePlaces *places, const LodePlace *place)
{
	return g_strcmp0(name_of_made(places, place), "Interpreter") == 0;
}

/* Reads a word of the stack. */
static bool read_word(const LodeStackDump *dump, uint64_t address, uint64_t *out)
{
	uint64_t offset = address - dump->start;

	if (dump->size < sizeof *out || offset > dump->size - sizeof *out)
		return false;
	memcpy(out, dump->bytes + offset, sizeof *out);
	return true;
}

/* The place that a word of the stack returns to; false: it is not a return address. HotSpot's
 * interpreter jumps to what it calls, and gives it where to return to. */
static bool read_return(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeStackDump *dump, uint64_t address, LodePlace *out_caller)
{
	uint64_t back;

	return read_word(dump, address, &back) && back != 0 &&
	       lode_places_find(places, sampled->record->pid, sampled->time_ns, back - 1,
		       out_caller) == LODE_PLACE_FOUND &&
	       out_caller->image != LODE_NONE &&
	       (is_after_call(places, out_caller) || is_interpreted(places, out_caller));
}

/*
 * How methods and stubs begin (OpenJDK: x86.ad, MachPrologNode; c1_MacroAssembler_x86.cpp,
 * build_frame), after a check of the class and of the stack's end, if any:
 *
 *   55             push %rbp                   48 81 ec …        sub $size, %rsp
 *   48 8b ec       mov %rsp, %rbp (if kept)    48 89 … 24     mov %rbp, size-8(%rsp)
 *   48 (81|83) ec  sub $size-8, %rsp
 */
uint32_t lode_call_chain_frame_bytes(const uint8_t *code, size_t n, uint64_t offset)
{
	enum { FARTHEST = 128, LONGEST = 16, MOST_BYTES = 1 << 16, WORD = sizeof(uint64_t) };

	for (size_t at = 0; at < FARTHEST && at + LONGEST <= n && at < offset; at++) {
		bool is_pushed = code[at] == 0x55;
		const uint8_t *next = code + at + is_pushed;
		uint32_t size;

		if (is_pushed && next[0] == 0x48 && next[1] == 0x8b && next[2] == 0xec)
			next += 3;
		if (next[0] != 0x48 || (next[1] != 0x81 && next[1] != 0x83) || next[2] != 0xec)
			continue;
		bool is_long = next[1] == 0x81;
		memcpy(&size, next + 3, sizeof size);
		size = is_long ? size : next[3];
		next += is_long ? 7 : 4;
		bool is_saved = next[0] == 0x48 && next[1] == 0x89 && (next[2] & 0x3f) == 0x2c &&
		                next[3] == 0x24;
		if ((!is_pushed && !is_saved) || size % WORD != 0 || size > MOST_BYTES)
			continue;
		return (uint64_t)(next - code) <= offset ? size + (is_pushed ? WORD : 0) : 0;
	}
	return 0;
}

/* Code that HotSpot compiled, whose frame pointer is a register as others: its frame has the size
 * that its beginning says. */
static bool step_by_beginning(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeStackDump *dump, LodeUserRegisters *registers, LodePlace *at)
{
	const uint32_t needed = 1u << LODE_REGISTER_RSP | 1u << LODE_REGISTER_RBP;
	const LodeBinaryFunction *function = function_at(places, at);
	uint64_t back = registers->values[LODE_REGISTER_RSP];
	size_t n = 0;

	if (function == NULL || at->address < function->address)
		return false;
	const uint8_t *code = lode_code_image_bytes(
		lode_code_images_peek(lode_places_images(places), at->image), function->address,
		&n);
	uint32_t size = code != NULL ? lode_call_chain_frame_bytes(
					       code, n, at->address - function->address)
	                             : 0;
	back += size;
	if (size < sizeof(uint64_t) || !read_return(places, sampled, dump, back, at))
		return false;
	memcpy(&registers->values[LODE_REGISTER_RBP],
		dump->bytes + (back - dump->start - sizeof(uint64_t)), sizeof(uint64_t));
	registers->values[LODE_REGISTER_RSP] = back + sizeof(uint64_t);
	registers->known = needed;
	return true;
}

/*
 * Code without unwind tables, as V8's builtins and what it compiles, either has no frame, so that a
 * return address lies at the stack pointer, or one with a frame pointer:
 *
 *   rsp ─▶ return address        rsp ─▶ locals   rbp ─▶ caller's rbp, return address
 */
static bool step_without_table(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeStackDump *dump, LodeUserRegisters *registers, LodePlace *out_caller)
{
	const uint32_t needed = 1u << LODE_REGISTER_RSP | 1u << LODE_REGISTER_RBP;
	uint64_t *values = registers->values;
	uint64_t frame = values[LODE_REGISTER_RBP], offset = frame - dump->start;

	if ((registers->known & needed) != needed)
		return false;
	if (read_return(places, sampled, dump, values[LODE_REGISTER_RSP], out_caller)) {
		values[LODE_REGISTER_RSP] += sizeof(uint64_t);
		return true;
	}
	if (frame < values[LODE_REGISTER_RSP] ||
		!read_return(places, sampled, dump, frame + sizeof(uint64_t), out_caller))
		return false;
	memcpy(&values[LODE_REGISTER_RBP], dump->bytes + offset, sizeof(uint64_t));
	values[LODE_REGISTER_RSP] = frame + 2 * sizeof(uint64_t);
	registers->known = needed;
	return true;
}

/* Whether the call that ends there may be one of the function that begins at `target`: one that
 * names an address names this. */
static bool may_call(const LodePlaces *places, const LodePlace *inside, uint64_t target)
{
	enum { NEAR = 5 };
	size_t n = 0;
	int32_t distance;

	if (inside->address + 1 < NEAR)
		return true;
	const uint8_t *bytes = lode_code_image_bytes(
		lode_code_images_peek(lode_places_images(places), inside->image),
		inside->address + 1 - NEAR, &n);
	if (bytes == NULL || n < NEAR || bytes[0] != 0xe8)
		return true;
	memcpy(&distance, bytes + 1, sizeof distance);
	return inside->address + 1 + (uint64_t)(int64_t)distance == target;
}

/*
 * How far the frame pointer is above the stack pointer by a function's beginning, as gcc, clang and
 * rustc write it:
 *
 *   55          push %rbp             (41) 5…         push, of any register
 *   48 89 e5    mov %rsp, %rbp        48 83|81 ec …   sub $size, %rsp
 *
 * 0: it does not begin so.
 */
static uint32_t frame_pointer_distance(LodePlaces *places, const LodePlace *at, uint64_t function)
{
	static const uint8_t begin[] = {0x55, 0x48, 0x89, 0xe5};
	enum { LONGEST = 32, MOST_BYTES = 1 << 16, WORD = sizeof(uint64_t) };
	size_t n = 0, next = sizeof(begin);
	uint32_t size = 0, locals = 0;
	const uint8_t *code = lode_code_image_bytes(
		lode_code_images_peek(lode_places_images(places), at->image), function, &n);

	if (code == NULL || n < LONGEST || memcmp(code, begin, sizeof(begin)) != 0)
		return 0;
	for (; next + 8 < LONGEST && (code[next + (code[next] == 0x41)] & 0xf8) == 0x50;
		size += WORD)
		next += code[next] == 0x41 ? 2 : 1;
	if (code[next] == 0x48 && code[next + 1] == 0x83 && code[next + 2] == 0xec)
		locals = code[next + 3];
	else if (code[next] == 0x48 && code[next + 1] == 0x81 && code[next + 2] == 0xec)
		memcpy(&locals, code + next + 3, sizeof locals);
	return locals < MOST_BYTES && function + next < at->address ? size + locals : 0;
}

/*
 * Finds the frame pointer of a function with one, where it is not known, as at looks from outside:
 * where the function's beginning puts it, if there is a return address of a call of that function;
 * else at the first such above the stack pointer.
 *
 *   rsp ─▶ locals    rbp ─▶ caller's rbp, return address
 */
static bool find_frame_pointer(LodePlaces *places, const LodeSampledCode *sampled,
	const LodePlace *at, const LodeStackDump *dump, LodeUserRegisters *registers)
{
	enum { MOST_WORDS = 128, WORD = sizeof(uint64_t) };
	const LodeBinaryFunction *function = function_at(places, at);
	uint64_t frame = registers->values[LODE_REGISTER_RSP];
	LodePlace caller;

	if ((registers->known >> LODE_REGISTER_RSP & 1) == 0 ||
		(registers->known >> LODE_REGISTER_RBP & 1) != 0 || function == NULL)
		return false;
	uint64_t first = frame + frame_pointer_distance(places, at, function->address);
	for (unsigned i = 0; i <= MOST_WORDS; i++) {
		frame = i == 0 ? first : registers->values[LODE_REGISTER_RSP] + (i - 1) * WORD;
		if (!read_return(places, sampled, dump, frame + WORD, &caller) ||
			caller.image != at->image || !may_call(places, &caller, function->address))
			continue;
		registers->values[LODE_REGISTER_RBP] = frame;
		registers->known |= 1u << LODE_REGISTER_RBP;
		return true;
	}
	return false;
}

static bool is_in_library(const LodePlaces *places, const LodePlace *place)
{
	return lode_is_system_library(
		lode_code_images_peek(lode_places_images(places), place->image)->path);
}

/* Whether its callers are looked for up to the user's code. */
static bool is_below_user(const LodePlaces *places, const LodePlace *place)
{
	const char *path = lode_code_images_peek(lode_places_images(places), place->image)->path;

	return lode_is_system_library(path) || lode_is_run_time_code(path);
}

/* Whether a program's own copy of code is that of its language's library: Rust's is linked into
 * each program, and templates of C++'s are compiled into it. */
static bool is_of_language(LodePlaces *places, const LodePlace *place)
{
	static const char *const crates[] = {"std::", "core::", "alloc::"};
	const LodeBinaryFunction *function = function_at(places, place);
	const char *name = function != NULL ? function->name : "";

	/* "<std::fs::File as std::io::Write>::write" */
	name += strspn(name, "<&");
	for (size_t i = 0; i < G_N_ELEMENTS(crates); i++)
		if (g_str_has_prefix(name, crates[i]))
			return true;
	return false;
}

/* Whether code that was made at run time is Java's own library's, a stub of HotSpot's, or of a
 * module that is built into Node.js. V8's names have colons. */
static bool is_of_runtime(LodePlaces *places, const LodePlace *place)
{
	const LodeCodeImage *image = lode_code_images_peek(
		lode_places_images(places), place->image);
	const char *name = name_of_made(places, place);

	if (name == NULL || strchr(name, ':') != NULL)
		return name != NULL && strstr(name, " node:") != NULL;
	const LodeFrame frame = {.function = (char *)name, .image = (char *)image->path};
	return !lode_is_own_frame(&frame);
}

/*
 * Goes from the frame of HotSpot's interpreter to its caller (OpenJDK, frame_x86.hpp, the same in
 * JDK 11 to 25), and gives the place of the bytecode that it is at, which is in a dump where the
 * method is the user's. A method that runs has the bytecode's address in a register.
 *
 *   rbp ─▶ caller's rbp   rbp + 8 ─▶ return address   rbp − 8 ─▶ caller's rsp   rbp − 64 ─▶
 * bytecode
 */
static bool step_interpreted(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeStackDump *dump, LodeUserRegisters *registers, LodePlace *out_method,
	LodePlace *at)
{
	enum { R13 = 13, BYTECODE = 64, WORD = sizeof(uint64_t) };
	const uint32_t needed = 1u << LODE_REGISTER_RSP | 1u << LODE_REGISTER_RBP;
	uint64_t frame = registers->values[LODE_REGISTER_RBP], bytecode, pointer, link;
	bool runs = (registers->known >> R13 & 1) != 0;

	*out_method = (LodePlace){LODE_NONE, 0};
	if ((registers->known >> LODE_REGISTER_RBP & 1) == 0 || frame < BYTECODE ||
		!read_word(dump, frame - BYTECODE, &bytecode))
		return false;
	if ((!runs || lode_places_find(places, sampled->record->pid, sampled->time_ns,
			      registers->values[R13], out_method) != LODE_PLACE_FOUND) &&
		lode_places_find(places, sampled->record->pid, sampled->time_ns, bytecode,
			out_method) != LODE_PLACE_FOUND)
		*out_method = (LodePlace){LODE_NONE, 0};
	at->image = LODE_NONE;
	if (!read_word(dump, frame - WORD, &pointer) || !read_word(dump, frame, &link) ||
		pointer <= frame || !read_return(places, sampled, dump, frame + WORD, at))
		return out_method->image != LODE_NONE;
	registers->values[LODE_REGISTER_RSP] = pointer;
	registers->values[LODE_REGISTER_RBP] = link;
	registers->known = needed;
	return true;
}

/* `most`: so many callers; is_top: none further out than the first outside of libraries. */
static void find_by_stack(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *sampled_registers, guint most, bool is_top, GArray *out_callers)
{
	LodeUserRegisters registers = *sampled_registers;
	const LodeStackDump dump = dump_of(&sampled->record->sample, &registers);
	LodePlace at = sampled->place;
	bool was_below = false;
	bool is_done = dump.size == 0 || (registers.known >> LODE_REGISTER_RSP & 1) == 0;

	while (!is_done && at.image != LODE_NONE && out_callers->len < most) {
		was_below |= is_below_user(places, &at);
		if (is_interpreted(places, &at)) {
			LodePlace method;
			if (!step_interpreted(places, sampled, &dump, &registers, &method, &at))
				return;
			/* The frame is known by its method. */
			if (out_callers->len > 0 && method.image != LODE_NONE)
				g_array_set_size(out_callers, out_callers->len - 1);
			if (method.image != LODE_NONE)
				g_array_append_val(out_callers, method);
			if (at.image == LODE_NONE || (is_top && method.image != LODE_NONE))
				return;
			g_array_append_val(out_callers, at);
			continue;
		}
		uint64_t back;
		LodeFrameStep step = step_out(places, &at, &dump, &registers, &back);
		if (step == LODE_FRAME_LOST &&
			find_frame_pointer(places, sampled, &at, &dump, &registers))
			step = step_out(places, &at, &dump, &registers, &back);
		bool is_found = step == LODE_FRAME_CALLED
		                        ? lode_places_find(places, sampled->record->pid,
						  sampled->time_ns, back - 1,
						  &at) == LODE_PLACE_FOUND
		                        : step == LODE_FRAME_NO_RULE &&
		                                  (step_by_beginning(places, sampled, &dump,
							   &registers, &at) ||
							  step_without_table(places, sampled, &dump,
								  &registers, &at));
		if (!is_found)
			return;
		g_array_append_val(out_callers, at);
		is_done = is_top && at.image != LODE_NONE && was_below &&
		          !is_below_user(places, &at) && !is_of_language(places, &at) &&
		          !is_of_runtime(places, &at);
	}
}

void lode_call_chain_find_top(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, GArray *out_callers)
{
	find_by_stack(places, sampled, registers, LODE_MAX_TOP_CALLERS, true, out_callers);
}

void lode_call_chain_find_stack(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, GArray *out_callers)
{
	find_by_stack(places, sampled, registers, LODE_MAX_CALLERS, false, out_callers);
}

void lode_call_chain_find_frames(LodePlaces *places, const LodeSampledCode *sampled,
	const LodeUserRegisters *registers, guint most, GArray *out_frames)
{
	const uint32_t preserved = 0xf038; /* rbx, rsp, rbp, r12 to r15 */
	LodeCallerFrame frame = {sampled->place, *registers};
	const LodeStackDump dump = dump_of(&sampled->record->sample, registers);
	bool was_in_library = sampled->place.image != LODE_NONE &&
	                      is_in_library(places, &sampled->place);
	uint64_t back;

	while (most-- > 0 && dump.size > 0 && frame.code.image != LODE_NONE &&
		step_out(places, &frame.code, &dump, &frame.registers, &back) ==
			LODE_FRAME_CALLED &&
		lode_places_find(places, sampled->record->pid, sampled->time_ns, back - 1,
			&frame.code) == LODE_PLACE_FOUND &&
		frame.code.image != LODE_NONE &&
		(was_in_library || !is_in_library(places, &frame.code))) {
		frame.registers.known &= preserved;
		g_array_append_val(out_frames, frame);
		was_in_library = is_in_library(places, &frame.code);
	}
}
