/* SPDX-License-Identifier: MIT */
/*
 * A plugin for QEMU's user-mode emulation that writes the references of a program to memory shared
 * with lode, which packs them. One fetch for each instruction that is executed, each access after
 * the fetch of its instruction, in the order that QEMU makes them in.
 *
 * When translated code ends early (a fault, a signal, the program's end), no fetch is written that
 * did not happen: one call covers only instructions that are all executed if the first one is.
 *
 * An instruction that QEMU begins anew, to do it in another way (an atomic access that the host
 * cannot do in one, a store into code), is one instruction: a restart word cancels the references
 * of its first attempt. It is recognised by two fetches in a row of an instruction that cannot
 * follow itself.
 */
#include "access_word.h"
#include "counter.h"
#include "follow.h"
#include "function_scope.h"
#include "guest_mappings.h"
#include "instruction_traits.h"
#include "qemu_plugin_interface.h"
#include "recorder.h"
#include "wide_registers.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The argument of a fetch, in place of a pointer: address, size and traits in one word. */
enum {
	ADDRESS_BITS = 48, /* which the processor extends by its sign */
	SIZE_BITS = 4,
	PIECE_BYTES = 8,
	ACCESS_ROOM = 32,       /* instructions with more accesses than this are rare */
	MANY_COUNTED = 1 << 26, /* a chunk with so many ends: lode shows what was done so far */
};

#define CAN_FOLLOW_ITSELF (UINT64_C(1) << (ADDRESS_BITS + SIZE_BITS))
#define IS_ENTRY (UINT64_C(2) << (ADDRESS_BITS + SIZE_BITS))

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static pthread_once_t start_once = PTHREAD_ONCE_INIT;
static uint64_t guest_base;

static uint64_t word_of(const struct qemu_plugin_insn *instruction, InstructionTraits traits)
{
	uint64_t address = qemu_plugin_insn_vaddr(instruction);
	uint64_t size = qemu_plugin_insn_size(instruction);

	return (address & ((UINT64_C(1) << ADDRESS_BITS) - 1)) |
	       (size & ((1u << SIZE_BITS) - 1)) << ADDRESS_BITS |
	       (traits.can_follow_itself ? CAN_FOLLOW_ITSELF : 0);
}

static uint64_t address_of(uint64_t word)
{
	enum { SPARE = 64 - ADDRESS_BITS };

	return (uint64_t)((int64_t)(word << SPARE) >> SPARE);
}

static uint32_t size_of(uint64_t word)
{
	return (uint32_t)(word >> ADDRESS_BITS) & ((1u << SIZE_BITS) - 1);
}

static bool is_replay(const Recorder *recorder, uint64_t word)
{
	return word == recorder->last && (word & CAN_FOLLOW_ITSELF) == 0 &&
	       recorder->instruction != RECORDER_NO_INSTRUCTION;
}

/* There is room for it and what comes after, as there was for the instruction that is begun anew.
 */
__attribute__((noinline)) static void append_restart(Recorder *recorder)
{
	uint32_t n = recorder_n(recorder);

	if (n >= TRACE_CHUNK_WORDS)
		return;
	recorder->chunk->words[n] = lode_word_of_restart();
	recorder_set_n(recorder, n + 1);
}

/* ---- pieces of code ---- */

/*
 * A run is a sequence of instructions that are all executed if the first one is, as none before the
 * last can access memory or fail. If the last one always makes one access, this access shows that
 * the next run is executed: both belong to one piece of code, which is described once and begins
 * with a call that writes its number.
 *
 *   mov (%rsi),%rax   add %rax,%rbx   cmp %rbx,%rdx   mov %rbx,(%rdi)   jne …
 *   └─ run: call ───┘└─ run: by the access of the first ────────────┘  └─ by the second's
 */
typedef struct Piece {
	uint64_t first, last; /* words, of the first run */
	uint64_t end;         /* the word of the last run's last instruction */
	uint64_t code;        /* the word of its number */
	uint32_t room;        /* words that it and its accesses may take */
	uint32_t n_instructions;
	LodeWordFilterPiece filter;
} Piece;

/* ---- pieces whose words are filtered: traces/blocks/word_filter.h ---- */

