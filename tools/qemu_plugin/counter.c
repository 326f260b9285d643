/* SPDX-License-Identifier: MIT */
#include "counter.h"

#include "count_file.h"
#include "follow.h"
#include "guest_mappings.h"
#include "wide_registers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	SIGNAL_DEPTH = 16, /* handlers that interrupt each other */
	TARGETS_BITS = 10, /* of the first table */
	MAX_TARGETS = 1 << 22,
	MAX_HANDLERS = 1024,
	OUTSIDE = 0,        /* the block */
	MAX_ROWS = 1 << 25, /* of events: 3 GiB of addresses for each thread */
};

#define BLOCK_HASH UINT64_C(0x9e3779b97f4a7c15)

typedef struct {
	uint32_t block, handler;
	bool is_fault;
} Interruption;

/* The counts of one thread; a later thread reuses them after its end. */
typedef struct {
	CountExits *last; /* of the block that was executed last */
	CountExits *exits;
	uint32_t n_usable; /* blocks whose exits are mapped */

	/* The targets, found by source, target, handler and kind. */
	CountArray exits_array, targets_array;
	uint32_t n_targets;
	uint32_t *table; /* number of a target + 1; 0: free */
	unsigned table_bits;

	Interruption interruptions[SIGNAL_DEPTH];
	unsigned n_interruptions;
	bool is_resuming;
	Interruption resumed;

	/* `last` points here to make the next block take the slow path: its targets never match. */
	CountExits detour;
	uint32_t detour_source;
	uint64_t arguments[6]; /* of the system call that the thread is in */

	EventThread events;
	CountArray events_array;
	uint32_t n_rows; /* instructions whose events are mapped */
} Counter;

typedef struct {
	uint64_t address;
	uint32_t epoch; /* blocks of different epochs are different */
	uint32_t record_bytes;
	void *record;  /* CountBlock and what follows, without the number and the time */
	uint32_t next; /* with the same hash; 0: none */
	uint32_t first_instruction;
} KnownBlock;

static CounterOptions options;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;
static uint64_t start_base;

static Counter *counters[COUNT_FILE_MAX_OWNERS];
static Counter *idle[COUNT_FILE_MAX_OWNERS];
static unsigned n_counters, n_idle;

static KnownBlock *blocks; /* by number; COUNT_FILE_MAX_BLOCKS, of which few are touched */
static uint32_t *block_table;
static uint32_t n_blocks, n_instructions, epoch;
enum { BLOCK_TABLE_BITS = 20 };

/* Where handlers begin, and which blocks begin there. */
enum { IS_HANDLER = 1, IS_FAULT_HANDLER = 2 };
static struct {
	uint64_t address;
	uint8_t kind;
} handlers[MAX_HANDLERS];
static unsigned n_handlers;
static uint8_t *block_kinds;     /* by number */
static EventBlock *event_blocks; /* likewise; NULL: no events are counted */

/*
 * The counter of the program's first thread, and whether the thread is the only one. When it
 * creates a second one, QEMU translates everything again; so the first translations need not find
 * out which thread executes them, nor whether there is room for counts.
 */
static Counter *alone;
static bool is_alone;

static Counter nobody; /* of threads that there is no room for */
static __thread Counter *current __attribute__((tls_model("initial-exec")));

/* ---- targets ---- */

static uint32_t hash_of(const CountTarget *target, unsigned bits)
{
	uint64_t key = ((uint64_t)target->source << 32 | target->target) * BLOCK_HASH;

	key = (key ^ (uint64_t)target->handler << 3 ^ target->kind) * BLOCK_HASH;
	return (uint32_t)(key >> (64 - bits));
}

static CountTarget *targets_of(const Counter *self)
{
	return (CountTarget *)(void *)self->targets_array.base;
}

static bool is_same(const CountTarget *a, const CountTarget *b)
{
	return a->source == b->source && a->target == b->target && a->handler == b->handler &&
	       a->kind == b->kind;
}

