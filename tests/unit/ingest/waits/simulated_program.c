/* SPDX-License-Identifier: MIT */
#include "simulated_program.h"

#include "ingest/waits/time_heap.h"
#include "model/index.h"

enum { QUANTUM_NS = 3000000, FAILED_TRY_NS = 1000, WAKE_NS = 300 };

typedef enum { BLOCKED, WAKING, READY, RUNNING, ENDED } State;

typedef struct {
	const GArray *ops;
	GArray *intervals;
	uint32_t at;
	uint64_t left_ns; /* of the work that it is in */
	uint64_t run_since_ns, dispatched_ns, wait_since_ns;
	uint32_t place;
	State state;
	LodePathInterval wait; /* that it is in: without its times */
	uint32_t waker;
	bool has_passed;    /* what it waited for is done */
	bool wants_to_quit; /* its time is over */
	bool has_processor;
	uint32_t joiner;
	uint64_t begin_ns, end_ns;
	uint32_t starter;
} Thread;

typedef struct {
	GQueue waiters; /* threads */
	uint32_t owner; /* of a lock */
	uint32_t n;     /* that arrived, or are in the queue */
	uint32_t last;  /* that put something in */
	uint64_t since_ns;
} Thing;

typedef struct {
	const Program *program;
	Wakers wakers;
	Thread *threads;
	Thing *things;
	LodeTimeHeap heap;
	GQueue ready;
	uint32_t n_free;
	uint64_t now_ns;
	GRand *random;
	Run *run;
} World;

Program *program_new(uint32_t n_threads, uint32_t n_objects, uint32_t n_processors)
{
	Program *self = g_new0(Program, 1);

	self->threads = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	for (uint32_t i = 0; i < n_threads; i++)
		g_ptr_array_add(self->threads, g_array_new(FALSE, FALSE, sizeof(Op)));
	self->n_objects = n_objects;
	self->n_processors = n_processors;
	self->is_fair = true;
	return self;
}

void program_free(Program *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->threads);
	g_free(self);
}

void program_add(Program *self, uint32_t thread, OpKind kind, uint32_t what, uint64_t amount)
{
	const Op op = {kind, what, amount};

	if (kind == OP_WORK)
		self->n_places = MAX(self->n_places, what + 1);
	g_array_append_val((GArray *)g_ptr_array_index(self->threads, thread), op);
}

static Program *copy_empty(const Program *self)
{
	Program *copy = program_new(self->threads->len, self->n_objects, self->n_processors);

	copy->n_places = self->n_places;
	copy->is_fair = self->is_fair;
	return copy;
}

Program *program_without_place(const Program *self, uint32_t place)
{
	Program *copy = copy_empty(self);

	for (uint32_t t = 0; t < self->threads->len; t++) {
		const GArray *ops = g_ptr_array_index(self->threads, t);
		for (guint i = 0; i < ops->len; i++) {
			Op op = g_array_index(ops, Op, i);
			if (op.kind != OP_WORK || op.what != place)
				program_add(copy, t, op.kind, op.what, op.amount);
		}
	}
	return copy;
}

Program *program_with_short_lock(const Program *self, uint32_t lock)
{
	Program *copy = copy_empty(self);

	for (uint32_t t = 0; t < self->threads->len; t++) {
		const GArray *ops = g_ptr_array_index(self->threads, t);
		guint first = G_MAXUINT;
		for (guint i = 0; i < ops->len; i++) {
			Op op = g_array_index(ops, Op, i);
			bool is_part = first != G_MAXUINT &&
			               (op.kind == OP_WORK || op.kind == OP_SYNC);
			program_add(copy, t, op.kind, op.what, is_part ? op.amount / 2 : op.amount);
			if (op.kind == OP_LOCK && op.what == lock)
				first = i;
			for (; op.kind == OP_UNLOCK && op.what == lock && first < i; first++) {
				Op half = g_array_index(ops, Op, first);
				if (half.kind == OP_WORK || half.kind == OP_SYNC)
					program_add(copy, t, half.kind, half.what, half.amount / 2);
			}
			if (op.kind == OP_UNLOCK && op.what == lock)
				first = G_MAXUINT;
		}
	}
	return copy;
}

static void add_interval(Thread *thread, LodePathInterval interval)
{
	if (interval.end_ns > interval.begin_ns)
		g_array_append_val(thread->intervals, interval);
}

