/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/waits/sampled_waits.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/name_table.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "base/bits.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/sampled_threads.h"
#include "ingest/sampled/starts/process_starts.h"
#include "ingest/sampled/waits/busy_processors.h"
#include "ingest/sampled/waits/process_commands.h"
#include "ingest/sampled/waits/run_time_threads.h"

#include "ingest/waits/wait_names.h"
#include "ingest/waits/wait_reason.h"
#include "ingest/waits/wait_words.h"
#include "model/lines/own_lines.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "sources/code/system_calls.h"

#include <asm/perf_regs.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 1 << 18, MAX_PLACES = 1 << 20, MAX_TIMED = 1 << 22, MAX_INTERVALS = 1 << 22 };

/* A sample of the timer that is no further from a look says where the holder of a lock was. */
#define NEAR_NS UINT64_C(10000000)

/* The samples of a holder in one wait that are asked. */
enum { MOST_ASKED = 64 };

/* A wait as long as its timeout, but for so much, was over by it. */
#define EARLY_NS 100000.0

/* Of a thread's waiting: where it waits for work, it does so mostly. */
#define MOSTLY 0.5

/* Of a row's waiting: where so much is known exactly, it is. */
#define NEARLY_ALL 0.9

/* Why a row may be of a thread that waits for work. */
typedef enum {
	IDLE_NOT,
	IDLE_ALWAYS,      /* for connections, or a person */
	IDLE_MOSTLY,      /* if the thread waits there mostly */
	IDLE_IF_ACCEPTED, /* likewise, and only if the connection was accepted */
} Idleness;

typedef struct {
	uint32_t thread;       /* of LodeThreads */
	uint32_t where;        /* of the stacks */
	uint32_t object, call; /* names; LODE_NONE */
	LodeWaitReason reason;
	Idleness idleness;
	uint16_t port; /* the socket's own; 0: none */
	double waiting_ns, count, longest_ns, looks;
	double exact_ns; /* of the waiting: the kernel told of each wait */
} Row;

/* Where the holder of a row's lock was. */
typedef struct {
	uint32_t row, where;
	uint32_t call; /* a name; LODE_NONE: it ran */
	double weight;
} HolderPlace;

/* A look at a lock whose holder ran. */
typedef struct {
	uint64_t begin_ns, end_ns, time_ns;
	uint32_t row, thread;
	double weight;
} RunningHolder;

/* Of each look: what its wait was. */
typedef struct {
	uint32_t row, object, other;
	LodeWaitReason reason;
	bool is_timed_out;
} KnownLook;

struct LodeSampledWaits {
	LodePlaces *places;
	LodeThreads *threads;
	LodeSampledStacks *stacks;
	LodeWaitNames *of_objects;
	LodeSampledThreads *switches; /* of the recording at hand; NULL: it has no looks */
	bool has_begun;
	uint32_t recording;
	LodeIdCache where_ids; /* process, thread, stack pointer, address, argument → where */
	LodeIdCache row_ids, holder_ids;
	LodeIdCache last_ids;    /* thread, where → row */
	GArray *rows;            /* Row */
	GArray *holders;         /* HolderPlace */
	GArray *running_holders; /* RunningHolder, of the recording at hand */
	GArray *known;           /* KnownLook, of the looks of the recording at hand */
	LodeWaitTimes times;
	guint first_timed; /* of the recording at hand */
	LodeIdCache object_ids;
	LodeNameTable names;                           /* objects and calls */
	GHashTable *listening;                         /* set of ports */
	GArray *chain;                                 /* LodePlace, of the look at hand */
	uint32_t holder_pid, holder_tid, holder_where; /* of the last look at a holder */
	double ready_ns; /* of the recording at hand, that its samples stand for */
	double clock_ns, running_ns, waiting_ns, unseen_ns, refused_ns;
};

LodeSampledWaits *lode_sampled_waits_new(
	LodePlaces *places, LodeThreads *threads, LodeSampledStacks *stacks)
{
	LodeSampledWaits *self = g_new0(LodeSampledWaits, 1);

	self->places = places;
	self->threads = threads;
	self->stacks = stacks;
	lode_id_cache_init(&self->where_ids);
	lode_id_cache_init(&self->row_ids);
	lode_id_cache_init(&self->holder_ids);
	lode_id_cache_init(&self->last_ids);
	lode_name_table_init(&self->names);
	self->rows = g_array_new(FALSE, TRUE, sizeof(Row));
	self->holders = g_array_new(FALSE, TRUE, sizeof(HolderPlace));
	self->running_holders = g_array_new(FALSE, TRUE, sizeof(RunningHolder));
	self->known = g_array_new(FALSE, TRUE, sizeof(KnownLook));
	self->times.timed = g_array_new(FALSE, TRUE, sizeof(LodeWaitTimed));
	self->times.threads = g_array_new(FALSE, TRUE, sizeof(LodeWaitThread));
	self->times.intervals = g_array_new(FALSE, TRUE, sizeof(LodeWaitInterval));
	self->times.commands = lode_process_commands_new();
	lode_id_cache_init(&self->object_ids);
	self->chain = g_array_new(FALSE, FALSE, sizeof(LodePlace));
	self->listening = g_hash_table_new(NULL, NULL);
	return self;
}