static bool grow_table(Counter *self)
{
	unsigned bits = self->table != NULL ? self->table_bits + 1 : TARGETS_BITS;
	uint32_t *table = calloc((size_t)1 << bits, sizeof(*table));

	if (table == NULL)
		return false;
	for (uint32_t i = 0; i < self->n_targets; i++) {
		uint32_t at = hash_of(&targets_of(self)[i], bits);
		while (table[at] != 0)
			at = (at + 1) & (((uint32_t)1 << bits) - 1);
		table[at] = i + 1;
	}
	free(self->table);
	self->table = table;
	self->table_bits = bits;
	return true;
}

static bool has_room_for_target(Counter *self)
{
	if ((self->table == NULL || self->n_targets >= (uint32_t)1 << (self->table_bits - 1)) &&
		!grow_table(self))
		return false;
	return count_array_extend(
		&self->targets_array, ((size_t)self->n_targets + 1) * sizeof(CountTarget));
}

static void count_lost_block(void)
{
	atomic_fetch_add(&count_file_header()->n_lost_blocks, 1);
}

static void count_target(Counter *self, const CountTarget *wanted)
{
	CountTarget *targets = targets_of(self);
	uint32_t mask = ((uint32_t)1 << self->table_bits) - 1;

	for (uint32_t at = self->table != NULL ? hash_of(wanted, self->table_bits) : 0;
		self->table != NULL && self->table[at] != 0; at = (at + 1) & mask)
		if (is_same(&targets[self->table[at] - 1], wanted)) {
			targets[self->table[at] - 1].count++;
			return;
		}
	if (!has_room_for_target(self)) {
		count_lost_block();
		return;
	}
	CountTarget *added = &targets_of(self)[self->n_targets++];
	added->count = 1;
	added->source = wanted->source;
	added->target = wanted->target;
	added->handler = wanted->handler;
	atomic_store_explicit(&added->kind, wanted->kind, memory_order_release);
	uint32_t at = hash_of(wanted, self->table_bits);
	while (self->table[at] != 0)
		at = (at + 1) & (((uint32_t)1 << self->table_bits) - 1);
	self->table[at] = self->n_targets;
}

/* ---- threads ---- */

static bool make_events(Counter *self)
{
	if (!count_array_init(&self->events_array, COUNT_SEGMENT_EVENTS, n_counters,
		    MAX_ROWS * N_EVENTS * sizeof(uint64_t)) ||
		!event_thread_init(&self->events))
		return false;
	self->events.rows = (uint64_t *)(void *)self->events_array.base;
	return true;
}

/* A thread writes to its counter at each block: no other one's data may be in the same lines, which
 * processors take from each other, two at a time. */
static Counter *allocate_counter(void)
{
	enum { APART = 128 };
	size_t n_bytes = (sizeof(Counter) + APART - 1) / APART * APART;
	void *place = aligned_alloc(APART, n_bytes);

	return place != NULL ? memset(place, 0, n_bytes) : NULL;
}

static Counter *make_counter(void)
{
	Counter *self = n_counters < COUNT_FILE_MAX_OWNERS ? allocate_counter() : NULL;

	if (self == NULL)
		return NULL;
	if (!count_array_init(&self->exits_array, COUNT_SEGMENT_EXITS, n_counters,
		    COUNT_FILE_MAX_BLOCKS * sizeof(CountExits)) ||
		!count_array_init(&self->targets_array, COUNT_SEGMENT_TARGETS, n_counters,
			MAX_TARGETS * sizeof(CountTarget)) ||
		!count_array_extend(&self->exits_array, sizeof(CountExits)) ||
		(options.has_events && !make_events(self))) {
		if (self->exits_array.base != NULL)
			munmap(self->exits_array.base, self->exits_array.max_bytes);
		if (self->targets_array.base != NULL)
			munmap(self->targets_array.base, self->targets_array.max_bytes);
		if (self->events_array.base != NULL)
			munmap(self->events_array.base, self->events_array.max_bytes);
		free(self);
		return NULL;
	}
	self->exits = (CountExits *)(void *)self->exits_array.base;
	counters[n_counters++] = self;
	atomic_store(&count_file_header()->n_owners, n_counters);
	return self;
}

/* Makes the next block take the slow path, as a successor of `source`. */
static void take_detour(Counter *self, uint32_t source)
{
	self->detour_source = source;
	self->last = &self->detour;
}

