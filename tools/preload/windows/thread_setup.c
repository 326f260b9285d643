/* SPDX-License-Identifier: MIT */
#include "thread_setup.h"

#include "../process_log.h"
#include "../real_functions.h"
#include "real_signals.h"
#include "requests.h"
#include "stepping.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef ARCH_GET_FS
#define ARCH_GET_FS 0x1003
#endif
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

#define EXPORTED __attribute__((visibility("default")))

/* Far from all others: stack i lies at i times its room, the lowest part of which stays unmapped.
 */
#define STACKS_PLACE ((char *)0x260000000000)

enum { N_THREADS = 4096, PROBES = 64 };
/* Large, as the program's handlers may run on it; what is not used is never made. */
enum { STACK_BYTES = 1 << 18, STACK_ROOM = STACK_BYTES + (1 << 16) };
/* Stack of the handler beside the kernel's frame. */
enum { HANDLER_BYTES = 2048 };
/* Processor time between signals; a little less than a tick of 4 ms. */
enum { TIMER_NS = 3900000 };
enum { MAY_READ_FS = 2 }; /* in AT_HWCAP2 */

typedef struct {
	uintptr_t pointer; /* of the thread; 0: a free place */
	bool has_timer;
	bool is_blocked; /* SIGTRAP, by us */
	bool is_masked;  /* by the program, which is only told so */
	void *stack;     /* stays mapped for the next one; NULL: never mapped */
	int timer;
} Thread;

/* By the pointer, which a thread that comes later may have again. */
static Thread threads[N_THREADS];
static bool has_timers, has_rdfsbase, has_others; /* others: than the first thread */
static bool has_asked;                            /* for the event */

uintptr_t thread_pointer(void)
{
	uintptr_t pointer = 0;

	if (has_rdfsbase)
		__asm__ volatile("rdfsbase %0" : "=r"(pointer));
	else
		syscall(SYS_arch_prctl, ARCH_GET_FS, &pointer);
	return pointer;
}

static Thread *probe(uintptr_t pointer, size_t i)
{
	return &threads[((pointer * UINT64_C(0x9e3779b97f4a7c15) >> 40) + i) % N_THREADS];
}

/* NULL: it has no place. */
static Thread *find(uintptr_t pointer)
{
	for (size_t i = 0; i < PROBES; i++) {
		Thread *at = probe(pointer, i);
		if (__atomic_load_n(&at->pointer, __ATOMIC_RELAXED) == pointer)
			return at;
	}
	return NULL;
}

/* A place with the thread's own pointer is that of one that ended without a word. */
static Thread *take_place(void)
{
	const uintptr_t pointer = thread_pointer();
	Thread *left = find(pointer);

	for (size_t i = 0; i < PROBES && left == NULL; i++) {
		uintptr_t none = 0;
		if (__atomic_compare_exchange_n(&probe(pointer, i)->pointer, &none, pointer, false,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			left = probe(pointer, i);
	}
	return left;
}

bool thread_is_known(uintptr_t pointer)
{
	return pointer != 0 && find(pointer) != NULL;
}

bool thread_is_masked(void)
{
	const Thread *self = find(thread_pointer());

	return self != NULL && self->is_masked;
}

void thread_set_masked(bool is_masked)
{
	Thread *self = find(thread_pointer());

	if (self != NULL)
		self->is_masked = is_masked;
}

bool thread_is_blocked(void)
{
	const Thread *self = find(thread_pointer());

	return self != NULL && self->is_blocked;
}

bool threads_has_others(void)
{
	return __atomic_load_n(&has_others, __ATOMIC_RELAXED);
}

static void release(bool *is_taken)
{
	__atomic_store_n(is_taken, false, __ATOMIC_RELEASE);
}

static stack_t own_stack(const Thread *self)
{
	return (stack_t){.ss_sp = self->stack, .ss_size = STACK_BYTES};
}

static void block(Thread *self, bool is_to_be)
{
	sigset_t trap;

	if (self->is_blocked == is_to_be)
		return;
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	real_signals()->pthread_sigmask(is_to_be ? SIG_BLOCK : SIG_UNBLOCK, &trap, NULL);
	self->is_blocked = is_to_be;
}

static bool is_large_enough(const stack_t *stack)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ);

	return stack->ss_size >= (frame != 0 ? frame : (size_t)MINSIGSTKSZ) + HANDLER_BYTES;
}

