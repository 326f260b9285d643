/* SPDX-License-Identifier: MIT */
#include "analyses/waits/wait_groups.h"

#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "base/text/command_words.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"

#include <string.h>

/* A place at which the holder was, and for how much of the waiting. */
typedef struct {
	LodeWaitPlace place;
	const char *call;
	double weight;
} Holder;

/* A group with what it is made of. */
typedef struct {
	LodeWaitGroup group;
	GHashTable *names;   /* of its threads */
	GArray *holders;     /* Holder */
	GHashTable *places;  /* of a group of several: "function:line" → double *, its waiting */
	double place_ns;     /* of the group's place */
	GHashTable *objects; /* borrowed names → double *, their waiting */
	const char *object;  /* of them, the one that names the group */
	double held_ns;      /* of the waiting, that whose holder is known */
} Gathered;

enum { MOST_HOLDERS = 64 };

static void clear_group(void *data)
{
	LodeWaitGroup *self = data;

	g_free(self->object);
	g_array_unref(self->rows);
	g_ptr_array_unref(self->thread_names);
	g_hash_table_unref(self->threads);
}

/* --- places --- */

static const LodeFrame *frame_at(const LodeStacks *stacks, uint32_t stack)
{
	return &LODE_AT(stacks->frames, LodeFrame, LODE_AT(stacks->stacks, LodeStack, stack).frame);
}

static LodeWaitPlace place_at(const LodeStacks *stacks, uint32_t stack)
{
	const LodeFrame *frame = frame_at(stacks, stack), *code = frame;
	uint32_t outer = LODE_AT(stacks->stacks, LodeStack, stack).outer;

	for (; code->is_inlined && outer < stacks->stacks->len;
		outer = LODE_AT(stacks->stacks, LodeStack, outer).outer)
		code = frame_at(stacks, outer);
	return (LodeWaitPlace){.function = frame->function,
		.file = frame->line > 0 ? frame->file : NULL,
		.code = code->function,
		.image = code->image,
		.line = frame->line};
}

/* Whether a frame says more than an address does. */
static bool has_name(const LodeFrame *frame)
{
	return frame->function != NULL &&
	       (frame->line > 0 || !g_str_has_prefix(frame->function, "fn_"));
}

LodeWaitPlace lode_wait_place_of(
	const LodeProfile *profile, const LodeOwnLines *own, uint32_t stack)
{
	const LodeStacks *stacks = profile->stacks;

	for (uint32_t at = stack; stacks != NULL && at < stacks->stacks->len;
		at = LODE_AT(stacks->stacks, LodeStack, at).outer) {
		const LodeFrame *frame = frame_at(stacks, at);
		if (has_name(frame) && lode_own_lines_is_own_frame(own, frame))
			return place_at(stacks, at);
	}
	return (LodeWaitPlace){0};
}

/* The innermost function in user mode; NULL: none is known. */
static const char *innermost(const LodeStacks *stacks, uint32_t stack)
{
	while (stacks != NULL && stack < stacks->stacks->len) {
		const LodeFrame *frame = frame_at(stacks, stack);
		if (frame->function != NULL && g_strcmp0(frame->image, "[kernel]") != 0)
			return frame->function;
		stack = LODE_AT(stacks->stacks, LodeStack, stack).outer;
	}
	return NULL;
}

/* --- groups --- */

static bool is_same_place(const LodeWaitPlace *self, const LodeWaitPlace *other)
{
	return self->line == other->line && g_strcmp0(self->function, other->function) == 0 &&
	       g_strcmp0(self->file, other->file) == 0;
}

