/* SPDX-License-Identifier: MIT */
/*
 * What threads wait for, by made looks; and by looks at threads of this process that wait in each
 * of the C library's ways, as their layouts are those of the C library that is installed.
 */
#include "ingest/waits/wait_names.h"
#include "ingest/waits/wait_reason.h"
#include "model/index.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if !defined(__x86_64__)
int main(void)
{
	return 77; /* the numbers of system calls are those of x86-64 */
}
#else

enum { PID = 100, OTHER_THREAD = 103, CHILD = 200, GRANDCHILD, STRANGER };

typedef struct {
	LodeCodeImages *images;
	LodePlaces *places;
	LodeThreads threads;
	LodeWaitNames *names;
	GArray *chain; /* LodePlace */
} Fixture;

static void note(Fixture *self, LodePerfRecordKind kind, uint32_t tid, const char *name)
{
	const LodePerfRecord record = {.kind = kind, .pid = PID, .tid = tid, .text = name};

	lode_threads_note(&self->threads, &record, 1);
}

static void note_process(Fixture *self, uint32_t pid, uint32_t parent, const char *name)
{
	const LodePerfRecord fork = {.kind = LODE_PERF_FORK,
		.pid = pid,
		.tid = pid,
		.parent_pid = parent,
		.parent_tid = parent};
	const LodePerfRecord exec = {
		.kind = LODE_PERF_COMMAND, .pid = pid, .tid = pid, .text = name, .is_exec = true};

	lode_threads_note(&self->threads, &fork, 1);
	lode_threads_note(&self->threads, &exec, 2);
}

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->images = lode_code_images_new(NULL, false);
	self->places = lode_places_new(&(LodePlacesOptions){.images = self->images});
	lode_places_begin(self->places);
	lode_threads_init(&self->threads, 0);
	note(self, LODE_PERF_COMMAND, PID, "main");
	note(self, LODE_PERF_COMMAND, OTHER_THREAD, "wor\nker");
	note(self, LODE_PERF_FORK, OTHER_THREAD + 1, "");
	note_process(self, CHILD, PID, "sed");
	note_process(self, GRANDCHILD, CHILD, "awk");
	note_process(self, STRANGER, 1, "tee");
	self->chain = g_array_new(FALSE, FALSE, sizeof(LodePlace));
}

static void freeze(Fixture *self)
{
	lode_threads_freeze(&self->threads);
	lode_places_freeze(self->places, NULL, NULL, NULL);
	self->names = lode_wait_names_new(self->places);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_wait_names_free(self->names);
	lode_threads_clear(&self->threads);
	lode_places_free(self->places);
	lode_code_images_free(self->images);
	g_array_unref(self->chain);
}

/* "lock ledger_lock (futex)" */
static char *answer(Fixture *self, const LodeWaitLook *look, uint32_t pid, uint32_t tid,
	uint64_t address, bool is_timed_out)
{
	const LodePerfRecord record = {
		.kind = LODE_PERF_SAMPLE, .pid = pid, .tid = tid, .sample.ip = address};
	const LodeWaitQuestion question = {
		.look = look,
		.record = &record,
		.time_ns = 100,
		.chain = self->chain,
		.places = self->places,
		.threads = &self->threads,
		.names = self->names,
		.is_timed_out = is_timed_out,
	};
	g_autofree char *object = NULL, *call = NULL;

	LodeWaitReason reason = lode_wait_reason_find(&question, &object, &call);
	return g_strdup_printf("%s %s (%s)", lode_wait_reason_to_text(reason),
		object != NULL ? object : "-", call != NULL ? call : "-");
}

/* --- made looks --- */