static uint32_t last_block(const Counter *self)
{
	return self->last == &self->detour ? self->detour_source
	                                   : (uint32_t)(self->last - self->exits);
}

static Counter *begin_thread(void)
{
	pthread_mutex_lock(&lock);
	Counter *self = n_idle > 0 ? idle[--n_idle] : make_counter();
	pthread_mutex_unlock(&lock);
	if (self == NULL) {
		atomic_fetch_add(&count_file_header()->n_lost_threads, 1);
		self = &nobody;
	}
	self->n_interruptions = 0;
	self->is_resuming = false;
	self->n_usable = (uint32_t)(self->exits_array.n_bytes / sizeof(CountExits));
	take_detour(self, OUTSIDE);
	event_thread_enter(NULL);
	self->n_rows = 0;
	current = self;
	return self;
}

static Counter *current_counter(void)
{
	return current != NULL ? current : begin_thread();
}

static void on_thread_end(qemu_plugin_id_t id, unsigned vcpu)
{
	Counter *self = current;

	(void)id;
	(void)vcpu;
	current = NULL;
	if (self == NULL || self == &nobody)
		return;
	pthread_mutex_lock(&lock);
	idle[n_idle++] = self;
	pthread_mutex_unlock(&lock);
}

/* ---- blocks that begin ---- */

static void count_exit(Counter *self, uint32_t source, uint32_t target)
{
	CountExits *exits = &self->exits[source];
	const CountTarget other = {.source = source, .target = target, .kind = COUNT_TARGET_EXIT};

	for (unsigned i = 0; i < 2 && block_kinds[target] == 0; i++) {
		if (exits->targets[i] == 0)
			exits->targets[i] = target;
		if (exits->targets[i] == target) {
			exits->counts[i]++;
			return;
		}
	}
	count_target(self, &other);
}

/* Where a handler's beginning is what another one returns to, no instruction came in between: both
 * interrupted the same block. */
static void begin_handler(Counter *self, const Interruption *begun)
{
	if (self->n_interruptions == SIGNAL_DEPTH)
		memmove(&self->interruptions[0], &self->interruptions[1],
			sizeof(Interruption) * --self->n_interruptions);
	self->interruptions[self->n_interruptions++] = *begun;
}

static void end_handler(Counter *self, uint32_t resumed)
{
	const CountTarget target = {
		.source = self->resumed.block,
		.target = resumed,
		.handler = self->resumed.handler,
		.kind = self->resumed.is_fault ? COUNT_TARGET_FAULTED : COUNT_TARGET_RESUMED,
	};

	self->is_resuming = false;
	count_target(self, &target);
}

/* Counts a fault. Those that return are counted again at their return: the difference is the number
 * of those that do not. */
static void count_fault(Counter *self, const Interruption *begun)
{
	const CountTarget fault = {
		.source = begun->block,
		.target = begun->handler,
		.handler = begun->handler,
		.kind = COUNT_TARGET_FAULT,
	};

	count_target(self, &fault);
}

static void go_elsewhere(Counter *self, uint32_t block)
{
	uint32_t source = last_block(self);

	if (self == &nobody)
		return;
	Interruption begun = {
		.block = source,
		.handler = block,
		.is_fault = (block_kinds[block] & IS_FAULT_HANDLER) != 0,
	};
	if (self->is_resuming && block_kinds[block] != 0) {
		begun.block = self->resumed.block;
		begun.handler = self->resumed.handler;
		begun.is_fault |= self->resumed.is_fault;
		self->is_resuming = false;
	} else if (self->is_resuming) {
		end_handler(self, block);
	}
	if (block_kinds[block] != 0)
		begin_handler(self, &begun);
	if (begun.is_fault && begun.handler == block)
		count_fault(self, &begun);
	count_exit(self, source, block);
}

static bool make_usable(Counter *self, uint32_t block)
{
	if (self == &nobody ||
		!count_array_extend(&self->exits_array, ((size_t)block + 1) * sizeof(CountExits))) {
		count_lost_block();
		take_detour(self, OUTSIDE);
		return false;
	}
	self->n_usable = (uint32_t)(self->exits_array.n_bytes / sizeof(CountExits));
	return true;
}