static void set_stack(Thread *self)
{
	stack_t there;

	if (self->stack == NULL)
		self->stack = map_far(STACKS_PLACE + (self - threads) * STACK_ROOM, STACK_BYTES,
			PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1);
	if (real_signals()->sigaltstack(NULL, &there) != 0)
		return;
	if ((there.ss_flags & SS_DISABLE) == 0) {
		block(self, !is_large_enough(&there));
	} else if (self->stack != NULL) {
		const stack_t own = own_stack(self);
		real_signals()->sigaltstack(&own, NULL);
	}
}

/* By system calls, as the C library's functions allocate. */
static void set_timer(Thread *self)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGTRAP,
		.sigev_value.sival_ptr = (void *)LODE_WINDOW_SIGNAL,
	};
	const struct timespec period = {0, TIMER_NS};
	const struct itimerspec when = {period, period};

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (syscall(SYS_timer_create, (long)CLOCK_THREAD_CPUTIME_ID, &event, &self->timer) != 0)
		return;
	__atomic_store_n(&self->has_timer, true, __ATOMIC_RELEASE);
	syscall(SYS_timer_settime, (long)self->timer, 0L, &when, NULL);
}

/* Another thread may be about to, and the kernel gives the number to a new timer. */
static void stop_timer(Thread *self)
{
	if (__atomic_exchange_n(&self->has_timer, false, __ATOMIC_ACQ_REL))
		syscall(SYS_timer_delete, (long)self->timer);
}

static Thread *enter_thread(void)
{
	Thread *self = take_place();

	if (self == NULL)
		return NULL;
	self->is_blocked = self->is_masked = self->has_timer = false;
	set_stack(self);
	if (has_timers && stepping_is_on())
		set_timer(self);
	return self;
}

void threads_begin(bool is_timed)
{
	has_timers = is_timed;
	has_rdfsbase = (getauxval(AT_HWCAP2) & MAY_READ_FS) != 0;
	enter_thread();
}

void threads_begin_child(void)
{
	Thread *self = find(thread_pointer());

	/* Reading all of them would take longer than the fork of a child does. */
	for (size_t i = 0; i < N_THREADS && has_others; i++) {
		threads[i].has_timer = false;
		if (&threads[i] != self)
			threads[i].pointer = 0;
	}
	has_others = has_asked = false;
	if (self == NULL)
		return;
	self->has_timer = false;
	if (has_timers && stepping_is_on())
		set_timer(self);
}

void threads_stop_timers(void)
{
	for (size_t i = 0; i < N_THREADS && has_timers; i++)
		stop_timer(&threads[i]);
}

/* Also after pthread_exit(), and when it is cancelled. */
static void leave_thread(void *data)
{
	Thread *self = data;
	const stack_t none = {.ss_flags = SS_DISABLE};
	stack_t there;
	int code = errno;

	if (self == NULL || stepping_is_limited())
		return;
	stop_timer(self);
	if (real_signals()->sigaltstack(NULL, &there) == 0 && there.ss_sp == self->stack)
		real_signals()->sigaltstack(&none, NULL);
	__atomic_store_n(&self->pointer, 0, __ATOMIC_RELEASE);
	errno = code;
}

/* --- the start of a thread --- */

enum { N_STARTS = 256 };

typedef struct {
	bool is_taken;
	bool is_blocked, is_masked; /* as the thread that makes it is */
	void *(*start)(void *);
	thrd_start_t start_c11; /* when `start` is NULL */
	void *argument;
} Start;