/* A process is waited for: words[0] of the look, which are two before the futex's. */
static void test_processes(Fixture *self, const void *data)
{
	static const struct {
		const char *expected;
		int64_t call;
		uint32_t process;
		const char *target;
	} rows[] = {
		{"child sed (wait4)", SYS_wait4, CHILD, "sh"},
		{"child awk (read)", SYS_read, GRANDCHILD, "pipe:[7]"},
		{"child sed (poll)", SYS_poll, CHILD, ""},
		{"child sed (pselect6)", SYS_pselect6, CHILD, "pipe:[7]"},
		{"child sed (rt_sigsuspend)", SYS_rt_sigsuspend, CHILD, "sh"},
		{"child sed (vfork)", SYS_vfork, CHILD, "sh"},
		{"pipe sed (write)", SYS_write, CHILD, "pipe:[7]"},
		{"pipe tee (read)", SYS_read, STRANGER, "pipe:[7]"},
		{"pipe pipe (read)", SYS_read, 77, "pipe:[7]"},
		{"other tee (pause)", SYS_pause, STRANGER, "tee"},
	};

	(void)data;
	freeze(self);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const LodeWaitLook look = {
			.flags = LODE_LOOK_HAS_PROCESS,
			.n_words = 1,
			.words = {rows[i].process},
			.call = rows[i].call,
			.arguments = {4, 1, 1, 1},
			.state = 'S',
			.target = rows[i].target,
			.kernel_function = "",
		};
		g_autofree char *found = answer(self, &look, PID, PID, 0, false);
		g_assert_cmpstr(found, ==, rows[i].expected);
	}
}

enum { ALONE = FUTEX_PRIVATE_FLAG, UNTIL = FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME };

typedef struct {
	const char *expected;
	int64_t call;
	uint64_t arguments[4];
	const char *target, *kernel_function;
	uint32_t words[5]; /* from the futex on */
	uint64_t timeout_ns;
	char state;
	uint32_t flags;
	bool is_timed_out;
} Made;