static void end_piece(World *self, Thread *thread)
{
	add_interval(thread, (LodePathInterval){.begin_ns = thread->run_since_ns,
				     .end_ns = self->now_ns,
				     .what = thread->place,
				     .object = LODE_NONE,
				     .other = LODE_NONE,
				     .kind = LODE_PATH_RUN});
	thread->run_since_ns = self->now_ns;
}

static void leave_processor(World *self, Thread *thread)
{
	end_piece(self, thread);
	thread->has_processor = false;
	self->n_free++;
}

/* Blocks a thread that runs. */
static void block(World *self, uint32_t number, LodeWaitReason reason, uint32_t object,
	uint32_t cause, uint32_t known)
{
	Thread *thread = &self->threads[number];

	leave_processor(self, thread);
	thread->state = BLOCKED;
	thread->wait_since_ns = self->now_ns;
	thread->waker = LODE_NONE;
	thread->wait = (LodePathInterval){
		.what = cause, .object = object, .other = known, .kind = (uint8_t)reason};
}

static uint64_t latency(World *self)
{
	return (uint64_t)g_rand_int_range(self->random, 2000, 8000);
}

static void wake(World *self, uint32_t number, uint32_t waker)
{
	Thread *thread = &self->threads[number];

	thread->waker = waker;
	thread->state = WAKING;
	lode_time_heap_add(&self->heap, self->now_ns + latency(self), number);
}

static uint32_t pop(Thing *thing)
{
	return GPOINTER_TO_UINT(g_queue_pop_head(&thing->waiters)) - 1;
}

static void push(GQueue *queue, uint32_t number)
{
	g_queue_push_tail(queue, GUINT_TO_POINTER(number + 1));
}

static void own(World *self, uint32_t number, uint32_t object)
{
	Thing *thing = &self->things[object];

	thing->owner = number;
	thing->since_ns = self->now_ns;
}

static bool lock(World *self, uint32_t number, uint32_t object)
{
	Thread *thread = &self->threads[number];
	Thing *thing = &self->things[object];

	if (thing->owner == LODE_NONE) {
		own(self, number, object);
		return true;
	}
	if (thing->owner == number)
		return true;
	if (thread->has_passed) {
		/* It was woken, and another one was faster. */
		thread->has_passed = false;
		thread->left_ns = FAILED_TRY_NS;
		thread->place = LODE_NONE;
		return false;
	}
	uint32_t owner = thing->owner;
	block(self, number, LODE_WAIT_LOCK, object, object, LODE_NONE);
	/* One in some waits is looked at. */
	if (g_rand_int_range(self->random, 0, 4) == 0)
		thread->wait.other = owner;
	push(&thing->waiters, number);
	return false;
}

static void unlock(World *self, uint32_t number, uint32_t object)
{
	Thing *thing = &self->things[object];
	const LodePathHold hold = {thing->since_ns, self->now_ns, object, number};

	g_assert(thing->owner == number);
	g_array_append_val(self->run->holds, hold);
	thing->owner = LODE_NONE;
	if (g_queue_is_empty(&thing->waiters))
		return;
	uint32_t next = pop(thing);
	if (self->program->is_fair)
		own(self, next, object);
	wake(self, next, number);
}

static bool arrive(World *self, uint32_t number, const Op *op)
{
	Thing *thing = &self->things[op->what];

	if (++thing->n < op->amount) {
		push(&thing->waiters, number);
		block(self, number, LODE_WAIT_CONDITION, op->what, op->what, LODE_NONE);
		return false;
	}
	thing->n = 0;
	while (!g_queue_is_empty(&thing->waiters)) {
		uint32_t next = pop(thing);
		self->threads[next].has_passed = true;
		wake(self, next, number);
	}
	return true;
}

static bool take(World *self, uint32_t number, const Op *op)
{
	Thing *thing = &self->things[op->what];

	if (thing->n > 0) {
		thing->n--;
		return true;
	}
	push(&thing->waiters, number);
	block(self, number, op->kind == OP_READ ? LODE_WAIT_PIPE : LODE_WAIT_CONDITION, op->what,
		op->what, LODE_NONE);
	return false;
}

static void put(World *self, uint32_t number, uint32_t object)
{
	Thing *thing = &self->things[object];

	if (g_queue_is_empty(&thing->waiters)) {
		thing->n++;
		return;
	}
	uint32_t next = pop(thing);
	Thread *thread = &self->threads[next];
	thread->has_passed = true;
	if (thread->wait.kind == LODE_WAIT_PIPE)
		thread->wait.other = number;
	wake(self, next, number);
}