/* Instructions of a piece from one on that it has. */
static uint32_t n_instructions_from(const Piece *piece, uint64_t word)
{
	const LodeCodeDescription *code =
		(const void *)&recorder_ring()
			->code[(size_t)(uint32_t)piece->code * LODE_CODE_UNIT_BYTES];
	const uint8_t *sizes = code->bytes + 2 * code->n_accesses;
	uint64_t address = code->address;
	uint32_t i = 0;

	for (; i < piece->n_instructions && address != address_of(word); i++)
		address += sizes[i];
	return piece->n_instructions - i;
}

/* Takes the access words from the one at `first` on through the filter. */
__attribute__((noinline)) static void filter_words(Recorder *recorder, uint32_t first)
{
	uint64_t *words = recorder->chunk->words;
	uint32_t n = recorder_n(recorder), n_kept = first;

	for (uint32_t i = first; i < n; i++) {
		LodeReferenceKind kind = lode_word_kind(words[i]);
		bool is_same = lode_word_filter_access(recorder->filter,
			lode_word_address(words[i]), lode_word_size(words[i]),
			kind != LODE_REFERENCE_LOAD);
		if (is_same && recorder->is_bare)
			words[kind]++;
		else
			words[n_kept++] = words[i];
	}
	recorder_set_n(recorder, n_kept);
}

/* The piece was left after the instruction `last`, or this one is begun anew. */
__attribute__((noinline)) static void end_early(Recorder *recorder, bool is_restarted)
{
	if (is_restarted && !recorder->is_bare)
		append_restart(recorder);
	if (recorder->piece != NULL && recorder->is_bare) {
		uint32_t n_left = n_instructions_from(recorder->piece, recorder->last);
		recorder->chunk->words[LODE_REFERENCE_FETCH] -= n_left - !is_restarted;
		if (is_restarted)
			recorder_set_n(recorder, recorder->instruction + 1);
	}
	recorder->is_bare = false;
	recorder->piece = NULL;
}

/* The executed part of the piece is over, as it is to its end unless an instruction failed. */
static inline void leave_piece(Recorder *recorder, bool is_restarted)
{
	if (__builtin_expect(is_restarted || recorder->last != recorder->piece->end, 0))
		end_early(recorder, is_restarted);
	else if (recorder_n(recorder) > recorder->instruction + 1)
		filter_words(recorder, recorder->instruction + 1);
}

__attribute__((noinline)) static void forget_lines(Recorder *recorder)
{
	if (recorder_n(recorder) == 0) {
		for (unsigned kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++)
			recorder->chunk->words[kind] = lode_word_of_count((LodeReferenceKind)kind);
		recorder_set_n(recorder, LODE_N_REFERENCE_KINDS);
		recorder->has_counts = true;
	}
	lode_word_filter_reset(recorder->filter);
}

static inline void fetch(Recorder *recorder, uint64_t word)
{
	bool is_restarted = is_replay(recorder, word);

	if (__builtin_expect(recorder->piece != NULL, 0)) {
		leave_piece(recorder, is_restarted);
		recorder->piece = NULL;
		recorder->is_bare = false;
	} else if (__builtin_expect(is_restarted, 0)) {
		append_restart(recorder);
	}
	if (__builtin_expect(recorder_n(recorder) + ACCESS_ROOM >= recorder->most, 0))
		recorder_next_chunk(recorder);
	recorder->last = word;
	recorder->instruction = recorder_n(recorder);
	recorder_append(recorder, address_of(word), size_of(word), LODE_REFERENCE_FETCH);
}

/*
 * After the end of recording, calls of code translated before have no effect, and new translations
 * have no calls. (qemu_plugin_reset() would take the calls out, but QEMU 7.2 then goes on to use
 * its list of them, and the program crashes now and then.)
 */
static void on_fetch(unsigned vcpu, void *user_data)
{
	(void)vcpu;
	if (recorder_is_off())
		return;
	fetch(recorder_current(), (uintptr_t)user_data);
}

static void fetch_locked(Recorder *recorder, uint64_t word)
{
	if (recorder_has_threads() && !is_replay(recorder, word))
		recorder_next_chunk(recorder);
	fetch(recorder, word);
}

static void on_locked_fetch(unsigned vcpu, void *user_data)
{
	(void)vcpu;
	if (recorder_is_off())
		return;
	fetch_locked(recorder_current(), (uintptr_t)user_data);
}