static const Made made[] = {
	/* mutexes: normal, without an owner yet, with a time, robust, passing on priority */
	{"lock - (futex)", SYS_futex, {0x1000, ALONE | FUTEX_WAIT, 2}, .words = {2, 0, PID}},
	{"lock - (futex)", SYS_futex, {0x1000, ALONE | FUTEX_WAIT, 2}, .words = {2}},
	{"lock - (futex)", SYS_futex, {0x1000, ALONE | UNTIL, 2}, .words = {2, 1, OTHER_THREAD, 1}},
	{"lock - (futex)", SYS_futex, {0x1000, FUTEX_WAIT, FUTEX_WAITERS | OTHER_THREAD},
		.words = {FUTEX_WAITERS | OTHER_THREAD}},
	{"lock - (futex)", SYS_futex, {0x1000, ALONE | FUTEX_LOCK_PI, 0}},
	{"lock - (futex)", SYS_futex, {0x1000, ALONE | FUTEX_LOCK_PI2, 0}},
	/* a read-write lock that a writer has, where the first and where others wait */
	{"lock - (futex)", SYS_futex, {0x1008, ALONE | UNTIL, 3}, .words = {3, 2, 0, 0, PID}},
	{"lock - (futex)", SYS_futex, {0x100c, ALONE | UNTIL, 3}, .words = {3, 0, 0, PID}},
	{"condition - (futex)", SYS_futex, {0x1008, ALONE | UNTIL, 4}, .words = {4, 2, 0, 0, PID}},
	/* no thread has these ids */
	{"condition - (futex)", SYS_futex, {0x1000, ALONE | UNTIL, 2}, .words = {2, 1, 77, 1}},
	{"condition - (futex)", SYS_futex, {0x1000, ALONE | FUTEX_WAIT, FUTEX_WAITERS | 77}},
	{"condition - (futex)", SYS_futex, {0x1000, FUTEX_WAIT_BITSET, 77}},
	/* conditions */
	{"condition - (futex)", SYS_futex, {0x1028, ALONE | UNTIL, 0}},
	{"condition - (futex)", SYS_futex, {0, 0, 0}},
	{"condition - (futex)", SYS_futex, {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}},
	{"sleep 40 ms (futex)", SYS_futex, {0x1028, ALONE | UNTIL, 0}, .timeout_ns = 40123456,
		.is_timed_out = true},
	{"condition - (semop)", SYS_semop, {1, 2, 3}},
	{"condition - (futex_waitv)", 449, {0}},
	/* joins: the thread's own id is none */
	{"join wor?ker (futex)", SYS_futex, {0x1000, UNTIL, OTHER_THREAD}, .words = {OTHER_THREAD}},
	{"join thread 104 (futex)", SYS_futex, {0x1000, UNTIL, OTHER_THREAD + 1}},
	{"condition - (futex)", SYS_futex, {0x1000, UNTIL, PID}},
	/* sleeps */
	{"sleep 40 ms (nanosleep)", SYS_nanosleep, {0x1000}, .timeout_ns = 40000000},
	{"sleep 1.5 s (clock_nanosleep)", SYS_clock_nanosleep, {0}, .timeout_ns = 1501000000},
	{"sleep 100 µs (nanosleep)", SYS_nanosleep, {0}, .timeout_ns = 99999},
	{"sleep 1 ns (nanosleep)", SYS_nanosleep, {0}, .timeout_ns = 1},
	{"sleep 18000000000 s (nanosleep)", SYS_nanosleep, {0}, .timeout_ns = UINT64_MAX},
	{"sleep - (nanosleep)", SYS_nanosleep, {0}},
	{"sleep 5 ms (poll)", SYS_poll, {0x1000, 0, 5}, .timeout_ns = 5000000},
	{"sleep - (select)", SYS_select, {0, 0, 0, 0}},
	{"sleep - (pselect6)", SYS_pselect6, {8, 0, 0, 0}},
	/* polls */
	{"poll - (poll)", SYS_poll, {0x1000, 3, 5}, .timeout_ns = 5000000},
	{"poll - (select)", SYS_select, {8, 0x1000, 0, 0}},
	{"poll epoll (epoll_wait)", SYS_epoll_wait, {4}, "anon_inode:[eventpoll]"},
	/* descriptors */
	{"read /var/db (pread64)", SYS_pread64, {4}, "/var/db"},
	{"write /var/db (writev)", SYS_writev, {4}, "/var/db"},
	{"pipe pipe (read)", SYS_read, {4}, "pipe:[4711]"},
	{"pipe pipe to gzip (write)", SYS_write, {4}, "pipe to gzip"},
	{"pipe /tmp/fifo (read)", SYS_read, {4}, "/tmp/fifo", "anon_pipe_read"},
	{"socket socket (read)", SYS_read, {4}, "socket:[4711]"},
	{"socket tcp 127.0.0.1:5432 (write)", SYS_write, {4}, "tcp 127.0.0.1:5432 from :45012"},
	{"socket tcp 0.0.0.0:80 listening (accept4)", SYS_accept4, {4},
		"tcp 0.0.0.0:80 listening from :80"},
	{"unseen - (-)", LODE_LOOK_NO_CALL, {0}, .flags = LODE_LOOK_WAS_REFUSED},
	{"socket unix /run/x.sock (read)", SYS_read, {4}, "unix /run/x.sock accepted"},
	{"socket tcp [::1]:80 (read)", SYS_read, {4}, "tcp [::1]:80 from :45012"},
	{"socket tcp 127.0.0.1:5432 (recvfrom)", SYS_recvfrom, {4}, "tcp 127.0.0.1:5432"},
	{"poll eventfd (read)", SYS_read, {4}, "anon_inode:[eventfd]"},
	{"poll inotify (read)", SYS_read, {4}, "anon_inode:inotify"},
	{"poll anon_inode:[new] (read)", SYS_read, {4}, "anon_inode:[new]"},
	{"read /dev/pts/3 (read)", SYS_read, {0}, "/dev/pts/3"},
	{"read - (read)", SYS_read, {4}},
	{"read a?b (read)", SYS_read, {4}, "a\033b"},
	/* the rest */
	{"sync /var/log (fsync)", SYS_fsync, {4}, "/var/log"},
	{"sync - (sync)", SYS_sync, {0}},
	{"child gzip (wait4)", SYS_wait4, {UINT64_MAX}, "gzip"},
	{"child - (vfork)", SYS_vfork, {0}},
	{"lock /run/lock (flock)", SYS_flock, {4}, "/run/lock"},
	{"lock /run/lock (fcntl)", SYS_fcntl, {4, F_SETLKW}, "/run/lock"},
	{"other /run/lock (fcntl)", SYS_fcntl, {4, F_GETFL}, "/run/lock"},
	{"other io_uring_enter (io_uring_enter)", SYS_io_uring_enter, {4}},
	{"other pause (pause)", SYS_pause, {0}},
	{"other - (-)", 100000, {0}},
	{"other - (-)", INT64_MAX, {0}},
	/* outside of calls, and calls that go on */
	{"page - (-)", LODE_LOOK_NO_CALL, {0}},
	{"page - (-)", LODE_LOOK_NO_CALL, {0}, .kernel_function = "folio_wait_bit_common"},
	{"page - (-)", INT64_MIN, {0}},
	{"stopped - (-)", LODE_LOOK_NO_CALL, {0}, .state = 'T'},
	{"stopped - (read)", SYS_read, {4}, .state = 't'},
	{"sleep 1 s (restart_syscall)", SYS_restart_syscall, {0},
		.kernel_function = "hrtimer_nanosleep", .timeout_ns = 1000000000},
	{"lock - (restart_syscall)", SYS_restart_syscall, {0x1000, ALONE | FUTEX_WAIT, 2},
		.kernel_function = "futex_do_wait"},
	{"other restart_syscall (restart_syscall)", SYS_restart_syscall, {0},
		.kernel_function = "new_function"},
	/* where calls are not told */
	{"pipe - (-)", LODE_LOOK_NO_CALL, {0}, .kernel_function = "pipe_read",
		.flags = LODE_LOOK_WAS_REFUSED},
	{"other futex_do_wait (-)", LODE_LOOK_NO_CALL, {0}, .kernel_function = "futex_do_wait",
		.flags = LODE_LOOK_WAS_REFUSED},
	{"other new_function (-)", LODE_LOOK_NO_CALL, {0}, .kernel_function = "new_function",
		.flags = LODE_LOOK_WAS_REFUSED},
	/* of 32 bits: 3 is read, 240 futex, 162 nanosleep */
	{"pipe pipe (read)", 3, {4}, "pipe:[1]", .flags = LODE_LOOK_ON_32_BITS},
	{"lock - (futex)", 240, {0x1000, ALONE | FUTEX_WAIT, 2}, .flags = LODE_LOOK_ON_32_BITS},
	{"sleep - (nanosleep)", 162, {0}, .flags = LODE_LOOK_ON_32_BITS},
};