/*
 * The cost of counting is what stands here. Which one of two exits it is, is as hard to predict for
 * the processor as the program's own branch, so that it is not a branch here. The block's exits are
 * usable.
 */
static inline bool count_known_exit(Counter *self, uint32_t block)
{
	CountExits *last = self->last;
	unsigned exit = last->targets[0] != block;

	if (__builtin_expect(last->targets[exit] != block, 0))
		return false;
	last->counts[exit]++;
	self->last = &self->exits[block];
	__builtin_prefetch(self->last, 1); /* for the next block; waiting for it takes longest */
	return true;
}

__attribute__((noinline)) static bool count_slowly(Counter *self, uint32_t block)
{
	if (self == NULL)
		self = begin_thread();
	go_elsewhere(self, block);
	if (block >= self->n_usable && !make_usable(self, block))
		return false;
	self->last = &self->exits[block];
	return true;
}

static void on_block(unsigned vcpu, void *user_data)
{
	Counter *self = current;
	uint32_t block = (uint32_t)(uintptr_t)user_data;

	(void)vcpu;
	if (__builtin_expect(self == NULL || block >= self->n_usable, 0) ||
		!count_known_exit(self, block))
		count_slowly(self, block);
}

static void on_block_alone(unsigned vcpu, void *user_data)
{
	uint32_t block = (uint32_t)(uintptr_t)user_data;

	(void)vcpu;
	if (!count_known_exit(alone, block))
		count_slowly(alone, block);
}

/* Until a block has rows, its thread's accesses are counted nowhere. */
__attribute__((noinline)) static bool make_rows(Counter *self, uint32_t end_instruction)
{
	size_t n = end_instruction;

	if (self == &nobody ||
		!count_array_extend(&self->events_array, n * N_EVENTS * sizeof(uint64_t))) {
		count_lost_block();
		event_thread_enter(NULL);
		self->n_rows = 0;
		return false;
	}
	if (self->n_rows == 0)
		event_thread_enter(&self->events);
	self->n_rows = (uint32_t)(self->events_array.n_bytes / (N_EVENTS * sizeof(uint64_t)));
	return true;
}

static void on_block_with_events(unsigned vcpu, void *user_data)
{
	const EventBlock *block = user_data;
	Counter *self = current != NULL ? current : begin_thread();

	(void)vcpu;
	if (__builtin_expect(block->number >= self->n_usable, 0) ||
		!count_known_exit(self, block->number))
		if (!count_slowly(self, block->number))
			return;
	if (__builtin_expect(block->end_instruction > self->n_rows, 0) &&
		!make_rows(self, block->end_instruction))
		return;
	event_block_begin(&self->events, block);
}

static void on_block_with_events_alone(unsigned vcpu, void *user_data)
{
	const EventBlock *block = user_data;

	(void)vcpu;
	if (!count_known_exit(alone, block->number))
		count_slowly(alone, block->number);
	event_block_begin(&alone->events, block);
}

/* ---- translation ---- */

typedef struct {
	CountBlock block;
	uint8_t sizes_and_bytes[COUNT_BLOCK_MAX_INSTRUCTIONS * 17];
} BlockRecord;

static size_t read_block(const struct qemu_plugin_tb *piece, BlockRecord *out_record)
{
	size_t n = qemu_plugin_tb_n_insns(piece), at = n;

	if (n > COUNT_BLOCK_MAX_INSTRUCTIONS)
		n = at = COUNT_BLOCK_MAX_INSTRUCTIONS;
	out_record->block = (CountBlock){
		.address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(piece, 0)),
		.n_instructions = (uint16_t)n,
	};
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(piece, i);
		size_t size = qemu_plugin_insn_size(instruction);
		size = size <= 16 ? size : 16;
		out_record->sizes_and_bytes[i] = (uint8_t)size;
		memcpy(&out_record->sizes_and_bytes[at], qemu_plugin_insn_data(instruction), size);
		at += size;
	}
	out_record->block.n_bytes = (uint16_t)(at - n);
	return sizeof(CountBlock) + at;
}

static uint32_t *slot_of(uint64_t address)
{
	return &block_table[(address * BLOCK_HASH) >> (64 - BLOCK_TABLE_BITS)];
}