/* The last word when it is one of `n` after the fetch of the instruction that is executed. */
static uint64_t *last_access(Recorder *recorder, uint32_t n, LodeReferenceKind kind)
{
	uint32_t end = recorder_n(recorder);

	if (recorder->instruction == RECORDER_NO_INSTRUCTION || end <= recorder->instruction + n)
		return NULL;
	uint64_t *found = &recorder->chunk->words[end - n];
	return lode_word_kind(*found) == kind ? found : NULL;
}

static bool is_same_place(const uint64_t *access, uint64_t address, uint32_t size)
{
	return access != NULL && lode_word_address(*access) == address &&
	       lode_word_size(*access) == size;
}

static bool extend(uint64_t *access, uint64_t address, uint32_t size)
{
	if (access == NULL || size > PIECE_BYTES)
		return false;
	uint64_t begin = lode_word_address(*access);
	uint32_t n_bytes = lode_word_size(*access);
	if (n_bytes % PIECE_BYTES != 0 || begin + n_bytes != address ||
		n_bytes + size > LODE_WORD_MAX_SIZE)
		return false;
	*access = lode_word_of_reference(begin, n_bytes + size, lode_word_kind(*access));
	return true;
}

static void become_modify(uint64_t *access)
{
	*access = lode_word_of_reference(
		lode_word_address(*access), lode_word_size(*access), LODE_REFERENCE_MODIFY);
}

static inline void load(Recorder *recorder, qemu_plugin_meminfo_t info, uint64_t address)
{
	recorder_append(
		recorder, address, 1u << qemu_plugin_mem_size_shift(info), LODE_REFERENCE_LOAD);
}

static inline void store(Recorder *recorder, qemu_plugin_meminfo_t info, uint64_t address)
{
	uint32_t size = 1u << qemu_plugin_mem_size_shift(info);
	uint64_t *before = last_access(recorder, 1, LODE_REFERENCE_LOAD);

	if (is_same_place(before, address, size))
		become_modify(before);
	else
		recorder_append(recorder, address, size, LODE_REFERENCE_STORE);
}

static void load_wide(Recorder *recorder, qemu_plugin_meminfo_t info, uint64_t address)
{
	uint32_t size = 1u << qemu_plugin_mem_size_shift(info);

	if (!extend(last_access(recorder, 1, LODE_REFERENCE_LOAD), address, size))
		load(recorder, info, address);
}

/* Pieces that were loaded and then stored are one modification when both are whole. */
static void store_wide(Recorder *recorder, qemu_plugin_meminfo_t info, uint64_t address)
{
	uint32_t size = 1u << qemu_plugin_mem_size_shift(info);
	uint64_t *written = last_access(recorder, 1, LODE_REFERENCE_STORE);
	uint64_t *read = last_access(recorder, 2, LODE_REFERENCE_LOAD);

	if (!extend(written, address, size)) {
		store(recorder, info, address);
		return;
	}
	if (is_same_place(read, lode_word_address(*written), lode_word_size(*written))) {
		become_modify(read);
		recorder_set_n(recorder, recorder_n(recorder) - 1);
	}
}

/* QEMU reports an atomic access once: as a store, without the load. */
static void store_locked(Recorder *recorder, qemu_plugin_meminfo_t info, uint64_t address)
{
	uint32_t n = recorder_n(recorder);
	bool is_atomic = n == recorder->instruction + 1;

	store_wide(recorder, info, address);
	if (is_atomic)
		become_modify(&recorder->chunk->words[n]);
}

typedef void (*AccessFunc)(Recorder *recorder, qemu_plugin_meminfo_t info, uint64_t address);

/* Inlined into each of those that QEMU calls, with its two functions. */
__attribute__((always_inline)) static inline void dispatch_access(
	qemu_plugin_meminfo_t info, uint64_t address, AccessFunc on_load, AccessFunc on_store)
{
	if (recorder_is_off())
		return;
	if (qemu_plugin_mem_is_store(info))
		on_store(recorder_current(), info, address);
	else
		on_load(recorder_current(), info, address);
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	(void)user_data;
	dispatch_access(info, address, load, store);
}

static void on_wide_access(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	(void)user_data;
	dispatch_access(info, address, load_wide, store_wide);
}