void lode_sampled_waits_free(LodeSampledWaits *self)
{
	if (self == NULL)
		return;
	lode_wait_names_free(self->of_objects);
	lode_id_cache_clear(&self->where_ids);
	lode_id_cache_clear(&self->row_ids);
	lode_id_cache_clear(&self->holder_ids);
	lode_id_cache_clear(&self->last_ids);
	lode_name_table_clear(&self->names);
	g_array_unref(self->rows);
	g_array_unref(self->holders);
	g_array_unref(self->running_holders);
	g_array_unref(self->known);
	g_array_unref(self->times.timed);
	g_array_unref(self->times.threads);
	g_array_unref(self->times.intervals);
	lode_process_commands_free(self->times.commands);
	lode_id_cache_clear(&self->object_ids);
	g_array_unref(self->chain);
	g_hash_table_unref(self->listening);
	g_free(self);
}

void lode_sampled_waits_begin(
	LodeSampledWaits *self, LodeSampledThreads *threads, uint32_t n_processors)
{
	self->times.n_processors = n_processors;
	if (self->of_objects == NULL)
		self->of_objects = lode_wait_names_new(self->places);
	self->recording += self->has_begun;
	self->has_begun = true;
	self->switches = threads;
	self->ready_ns = 0;
	lode_id_cache_clear(&self->where_ids);
	lode_id_cache_init(&self->where_ids);
	g_array_set_size(self->running_holders, 0);
	self->first_timed = self->times.timed->len;
	const KnownLook unknown = {LODE_NONE, LODE_NONE, LODE_NONE, LODE_WAIT_UNSEEN, false};
	g_array_set_size(self->known, 0);
	for (guint i = lode_sampled_threads_waits(threads)->looks->len; i > 0; i--)
		g_array_append_val(self->known, unknown);
}

/* --- places --- */

static uint64_t stack_pointer(const LodeSampledAccess *sample)
{
	const uint64_t *registers = sample->record->sample.user_registers;
	uint64_t mask = sample->event->user_registers, bit = LODE_BIT(PERF_REG_X86_SP);

	return registers != NULL && (mask & bit) != 0
	               ? registers[__builtin_popcountll(mask & (bit - 1))]
	               : 0;
}

/* Later looks at a place have no stack: they have the callers of the first. */
static uint32_t find_place(LodeSampledWaits *self, const LodeSampledAccess *sample,
	const LodeWaitLook *look, uint32_t row)
{
	const LodePerfRecord *record = sample->record;
	const LodeIdKey key = {{(uint64_t)record->pid << 32 | record->tid, stack_pointer(sample),
		record->sample.ip, look->arguments[0]}};
	const LodeIdKey of_switch = {{look->place, 0, 0, 0}};
	bool is_new = true;
	LodeIdSlot *slot = NULL;

	/* Those of switches are told apart by their callers, but for what was beyond a limit. */
	if (look->place != 0)
		slot = lode_id_cache_find_limited(&self->where_ids, &of_switch,
			record->sample.stack_size > 0 ? MAX_PLACES : 0, &is_new);
	if (slot == NULL)
		slot = lode_id_cache_find_limited(&self->where_ids, &key, MAX_PLACES, &is_new);
	if (slot == NULL)
		return lode_sampled_stacks_find(self->stacks, sample, row);
	if (is_new || record->sample.stack_size > 0)
		slot->id = lode_sampled_stacks_find(self->stacks, sample, row);
	return slot->id;
}

/* --- rows --- */

static uint32_t name_number(LodeSampledWaits *self, const char *name)
{
	return name != NULL ? lode_name_table_add(&self->names, name) : LODE_NONE;
}