static uint32_t find_block(const BlockRecord *record, size_t size)
{
	for (uint32_t i = *slot_of(record->block.address); i != 0; i = blocks[i].next)
		if (blocks[i].address == record->block.address && blocks[i].epoch == epoch &&
			blocks[i].record_bytes == size &&
			memcmp(blocks[i].record, record, size) == 0)
			return i;
	return 0;
}

static uint8_t kind_at(uint64_t address)
{
	for (unsigned i = 0; i < n_handlers; i++)
		if (handlers[i].address == address)
			return handlers[i].kind;
	return 0;
}

static void write_size(void)
{
	CountHeader *header = count_file_header();

	atomic_store(&header->n_blocks, n_blocks);
	atomic_store(&header->n_instructions, n_instructions);
	atomic_store(&header->n_owners, n_counters);
}

/* 0: no room. */
static uint32_t add_block(BlockRecord *record, size_t size)
{
	uint32_t block = n_blocks + 1;
	KnownBlock *known = &blocks[block];
	struct timespec now;

	if (block >= COUNT_FILE_MAX_BLOCKS || (known->record = malloc(size)) == NULL)
		return 0;
	memcpy(known->record, record, size);
	known->address = record->block.address;
	known->epoch = epoch;
	known->record_bytes = (uint32_t)size;
	clock_gettime(CLOCK_MONOTONIC, &now);
	record->block.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	record->block.first_instruction = known->first_instruction = n_instructions;
	if (!count_file_log(COUNT_RECORD_BLOCK, record, size, NULL, 0)) {
		free(known->record);
		return 0;
	}
	known->next = *slot_of(known->address);
	*slot_of(known->address) = block;
	block_kinds[block] = kind_at(known->address);
	n_blocks = block;
	n_instructions += record->block.n_instructions;
	write_size();
	return block;
}

/* Writes the emulator's own arguments after "-0": the program's name, its path, its other
 * arguments. */
static void write_program(void)
{
	static const char option[] = "-0";
	char text[COUNT_RECORD_MAX_BYTES / 2];
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0, at = 0;

	if (file != NULL)
		fclose(file);
	text[n] = '\0';
	while (at < n && strcmp(text + at, option) != 0)
		at += strlen(text + at) + 1;
	at = at < n ? at + sizeof(option) : n;
	pthread_mutex_lock(&lock);
	count_file_log(COUNT_RECORD_PROGRAM, text + at, n - at + 1, NULL, 0);
	pthread_mutex_unlock(&lock);
}

static int append_shape(char *text, size_t room, const LodeLruShape *shape, char end)
{
	return snprintf(text, room, "%llu:%u:%u%c", (unsigned long long)shape->n_sets,
		(unsigned)shape->n_ways, (unsigned)shape->line_bytes, end);
}

/* Writes which caches and predictor the events are of. */
static void write_simulated(void)
{
	const EventCounterOptions *events = &options.events;
	char text[COUNT_RECORD_MAX_BYTES / 256];
	size_t n = 0;

	n += (size_t)append_shape(text + n, sizeof(text) - n, &events->first_instructions, '+');
	n += (size_t)append_shape(text + n, sizeof(text) - n, &events->first_data, '+');
	n += (size_t)append_shape(text + n, sizeof(text) - n, &events->last, '+');
	n += (size_t)append_shape(text + n, sizeof(text) - n, &events->second, '+');
	n += (size_t)append_shape(text + n, sizeof(text) - n, &events->pages, '+');
	n += (size_t)append_shape(text + n, sizeof(text) - n, &events->second_pages, '\0');
	n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
		     lode_branch_model_to_text(events->branches)) +
	     1;
	pthread_mutex_lock(&lock);
	count_file_log(COUNT_RECORD_SIMULATED, text, n, NULL, 0);
	pthread_mutex_unlock(&lock);
}