static void add_holder(
	Gathered *self, const LodeProfile *profile, const LodeOwnLines *own, const LodeWait *row)
{
	Holder holder = {.call = row->holder_call, .weight = row->waiting_ns * row->holder_share};

	if (!(row->holder_share > 0))
		return;
	holder.place = lode_wait_place_of(profile, own, row->holder_stack);
	self->held_ns += row->waiting_ns;
	for (guint i = 0; i < self->holders->len; i++) {
		Holder *one = &g_array_index(self->holders, Holder, i);
		if (is_same_place(&one->place, &holder.place) &&
			g_strcmp0(one->call, holder.call) == 0) {
			one->weight += holder.weight;
			return;
		}
	}
	if (self->holders->len < MOST_HOLDERS)
		g_array_append_val(self->holders, holder);
}

static void add_thread(Gathered *gathered, const LodeWait *row)
{
	LodeWaitGroup *self = &gathered->group;
	uint64_t key = (uint64_t)row->pid << 32 | row->tid;
	double *waiting = lode_sum_at_copy(self->threads, &key, sizeof(key));

	*waiting += row->waiting_ns;
	self->most_ns = MAX(self->most_ns, *waiting);
	if (row->thread_name != NULL && g_hash_table_add(gathered->names, row->thread_name))
		g_ptr_array_add(self->thread_names, row->thread_name);
}

/* What a thread did when it lost its processor is not why it waits. */
static bool is_anywhere(LodeWaitReason reason)
{
	return reason == LODE_WAIT_PROCESSOR || reason == LODE_WAIT_STOPPED;
}

/* The place of waits at several is that with most of them. */
static void add_place(Gathered *self, const LodeWaitPlace *place, double waiting_ns)
{
	g_autofree char *key = g_strdup_printf(
		"%s:%u", place->function != NULL ? place->function : "", place->line);
	double *sum = lode_sum_at_text(self->places, key);

	*sum += waiting_ns;
	if (*sum > self->place_ns) {
		self->place_ns = *sum;
		self->group.place = *place;
	}
}

/* Of processes in a row, "tar | head | xz", those in the middle wait too: for the last of them. */
static bool is_itself_waiting(const Gathered *self, const char *object)
{
	return (self->group.reason == LODE_WAIT_PIPE || self->group.reason == LODE_WAIT_CHILD) &&
	       g_hash_table_contains(self->names, object);
}

/* The object with most of the waiting names the group. */
static void choose_object(Gathered *self)
{
	GHashTableIter iter;
	void *object, *sum_ns;
	double most_ns = 0;
	bool is_waiting = true;

	g_hash_table_iter_init(&iter, self->objects);
	while (g_hash_table_iter_next(&iter, &object, &sum_ns)) {
		const double ns = *(const double *)sum_ns;
		bool waits = is_itself_waiting(self, object);
		bool is_more = ns > most_ns ||
		               (ns == most_ns && g_strcmp0(object, self->object) < 0);
		if (self->object != NULL && (waits == is_waiting ? !is_more : waits))
			continue;
		self->object = object;
		most_ns = ns;
		is_waiting = waits;
	}
}

static void add_row(Gathered *self, const LodeProfile *profile, const LodeOwnLines *own,
	const LodeWait *row, const LodeWaitPlace *place)
{
	LodeWaitGroup *group = &self->group;

	group->waiting_ns += row->waiting_ns;
	group->path_ns += row->path_ns;
	group->count += row->count;
	group->looks += row->looks;
	group->longest_ns = MAX(group->longest_ns, row->longest_ns);
	if (group->cause == LODE_NONE && row->cause < profile->waits->causes->len)
		group->cause = row->cause;
	if (group->call == NULL)
		group->call = row->call;
	add_thread(self, row);
	if (row->object != NULL)
		*lode_sum_at(self->objects, row->object) += row->waiting_ns;
	if (is_anywhere(row->reason))
		add_place(self, place, row->waiting_ns);
	add_holder(self, profile, own, row);
}