static void test_made(Fixture *self, const void *data)
{
	(void)data;
	freeze(self);
	for (size_t i = 0; i < G_N_ELEMENTS(made); i++) {
		const Made *row = &made[i];
		LodeWaitLook look = {
			.flags = row->flags,
			.n_words = LODE_LOOK_WORDS,
			.call = row->call,
			.timeout_ns = row->timeout_ns,
			.state = row->state != 0 ? row->state : 'S',
			.target = row->target != NULL ? row->target : "",
			.kernel_function = row->kernel_function != NULL ? row->kernel_function : "",
		};
		memcpy(look.arguments, row->arguments, sizeof(row->arguments));
		memcpy(look.words + LODE_LOOK_WORDS_BEFORE, row->words, sizeof(row->words));
		g_autofree char *found = answer(self, &look, PID, PID, 0x400000, row->is_timed_out);
		g_assert_cmpstr(found, ==, row->expected);
	}
}

/* Words that are not there are not read. */
static void test_few_words(Fixture *self, const void *data)
{
	LodeWaitLook look = {
		.call = SYS_futex,
		.arguments = {0x1000, ALONE | UNTIL, 2},
		.words = {[LODE_LOOK_WORDS_BEFORE] = 2, [LODE_LOOK_WORDS_BEFORE + 2] = PID},
		.state = 'S',
		.target = "",
		.kernel_function = "",
	};

	(void)data;
	freeze(self);
	for (look.n_words = 0; look.n_words <= LODE_LOOK_WORDS; look.n_words++) {
		g_autofree char *found = answer(self, &look, PID, PID, 0x400000, false);
		g_assert_cmpstr(found, ==,
			look.n_words > LODE_LOOK_WORDS_BEFORE + 2 ? "lock - (futex)"
								  : "condition - (futex)");
	}
}