static Row *find_row(LodeSampledWaits *self, const Row *like)
{
	const LodeIdKey key = {{(uint64_t)like->thread << 32 | like->where,
		(uint64_t)like->object << 32 | like->call,
		(uint64_t)like->reason << 32 | (uint64_t)like->idleness << 16 | like->port, 0}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(&self->row_ids, &key, MAX_ROWS, &is_new);

	if (slot == NULL) {
		/* Too many: by thread and reason alone. */
		Row plain = {.thread = like->thread,
			.where = LODE_NONE,
			.object = LODE_NONE,
			.call = LODE_NONE,
			.reason = like->reason};
		const LodeIdKey of_plain = {{(uint64_t)plain.thread << 32 | plain.where, UINT64_MAX,
			(uint64_t)plain.reason << 32, 0}};
		slot = lode_id_cache_find(&self->row_ids, &of_plain, &is_new);
		like = &plain;
		if (is_new) {
			slot->id = self->rows->len;
			g_array_append_val(self->rows, plain);
		}
		return &LODE_AT(self->rows, Row, slot->id);
	}
	if (is_new) {
		slot->id = self->rows->len;
		g_array_append_vals(self->rows, like, 1);
	}
	return &LODE_AT(self->rows, Row, slot->id);
}

static uint32_t row_number(const LodeSampledWaits *self, const Row *row)
{
	return (uint32_t)(row - (const Row *)(const void *)self->rows->data);
}

/* NULL: it is in none. */
static const LodeThreadGap *gap_of(const LodeSampledWaits *self, const LodeThreadLook *known)
{
	const GArray *gaps = lode_sampled_threads_waits(self->switches)->gaps;

	return known->gap < gaps->len ? &LODE_AT(gaps, LodeThreadGap, known->gap) : NULL;
}

static double longest_of(const LodeSampledWaits *self, const LodeThreadLook *known)
{
	const LodeThreadGap *gap = gap_of(self, known);

	if (gap == NULL)
		return 0;
	return gap->kind == LODE_GAP_WAIT ? (double)(gap->end_ns - gap->begin_ns)
	                                  : known->waiting_ns;
}

/* For how long the thread wanted to wait, from the beginning; 0: not known. */
static uint64_t timeout_of(
	const LodeSampledWaits *self, const LodeWaitLook *look, const LodeThreadLook *known)
{
	const LodeThreadGap *gap = gap_of(self, known);

	if ((look->flags & LODE_LOOK_TIME_IS_LEFT) == 0 || look->timeout_ns == 0)
		return look->timeout_ns;
	return gap != NULL ? look->timeout_ns + MAX(known->time_ns, gap->begin_ns) - gap->begin_ns
	                   : 0;
}

/* The ports of "tcp ADDRESS:PORT listening from :PORT". */
static uint16_t read_port(const char *target, bool *out_listens)
{
	const char *from = g_str_has_prefix(target, "tcp") ? strstr(target, " from :") : NULL;
	unsigned port = 0;

	*out_listens = strstr(target, " listening") != NULL;
	return from != NULL && sscanf(from, " from :%5u", &port) == 1 ? (uint16_t)port : 0;
}

static bool is_from_person(const char *target)
{
	static const char *const targets[] = {"/dev/tty", "/dev/pts/", "/dev/console",
		"anon_inode:inotify", "anon_inode:[inotify]", "anon_inode:[signalfd]",
		"anon_inode:[timerfd]"};

	for (size_t i = 0; i < G_N_ELEMENTS(targets); i++)
		if (g_str_has_prefix(target, targets[i]))
			return true;
	return false;
}

static Idleness idleness_of(
	LodeSampledWaits *self, const LodeWaitLook *look, const char *call, uint16_t *out_port)
{
	bool listens;

	*out_port = read_port(look->target, &listens);
	if (listens && *out_port != 0)
		g_hash_table_add(self->listening, GUINT_TO_POINTER(*out_port));
	if (listens || (call != NULL && g_str_has_prefix(call, "accept")))
		return IDLE_ALWAYS;
	if (is_from_person(look->target) || g_str_has_suffix(look->target, " accepted") ||
		(call != NULL && g_str_has_prefix(call, "epoll_") && look->timeout_ns == 0 &&
			*out_port == 0))
		return IDLE_MOSTLY;
	return *out_port != 0 ? IDLE_IF_ACCEPTED : IDLE_NOT;
}

/* The row of the thread's last look at a place; LODE_NONE in it: there was none. NULL: there are
 * too many. */
static uint32_t *last_row_at(LodeSampledWaits *self, const Row *like)
{
	const LodeIdKey key = {{(uint64_t)like->thread << 32 | like->where, 0, 0}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(&self->last_ids, &key, MAX_PLACES, &is_new);

	if (slot != NULL && is_new)
		slot->id = LODE_NONE;
	return slot != NULL ? &slot->id : NULL;
}

static bool is_timed_out(const LodeWaitLook *look, double length_ns)
{
	return look->timeout_ns > 0 && length_ns + EARLY_NS >= (double)look->timeout_ns;
}

/* --- holders --- */

static void add_holder(
	LodeSampledWaits *self, uint32_t row, uint32_t where, uint32_t call, double weight)
{
	const LodeIdKey key = {{(uint64_t)row << 32 | where, call, 0, 0}};
	const HolderPlace added = {row, where, call, 0};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(&self->holder_ids, &key, MAX_PLACES, &is_new);

	if (slot == NULL)
		return;
	if (is_new) {
		slot->id = self->holders->len;
		g_array_append_val(self->holders, added);
	}
	LODE_AT(self->holders, HolderPlace, slot->id).weight += weight;
}

static void note_holder(LodeSampledWaits *self, const LodeSampledAccess *sample,
	const LodeWaitLook *look, const LodeThreadLook *known, uint32_t row)
{
	const LodePerfRecord *record = sample->record;
	const LodeThreadGap *gap = gap_of(self, known);

	if (look->holder == 0)
		return;
	if (look->holder_call != LODE_LOOK_RUNS) {
		const char *call = look->holder_call >= 0
		                           ? lode_system_call_name((uint64_t)look->holder_call)
		                           : NULL;
		bool is_last = self->holder_pid == record->pid && self->holder_tid == look->holder;
		add_holder(self, row, is_last ? self->holder_where : LODE_NONE,
			name_number(self, call != NULL ? call : "page fault"), known->waiting_ns);
		return;
	}
	RunningHolder holder = {sample->time_ns, sample->time_ns, sample->time_ns, row,
		lode_threads_find(self->threads, record->pid, look->holder, sample->time_ns),
		known->waiting_ns};
	if (gap != NULL) {
		holder.begin_ns = gap->begin_ns;
		holder.end_ns = gap->end_ns;
	}
	g_array_append_val(self->running_holders, holder);
}

LODE_ORDER(compare_timed, LodeWaitTimed, LODE_ASCENDING(recording), LODE_ASCENDING(thread),
	LODE_ASCENDING(time_ns))

/* Holders of locks were where the timer found them during the wait. */
static void place_running_holders(LodeSampledWaits *self)
{
	const LodeWaitTimed *timed;

	g_array_sort(self->times.timed, compare_timed);
	timed = (const LodeWaitTimed *)(const void *)self->times.timed->data + self->first_timed;
	guint n_timed = self->times.timed->len - self->first_timed;
	for (guint i = 0; i < self->running_holders->len; i++) {
		const RunningHolder *holder = &LODE_AT(self->running_holders, RunningHolder, i);
		guint first = LODE_PARTITION_POINT(n_timed, k,
			timed[k].thread < holder->thread ||
				(timed[k].thread == holder->thread &&
					timed[k].time_ns < holder->begin_ns));
		guint end = LODE_PARTITION_POINT(n_timed, k,
			timed[k].thread < holder->thread ||
				(timed[k].thread == holder->thread &&
					timed[k].time_ns < holder->end_ns));
		if (first == end) {
			/* The next one that is near, or the last. */
			bool has_next = end < n_timed && timed[end].thread == holder->thread &&
			                timed[end].time_ns - holder->end_ns <= NEAR_NS;
			bool has_last = first > 0 && timed[first - 1].thread == holder->thread &&
			                holder->begin_ns - timed[first - 1].time_ns <= NEAR_NS;
			if (!has_next && !has_last) {
				add_holder(self, holder->row, LODE_NONE, LODE_NONE, holder->weight);
				continue;
			}
			first -= !has_next;
			end = first + 1;
		}
		guint step = (end - first + MOST_ASKED - 1) / MOST_ASKED;
		guint n = (end - first + step - 1) / step;
		for (guint k = first; k < end; k += step)
			add_holder(
				self, holder->row, timed[k].where, LODE_NONE, holder->weight / n);
	}
}

/* --- what threads did --- */

/* Waits are for the same thing that are at one futex or one end of a pipe or a connection of a
 * process, which have no names of their own, or for the same name. */
static uint32_t object_number(LodeSampledWaits *self, uint32_t pid, const LodeWaitLook *look,
	uint32_t name, LodeWaitReason reason)
{
	const char *call = look->call >= 0 && (look->flags & LODE_LOOK_ON_32_BITS) == 0
	                           ? lode_system_call_name((uint64_t)look->call)
	                           : NULL;
	const LodeWaitCall *known = lode_wait_call_find(call);
	bool is_futex = g_strcmp0(call, "futex") == 0;
	bool is_end = (reason == LODE_WAIT_PIPE || reason == LODE_WAIT_SOCKET) && known != NULL &&
	              known->kind == LODE_WAIT_CALL_DESCRIPTOR;
	const LodeIdKey key = {{is_futex || is_end ? look->arguments[0] : name, pid,
		is_futex ? 1
		: is_end ? 2
			 : 0,
		0}};
	bool is_new;

	if (!is_futex && !is_end && name == LODE_NONE)
		return LODE_NONE;
	LodeIdSlot *slot = lode_id_cache_find_limited(&self->object_ids, &key, MAX_PLACES, &is_new);
	if (slot == NULL)
		return LODE_NONE;
	if (is_new)
		slot->id = self->times.n_objects++;
	return slot->id;
}

/* The thread that is joined, or has the lock; the child's first one. */
static uint32_t other_of(const LodeSampledWaits *self, const LodeSampledAccess *sample,
	const LodeWaitLook *look, LodeWaitReason reason)
{
	uint32_t pid = sample->record->pid, tid = look->holder;

	if (reason == LODE_WAIT_JOIN)
		tid = (uint32_t)look->arguments[2];
	if ((look->flags & LODE_LOOK_HAS_PROCESS) != 0)
		pid = tid = look->words[0];
	else if (reason == LODE_WAIT_CHILD)
		pid = tid = (int32_t)look->arguments[0] > 0 ? (uint32_t)look->arguments[0] : 0;
	return tid != 0 ? lode_threads_look_up(self->threads, pid, tid, sample->time_ns)
	                : LODE_NONE;
}

static void add_interval(LodeSampledWaits *self, const LodeWaitInterval *interval)
{
	if (self->times.intervals->len < MAX_INTERVALS)
		g_array_append_vals(self->times.intervals, interval, 1);
	else
		self->times.is_full = true;
}

static LodeWaitInterval interval_of(const LodeSampledWaits *self, const LodeThreadGap *gap)
{
	LodeWaitInterval interval = {
		.begin_ns = gap->begin_ns,
		.end_ns = gap->end_ns,
		.row = LODE_NONE,
		.object = LODE_NONE,
		.other = LODE_NONE,
		.kind = gap->kind == LODE_GAP_READY ? LODE_WAIT_PROCESSOR : LODE_WAIT_UNSEEN,
		.is_looked_at = gap->is_looked_at || gap->kind == LODE_GAP_READY,
		.end = gap->end,
	};

	if (gap->kind != LODE_GAP_READY && gap->look < self->known->len) {
		const KnownLook *known = &LODE_AT(self->known, KnownLook, gap->look);
		interval.row = known->row;
		interval.object = known->object;
		interval.other = known->other;
		interval.kind = (uint8_t)known->reason;
		interval.is_timed_out = known->is_timed_out;
	}
	if (gap->end == LODE_GAP_END_BY_THREAD)
		interval.other = lode_threads_look_up(
			self->threads, gap->waker_pid, gap->waker_tid, gap->end_ns);
	return interval;
}

/* Its slices and its gaps, in the order of time. */
static void add_intervals(LodeSampledWaits *self, const LodeThreadLife *life, uint32_t thread)
{
	const GArray *gaps = lode_sampled_threads_waits(self->switches)->gaps;
	g_autoptr(GArray) slices = g_array_new(FALSE, FALSE, sizeof(LodeRunningSlice));
	LodeWaitThread added = {life->begin_ns, life->end_ns, thread, self->times.intervals->len, 0,
		self->recording};

	lode_sampled_threads_append_slices(self->switches, life, slices);
	for (guint slice = 0, gap = 0; slice < slices->len || gap < life->n_gaps;) {
		const LodeRunningSlice *ran = &LODE_AT(slices, LodeRunningSlice, slice);
		const LodeThreadGap *waited = &LODE_AT(gaps, LodeThreadGap, life->first_gap + gap);
		bool is_slice = gap >= life->n_gaps ||
		                (slice < slices->len && ran->begin_ns < waited->begin_ns);
		const LodeWaitInterval interval =
			is_slice ? (LodeWaitInterval){.begin_ns = ran->begin_ns,
					   .end_ns = ran->end_ns,
					   .row = LODE_NONE,
					   .object = LODE_NONE,
					   .other = LODE_NONE,
					   .kind = LODE_N_WAIT_REASONS,
					   .is_looked_at = true}
				 : interval_of(self, waited);
		*(is_slice ? &slice : &gap) += 1;
		add_interval(self, &interval);
	}
	added.n = self->times.intervals->len - added.first;
	g_array_append_val(self->times.threads, added);
}

const LodeWaitTimes *lode_sampled_waits_times(const LodeSampledWaits *self)
{
	return &self->times;
}

/* --- reading --- */

uint32_t lode_sampled_waits_add(LodeSampledWaits *self, const LodeSampledAccess *sample,
	const LodeWaitLook *read, const LodeThreadLook *known, uint32_t row)
{
	const LodePerfRecord *record = sample->record;
	uint32_t where = find_place(self, sample, read, row);
	g_autofree char *object = NULL, *call = NULL;

	if ((read->flags & LODE_LOOK_OF_HOLDER) != 0) {
		self->holder_pid = record->pid;
		self->holder_tid = record->tid;
		self->holder_where = where;
		return where;
	}
	if (known == NULL || known->waiting_ns <= 0)
		return where;
	double longest_ns = longest_of(self, known);
	LodeWaitLook look = *read;
	look.timeout_ns = timeout_of(self, read, known);
	g_array_set_size(self->chain, 0);
	lode_sampled_stacks_find_callers(self->stacks, where, self->chain);
	const LodeWaitQuestion question = {
		.look = &look,
		.record = record,
		.time_ns = sample->time_ns,
		.chain = self->chain,
		.places = self->places,
		.threads = self->threads,
		.names = self->of_objects,
		.is_timed_out = is_timed_out(&look, longest_ns),
	};
	/* Reasons are told by the functions of the interpreter. */
	if (sample->script != NULL)
		where = lode_sampled_stacks_find_script(self->stacks, sample, where);
	Row like = {
		.thread = lode_threads_find(
			self->threads, record->pid, record->tid, sample->time_ns),
		.where = where,
		.reason = lode_wait_reason_find(&question, &object, &call),
	};
	like.object = name_number(self, object);
	like.call = name_number(self, call);
	/* A call that a stop interrupted goes on as one that does not say what it waits for. */
	uint32_t *last = last_row_at(self, &like);
	if (last != NULL && *last != LODE_NONE && like.reason == LODE_WAIT_OTHER &&
		g_strcmp0(call, "restart_syscall") == 0) {
		const Row *before = &LODE_AT(self->rows, Row, *last);
		like.reason = before->reason;
		like.object = before->object;
		like.call = before->call;
	}
	like.idleness = idleness_of(self, &look, call, &like.port);
	Row *found = find_row(self, &like);
	if (last != NULL)
		*last = row_number(self, found);
	self->unseen_ns += like.reason == LODE_WAIT_UNSEEN ? known->waiting_ns : 0;
	self->refused_ns += (look.flags & LODE_LOOK_WAS_REFUSED) != 0 ? known->waiting_ns : 0;
	found->waiting_ns += known->waiting_ns;
	found->count += known->count;
	found->looks++;
	const LodeThreadGap *gap = gap_of(self, known);
	found->exact_ns += gap != NULL && gap->is_exact ? known->waiting_ns : 0;
	found->longest_ns = MAX(found->longest_ns, longest_ns);
	note_holder(self, sample, &look, known, row_number(self, found));
	const LodeThreadWaits *all = lode_sampled_threads_waits(self->switches);
	LODE_AT(self->known, KnownLook,
		(guint)(known - (const LodeThreadLook *)(const void *)all->looks->data)) =
		(KnownLook){row_number(self, found),
			object_number(self, record->pid, &look, like.object, like.reason),
			other_of(self, sample, &look, like.reason), like.reason,
			question.is_timed_out};
	return where;
}

static void add_ready(LodeSampledWaits *self, uint32_t thread, uint32_t where, double ready_ns)
{
	const Row like = {.thread = thread,
		.where = where,
		.object = LODE_NONE,
		.call = LODE_NONE,
		.reason = LODE_WAIT_PROCESSOR};

	find_row(self, &like)->waiting_ns += ready_ns;
}

void lode_sampled_waits_add_timed(
	LodeSampledWaits *self, const LodeSampledAccess *sample, double ready_ns)
{
	const LodePerfRecord *record = sample->record;
	const LodeWaitTimed timed = {sample->time_ns,
		lode_threads_find(self->threads, record->pid, record->tid, sample->time_ns),
		lode_sampled_stacks_last(self->stacks), self->recording};

	if (self->times.timed->len < MAX_TIMED)
		g_array_append_val(self->times.timed, timed);
	if (ready_ns <= 0)
		return;
	self->ready_ns += ready_ns;
	add_ready(self, timed.thread, timed.where, ready_ns);
}

static double end_life(LodeSampledWaits *self, const LodeThreadLife *life)
{
	uint32_t thread = lode_threads_find(
		self->threads, life->pid, life->tid, MAX(life->end_ns, 1) - 1);
	const Row unseen = {.thread = thread,
		.where = LODE_NONE,
		.object = LODE_NONE,
		.call = LODE_NONE,
		.reason = LODE_WAIT_UNSEEN};

	const char *name = LODE_AT(self->threads->threads, LodeThread, thread).name;

	self->running_ns += life->running_ns;
	/* Who waits for what it does is in io_uring_enter. */
	if (name != NULL && lode_wait_is_of_kernel(name))
		return 0;
	if (life->unseen_ns > 0) {
		Row *row = find_row(self, &unseen);
		row->waiting_ns += life->unseen_ns;
		row->count += life->unseen_count;
		row->longest_ns = MAX(row->longest_ns, life->unseen_longest_ns);
	}
	add_intervals(self, life, thread);
	self->waiting_ns += life->waiting_ns + life->ready_ns;
	self->unseen_ns += life->unseen_ns;
	return life->unseen_ns;
}

/* Numbers and lengths of waits for a processor are those of the thread, in proportion. */
static double end_ready(LodeSampledWaits *self)
{
	const LodeThreadWaits *waits = lode_sampled_threads_waits(self->switches);
	g_autofree LodeThreadLife *of_thread = g_new0(LodeThreadLife, self->threads->threads->len);
	double rest_ns = 0;

	for (guint i = 0; i < waits->lives->len; i++) {
		const LodeThreadLife *life = &LODE_AT(waits->lives, LodeThreadLife, i);
		uint32_t thread = lode_threads_look_up(
			self->threads, life->pid, life->tid, MAX(life->end_ns, 1) - 1);
		if (thread == LODE_NONE)
			continue;
		of_thread[thread].ready_ns += life->ready_ns;
		of_thread[thread].ready_count += life->ready_count;
		of_thread[thread].ready_longest_ns = MAX(
			of_thread[thread].ready_longest_ns, life->ready_longest_ns);
		of_thread[thread].pid = life->pid;
	}
	g_autofree double *placed_ns = g_new0(double, self->threads->threads->len);
	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = &LODE_AT(self->rows, Row, i);
		if (row->reason == LODE_WAIT_PROCESSOR && row->count == 0)
			placed_ns[row->thread] += row->waiting_ns;
	}
	for (guint i = 0; i < self->threads->threads->len; i++) {
		double rest = of_thread[i].ready_ns - placed_ns[i];
		if (rest <= 1e-6 * of_thread[i].ready_ns)
			continue;
		rest_ns += rest;
		add_ready(self, i, LODE_NONE, rest);
	}
	for (guint i = 0; i < self->rows->len; i++) {
		Row *row = &LODE_AT(self->rows, Row, i);
		const LodeThreadLife *life = &of_thread[row->thread];
		if (row->reason != LODE_WAIT_PROCESSOR || row->count > 0 || life->ready_ns <= 0)
			continue;
		row->count = life->ready_count * row->waiting_ns / life->ready_ns;
		row->longest_ns = life->ready_longest_ns;
	}
	return rest_ns;
}

double lode_sampled_waits_end(LodeSampledWaits *self)
{
	const LodeThreadWaits *waits = lode_sampled_threads_waits(self->switches);
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
	double unplaced_ns = 0;

	for (guint i = 0; i < waits->lives->len; i++) {
		const LodeThreadLife *life = &LODE_AT(waits->lives, LodeThreadLife, i);
		begin_ns = MIN(begin_ns, life->begin_ns);
		end_ns = MAX(end_ns, life->end_ns);
		unplaced_ns += end_life(self, life);
	}
	for (guint i = 0; i < waits->looks->len; i++)
		self->unseen_ns += LODE_AT(waits->looks, LodeThreadLook, i).guessed_ns;
	if (end_ns > begin_ns)
		self->clock_ns += (double)(end_ns - begin_ns);
	place_running_holders(self);
	unplaced_ns += end_ready(self);
	self->switches = NULL;
	return unplaced_ns;
}

/* --- naming --- */

static const LodeFrame *frame_of(const LodeStacks *stacks, uint32_t stack)
{
	return &LODE_AT(stacks->frames, LodeFrame, LODE_AT(stacks->stacks, LodeStack, stack).frame);
}

/* The innermost frame of the user's; NULL: there is none. */
static const LodeFrame *own_frame(const LodeStacks *stacks, uint32_t stack)
{
	for (; stack != LODE_NONE; stack = LODE_AT(stacks->stacks, LodeStack, stack).outer) {
		const LodeFrame *frame = frame_of(stacks, stack);
		if (lode_is_own_frame(frame))
			return frame;
	}
	return NULL;
}

/* Places of one function are one: by it, and by its line. */
typedef struct {
	const char *function, *file;
	uint32_t line;
} CodeLine;

static CodeLine line_of(const LodeStacks *stacks, uint32_t stack, bool is_own)
{
	if (stacks == NULL || stack == LODE_NONE)
		return (CodeLine){0};
	const LodeFrame *frame = is_own ? own_frame(stacks, stack) : NULL;
	if (frame == NULL)
		frame = frame_of(stacks, stack);
	return (CodeLine){frame->function, frame->file, frame->line};
}

/* --- the holder of each row --- */

typedef struct {
	const HolderPlace *place;
	uint32_t stack;
	const char *function;
} NamedHolder;

static int compare_holders(const void *a, const void *b)
{
	const NamedHolder *left = a, *right = b;

	return LODE_FIRST_DIFFERENCE(LODE_ASCENDING(place->row),
		g_strcmp0(left->function, right->function), LODE_ASCENDING(place->call),
		LODE_DESCENDING(place->weight), LODE_ASCENDING(stack));
}

/* The function and call in which the holder was most, and there the place. */
static void name_holders(LodeSampledWaits *self, LodeProfile *profile, LodeWait *rows)
{
	guint n = self->holders->len;
	g_autofree NamedHolder *named = g_new0(NamedHolder, MAX(n, 1));
	g_autofree double *known = g_new0(double, MAX(self->rows->len, 1));
	g_autofree double *most = g_new0(double, MAX(self->rows->len, 1));

	for (guint i = 0; i < n; i++) {
		const HolderPlace *place = &LODE_AT(self->holders, HolderPlace, i);
		uint32_t stack = lode_sampled_stacks_stack(self->stacks, place->where);
		named[i] = (NamedHolder){
			place, stack, line_of(profile->stacks, stack, true).function};
		known[place->row] += place->weight;
	}
	qsort(named, n, sizeof(NamedHolder), compare_holders);
	for (guint first = 0, end; first < n; first = end) {
		const HolderPlace *place = named[first].place;
		double weight = 0;
		for (end = first; end < n && named[end].place->row == place->row &&
				  named[end].place->call == place->call &&
				  g_strcmp0(named[end].function, named[first].function) == 0;
			end++)
			weight += named[end].place->weight;
		if (weight <= most[place->row])
			continue;
		LodeWait *row = &rows[place->row];
		most[place->row] = weight;
		row->holder_stack = named[first].stack;
		row->holder_share = MIN(weight / known[place->row], 1);
		row->holder_call = place->call != LODE_NONE
		                           ? lode_profile_intern(
						     profile, lode_name_table_name(
								      &self->names, place->call))
		                           : NULL;
	}
}

/* --- waits for a processor --- */

static int compare_ready(const void *a, const void *b, void *data)
{
	const LodeWait *left = a, *right = b;
	const LodeStacks *stacks = data;
	const CodeLine one = line_of(stacks, left->stack, false);
	const CodeLine other = line_of(stacks, right->stack, false);

	return LODE_FIRST_DIFFERENCE(
		(left->reason == LODE_WAIT_PROCESSOR) - (right->reason == LODE_WAIT_PROCESSOR),
		LODE_ASCENDING(pid), LODE_ASCENDING(tid), g_strcmp0(one.function, other.function),
		g_strcmp0(one.file, other.file), (one.line > other.line) - (one.line < other.line),
		LODE_DESCENDING(waiting_ns), LODE_ASCENDING(stack));
}

static bool is_of_line(const LodeStacks *stacks, const LodeWait *one, const LodeWait *other)
{
	const CodeLine a = line_of(stacks, one->stack, false);
	const CodeLine b = line_of(stacks, other->stack, false);

	return one->pid == other->pid && one->tid == other->tid && a.line == b.line &&
	       g_strcmp0(a.function, b.function) == 0 && g_strcmp0(a.file, b.file) == 0;
}

/* Waits for a processor may come at any instruction: those of one line are one row, with the stack
 * that has most. */
static void fold_ready(LodeWaits *waits, const LodeStacks *stacks)
{
	guint kept = 0;

	g_array_sort_with_data(waits->rows, compare_ready, (void *)stacks);
	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait row = LODE_AT(waits->rows, LodeWait, i);
		LodeWait *last = kept > 0 ? &LODE_AT(waits->rows, LodeWait, kept - 1) : NULL;
		if (last == NULL || row.reason != LODE_WAIT_PROCESSOR ||
			last->reason != LODE_WAIT_PROCESSOR || !is_of_line(stacks, last, &row)) {
			LODE_AT(waits->rows, LodeWait, kept++) = row;
			continue;
		}
		last->waiting_ns += row.waiting_ns;
		last->count += row.count;
	}
	g_array_set_size(waits->rows, kept);
}