static Gathered *gathered_new(const LodeWait *row, const LodeWaitPlace *place)
{
	Gathered *self = g_new0(Gathered, 1);

	self->group = (LodeWaitGroup){.reason = row->reason,
		.place = *place,
		.rows = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.thread_names = g_ptr_array_new(),
		.threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
		.cause = LODE_NONE,
		.is_idle = row->is_idle};
	self->names = g_hash_table_new(g_str_hash, g_str_equal);
	self->holders = g_array_new(FALSE, FALSE, sizeof(Holder));
	self->places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	self->objects = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	return self;
}

LODE_ORDER(compare_holders, Holder, LODE_DESCENDING(weight), LODE_ASCENDING(place.line),
	g_strcmp0(left->place.function, right->place.function), g_strcmp0(left->call, right->call))

static void gathered_free(Gathered *self, GArray *out)
{
	LodeWaitGroup *group = &self->group;

	g_array_sort(self->holders, compare_holders);
	if (self->holders->len > 0) {
		const Holder *first = &g_array_index(self->holders, Holder, 0);
		group->holder = first->place;
		group->holder_call = first->call;
		group->holder_share = MIN(first->weight / self->held_ns, 1);
	}
	choose_object(self);
	group->n_objects = g_hash_table_size(self->objects);
	group->object = group->n_objects > 1 ? g_strdup_printf("%s and %u more", self->object,
						       group->n_objects - 1)
	                                     : g_strdup(self->object);
	g_ptr_array_sort(group->thread_names, lode_compare_texts);
	g_array_append_val(out, *group);
	g_array_unref(self->holders);
	g_hash_table_unref(self->names);
	g_hash_table_unref(self->places);
	g_hash_table_unref(self->objects);
	g_free(self);
}

/* Waits for children that sleep are for time, not for what processes do. */
static bool is_for_sleep(const LodeWait *row)
{
	return row->reason == LODE_WAIT_CHILD && g_strcmp0(row->object, LODE_SLEEP_PROGRAM) == 0;
}

/* Whether a function that fits one of the patterns is on a row's stack; NULL ends them. */
static bool is_in(const LodeProfile *profile, const LodeWait *row, const char *const *patterns)
{
	const LodeStacks *stacks = profile->stacks;

	if (row->reason != LODE_WAIT_CONDITION || stacks == NULL)
		return false;
	for (uint32_t at = row->stack; at < stacks->stacks->len;
		at = LODE_AT(stacks->stacks, LodeStack, at).outer) {
		const char *function = frame_at(stacks, at)->function;
		for (size_t i = 0; function != NULL && patterns[i] != NULL; i++)
			if (g_pattern_match_simple(patterns[i], function))
				return true;
	}
	return false;
}

/* Locks of java.util.concurrent, which are made of what conditions are made of, too. */
static const char *const java_locks[] = {"java.util.concurrent.locks.ReentrantLock.lock*",
	"java.util.concurrent.locks.ReentrantReadWriteLock$*Lock.lock*",
	"java.util.concurrent.locks.StampedLock.*Lock*", NULL};

/* Where threads of Java wait for the virtual machine, mostly its collector, whose own time is
 * diagnosed. */
static const char *const machine_waits[] = {"VMThread::execute(*",
	"VMThread::wait_until_executed(*", "SafepointSynchronize::block(*", NULL};

/* A row as it is told: a shell that a program starts to sleep is a pause. */
static LodeWait row_of(const LodeProfile *profile, guint i, GHashTable *that_pause)
{
	LodeWait row = g_array_index(profile->waits->rows, LodeWait, i);

	if (row.reason == LODE_WAIT_CHILD && row.object != NULL && lode_is_shell(row.object) &&
		g_hash_table_contains(that_pause, GUINT_TO_POINTER(row.pid)))
		row.object = (char *)LODE_SLEEP_PROGRAM;
	if (is_in(profile, &row, java_locks))
		row.reason = LODE_WAIT_LOCK;
	row.is_idle |= is_in(profile, &row, machine_waits);
	return row;
}

/* Waits of "other" calls are alike only in the same call, and those without a place in the same
 * function. */