/* --- what words stand for --- */

static void test_functions(void)
{
	static const struct {
		const char *name;
		LodeWaitReason reason;
	} rows[] = {
		{"___pthread_mutex_lock@@GLIBC_2.2.5", LODE_WAIT_LOCK},
		{"__lll_lock_wait_private", LODE_WAIT_LOCK},
		{"__pthread_clockjoin_ex", LODE_WAIT_JOIN},
		{"pthread_cond_timedwait", LODE_WAIT_CONDITION},
		{"std::condition_variable::wait(std::unique_lock<std::mutex>&)",
			LODE_WAIT_CONDITION},
		{"std::sys::unix::locks::futex_mutex::Mutex::lock_contended", LODE_WAIT_LOCK},
		{"std::sys::unix::locks::futex_condvar::Condvar::wait", LODE_WAIT_CONDITION},
		{"<std::sys::sync::mutex::futex::Mutex>::lock_contended", LODE_WAIT_LOCK},
		{"<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout",
			LODE_WAIT_CONDITION},
		{"<app::Mutex as app::Lock>::lock", LODE_N_WAIT_REASONS},
		{"std::sys::sync::mutex::futex::Mutex::lock_contended", LODE_WAIT_LOCK},
		{"std::sys::sync::condvar::futex::Condvar::wait", LODE_WAIT_CONDITION},
		{"ObjectMonitor::enter(JavaThread*)", LODE_WAIT_LOCK},
		{"Parker::park(bool, long)", LODE_WAIT_CONDITION},
		{"runtime.notesleep", LODE_WAIT_CONDITION},
		{"runtime.lock2", LODE_WAIT_LOCK},
		{"take_gil", LODE_WAIT_LOCK},
		{"main", LODE_N_WAIT_REASONS},
		{"", LODE_N_WAIT_REASONS},
		{"___", LODE_N_WAIT_REASONS},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const LodeWaitFunction *says = lode_wait_function_find(rows[i].name);
		g_assert_cmpint(
			says != NULL ? says->reason : LODE_N_WAIT_REASONS, ==, rows[i].reason);
	}
}

/* --- threads of this process --- */

struct shard {
	long n;
	pthread_mutex_t lock;
};

struct account {
	char owner[24];
	pthread_mutex_t lock;
};

struct page {
	pthread_cond_t ready;
	pthread_mutex_t lock;
	int n;
};

static pthread_mutex_t ledger_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t robust_lock, heir_lock, checked_lock, again_lock, shared_lock;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t page_ready = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t page_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_there;
static sem_t places_left;
static struct shard shards[4];
static struct account *account;
static pthread_t joined;
static int ends[2];
static struct page *page;
static uintptr_t caller_address, woken_address;

__attribute__((noinline)) static void hold(pthread_mutex_t *mutex)
{
	caller_address = (uintptr_t)__builtin_return_address(0);
	pthread_mutex_lock(mutex);
}

__attribute__((noinline)) static void post(struct account *to)
{
	hold(&to->lock);
	to->owner[0] = 'a';
}

/* Like that of the C library when it is woken: by its name it waits for the condition. */
__attribute__((noinline)) static void pthread_cond_wait_again(
	pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	woken_address = (uintptr_t)__builtin_return_address(0);
	pthread_mutex_lock(mutex);
	pthread_cond_signal(condition);
}

__attribute__((noinline)) static void take(struct page *from)
{
	pthread_cond_wait_again(&from->ready, &from->lock);
	from->n++;
}

static void wait_long(void)
{
	struct timespec long_time = {.tv_sec = 1000};

	while (nanosleep(&long_time, NULL) != 0)
		continue;
}

static struct timespec much_later(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += 1000;
	return time;
}

static void in_mutex(void)
{
	pthread_mutex_lock(&ledger_lock);
}

static void in_timed_mutex(void)
{
	struct timespec time = much_later();

	pthread_mutex_timedlock(&ledger_lock, &time);
}

static void in_robust_mutex(void)
{
	pthread_mutex_lock(&robust_lock);
}

static void in_heir_mutex(void)
{
	pthread_mutex_lock(&heir_lock);
}