/* --- all --- */

/* Whether a row is of a thread that waits for work, if that mostly does so. */
static bool may_be_idle(const LodeSampledWaits *self, const Row *row)
{
	return row->idleness == IDLE_MOSTLY ||
	       (row->idleness == IDLE_IF_ACCEPTED &&
		       g_hash_table_contains(self->listening, GUINT_TO_POINTER(row->port)));
}

/* What each thread waits by one call for work, if it mostly does so: by way of several callers,
 * too. The sums are by thread and call; the caller unrefs them. */
static GHashTable *sum_idle(const LodeSampledWaits *self)
{
	GHashTable *sums = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);

	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = &LODE_AT(self->rows, Row, i);
		const uint64_t key = (uint64_t)row->thread << 32 | row->call;
		if (may_be_idle(self, row))
			*lode_sum_at_copy(sums, &key, sizeof(key)) += row->waiting_ns;
	}
	return sums;
}

static bool is_idle(
	const LodeSampledWaits *self, const Row *row, GHashTable *sums, double of_thread)
{
	const uint64_t key = (uint64_t)row->thread << 32 | row->call;

	if (row->idleness == IDLE_ALWAYS)
		return true;
	return may_be_idle(self, row) &&
	       *(const double *)g_hash_table_lookup(sums, &key) >= MOSTLY * of_thread;
}