static void start(World *self, uint32_t number, uint32_t starter)
{
	Thread *thread = &self->threads[number];

	thread->begin_ns = self->now_ns;
	thread->starter = starter;
	thread->state = WAKING;
	thread->wait_since_ns = UINT64_MAX;
	lode_time_heap_add(&self->heap, self->now_ns + latency(self), number);
}

static void end(World *self, uint32_t number)
{
	Thread *thread = &self->threads[number];

	leave_processor(self, thread);
	thread->state = ENDED;
	thread->end_ns = self->now_ns;
	if (thread->joiner != LODE_NONE) {
		self->threads[thread->joiner].has_passed = true;
		wake(self, thread->joiner, number);
	}
}

static void pause_for(
	World *self, uint32_t number, LodeWaitReason reason, uint32_t cause, uint64_t amount_ns)
{
	block(self, number, reason, LODE_NONE, self->program->n_objects + cause, LODE_NONE);
	self->threads[number].wait.flags = LODE_PATH_ALONE;
	self->threads[number].has_passed = true;
	self->threads[number].state = WAKING;
	lode_time_heap_add(&self->heap, self->now_ns + amount_ns, number);
}

/* True: the operation is over, at once. */
static bool perform(World *self, uint32_t number, const Op *op)
{
	Thread *thread = &self->threads[number];
	Thread *other = &self->threads[op->what < self->program->threads->len ? op->what : 0];

	if (thread->has_passed && op->kind != OP_LOCK) {
		thread->has_passed = false;
		return true;
	}
	switch (op->kind) {
	case OP_WORK:
		end_piece(self, thread);
		thread->place = op->what;
		thread->left_ns = op->amount;
		thread->has_passed = true;
		return false;
	case OP_LOCK:
		if (!lock(self, number, op->what))
			return false;
		thread->has_passed = false;
		return true;
	case OP_UNLOCK:
		unlock(self, number, op->what);
		return true;
	case OP_ARRIVE:
		return arrive(self, number, op);
	case OP_PUT:
		put(self, number, op->what);
		return true;
	case OP_TAKE:
	case OP_READ:
		return take(self, number, op);
	case OP_START:
		start(self, op->what, number);
		return true;
	case OP_JOIN:
		if (other->state == ENDED)
			return true;
		other->joiner = number;
		block(self, number, LODE_WAIT_JOIN, LODE_NONE,
			self->program->n_objects + CAUSE_JOIN, op->what);
		return false;
	case OP_SLEEP:
		pause_for(self, number, LODE_WAIT_SLEEP, CAUSE_SLEEP, op->amount);
		return false;
	case OP_SYNC:
		pause_for(self, number, LODE_WAIT_SYNC, CAUSE_SYNC, op->amount);
		return false;
	}
	return true;
}

/* The thread runs, until it blocks, works or ends. */
static void go_on(World *self, uint32_t number)
{
	Thread *thread = &self->threads[number];

	while (thread->at < thread->ops->len) {
		if (thread->left_ns > 0) {
			uint64_t used_ns = self->now_ns - thread->dispatched_ns;
			uint64_t room_ns = used_ns < QUANTUM_NS ? QUANTUM_NS - used_ns : 1;
			if (g_queue_is_empty(&self->ready) && room_ns == 1)
				room_ns = QUANTUM_NS;
			uint64_t length_ns = MIN(thread->left_ns, room_ns);
			thread->left_ns -= length_ns;
			lode_time_heap_add(&self->heap, self->now_ns + length_ns, number);
			return;
		}
		const Op *op = &g_array_index(thread->ops, Op, thread->at);
		if (perform(self, number, op))
			thread->at++;
		else if (!thread->has_processor)
			return;
	}
	end(self, number);
}