static void in_checked_mutex(void)
{
	pthread_mutex_lock(&checked_lock);
}

static void in_recursive_mutex(void)
{
	pthread_mutex_lock(&again_lock);
}

static void in_shared_mutex(void)
{
	pthread_mutex_lock(&shared_lock);
}

static void in_member(void)
{
	pthread_mutex_lock(&shards[2].lock);
}

static void in_allocated(void)
{
	post(account);
}

static void in_woken(void)
{
	take(page);
}

static void in_read_lock(void)
{
	pthread_rwlock_rdlock(&table_lock);
}

static void in_write_lock(void)
{
	pthread_rwlock_wrlock(&table_lock);
}

static void in_condition(void)
{
	pthread_mutex_lock(&page_lock);
	pthread_cond_wait(&page_ready, &page_lock);
}

static void in_timed_condition(void)
{
	struct timespec time = much_later();

	pthread_mutex_lock(&page_lock);
	pthread_cond_timedwait(&page_ready, &page_lock, &time);
}

static void in_barrier(void)
{
	pthread_barrier_wait(&all_there);
}

static void in_semaphore(void)
{
	while (sem_wait(&places_left) != 0)
		continue;
}

static void in_join(void)
{
	pthread_join(joined, NULL);
}

static void in_pipe(void)
{
	char byte;

	while (read(ends[0], &byte, 1) < 0)
		continue;
}

static void in_poll(void)
{
	while (poll(NULL, 0, 1000 * 1000) < 0)
		continue;
}

typedef struct {
	void (*function)(void);
	uint32_t tid;
	pthread_t thread;
} Waiter;

static void *run(void *data)
{
	Waiter *self = data;

	__atomic_store_n(&self->tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	self->function();
	return NULL;
}

/* Begins a thread that never ends. */
static void begin(Waiter *self, void (*function)(void))
{
	*self = (Waiter){.function = function};
	g_assert_cmpint(pthread_create(&self->thread, NULL, run, self), ==, 0);
	while (__atomic_load_n(&self->tid, __ATOMIC_ACQUIRE) == 0)
		g_usleep(100);
}

/* The look at a thread, when it waits in this call, of a futex in this object. */
static uint64_t look_at(
	const Waiter *waiter, int64_t call, const void *object, size_t size, LodeWaitLook *out)
{
	g_autofree char *path = g_strdup_printf("/proc/self/task/%u/syscall", waiter->tid);
	uint64_t *arguments = out->arguments, stack, address = 0;
	long number;

	for (;; g_usleep(1000)) {
		g_autofree char *text = NULL;
		g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
		if (sscanf(text, "%ld %lx %lx %lx %lx %lx %lx %lx %lx", &number, &arguments[0],
			    &arguments[1], &arguments[2], &arguments[3], &arguments[4],
			    &arguments[5], &stack, &address) != 9 ||
			number != call)
			continue;
		if (object == NULL || arguments[0] - (uintptr_t)object < size)
			break;
	}
	out->call = number;
	out->state = 'S';
	out->target = out->kernel_function = "";
	if (object == NULL)
		return address;
	uint64_t first = arguments[0] - LODE_LOOK_WORDS_BEFORE * sizeof(uint32_t);
	const struct iovec local = {out->words, sizeof(out->words)},
			   remote = {(void *)(uintptr_t)first, sizeof(out->words)};
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	out->n_words = n > 0 ? (uint32_t)n / sizeof(uint32_t) : 0;
	return address;
}

/* The process's mappings of code, as a recording has them. */
static void note_own_mappings(Fixture *self)
{
	g_autofree char *text = NULL;

	g_assert_true(g_file_get_contents("/proc/self/maps", &text, NULL, NULL));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++) {
		unsigned long start, end, offset, inode;
		unsigned major, minor;
		int path = 0;
		char rights[8];
		if (sscanf(*line, "%lx-%lx %7s %lx %x:%x %lu %n", &start, &end, rights, &offset,
			    &major, &minor, &inode, &path) < 7 ||
			strchr(rights, 'x') == NULL || (*line)[path] != '/')
			continue;
		const LodePerfRecord record = {
			.kind = LODE_PERF_MAPPING,
			.mode = LODE_PERF_MODE_USER,
			.pid = (uint32_t)getpid(),
			.mapping = {.start = start,
				.size = end - start,
				.offset = offset,
				.protection = PROT_READ | PROT_EXEC,
				.path = *line + path,
				.device_major = major,
				.device_minor = minor,
				.inode = inode},
		};
		lode_places_note(self->places, &record, 1);
	}
}