static char *name_of(const LodeSampledWaits *self, LodeProfile *profile, uint32_t name)
{
	return name != LODE_NONE
	               ? lode_profile_intern(profile, lode_name_table_name(&self->names, name))
	               : NULL;
}

/* One for each row, in their order. */
static void name_rows(LodeSampledWaits *self, LodeProfile *profile, LodeWaits *out)
{
	g_autofree double *of_thread = g_new0(double, self->threads->threads->len);
	g_autoptr(GHashTable) sums = sum_idle(self);

	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = &LODE_AT(self->rows, Row, i);
		of_thread[row->thread] += row->waiting_ns;
	}
	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = &LODE_AT(self->rows, Row, i);
		const LodeThread *thread = &LODE_AT(
			self->threads->threads, LodeThread, row->thread);
		const LodeWait named = {
			.reason = row->reason,
			.call = name_of(self, profile, row->call),
			.object = name_of(self, profile, row->object),
			.thread_name = lode_profile_intern(profile, thread->name),
			.pid = thread->pid,
			.tid = thread->tid,
			.stack = lode_sampled_stacks_stack(self->stacks, row->where),
			.holder_stack = LODE_NONE,
			.cause = i, /* until they are in order */
			.waiting_ns = row->waiting_ns,
			.count = row->count,
			.longest_ns = row->longest_ns,
			.looks = row->exact_ns >= NEARLY_ALL * row->waiting_ns ? 0 : row->looks,
			.is_idle = is_idle(self, row, sums, of_thread[row->thread]),
		};
		g_array_append_val(out->rows, named);
	}
}

