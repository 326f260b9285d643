/* SPDX-License-Identifier: MIT */
/*
 * The start of a thread, by a function of ours that the thread runs in place of its own and that
 * calls it: so the thread knows when it was created and where its stack begins. What it is told
 * lies in one of a few places; where none is free, the thread starts by its own function, and is
 * seen when it first allocates.
 */
#include "../real_functions.h"
#include "log.h"
#include "thread_state.h"

#include <errno.h>

enum { N_STARTS = 256 };

typedef struct {
	bool is_taken;
	void *(*start)(void *);
	void *argument;
	uint64_t created;
	size_t stack_size;
} Start;

static Start starts[N_STARTS];

static Start *take_start(void)
{
	for (size_t i = 0; i < N_STARTS; i++) {
		bool is_taken = false;
		if (__atomic_compare_exchange_n(&starts[i].is_taken, &is_taken, true, false,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &starts[i];
	}
	return NULL;
}

static void release(Start *self)
{
	__atomic_store_n(&self->is_taken, false, __ATOMIC_RELEASE);
}

/* The thread's frames lie below this one. The pointer may have been that of another thread. */
static ThreadState *enter_thread(const Start *told, uintptr_t frame)
{
	ThreadState *self = thread_state_find();
	int code = errno;

	if (self == NULL)
		return NULL;
	*self = (ThreadState){
		.pointer = self->pointer,
		.stack_high = frame,
		.stack_low = frame - told->stack_size,
		.created = told->created,
		.is_known = true,
		.is_inside = true,
	};
	log_is_open(self);
	self->is_inside = false;
	errno = code;
	return self;
}

/* Also after pthread_exit(), and when it is cancelled. */
static void end_thread(void *data)
{
	ThreadState *self = data;
	int code = errno;

	if (self == NULL)
		return;
	self->is_inside = true;
	if (log_is_open(self))
		log_thread_end(self);
	self->is_known = self->is_inside = self->is_noting = false;
	errno = code;
}

static void *run_thread(void *data)
{
	Start *told = data;
	const Start start = *told;
	void *result;

	release(told);
	ThreadState *self = enter_thread(&start, (uintptr_t)__builtin_frame_address(0));
	pthread_cleanup_push(end_thread, self);
	result = start.start(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

/* Little less than there is, as some of it lies above our frame. */
static size_t stack_size_of(const pthread_attr_t *given)
{
	pthread_attr_t otherwise;
	size_t size = 0;

	if (given != NULL) {
		pthread_attr_getstacksize(given, &size);
	} else if (pthread_attr_init(&otherwise) == 0) {
		pthread_attr_getstacksize(&otherwise, &size);
		pthread_attr_destroy(&otherwise);
	}
	return size;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *out_thread,
	const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	const RealFunctions *real = real_functions();
	int code = errno;
	Start *told = real != NULL ? take_start() : NULL;

	if (real == NULL)
		return EAGAIN;
	if (told == NULL)
		return real->pthread_create(out_thread, attributes, start, argument);
	told->start = start;
	told->argument = argument;
	told->created = log_now();
	told->stack_size = stack_size_of(attributes);
	errno = code;
	int failure = real->pthread_create(out_thread, attributes, run_thread, told);
	if (failure != 0)
		release(told);
	return failure;
}
