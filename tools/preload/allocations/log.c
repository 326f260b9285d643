/* SPDX-License-Identifier: MIT */
#include "log.h"

#include "../left_environment.h"
#include "../process_log.h"
#include "log_format.h"
#include "thread_state.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define DIRECTORY_VARIABLE "LODE_ALLOCATIONS"
#define TICKS_VARIABLE "LODE_ALLOCATION_TICKS"
#define VARIABLES "LODE_ALLOCATION"
#define LIBRARY "liblode-allocations.so"

/* Far from where the kernel puts what the program maps, so that its addresses stay as they are. */
#define LOG_PLACE ((void *)0x210000000000)
#define STATE_PLACE ((void *)0x200000000000)

enum { STACK_BITS = 20, N_STACKS = 1 << STACK_BITS, N_RULES = 1 << 14, PROBES = 32 };
enum { N_KNOWN_STACKS = 1 << 11 };
enum { FIRST_CHUNK = LOG_PAGE, LAST_CHUNK = 64 * LOG_PAGE };

#define MAX_LOG_BYTES ((size_t)1 << 34)
/* QEMU remembers each page of a mapping. */
#define MAX_TICKING_LOG_BYTES ((size_t)1 << 30)
/* Where pages cannot be had beforehand, a full disk would be a SIGBUS: so much is reserved. */
#define RESERVED_LOG_BYTES ((size_t)1 << 26)

enum { PHASE_NEW, PHASE_OPENING, PHASE_OPEN, PHASE_SILENT };

/* Wiped in a child. */
typedef struct {
	uint32_t phase;
	uint32_t generation;
	uint32_t number; /* of the process's files */
	uint64_t instance;
	LogHeader *header;
	size_t limit;
	bool is_populated;         /* pages are had beforehand */
	uint32_t n_stacks;         /* ids given */
	uint64_t stacks[N_STACKS]; /* hash, and in the lowest bits the id; 0: free */
	uint64_t rules[N_RULES][2];
	KnownStack known_stacks[N_KNOWN_STACKS];
} State;

/* The part that a child keeps, as it does the states of threads. */
static State *state;
static char directory[PATH_MAX];
static bool has_own_malloc, has_ticks;
static struct {
	uint64_t start, end;
} operator_new[2];