LODE_ORDER(compare_waits, LodeWait, LODE_DESCENDING(waiting_ns), LODE_ASCENDING(reason),
	LODE_ASCENDING(pid), LODE_ASCENDING(tid), g_strcmp0(left->object, right->object),
	g_strcmp0(left->call, right->call), LODE_ASCENDING(stack))

/* Gives the intervals their rows' numbers in the profile. Only waits for a processor were folded
 * or divided, which have none. */
static void number_rows(LodeSampledWaits *self, LodeWaits *waits)
{
	g_autofree uint32_t *numbers = g_new(uint32_t, MAX(self->rows->len, 1));

	for (guint i = 0; i < self->rows->len; i++)
		numbers[i] = LODE_NONE;
	for (guint i = 0; i < waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		numbers[row->cause] = i;
		row->cause = LODE_NONE;
	}
	for (guint i = 0; i < self->times.intervals->len; i++) {
		LodeWaitInterval *interval = &LODE_AT(self->times.intervals, LodeWaitInterval, i);
		if (interval->row != LODE_NONE)
			interval->row = numbers[interval->row];
	}
}

LodeWaits *lode_sampled_waits_name(LodeSampledWaits *self, LodeProfile *profile)
{
	if (!self->has_begun)
		return NULL;
	LodeWaits *waits = lode_waits_new();
	name_rows(self, profile, waits);
	name_holders(self, profile, (LodeWait *)(void *)waits->rows->data);
	fold_ready(waits, profile->stacks);
	lode_busy_processors_split(profile, waits, &self->times, self->threads);
	g_array_sort(waits->rows, compare_waits);
	number_rows(self, waits);
	profile->run.n_processors = self->times.n_processors;
	waits->clock_ns = self->clock_ns;
	waits->running_ns = self->running_ns;
	waits->waiting_ns = self->waiting_ns;
	waits->seen_ns = MAX(self->waiting_ns - self->unseen_ns, 0);
	waits->refused_ns = MIN(self->refused_ns, self->waiting_ns);
	g_autofree bool *are_own = lode_run_time_threads_new(self->threads, profile->stacks, waits);
	for (guint i = 0; i < waits->rows->len; i++) {
		LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		row->is_idle |= lode_run_time_threads_have(self->threads, are_own, row);
	}
	lode_sampled_path_find(waits, &self->times, self->threads, are_own, profile->stacks);
	for (guint i = 0; i < waits->programs->len; i++) {
		LodeWaitProgram *program = &LODE_AT(waits->programs, LodeWaitProgram, i);
		program->name = lode_profile_intern(profile, program->name);
	}
	for (guint i = 0; i < waits->processes->len; i++) {
		LodeWaitProcess *process = &LODE_AT(waits->processes, LodeWaitProcess, i);
		char **texts[] = {&process->name, &process->command, &process->directory,
			&process->input, &process->output};
		for (size_t k = 0; k < G_N_ELEMENTS(texts); k++)
			if (*texts[k] != NULL)
				*texts[k] = lode_profile_intern(profile, *texts[k]);
	}
	lode_process_starts_find(profile, waits);
	return waits;
}

LodeProcessCommands *lode_sampled_waits_commands(LodeSampledWaits *self)
{
	return self->times.commands;
}