static char *key_of(const LodeProfile *profile, const LodeWait *row, const LodeWaitPlace *place)
{
	const char *function = place->function != NULL ? place->function
	                                               : innermost(profile->stacks, row->stack);

	if (is_anywhere(row->reason))
		return g_strdup_printf("%d %d %s", (int)row->reason, row->is_idle,
			row->object != NULL ? row->object : "");
	return g_strdup_printf("%d %d %u\n%s\n%s\n%s\n%s", (int)row->reason, row->is_idle,
		place->line,
		row->object != NULL && (lode_wait_is_of_object(row->reason) || is_for_sleep(row))
			? row->object
			: "",
		function != NULL ? function : "", place->file != NULL ? place->file : "",
		row->reason == LODE_WAIT_OTHER && row->call != NULL ? row->call : "");
}

LODE_ORDER(compare_groups, LodeWaitGroup, LODE_DESCENDING(waiting_ns), LODE_ASCENDING(reason),
	g_strcmp0(left->object, right->object),
	g_strcmp0(left->place.function, right->place.function), LODE_ASCENDING(place.line))

GArray *lode_wait_groups_new(const LodeProfile *profile, const LodeOwnLines *own)
{
	GArray *groups = g_array_new(FALSE, FALSE, sizeof(LodeWaitGroup));
	g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) all = g_ptr_array_new();

	g_array_set_clear_func(groups, clear_group);
	if (profile->waits == NULL)
		return groups;
	g_autoptr(GHashTable) that_pause = lode_pids_that_pause(profile->waits);
	for (guint i = 0; i < profile->waits->rows->len; i++) {
		const LodeWait row = row_of(profile, i, that_pause);
		LodeWaitPlace place = lode_wait_place_of(profile, own, row.stack);
		g_autofree char *key = key_of(profile, &row, &place);
		Gathered *one = g_hash_table_lookup(by_key, key);
		if (one == NULL) {
			one = gathered_new(&row, &place);
			g_hash_table_insert(by_key, g_steal_pointer(&key), one);
			g_ptr_array_add(all, one);
		}
		g_array_append_val(one->group.rows, i);
		add_row(one, profile, own, &row, &place);
	}
	for (guint i = 0; i < all->len; i++)
		gathered_free(g_ptr_array_index(all, i), groups);
	g_array_sort(groups, compare_groups);
	lode_wait_groups_find_holders(groups, profile);
	return groups;
}

uint32_t *lode_wait_groups_of_rows(const GArray *groups, guint n_rows)
{
	uint32_t *of_rows = g_new(uint32_t, (gsize)n_rows + 1);

	for (guint i = 0; i < n_rows; i++)
		of_rows[i] = LODE_NONE;
	for (guint i = 0; i < groups->len; i++) {
		const GArray *rows = lode_wait_group_at(groups, i)->rows;
		for (guint k = 0; k < rows->len; k++)
			of_rows[LODE_AT(rows, uint32_t, k)] = i;
	}
	return of_rows;
}

/* --- what counts --- */

/* Below this, work is not divided. */
static const double FEW_THREADS = 1.5;

/* Threads that are ready to run, beside those that do. */
static const double MUCH_READY = 0.5;

/* Threads that wait for a processor; `own`: that others of the program have. */
static double ready_threads(const LodeProfile *profile, bool own)
{
	double ready = 0;

	for (guint i = 0; i < profile->waits->rows->len; i++) {
		const LodeWait *row = &g_array_index(profile->waits->rows, LodeWait, i);
		if (row->reason == LODE_WAIT_PROCESSOR && (!own || row->object == NULL))
			ready += row->waiting_ns;
	}
	return profile->waits->clock_ns > 0 ? ready / profile->waits->clock_ns : 0;
}

double lode_waits_threads(const LodeProfile *profile)
{
	const LodeWaits *waits = profile->waits;

	if (!(waits->clock_ns > 0))
		return 0;
	return ready_threads(profile, false) +
	       (waits->has_path && waits->path_threads > 0 ? waits->path_threads
							   : waits->running_ns / waits->clock_ns);
}