/* Other code can only lie at an address after some has become executable there. */
static void send_event(TraceEventKind kind, const TraceEvent *event, bool is_awaited)
{
	static const CountRecordKind texts[TRACE_N_EVENTS] = {
		[TRACE_EVENT_NAME] = COUNT_RECORD_NAME,
		[TRACE_EVENT_EXEC] = COUNT_RECORD_EXEC,
		[TRACE_EVENT_NO_EXEC] = COUNT_RECORD_NO_EXEC,
		[TRACE_EVENT_FORK] = COUNT_RECORD_FORK,
	};
	CountMapping mapping = {.event = kind};
	const char *text = event != NULL ? event->path : "";

	(void)is_awaited;
	pthread_mutex_lock(&lock);
	if (event != NULL) {
		mapping.start = event->start;
		mapping.size = event->size;
		mapping.offset = event->offset;
		mapping.protection = event->protection;
		mapping.kind = event->kind;
	}
	if (texts[kind] != 0) {
		count_file_log(texts[kind], text, strlen(text) + 1, NULL, 0);
	} else {
		count_file_log(
			COUNT_RECORD_MAPPING, &mapping, sizeof(mapping), text, strlen(text) + 1);
		epoch += (mapping.protection & PROT_EXEC) != 0;
	}
	pthread_mutex_unlock(&lock);
}

static const GuestMappingsListener listener = {.send_event = send_event};

static void start(void)
{
	write_program();
	if (options.has_events)
		write_simulated();
	alone = current_counter();
	is_alone = alone != &nobody;
	guest_mappings_start(&listener, start_base);
}

/* The block is the last one in the log. */
static void add_event_block(struct qemu_plugin_tb *piece, uint32_t block)
{
	CountFixedEvent fixed[COUNT_BLOCK_MAX_INSTRUCTIONS + 1];
	EventBlock *self = &event_blocks[block];
	const uint8_t *record = blocks[block].record;

	event_block_init(
		self, piece, block, blocks[block].first_instruction, record + sizeof(CountBlock));
	size_t n = event_block_fixed(self, piece, fixed);
	if (n > 0)
		count_file_log(COUNT_RECORD_EVENTS, fixed, n * sizeof(fixed[0]), NULL, 0);
}

/* Whether a block's callers need not ask for room: one thread, and there is. */
static bool has_room_alone(uint32_t block)
{
	Counter *self = alone;

	if (!is_alone || (block >= self->n_usable && !make_usable(self, block)))
		return false;
	return event_blocks == NULL || event_blocks[block].end_instruction <= self->n_rows ||
	       make_rows(self, event_blocks[block].end_instruction);
}

static void add_block_call(struct qemu_plugin_tb *piece, uint32_t block)
{
	bool has_room = has_room_alone(block);

	wide_registers_add_calls(piece);

	if (event_blocks != NULL) {
		qemu_plugin_register_vcpu_tb_exec_cb(piece,
			has_room ? on_block_with_events_alone : on_block_with_events,
			QEMU_PLUGIN_CB_NO_REGS, &event_blocks[block]);
		event_block_add_calls(&event_blocks[block], piece);
	} else {
		qemu_plugin_register_vcpu_tb_exec_cb(piece, has_room ? on_block_alone : on_block,
			QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)block);
	}
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *piece)
{
	BlockRecord record;

	(void)id;
	if (qemu_plugin_tb_n_insns(piece) == 0)
		return;
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(piece, 0);
	start_base = (uintptr_t)qemu_plugin_insn_haddr(first) - qemu_plugin_insn_vaddr(first);
	pthread_once(&start_once, start);
	size_t size = read_block(piece, &record);
	pthread_mutex_lock(&lock);
	uint32_t block = find_block(&record, size);
	if (block == 0 && (block = add_block(&record, size)) != 0 && event_blocks != NULL)
		add_event_block(piece, block);
	pthread_mutex_unlock(&lock);
	if (block == 0) {
		count_lost_block();
		return;
	}
	add_block_call(piece, block);
}

/* ---- system calls ---- */

/* The signal decides whether a handler is one of a fault; one function may be both. */
static uint8_t kind_of(uint64_t signal)
{
	bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	                signal == SIGILL || signal == SIGTRAP;

	return is_fault ? IS_HANDLER | IS_FAULT_HANDLER : IS_HANDLER;
}