uint64_t log_now(void)
{
	struct timespec now;

	if (has_ticks)
		return LOG_NO_TIME;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Lets the time be set where it stands in the log. */
static void tick(const uint64_t *time)
{
	if (has_ticks)
		syscall(LOG_TICK_CALL, (const char *)time - (const char *)state->header,
			(uint64_t)state->number);
}

/* --- start --- */

static void make_state(void)
{
	State *made = map_far(STATE_PLACE, sizeof(State), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	State *none = NULL;

	if (made == NULL)
		return;
	if (syscall(SYS_madvise, made, sizeof(State), MADV_WIPEONFORK) != 0 ||
		!__atomic_compare_exchange_n(
			&state, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		syscall(SYS_munmap, made, sizeof(State));
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Makes pages of the log writable and there. False: no room on the disk. */
static bool prepare(unsigned char *at, size_t size)
{
	if (syscall(SYS_mprotect, at, size, PROT_READ | PROT_WRITE) != 0)
		return false;
	return !state->is_populated || syscall(SYS_madvise, at, size, MADV_POPULATE_WRITE) == 0;
}

/* In a kernel that cannot have pages beforehand the whole log is reserved on the disk. */
static bool reserve(int descriptor, unsigned char *base)
{
	state->is_populated = true;
	if (prepare(base, LOG_PAGE))
		return true;
	state->is_populated = false;
	state->limit = smaller(state->limit, RESERVED_LOG_BYTES);
	return syscall(SYS_fallocate, descriptor, 0, 0L, (long)state->limit) == 0;
}

/* Without access at first: pages that a program locks in memory must be few. */
static LogHeader *map_file(int descriptor)
{
	unsigned char *base;

	state->limit = process_log_allowed_bytes(has_ticks ? MAX_TICKING_LOG_BYTES : MAX_LOG_BYTES);
	state->limit = state->limit / LOG_PAGE * LOG_PAGE;
	if (state->limit < 2 * LOG_PAGE || syscall(SYS_ftruncate, descriptor, state->limit) != 0)
		return NULL;
	base = map_far(LOG_PLACE, state->limit, PROT_NONE, MAP_SHARED, descriptor);
	if (base == NULL)
		return NULL;
	/* The file is one hole: to read ahead in it would fill megabytes with zeros, each time. */
	syscall(SYS_madvise, base, state->limit, MADV_RANDOM);
	if (syscall(SYS_madvise, base, state->limit, MADV_DONTFORK) == 0 &&
		reserve(descriptor, base))
		return (LogHeader *)base;
	syscall(SYS_munmap, base, state->limit);
	return NULL;
}

static void fill_header(LogHeader *header, uint32_t pid)
{
	*header = (LogHeader){
		.version = LOG_VERSION,
		.page = LOG_PAGE,
		.pid = pid,
		.parent = (uint32_t)getppid(),
		.begin_ns = log_now(),
		.used = LOG_PAGE,
		.flags = has_own_malloc ? LOG_OWN_MALLOC : 0,
		.max_frames = LOG_MAX_FRAMES,
	};
	__builtin_memcpy(header->magic, LOG_MAGIC, sizeof(header->magic));
}

static bool open_log(void)
{
	uint32_t pid = (uint32_t)syscall(SYS_getpid);
	char path[PROCESS_LOG_PATH_BYTES];
	int descriptor = process_log_create(directory, "allocations", path, &state->number);

	if (descriptor < 0)
		return false;
	state->header = map_file(descriptor);
	syscall(SYS_close, descriptor);
	if (state->header == NULL) {
		/* Readers do not accept a log without a header. */
		syscall(SYS_unlinkat, AT_FDCWD, path, 0);
		return false;
	}
	fill_header(state->header, pid);
	tick(&state->header->begin_ns);
	state->instance = state->header->begin_ns << 22 | pid;
	return true;
}

static bool start(void)
{
	uint32_t phase = PHASE_NEW;

	if (directory[0] == '\0' ||
		!__atomic_compare_exchange_n(&state->phase, &phase, PHASE_OPENING, false,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	phase = open_log() ? PHASE_OPEN : PHASE_SILENT;
	__atomic_store_n(&state->phase, phase, __ATOMIC_RELEASE);
	return phase == PHASE_OPEN;
}

/* Frames of the first thread lie below the end of the stack that the loader saw; the stacks of
 * others are known from their start. */
static void find_stack(ThreadState *self)
{
	extern void *__libc_stack_end __attribute__((weak));
	struct rlimit limit;

	if (&__libc_stack_end == NULL || self->tid != state->header->pid || self->stack_high != 0 ||
		getrlimit(RLIMIT_STACK, &limit) != 0)
		return;
	self->stack_high = (uintptr_t)__libc_stack_end;
	self->stack_low = self->stack_high - smaller(limit.rlim_cur, (size_t)1 << 30);
}

static void add(ThreadState *thread, LogHead head, const uint64_t *words, size_t n);

/* The thread is new, or the log is. */
static void adopt_thread(ThreadState *self, uint32_t tid)
{
	bool is_seen_start = self->is_known && self->instance == 0 && self->created != 0;

	if (!self->is_known)
		self->stack_low = self->stack_high = 0;
	self->instance = state->instance;
	self->tid = tid;
	self->at = self->end = NULL;
	self->chunk_size = FIRST_CHUNK;
	self->is_known |= tid == state->header->pid;
	find_stack(self);
	const uint64_t words[] = {is_seen_start ? self->created : log_now(), self->pointer};
	add(self, (LogHead){{LOG_THREAD, 0, 0, 0, tid}}, words, 2);
}

static void follow(ThreadState *self)
{
	bool is_adopted = self->instance == state->instance;

	if (is_adopted && self->is_known)
		return;
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	if (!is_adopted || self->tid != tid)
		adopt_thread(self, tid);
}

bool log_is_open(ThreadState *thread)
{
	if (state == NULL)
		return false;
	uint32_t phase = __atomic_load_n(&state->phase, __ATOMIC_ACQUIRE);
	if (phase != PHASE_OPEN && (phase != PHASE_NEW || !start()))
		return false;
	follow(thread);
	return true;
}

/* By their C++ names; not there in a program without C++. */
extern void _Znwm(size_t size) __attribute__((weak));
extern void _ZnwmSt11align_val_t(size_t size, size_t alignment) __attribute__((weak));

/* Finds operator new of the library that the program was linked to; one that is loaded later is not
 * looked for. */
static void find_operator_new(void)
{
	void *const functions[] = {(void *)_Znwm, (void *)_ZnwmSt11align_val_t};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		ElfW(Sym) *symbol = NULL;
		Dl_info info;
		if (functions[i] == NULL ||
			dladdr1(functions[i], &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
			symbol == NULL)
			continue;
		operator_new[i].start = (uint64_t)functions[i];
		operator_new[i].end = (uint64_t)functions[i] + symbol->st_size;
	}
}

/* Allocations before this (at the start of other libraries) are not recorded. */
__attribute__((constructor)) static void begin(void)
{
	const char *given = getenv(DIRECTORY_VARIABLE);

	if (given == NULL || given[0] != '/' || strlen(given) >= sizeof(directory))
		return;
	int folder = process_log_open_folder(given);
	if (folder < 0) {
		/* the recorder has ended: another user may have a directory of that name */
		remove_from_environment(LIBRARY, VARIABLES);
		return;
	}
	syscall(SYS_close, folder);
	find_operator_new();
	has_own_malloc = !log_is_malloc_ours();
	/* Whole before another thread can see that there is a state. */
	strcpy(directory, given);
	has_ticks = getenv(TICKS_VARIABLE) != NULL;
	make_state();
	if (state == NULL || !thread_state_begin()) {
		directory[0] = '\0';
		return;
	}
	ThreadState *thread = thread_state_find();
	thread->is_inside = true;
	log_is_open(thread);
	thread->is_inside = false;
}

/* --- records --- */

void log_count_unseen(void)
{
	if (state != NULL && __atomic_load_n(&state->phase, __ATOMIC_ACQUIRE) == PHASE_OPEN)
		__atomic_fetch_add(&state->header->n_unseen, 1, __ATOMIC_RELAXED);
}

/* Each thread prepares the pages of its own chunk, so that threads do not wait for each other. */
static bool take_chunk(ThreadState *thread)
{
	LogHeader *header = state->header;
	size_t size = thread->chunk_size;
	uint64_t used = __atomic_load_n(&header->used, __ATOMIC_RELAXED);

	do
		if (used + size > state->limit)
			return false;
	while (!__atomic_compare_exchange_n(
		&header->used, &used, used + size, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	unsigned char *chunk = (unsigned char *)header + used;
	if (!prepare(chunk, size)) {
		state->limit = 0;
		return false;
	}
	*(LogChunk *)chunk = (LogChunk){LOG_CHUNK_MAGIC, thread->tid, (uint32_t)size, 0};
	thread->at = chunk + sizeof(LogChunk);
	thread->last_time = thread->last_word = 0;
	thread->end = chunk + size;
	thread->chunk_size = (uint32_t)smaller(2 * size, LAST_CHUNK);
	return true;
}

/* Whether there is room for a record, in this chunk or a new one. In the child of a signal handler
 * that came in between and forked, the chunk is still the parent's: nothing is added to it. */
static bool has_room(ThreadState *thread, size_t size)
{
	if (thread->instance != state->instance)
		return false;
	if ((size_t)(thread->end - thread->at) >= size || take_chunk(thread))
		return true;
	__atomic_fetch_add(&state->header->n_dropped, 1, __ATOMIC_RELAXED);
	return false;
}

static void add(ThreadState *thread, LogHead head, const uint64_t *words, size_t n)
{
	size_t size = (1 + n) * sizeof(uint64_t);

	if (!has_room(thread, sizeof(uint64_t) + size))
		return;
	while ((uintptr_t)thread->at % sizeof(uint64_t) != 0)
		*thread->at++ = LOG_PAD;
	uint64_t *at = (uint64_t *)(void *)thread->at;
	/* Not by memcpy(): what touches the log is to be seen to be ours. */
	for (size_t i = 0; i < n; i++)
		at[1 + i] = words[i];
	__atomic_store_n(at, head.word, __ATOMIC_RELEASE);
	thread->at += size;
	if (head.type != LOG_STACK)
		tick(&at[1]);
}

static unsigned char *put_number(unsigned char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (unsigned char)(value | 0x80);
	*at++ = (unsigned char)value;
	return at;
}

/* A record that can be packed: whose time is not to be set later, nor before that of the last one,
 * and whose address is of a word. */
static bool can_pack(const ThreadState *thread, uint64_t time, const void *address)
{
	return !has_ticks && time >= thread->last_time && (uintptr_t)address % 8 == 0;
}

/* Time and address, after the first byte, which is still 0. */
static unsigned char *put_event(
	ThreadState *thread, uint64_t time, const void *address, unsigned time_bits)
{
	uint64_t word = (uintptr_t)address / 8;
	int64_t moved = (int64_t)(word - thread->last_word);
	unsigned char *at = put_number(thread->at + 1, (time - thread->last_time) >> time_bits);

	at = put_number(at, (uint64_t)moved << 1 ^ (uint64_t)(moved >> 63));
	thread->last_time = time;
	thread->last_word = word;
	return at;
}

static void finish(ThreadState *thread, unsigned first, unsigned char *end)
{
	__atomic_store_n(thread->at, (unsigned char)first, __ATOMIC_RELEASE);
	thread->at = end;
}

static unsigned lowest(uint64_t value, unsigned n_bits)
{
	return (unsigned)value & ((1U << n_bits) - 1);
}

void log_allocation(ThreadState *thread, const LogAllocation *made)
{
	const uint64_t words[] = {made->time, (uint64_t)made->address, made->size};
	const LogHead head = {{LOG_ALLOCATION, made->kind, 0, 0, made->stack}};

	if (!has_room(thread, LOG_MAX_PACKED))
		return;
	if (!can_pack(thread, made->time, made->address)) {
		add(thread, head, words, 3);
		return;
	}
	uint64_t passed = made->time - thread->last_time;
	unsigned char *at = put_event(
		thread, made->time, made->address, LOG_PACKED_ALLOCATION_TIME_BITS);
	at = put_number(at, made->size);
	at = put_number(at, made->stack);
	finish(thread,
		LOG_PACKED | (unsigned)made->kind << LOG_PACKED_KIND_SHIFT |
			lowest(passed, LOG_PACKED_ALLOCATION_TIME_BITS),
		at);
}

void log_free(ThreadState *thread, const void *address, uint64_t time)
{
	const uint64_t words[] = {time, (uint64_t)address};

	if (!has_room(thread, LOG_MAX_PACKED))
		return;
	if (!can_pack(thread, time, address)) {
		add(thread, (LogHead){{LOG_FREE, 0, 0, 0, 0}}, words, 2);
		return;
	}
	uint64_t passed = time - thread->last_time;
	unsigned char *at = put_event(thread, time, address, LOG_PACKED_FREE_TIME_BITS);
	finish(thread, LOG_PACKED_FREE | lowest(passed, LOG_PACKED_FREE_TIME_BITS), at);
}

void log_unmap(ThreadState *thread, const void *address, size_t size, uint64_t time)
{
	const uint64_t words[] = {time, (uint64_t)address, size};
	const LogHead head = {{LOG_UNMAP, 0, 0, 0, 0}};

	add(thread, head, words, 3);
}

void log_thread_end(ThreadState *thread)
{
	const LogHead head = {{LOG_THREAD_END, 0, 0, 0, thread->tid}};
	const uint64_t now = log_now();

	add(thread, head, &now, 1);
}

/* FNV's shape on whole words, with the high half folded in; not 0 above the bits of an id. */
static uint64_t hash(const uint64_t *addresses, size_t n)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325) + n;

	for (size_t i = 0; i < n; i++) {
		value = (value ^ addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
		value ^= value >> 29;
	}
	return value | UINT64_C(1) << 63;
}

/* Ids are given in turn, so that those of most records are small. */
uint32_t log_stack(ThreadState *thread, const uint64_t *addresses, size_t n)
{
	const uint64_t id_mask = N_STACKS - 1;
	uint64_t value = hash(addresses, n);
	uint64_t named = 0; /* the hash with a new id */

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t index = (uint32_t)((value >> STACK_BITS) + i) % N_STACKS;
		uint64_t there = __atomic_load_n(&state->stacks[index], __ATOMIC_RELAXED);
		if (there == 0 && named == 0) {
			uint32_t id = __atomic_fetch_add(&state->n_stacks, 1, __ATOMIC_RELAXED);
			if (id >= N_STACKS)
				return UINT32_MAX;
			named = (value & ~id_mask) | id;
		}
		if (there == 0 && __atomic_compare_exchange_n(&state->stacks[index], &there, named,
					  false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			uint32_t id = (uint32_t)(named & id_mask);
			add(thread, (LogHead){{LOG_STACK, 0, (uint8_t)n, 0, id}}, addresses, n);
			return id;
		}
		if ((there & ~id_mask) == (value & ~id_mask))
			return (uint32_t)(there & id_mask);
	}
	return UINT32_MAX;
}

bool log_is_operator_new(uint64_t address)
{
	for (size_t i = 0; i < sizeof(operator_new) / sizeof(operator_new[0]); i++)
		if (address - operator_new[i].start < operator_new[i].end - operator_new[i].start)
			return true;
	return false;
}

/* --- code --- */

uint32_t log_code_generation(void)
{
	return __atomic_load_n(&state->generation, __ATOMIC_RELAXED) & UINT16_MAX;
}

void log_code_unloaded(void)
{
	if (state != NULL)
		__atomic_fetch_add(&state->generation, 1, __ATOMIC_RELAXED);
}

KnownStack *log_known_stack_slot(uint64_t frame, uint64_t address)
{
	uint64_t key = (frame ^ address << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return &state->known_stacks[(key >> 40) % N_KNOWN_STACKS];
}

uint64_t *log_frame_rule_slot(uint64_t address)
{
	return state->rules[(address * UINT64_C(0x9e3779b97f4a7c15) >> 40) % N_RULES];
}