static void on_locked_access(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	(void)user_data;
	dispatch_access(info, address, load_wide, store_locked);
}

/* QEMU 7.2 mistakes one of several calls of an access for another: there may be but one. */
static qemu_plugin_vcpu_mem_cb_t access_call(InstructionTraits traits)
{
	if (traits.is_locked)
		return on_locked_access;
	return traits.is_wide ? on_wide_access : on_access;
}

static void add_calls(struct qemu_plugin_insn *instruction)
{
	InstructionTraits traits = instruction_traits(
		qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
	qemu_plugin_vcpu_udata_cb_t call = traits.is_locked ? on_locked_fetch : on_fetch;

	qemu_plugin_register_vcpu_insn_exec_cb(instruction, call, QEMU_PLUGIN_CB_NO_REGS,
		(void *)(uintptr_t)word_of(instruction, traits));
	qemu_plugin_register_vcpu_mem_cb(
		instruction, access_call(traits), QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

enum {
	MAX_TRANSLATED = 512,
	PAGE_BYTES = 4096,
	MOST_INSTRUCTION_BYTES = 15,
	ARENA_BYTES = 1 << 20,
	MAX_ARENAS = 1 << 9, /* code beyond that, as of a program that generates it repeatedly, is
	                        written by instruction */
};

static bool has_pieces;

/* Code is translated one piece at a time, under QEMU's lock. */
static Piece *take_piece(void)
{
	static uint8_t *at, *end;
	static unsigned n_arenas;

	if ((size_t)(end - at) < sizeof(Piece)) {
		uint8_t *arena = n_arenas < MAX_ARENAS ? malloc(ARENA_BYTES) : NULL;
		if (arena == NULL)
			return NULL;
		n_arenas++;
		at = arena;
		end = arena + ARENA_BYTES;
	}
	at += sizeof(Piece);
	return (Piece *)(void *)(at - sizeof(Piece));
}

/* A piece and its accesses are in one chunk: the accesses mean nothing without the piece. */
static inline void begin_piece(Recorder *recorder, Piece *piece)
{
	if (__builtin_expect(is_replay(recorder, piece->first), 0))
		append_restart(recorder);
	if (__builtin_expect(recorder_n(recorder) + piece->room > recorder->most, 0))
		recorder_next_chunk(recorder);
	uint32_t n = recorder_n(recorder);
	recorder->chunk->words[n] = piece->code;
	recorder->last = piece->last;
	recorder->instruction = n;
	recorder_set_n(recorder, n + 1);
}

static void on_piece(unsigned vcpu, void *user_data)
{
	(void)vcpu;
	if (!recorder_is_off())
		begin_piece(recorder_current(), user_data);
}

static inline void begin_filtered(Recorder *recorder, Piece *piece)
{
	bool is_restarted = is_replay(recorder, piece->first);

	if (__builtin_expect(recorder->piece != NULL, 1))
		leave_piece(recorder, is_restarted);
	else if (__builtin_expect(is_restarted, 0))
		append_restart(recorder);
	if (__builtin_expect(recorder_n(recorder) + piece->room > recorder->most, 0))
		recorder_next_chunk(recorder);
	if (__builtin_expect(recorder->piece == NULL, 0))
		forget_lines(recorder);
	uint32_t n = recorder_n(recorder);
	uint64_t *words = recorder->chunk->words;
	recorder->piece = piece;
	recorder->last = piece->last;
	recorder->is_bare = lode_word_filter_fetch(recorder->filter, &piece->filter) &&
	                    recorder->has_counts;
	if (recorder->is_bare) {
		words[LODE_REFERENCE_FETCH] += piece->n_instructions;
		recorder->instruction = n - 1;
		if (__builtin_expect((words[LODE_REFERENCE_FETCH] & MANY_COUNTED) != 0, 0))
			recorder->most = 0;
		return;
	}
	words[n] = piece->code;
	recorder->instruction = n;
	recorder_set_n(recorder, n + 1);
}

static void on_filtered_piece(unsigned vcpu, void *user_data)
{
	(void)vcpu;
	if (recorder_is_off())
		return;
	Recorder *recorder = recorder_current();
	if (__builtin_expect(recorder->filter != NULL, 1))
		begin_filtered(recorder, user_data);
	else
		begin_piece(recorder, user_data);
}

static void on_locked_piece(unsigned vcpu, void *user_data)
{
	Piece *piece = user_data;

	(void)vcpu;
	if (recorder_is_off())
		return;
	Recorder *recorder = recorder_current();
	if (recorder_has_threads() && !is_replay(recorder, piece->first))
		recorder_next_chunk(recorder);
	if (recorder->filter != NULL)
		begin_filtered(recorder, piece);
	else
		begin_piece(recorder, piece);
}

/* The one access of its instruction, after which a run is executed up to the instruction `last`. */
__attribute__((always_inline)) static inline void append_single_access(
	qemu_plugin_meminfo_t info, uint64_t address, void *last, LodeReferenceKind kind)
{
	if (recorder_is_off())
		return;
	Recorder *recorder = recorder_current();
	uint32_t n = recorder_n(recorder), size = access_word_size(info);

	if (recorder->piece != NULL &&
		lode_word_filter_access(
			recorder->filter, address, size, kind != LODE_REFERENCE_LOAD) &&
		recorder->is_bare) {
		recorder->chunk->words[kind]++;
		recorder->last = (uintptr_t)last;
		recorder->instruction = n - 1;
		return;
	}
	if (__builtin_expect(n >= TRACE_CHUNK_WORDS, 0))
		return;
	recorder->chunk->words[n] = lode_word_of_reference(address, size, kind);
	recorder->last = (uintptr_t)last;
	recorder->instruction = n;
	recorder_set_n(recorder, n + 1);
}

static void on_load_before(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	append_single_access(info, address, user_data, LODE_REFERENCE_LOAD);
}

static void on_store_before(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	append_single_access(info, address, user_data, LODE_REFERENCE_STORE);
}

/* The load of the instruction was written before its store. */
static void on_modify_before(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	dispatch_access(info, address, load, store);
	if (!access_word_is_store(info) || recorder_is_off())
		return;
	Recorder *recorder = recorder_current();
	if (recorder->piece != NULL)
		filter_words(recorder, recorder->instruction + 1);
	recorder->last = (uintptr_t)user_data;
	recorder->instruction = recorder_n(recorder) - 1;
}

/* The callback of an instruction whose access begins the next run; NULL: a different call begins
 * it. */
static qemu_plugin_vcpu_mem_cb_t call_before_run(const InstructionTraits *traits)
{
	if (traits->is_division)
		return NULL;
	switch (traits->memory) {
	case MEMORY_LOAD:
		return on_load_before;
	case MEMORY_STORE:
		return on_store_before;
	case MEMORY_MODIFY:
		return on_modify_before;
	default:
		return NULL;
	}
}

static LodeReferenceKind kind_of(MemoryUse use)
{
	if (use == MEMORY_LOAD)
		return LODE_REFERENCE_LOAD;
	return use == MEMORY_STORE ? LODE_REFERENCE_STORE : LODE_REFERENCE_MODIFY;
}

/* The state of one translation. */
typedef struct {
	struct qemu_plugin_tb *code;
	size_t n;
	InstructionTraits traits[MAX_TRANSLATED];
} Translated;

static struct qemu_plugin_insn *instruction_at(const Translated *self, size_t i)
{
	return qemu_plugin_tb_get_insn(self->code, i);
}

/*
 * A locked instruction, in front of which a chunk ends; and the last one of a piece that may reach
 * over the end of its page: QEMU shows it, perhaps without its last bytes, but leaves it to the
 * next piece.
 */
static bool begins_piece(const Translated *self, size_t i)
{
	uint64_t left = PAGE_BYTES - qemu_plugin_insn_vaddr(instruction_at(self, i)) % PAGE_BYTES;

	return self->traits[i].is_locked || (i + 1 == self->n && left < MOST_INSTRUCTION_BYTES);
}

/* Up to the next instruction that may do more than compute. */
static size_t end_of_run(const Translated *self, size_t first, size_t most)
{
	size_t end = first + 1;

	while (self->traits[end - 1].is_quiet && end < most && !begins_piece(self, end))
		end++;
	return end;
}

/* The runs of a piece: where each ends, all but the last one with an access. */
typedef struct {
	size_t first, n;
	size_t ends[LODE_CODE_MAX_INSTRUCTIONS];
} Runs;

static void find_runs(const Translated *self, size_t first, Runs *out)
{
	size_t most = first + LODE_CODE_MAX_INSTRUCTIONS;
	bool has_more = true;

	if (most > self->n)
		most = self->n;
	out->first = first;
	out->n = 0;
	for (size_t at = first; has_more; at = out->ends[out->n - 1]) {
		size_t end = end_of_run(self, at, most);
		out->ends[out->n++] = end;
		has_more = end < most && !begins_piece(self, end) &&
		           !self->traits[end - 1].is_quiet &&
		           call_before_run(&self->traits[end - 1]) != NULL;
	}
}

/* NULL: there is no memory left. */
static Piece *make_piece(const Translated *self, const Runs *runs)
{
	union {
		LodeCodeDescription code;
		uint8_t bytes[sizeof(LodeCodeDescription) + 3 * LODE_CODE_MAX_INSTRUCTIONS];
	} described = {0};
	size_t end = runs->ends[runs->n - 1], n = end - runs->first, n_accesses = runs->n - 1;
	uint8_t code_shift = recorder_ring()->filter.code_shift;
	size_t n_code_bytes = 0;
	uint8_t *bytes = described.bytes + offsetof(LodeCodeDescription, bytes);
	uint32_t number;

	described.code.address = qemu_plugin_insn_vaddr(instruction_at(self, runs->first));
	described.code.n_instructions = (uint8_t)n;
	described.code.n_accesses = (uint8_t)n_accesses;
	for (size_t i = 0; i < n_accesses; i++) {
		bytes[i] = (uint8_t)(runs->ends[i] - 1 - runs->first);
		bytes[n_accesses + i] = (uint8_t)kind_of(self->traits[runs->ends[i] - 1].memory);
	}
	for (size_t i = 0; i < n; i++) {
		size_t size = qemu_plugin_insn_size(instruction_at(self, runs->first + i));
		bytes[2 * n_accesses + i] = (uint8_t)size;
		n_code_bytes += size;
	}
	size_t n_bytes = offsetof(LodeCodeDescription, bytes) + 2 * n_accesses + n;
	bool is_shared = recorder_share_code(&described.code, n_bytes, &number);
	Piece *piece = is_shared ? take_piece() : NULL;
	if (piece == NULL)
		return NULL;
	*piece = (Piece){
		.first = word_of(instruction_at(self, runs->first), self->traits[runs->first]),
		.last = word_of(
			instruction_at(self, runs->ends[0] - 1), self->traits[runs->ends[0] - 1]),
		.end = word_of(instruction_at(self, end - 1), self->traits[end - 1]),
		.code = lode_word_of_code(number),
		.room = (uint32_t)(1 + 2 * n_accesses) + ACCESS_ROOM,
		.n_instructions = (uint32_t)n,
		.filter =
			{
				.first_line = described.code.address >> code_shift,
				.last_line = (described.code.address + n_code_bytes - 1) >>
	                                     code_shift,
			},
	};
	return piece;
}

static qemu_plugin_vcpu_udata_cb_t piece_call(const InstructionTraits *first)
{
	if (first->is_locked)
		return on_locked_piece;
	return recorder_ring()->filter.has_filter ? on_filtered_piece : on_piece;
}

static void add_piece_calls(const Translated *self, const Runs *runs, Piece *piece)
{
	qemu_plugin_register_vcpu_insn_exec_cb(instruction_at(self, runs->first),
		piece_call(&self->traits[runs->first]), QEMU_PLUGIN_CB_NO_REGS, piece);
	for (size_t i = 0; i < runs->n; i++) {
		const InstructionTraits *traits = &self->traits[runs->ends[i] - 1];
		struct qemu_plugin_insn *instruction = instruction_at(self, runs->ends[i] - 1);
		if (i + 1 < runs->n) {
			size_t last = runs->ends[i + 1] - 1;
			uint64_t word = word_of(instruction_at(self, last), self->traits[last]);
			qemu_plugin_register_vcpu_mem_cb(instruction, call_before_run(traits),
				QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
				(void *)(uintptr_t)word);
		} else if (!traits->is_quiet) {
			qemu_plugin_register_vcpu_mem_cb(instruction, access_call(*traits),
				QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
		}
	}
}

/* Gives how many instructions of the first ones have their calls. */
static size_t add_calls_of_pieces(struct qemu_plugin_tb *code, size_t n)
{
	static Translated self; /* under QEMU's lock */
	size_t at = 0;

	if (!has_pieces || n > MAX_TRANSLATED)
		return 0;
	self.code = code;
	self.n = n;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *instruction = instruction_at(&self, i);
		self.traits[i] = instruction_traits(
			qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
	}
	while (at < n) {
		Runs runs;
		find_runs(&self, at, &runs);
		Piece *piece = make_piece(&self, &runs);
		if (piece == NULL)
			return at;
		add_piece_calls(&self, &runs, piece);
		at = runs.ends[runs.n - 1];
	}
	return n;
}

/* ---- where only a function is traced ---- */

static void on_fetch_inside(unsigned vcpu, void *user_data)
{
	Recorder *recorder = recorder_current();
	uint64_t word = (uintptr_t)user_data;

	(void)vcpu;
	if (recorder_is_off())
		return;
	if ((word & IS_ENTRY) != 0)
		function_scope_enter(recorder);
	if (recorder->is_inside)
		fetch(recorder, word);
}

static void on_locked_fetch_inside(unsigned vcpu, void *user_data)
{
	if (recorder_current()->is_inside)
		on_locked_fetch(vcpu, user_data);
}

/* `user_data`: the call that is made inside. */
static void on_access_inside(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	qemu_plugin_vcpu_mem_cb_t call = (qemu_plugin_vcpu_mem_cb_t)(uintptr_t)user_data;

	if (recorder_current()->is_inside)
		call(vcpu, info, address, NULL);
}

static void on_call_access(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	on_access_inside(vcpu, info, address, user_data);
	if (qemu_plugin_mem_is_store(info))
		function_scope_call(recorder_current(), address);
}

static void on_return_access(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	on_access_inside(vcpu, info, address, user_data);
	function_scope_return(recorder_current(), address);
}

static qemu_plugin_vcpu_mem_cb_t access_call_inside(InstructionTraits traits)
{
	if (traits.is_call)
		return on_call_access;
	return traits.is_return ? on_return_access : on_access_inside;
}

static void add_calls_inside(struct qemu_plugin_insn *instruction)
{
	InstructionTraits traits = instruction_traits(
		qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
	uint64_t word = word_of(instruction, traits);
	bool is_entry = recorder_is_function(qemu_plugin_insn_vaddr(instruction));
	bool is_locked = traits.is_locked && !is_entry;

	qemu_plugin_register_vcpu_insn_exec_cb(instruction,
		is_locked ? on_locked_fetch_inside : on_fetch_inside, QEMU_PLUGIN_CB_NO_REGS,
		(void *)(uintptr_t)(word | (is_entry ? IS_ENTRY : 0)));
	qemu_plugin_register_vcpu_mem_cb(instruction, access_call_inside(traits),
		QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)access_call(traits));
}

static void send_event(TraceEventKind kind, const TraceEvent *event, bool is_awaited)
{
	if (kind != TRACE_EVENT_FORK || !follow_is_on())
		recorder_send_event(recorder_current(), kind, event, is_awaited);
}

static GuestMappingsListener listener = {
	.send_event = send_event, .expect_threads = recorder_expect_threads};

static void start(void)
{
	listener.awaits_code = recorder_ring()->has_functions != 0;
	guest_mappings_start(&listener, guest_base);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *piece)
{
	size_t n = qemu_plugin_tb_n_insns(piece);
	bool has_functions = recorder_ring()->has_functions != 0;

	(void)id;
	if (n == 0)
		return;
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(piece, 0);
	guest_base = (uintptr_t)qemu_plugin_insn_haddr(first) - qemu_plugin_insn_vaddr(first);
	if (recorder_is_off())
		return;
	pthread_once(&start_once, start);
	wide_registers_add_calls(piece);
	for (size_t i = has_functions ? 0 : add_calls_of_pieces(piece, n); i < n; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(piece, i);
		if (has_functions)
			add_calls_inside(instruction);
		else
			add_calls(instruction);
	}
}

/* Handles a system call with a number that no system call of Linux has. */
static void send_tick(uint64_t place, uint64_t log)
{
	const TraceEvent event = {.start = place, .size = log};

	recorder_send_event(recorder_current(), TRACE_EVENT_TICK, &event, false);
}

static void on_system_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
	uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};
	Recorder *recorder = recorder_current();

	(void)id;
	(void)vcpu;
	(void)a7;
	(void)a8;
	memcpy(recorder->arguments, arguments, sizeof(arguments));
	if (number == TRACE_TICK_CALL) {
		send_tick(a1, a2);
		return;
	}
	if (follow_is_exec(number))
		recorder_next_chunk(recorder);
	follow_before_call(number, recorder->arguments, guest_base);
	guest_mappings_before_call(number, recorder->arguments);
	recorder_rest(recorder);
}

static void on_system_call_end(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	(void)id;
	(void)vcpu;
	follow_after_call(number, recorder_current()->arguments, result, guest_base);
	guest_mappings_after_call(number, recorder_current()->arguments, result);
}

static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	(void)vcpu;
	recorder_end();
}

/* ---- a program of which nothing is recorded, for those that it executes ---- */

static __thread uint64_t passed_arguments[6] __attribute__((tls_model("initial-exec")));

static void on_passed_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *piece)
{
	(void)id;
	if (qemu_plugin_tb_n_insns(piece) == 0)
		return;
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(piece, 0);
	guest_base = (uintptr_t)qemu_plugin_insn_haddr(first) - qemu_plugin_insn_vaddr(first);
}