/* struct sigaction as the kernel has it begins with the handler's address. */
static void note_handler(const uint64_t *arguments)
{
	uint64_t address = 0;
	unsigned i = 0;

	if (arguments[1] == 0 ||
		guest_mappings_read(arguments[1], &address, sizeof(address)) != sizeof(address) ||
		address <= 1)
		return;
	pthread_mutex_lock(&lock);
	while (i < n_handlers && handlers[i].address != address)
		i++;
	if (i < MAX_HANDLERS) {
		handlers[i].address = address;
		handlers[i].kind |= kind_of(arguments[0]);
		n_handlers += i == n_handlers;
		for (uint32_t j = *slot_of(address); j != 0; j = blocks[j].next)
			if (blocks[j].address == address)
				block_kinds[j] = handlers[i].kind;
	}
	pthread_mutex_unlock(&lock);
}

static void return_from_handler(Counter *self)
{
	if (self == &nobody || self->n_interruptions == 0)
		return;
	self->resumed = self->interruptions[--self->n_interruptions];
	self->is_resuming = true;
	take_detour(self, last_block(self));
}

/* QEMU's vfork is a fork. */
static bool makes_thread(int64_t number, const uint64_t *arguments)
{
	return number == SYS_clone3 ||
	       (number == SYS_clone && (arguments[0] & (CLONE_VM | CLONE_VFORK)) == CLONE_VM);
}

static void on_system_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
	uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};
	Counter *self = current_counter();

	(void)id;
	(void)vcpu;
	(void)a7;
	(void)a8;
	memcpy(self->arguments, arguments, sizeof(arguments));
	follow_before_call(number, arguments, start_base);
	guest_mappings_before_call(number, arguments);
	if (makes_thread(number, arguments)) {
		event_counter_expect_threads();
		is_alone = false;
	}
	if (number == SYS_rt_sigaction)
		note_handler(arguments);
}

static void on_system_call_end(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	enum { RESTART = -512 }; /* a signal came: the call is made again when it is handled */
	Counter *self = current_counter();

	(void)id;
	(void)vcpu;
	follow_after_call(number, self->arguments, result, start_base);
	guest_mappings_after_call(number, self->arguments, result);
	if (number == SYS_rt_sigreturn && result != RESTART)
		return_from_handler(self);
}

/* ---- processes ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* Only the thread that forked is there; all that others count in is idle. */
static void after_fork_in_child(void)
{
	Counter *self = current;

	pthread_mutex_init(&lock, NULL);
	count_file_fork(options.is_followed);
	write_size();
	n_idle = 0;
	for (unsigned i = 0; i < n_counters; i++) {
		counters[i]->n_targets = 0;
		if (counters[i]->table != NULL)
			memset(counters[i]->table, 0, sizeof(uint32_t) << counters[i]->table_bits);
		if (counters[i] != self)
			idle[n_idle++] = counters[i];
	}
	if (self != NULL)
		take_detour(self, OUTSIDE);
}

static void *reserve(size_t n_bytes)
{
	void *place = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return place != MAP_FAILED ? place : NULL;
}

static bool begin_events(void)
{
	CountHeader *header = count_file_header();

	event_blocks = reserve(COUNT_FILE_MAX_BLOCKS * sizeof(*event_blocks));
	if (event_blocks == NULL || !event_counter_init(&options.events))
		return false;
	for (unsigned i = 0; i < N_EVENTS; i++)
		snprintf(header->event_names[i], sizeof(header->event_names[i]), "%s%s",
			event_counter_has(&options.events, (EventColumn)i) ? "" : COUNT_NO_EVENT,
			event_counter_names[i]);
	header->n_events = N_EVENTS;
	return true;
}

bool counter_install(qemu_plugin_id_t id, const CounterOptions *wanted)
{
	options = *wanted;
	blocks = reserve(COUNT_FILE_MAX_BLOCKS * sizeof(*blocks));
	block_kinds = reserve(COUNT_FILE_MAX_BLOCKS);
	block_table = reserve(sizeof(*block_table) << BLOCK_TABLE_BITS);
	if (blocks == NULL || block_kinds == NULL || block_table == NULL ||
		!count_file_create(options.folder) || (options.has_events && !begin_events()) ||
		pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0)
		return false;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call_end);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread_end);
	return true;
}