bool lode_waits_are_serial(const LodeProfile *profile)
{
	return lode_waits_threads(profile) < FEW_THREADS;
}

bool lode_wait_group_counts(const LodeProfile *profile, const LodeWaitGroup *group)
{
	const LodeWaits *waits = profile->waits;
	double threads = lode_waits_threads(profile);

	if (group->is_idle || group->reason == LODE_WAIT_UNSEEN || !(waits->clock_ns > 0))
		return false;
	if (group->reason == LODE_WAIT_JOIN || group->reason == LODE_WAIT_CONDITION)
		return lode_waits_are_serial(profile) ||
		       group->waiting_ns / waits->clock_ns >= threads;
	if (group->reason == LODE_WAIT_PROCESSOR) {
		double ready = ready_threads(profile, true);
		return group->object == NULL && ready >= MUCH_READY &&
		       ready + waits->running_ns / waits->clock_ns >= FEW_THREADS;
	}
	return true;
}

/* --- words --- */

char *lode_wait_group_reason(const LodeWaitGroup *self)
{
	if (self->reason == LODE_WAIT_OTHER && self->call != NULL)
		return g_strdup_printf("other:%s", self->call);
	return g_strdup(lode_wait_reason_to_text(self->reason));
}

const char *lode_wait_object_text(const char *object)
{
	const char *slash = object[0] == '/' ? strrchr(object, '/') : NULL;

	return slash != NULL && slash[1] != '\0' ? slash + 1 : object;
}

/* "in fsync (note.log)" */
static char *in_call(const LodeWaitGroup *self, const char *usual)
{
	const char *call = self->call != NULL ? self->call : usual;

	return self->object != NULL
	               ? g_strdup_printf("in %s (%s)", call, lode_wait_object_text(self->object))
	               : g_strdup_printf("in %s", call);
}

static char *waiting_for(const LodeWaitGroup *self, const char *usual)
{
	return g_strdup_printf("waiting for %s",
		self->object != NULL ? lode_wait_object_text(self->object) : usual);
}

char *lode_wait_group_text(const LodeWaitGroup *self)
{
	switch (self->reason) {
	case LODE_WAIT_LOCK:
		return waiting_for(self, "a lock");
	case LODE_WAIT_CONDITION:
		return waiting_for(self, "a condition");
	case LODE_WAIT_JOIN:
		return waiting_for(self, "a thread to end");
	case LODE_WAIT_CHILD:
		return waiting_for(self, "a child process");
	case LODE_WAIT_SLEEP:
		return g_strdup("asleep");
	case LODE_WAIT_PAGE:
		return waiting_for(self, "memory to be read");
	case LODE_WAIT_PROCESSOR:
		return self->object == NULL ? g_strdup("waiting for a processor")
		                            : g_strdup_printf("waiting for a processor that %s had",
						      self->object);
	case LODE_WAIT_STOPPED:
		return g_strdup("stopped");
	case LODE_WAIT_UNSEEN:
		return g_strdup("waiting, not looked at");
	case LODE_WAIT_POLL:
	case LODE_WAIT_READ:
	case LODE_WAIT_WRITE:
	case LODE_WAIT_SYNC:
	case LODE_WAIT_PIPE:
	case LODE_WAIT_SOCKET:
	case LODE_N_WAIT_REASONS:
		break;
	case LODE_WAIT_OTHER:
		/* Without a call, the object is the kernel's function. */
		if (self->call == NULL && self->object != NULL)
			return g_strdup_printf("in %s", self->object);
		break;
	}
	return in_call(self, self->reason == LODE_WAIT_SYNC ? "fsync"
			     : self->reason == LODE_WAIT_PIPE
				     ? "a pipe"
				     : lode_wait_reason_to_text(self->reason));
}