static Start starts[N_STARTS];

/* NULL: there are no windows here, or no place: the thread starts as it would without us. */
static Start *take_start(void)
{
	if (!stepping_is_installed() || stepping_is_limited())
		return NULL;
	for (size_t i = 0; i < N_STARTS; i++) {
		if (__atomic_exchange_n(&starts[i].is_taken, true, __ATOMIC_ACQUIRE))
			continue;
		const Thread *self = find(thread_pointer());
		starts[i].is_blocked = self != NULL && self->is_blocked;
		starts[i].is_masked = self != NULL && self->is_masked;
		return &starts[i];
	}
	return NULL;
}

/* Threads inherit the event, which is opened before there are any. */
static void prepare_first(void)
{
	__atomic_store_n(&has_others, true, __ATOMIC_RELAXED);
	if (!has_timers && stepping_is_on() && stepping_is_own_process() &&
		!__atomic_exchange_n(&has_asked, true, __ATOMIC_RELAXED))
		requests_open_event();
}

static Thread *enter_started(const Start *told)
{
	int code = errno;
	Thread *self = enter_thread();

	if (self != NULL) {
		self->is_masked = told->is_masked;
		self->is_blocked = self->is_blocked || told->is_blocked;
		block(self, false);
	}
	errno = code;
	return self;
}

static void *run_thread(void *data)
{
	const Start told = *(Start *)data;
	void *result;

	release(&((Start *)data)->is_taken);
	pthread_cleanup_push(leave_thread, enter_started(&told));
	result = told.start(told.argument);
	pthread_cleanup_pop(1);
	return result;
}

static int run_thread_c11(void *data)
{
	const Start told = *(Start *)data;
	int result;

	release(&((Start *)data)->is_taken);
	pthread_cleanup_push(leave_thread, enter_started(&told));
	result = told.start_c11(told.argument);
	pthread_cleanup_pop(1);
	return result;
}

EXPORTED int pthread_create(pthread_t *out_thread, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument)
{
	const RealFunctions *real = real_functions();

	if (real == NULL)
		return EAGAIN;
	Start *told = take_start();
	prepare_first();
	if (told == NULL)
		return real->pthread_create(out_thread, attributes, start, argument);
	told->start = start;
	told->argument = argument;
	int failure = real->pthread_create(out_thread, attributes, run_thread, told);
	if (failure != 0)
		release(&told->is_taken);
	return failure;
}

EXPORTED int thrd_create(thrd_t *out_thread, thrd_start_t start, void *argument)
{
	const RealFunctions *real = real_functions();

	if (real == NULL)
		return thrd_error;
	Start *told = take_start();
	prepare_first();
	if (told == NULL)
		return real->thrd_create(out_thread, start, argument);
	told->start = NULL;
	told->start_c11 = start;
	told->argument = argument;
	int result = real->thrd_create(out_thread, run_thread_c11, told);
	if (result != thrd_success)
		release(&told->is_taken);
	return result;
}

/* --- alternate stacks of the program's --- */

EXPORTED int sigaltstack(const stack_t *given, stack_t *out_old)
{
	const RealSignals *real = real_signals();
	Thread *self = stepping_is_installed() ? find(thread_pointer()) : NULL;
	stack_t own, old;

	if (self == NULL || self->stack == NULL)
		return real->sigaltstack(given, out_old);
	own = own_stack(self);
	const bool is_disabled = given != NULL && (given->ss_flags & SS_DISABLE) != 0;
	if (given != NULL && !is_disabled)
		block(self, !is_large_enough(given));
	int result = real->sigaltstack(is_disabled ? &own : given, &old);
	if (result != 0 || is_disabled)
		block(self, false);
	if (result != 0 || out_old == NULL)
		return result;
	*out_old = old.ss_sp == own.ss_sp ? (stack_t){.ss_flags = SS_DISABLE} : old;
	return 0;
}
