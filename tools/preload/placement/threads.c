/* SPDX-License-Identifier: MIT */
/*
 * Threads in the order of their creation. A new one runs a function of ours first, which binds it
 * and then calls its own. What it is told lies in one of a few places, as to ask for memory would
 * move the program's own; where none is free the thread starts unbound.
 */
#include "../real_functions.h"
#include "orders.h"

#include <errno.h>
#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

enum { N_STARTS = 512 };

typedef struct {
	bool is_taken;
	uint32_t number; /* of the thread; 1 the first that was created */
	void *(*start)(void *);
	thrd_start_t start_c11; /* when `start` is NULL */
	void *argument;
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

static void count(uint32_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* A thread inherits its creator's processors: one that is in no order goes back to all. */
static void bind_thread(uint32_t number)
{
	PlacementOrders *orders = placement_orders();
	int code = errno;

	if (orders == NULL)
		return;
	const uint32_t *threads = placement_orders_at(orders, orders->threads);
	const PlacementMask *masks = placement_orders_at(orders, orders->masks);
	if (number >= orders->n_threads || threads[number] == UINT32_MAX) {
		placement_orders_unbind();
	} else {
		int failure = placement_orders_bind(&masks[threads[number]]);
		count(failure == 0 ? &orders->n_bound : &orders->n_unbound);
		if (failure != 0)
			orders->bind_error = (uint32_t)failure;
	}
	errno = code;
}

static void *run_thread(void *data)
{
	const Start start = *(Start *)data;

	release(data);
	bind_thread(start.number);
	return start.start(start.argument);
}

static int run_thread_c11(void *data)
{
	const Start start = *(Start *)data;

	release(data);
	bind_thread(start.number);
	return start.start_c11(start.argument);
}

/* NULL: it is to start as it would without us. */
static Start *begin_thread(PlacementOrders *orders)
{
	Start *told = take_start();
	uint32_t number = __atomic_fetch_add(&orders->n_created, 1, __ATOMIC_RELAXED);

	if (told == NULL) {
		count(&orders->n_unbound);
		orders->bind_error = EAGAIN;
		return NULL;
	}
	told->number = number;
	return told;
}

/* The number goes to the next one, unless another thread was created meanwhile. */
static void give_up(PlacementOrders *orders, Start *told)
{
	uint32_t next = told->number + 1;

	__atomic_compare_exchange_n(
		&orders->n_created, &next, told->number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	release(told);
}

EXPORTED int pthread_create(pthread_t *out_thread, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument)
{
	placement_orders_begin();
	const RealFunctions *real = real_functions();
	PlacementOrders *orders = placement_orders();

	if (real == NULL)
		return EAGAIN;
	Start *told = orders != NULL ? begin_thread(orders) : NULL;
	if (told == NULL)
		return real->pthread_create(out_thread, attributes, start, argument);
	told->start = start;
	told->argument = argument;
	int failure = real->pthread_create(out_thread, attributes, run_thread, told);
	if (failure != 0)
		give_up(orders, told);
	return failure;
}

EXPORTED int thrd_create(thrd_t *out_thread, thrd_start_t start, void *argument)
{
	placement_orders_begin();
	const RealFunctions *real = real_functions();
	PlacementOrders *orders = placement_orders();

	if (real == NULL)
		return thrd_error;
	Start *told = orders != NULL ? begin_thread(orders) : NULL;
	if (told == NULL)
		return real->thrd_create(out_thread, start, argument);
	told->start_c11 = start;
	told->argument = argument;
	int result = real->thrd_create(out_thread, run_thread_c11, told);
	if (result != thrd_success)
		give_up(orders, told);
	return result;
}