static void on_passed_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
	uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};

	(void)id;
	(void)vcpu;
	(void)a7;
	(void)a8;
	memcpy(passed_arguments, arguments, sizeof(arguments));
	follow_before_call(number, arguments, guest_base);
}

static void on_passed_call_end(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	(void)id;
	(void)vcpu;
	follow_after_call(number, passed_arguments, result, guest_base);
}

static bool install_passing(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_passed_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_passed_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_passed_call_end);
	return true;
}

static bool install_tracing(qemu_plugin_id_t id, const char *ring)
{
	if (!recorder_connect(ring, follow_is_on()))
		return false;
	recorder_begin_process(follow_command(), follow_is_recorded());
	if (!follow_is_recorded())
		return install_passing(id);
	has_pieces = access_word_is_known();
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call_end);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
	return true;
}

/* "ring=PATH" traces, "counts=FOLDER" counts; of counts, "caches=I1+D1+LL", each SETS:WAYS:LINE,
 * also misses of caches and branches that are mispredicted, by "branches=callgrind", which is the
 * default, or "branches=tage". All other arguments are for follow.h. */
__attribute__((visibility("default"))) int qemu_plugin_install(
	qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const char ring_name[] = "ring=", counts_name[] = "counts=";
	static const char caches_name[] = "caches=", branches_name[] = "branches=";
	const char *caches = NULL;
	int branches = LODE_BRANCHES_CALLGRIND;
	const char *ring = NULL;
	CounterOptions counting = {0};

	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], ring_name, strlen(ring_name)) == 0)
			ring = argv[i] + strlen(ring_name);
		else if (strncmp(argv[i], counts_name, strlen(counts_name)) == 0)
			counting.folder = argv[i] + strlen(counts_name);
		else if (strncmp(argv[i], caches_name, strlen(caches_name)) == 0)
			caches = argv[i] + strlen(caches_name);
		else if (strncmp(argv[i], branches_name, strlen(branches_name)) == 0)
			branches = lode_branch_model_from_text(argv[i] + strlen(branches_name));
		else if (!follow_is_argument(argv[i]))
			return -1;
	}
	counting.has_events = caches != NULL;
	counting.events.branches = (LodeBranchModel)branches;
	if (branches < 0 ||
		(caches != NULL && !event_counter_parse_caches(caches, &counting.events)))
		return -1;
	if ((ring != NULL) == (counting.folder != NULL) || info->system_emulation ||
		strcmp(info->target_name, "x86_64") != 0 ||
		!follow_install(argc, argv, ring != NULL ? ring : counting.folder))
		return -1;
	counting.is_followed = follow_is_on();
	if (ring != NULL)
		return install_tracing(id, ring) ? 0 : -1;
	bool is_installed = follow_is_recorded() ? counter_install(id, &counting)
	                                         : install_passing(id);
	return is_installed ? 0 : -1;
}