static void dispatch(World *self)
{
	while (self->n_free > 0 && !g_queue_is_empty(&self->ready)) {
		uint32_t number = GPOINTER_TO_UINT(g_queue_pop_head(&self->ready)) - 1;
		Thread *thread = &self->threads[number];
		if (thread->wait_since_ns != UINT64_MAX) {
			LodePathInterval wait = thread->wait;
			wait.begin_ns = thread->wait_since_ns;
			wait.end_ns = self->now_ns;
			if (self->wakers == WAKERS_GIVEN && thread->waker != LODE_NONE) {
				wait.other = thread->waker;
				wait.flags = LODE_PATH_EXACT;
			}
			/* One that was woken for a lock tries it again. */
			if (wait.kind == LODE_WAIT_LOCK)
				thread->has_passed = true;
			add_interval(thread, wait);
		}
		self->n_free--;
		thread->has_processor = true;
		thread->state = RUNNING;
		thread->run_since_ns = thread->dispatched_ns = self->now_ns;
		thread->left_ns += WAKE_NS;
		go_on(self, number);
	}
}

static void take_event(World *self, uint32_t number)
{
	Thread *thread = &self->threads[number];

	if (thread->state == WAKING) {
		thread->state = READY;
		push(&self->ready, number);
		return;
	}
	bool is_over = self->now_ns - thread->dispatched_ns >= QUANTUM_NS;
	if (is_over && !g_queue_is_empty(&self->ready)) {
		uint32_t processor = self->program->n_objects + CAUSE_PROCESSOR;
		block(self, number, LODE_WAIT_PROCESSOR, LODE_NONE, processor, LODE_NONE);
		thread->state = READY;
		push(&self->ready, number);
		return;
	}
	go_on(self, number);
}

static void collect(World *self, Run *run)
{
	for (uint32_t t = 0; t < self->program->threads->len; t++) {
		Thread *thread = &self->threads[t];
		const LodePathThread life = {.begin_ns = thread->begin_ns,
			.end_ns = thread->end_ns,
			.starter = thread->starter,
			.process = 0,
			.first = run->intervals->len,
			.n = thread->intervals->len,
			.is_leader = t == 0};
		g_assert(thread->state == ENDED);
		g_array_append_val(run->threads, life);
		g_array_append_vals(
			run->intervals, thread->intervals->data, thread->intervals->len);
		g_array_unref(thread->intervals);
	}
	run->length_ns = self->threads[0].end_ns;
	run->input = (LodePathInput){
		.threads = (const LodePathThread *)(const void *)run->threads->data,
		.intervals = (const LodePathInterval *)(const void *)run->intervals->data,
		.n_threads = run->threads->len,
		.n_intervals = run->intervals->len,
		.n_objects = self->program->n_objects,
		.n_causes = self->program->n_objects + N_OTHER_CAUSES,
		.n_places = self->program->n_places,
		.n_processors = self->program->n_processors,
	};
}

Run *program_run(const Program *program, Wakers wakers)
{
	Run *run = g_new0(Run, 1);
	World world = {.program = program,
		.wakers = wakers,
		.n_free = program->n_processors,
		.random = g_rand_new_with_seed(1988),
		.run = run};

	run->threads = g_array_new(FALSE, FALSE, sizeof(LodePathThread));
	run->intervals = g_array_new(FALSE, FALSE, sizeof(LodePathInterval));
	run->holds = g_array_new(FALSE, FALSE, sizeof(LodePathHold));
	world.threads = g_new0(Thread, program->threads->len);
	world.things = g_new0(Thing, program->n_objects + 1);
	lode_time_heap_init(&world.heap, program->threads->len);
	g_queue_init(&world.ready);
	for (uint32_t i = 0; i < program->n_objects; i++)
		world.things[i].owner = LODE_NONE;
	for (uint32_t t = 0; t < program->threads->len; t++) {
		world.threads[t].ops = g_ptr_array_index(program->threads, t);
		world.threads[t].intervals = g_array_new(FALSE, FALSE, sizeof(LodePathInterval));
		world.threads[t].joiner = world.threads[t].place = LODE_NONE;
	}
	start(&world, 0, LODE_NONE);
	while (world.heap.n > 0) {
		LodeTimeEntry next = lode_time_heap_take(&world.heap);
		world.now_ns = next.time_ns;
		take_event(&world, next.thread);
		dispatch(&world);
	}
	collect(&world, run);
	for (uint32_t i = 0; i < program->n_objects; i++)
		g_queue_clear(&world.things[i].waiters);
	g_queue_clear(&world.ready);
	lode_time_heap_clear(&world.heap);
	g_rand_free(world.random);
	g_free(world.threads);
	g_free(world.things);
	return run;
}

void run_free(Run *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->threads);
	g_array_unref(self->intervals);
	g_array_unref(self->holds);
	g_free(self);
}