static void note_own_thread(Fixture *self, uint32_t tid, const char *name)
{
	const LodePerfRecord record = {
		.kind = LODE_PERF_COMMAND, .pid = (uint32_t)getpid(), .tid = tid, .text = name};

	lode_threads_note(&self->threads, &record, 1);
}

typedef struct {
	void (*function)(void);
	const char *expected;
	int64_t call;
	const void *object; /* that has the futex; NULL: none */
	size_t size;
} Own;

static const Own own[] = {
	{in_mutex, "lock ledger_lock (futex)", SYS_futex, &ledger_lock, sizeof(ledger_lock)},
	{in_timed_mutex, "lock ledger_lock (futex)", SYS_futex, &ledger_lock, sizeof(ledger_lock)},
	{in_robust_mutex, "lock robust_lock (futex)", SYS_futex, &robust_lock, sizeof(robust_lock)},
	{in_heir_mutex, "lock heir_lock (futex)", SYS_futex, &heir_lock, sizeof(heir_lock)},
	{in_checked_mutex, "lock checked_lock (futex)", SYS_futex, &checked_lock,
		sizeof(checked_lock)},
	{in_recursive_mutex, "lock again_lock (futex)", SYS_futex, &again_lock, sizeof(again_lock)},
	{in_shared_mutex, "lock shared_lock (futex)", SYS_futex, &shared_lock, sizeof(shared_lock)},
	{in_member, "lock struct shard.lock (futex)", SYS_futex, shards, sizeof(shards)},
	{in_read_lock, "lock table_lock (futex)", SYS_futex, &table_lock, sizeof(table_lock)},
	{in_write_lock, "lock table_lock (futex)", SYS_futex, &table_lock, sizeof(table_lock)},
	{in_condition, "condition page_ready (futex)", SYS_futex, &page_ready, sizeof(page_ready)},
	{in_timed_condition, "condition page_ready (futex)", SYS_futex, &page_ready,
		sizeof(page_ready)},
	{in_barrier, "condition all_there (futex)", SYS_futex, &all_there, sizeof(all_there)},
	{in_semaphore, "condition places_left (futex)", SYS_futex, &places_left,
		sizeof(places_left)},
	{in_pipe, "read - (read)", SYS_read, NULL, 0},
	{in_poll, "sleep - (poll)", SYS_poll, NULL, 0},
	{wait_long, "sleep - (clock_nanosleep)", SYS_clock_nanosleep, NULL, 0},
};

/* All that they wait for is this thread's. */
static void take_all(void)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust_lock, &kind);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&heir_lock, &kind);
	pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_NONE);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked_lock, &kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&again_lock, &kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
	pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared_lock, &kind);
	pthread_mutexattr_destroy(&kind);
	for (size_t i = 0; i < G_N_ELEMENTS(shards); i++)
		pthread_mutex_init(&shards[i].lock, NULL);
	account = g_new0(struct account, 1);
	pthread_mutex_init(&account->lock, NULL);
	page = g_new0(struct page, 1);
	pthread_mutex_init(&page->lock, NULL);
	pthread_cond_init(&page->ready, NULL);
	pthread_barrier_init(&all_there, NULL, 2);
	sem_init(&places_left, 0, 0);
	g_assert_cmpint(pipe(ends), ==, 0);
	pthread_mutex_t *const locks[] = {&ledger_lock, &robust_lock, &heir_lock, &checked_lock,
		&again_lock, &shared_lock, &shards[2].lock, &account->lock, &page->lock};
	for (size_t i = 0; i < G_N_ELEMENTS(locks); i++)
		g_assert_cmpint(pthread_mutex_lock(locks[i]), ==, 0);
	g_assert_cmpint(pthread_rwlock_wrlock(&table_lock), ==, 0);
}

/* Its variables have no symbols then, nor does the debug information of sanitized builds have them.
 */
static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#else
	return false;
#endif
#else
	return false;
#endif
}

static void check_own(Fixture *self, const Waiter *waiter, const Own *row)
{
	LodeWaitLook look = {0};
	uint64_t address = look_at(waiter, row->call, row->object, row->size, &look);
	g_autofree char *found = answer(
		self, &look, (uint32_t)getpid(), waiter->tid, address, false);
	if (is_sanitized()) {
		found[strcspn(found, " ")] = '\0';
		g_assert_true(g_str_has_prefix(row->expected, found));
		return;
	}
	g_assert_cmpstr(found, ==, row->expected);
}

/* Also where there is no name of any function. */
static void check_nameless(Fixture *self, const Waiter *waiter, const Own *row)
{
	LodeWaitNames *names = g_steal_pointer(&self->names);
	LodeWaitLook look = {0};
	const char *end = strchr(row->expected, ' ');

	look_at(waiter, row->call, row->object, row->size, &look);
	g_autofree char *found = answer(self, &look, (uint32_t)getpid(), waiter->tid, 0, false);
	g_assert_cmpint(strncmp(found, row->expected, (size_t)(end - row->expected)), ==, 0);
	self->names = names;
}

/* The threads wait until the process ends. */
static void test_own(Fixture *self, const void *data)
{
	static Waiter waiters[G_N_ELEMENTS(own)], joiner, joined_one, user, woken;
	LodeWaitLook look = {0};

	(void)data;
	take_all();
	note_own_mappings(self);
	note_own_thread(self, (uint32_t)gettid(), "test");
	for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
		begin(&waiters[i], own[i].function);
		note_own_thread(self, waiters[i].tid, "waiter");
	}
	begin(&joined_one, wait_long);
	joined = joined_one.thread;
	begin(&joiner, in_join);
	begin(&user, in_allocated);
	begin(&woken, in_woken);
	note_own_thread(self, joined_one.tid, "worker");
	note_own_thread(self, user.tid, "user");
	freeze(self);
	for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
		check_own(self, &waiters[i], &own[i]);
		check_nameless(self, &waiters[i], &own[i]);
	}

	uint64_t address = look_at(&joiner, SYS_futex, NULL, 0, &look);
	g_autofree char *join = answer(self, &look, (uint32_t)getpid(), joiner.tid, address, false);
	g_assert_cmpstr(join, ==, "join worker (futex)");

	address = look_at(&user, SYS_futex, &account->lock, sizeof(account->lock), &look);
	LodePlace place;
	lode_places_find(self->places, (uint32_t)getpid(), 100, caller_address - 1, &place);
	g_array_append_val(self->chain, place);
	g_autofree char *allocated = answer(
		self, &look, (uint32_t)getpid(), user.tid, address, false);
	g_assert_cmpstr(allocated, ==, "lock struct account.lock (futex)");

	look = (LodeWaitLook){0};
	address = look_at(&woken, SYS_futex, &page->lock, sizeof(page->lock), &look);
	const uintptr_t callers[] = {(uintptr_t)pthread_cond_wait_again, woken_address - 1};
	g_array_set_size(self->chain, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(callers); i++) {
		lode_places_find(self->places, (uint32_t)getpid(), 100, callers[i], &place);
		g_array_append_val(self->chain, place);
	}
	g_autofree char *again = answer(self, &look, (uint32_t)getpid(), woken.tid, address, false);
	g_assert_cmpstr(again, ==, "lock struct page.lock (futex)");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/wait-reason/made", Fixture, NULL, set_up, test_made, tear_down);
	g_test_add("/wait-reason/few-words", Fixture, NULL, set_up, test_few_words, tear_down);
	g_test_add("/wait-reason/processes", Fixture, NULL, set_up, test_processes, tear_down);
	g_test_add_func("/wait-reason/functions", test_functions);
	g_test_add("/wait-reason/own-threads", Fixture, NULL, set_up, test_own, tear_down);
	return g_test_run();
}
#endif
