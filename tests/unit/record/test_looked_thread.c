/* SPDX-License-Identifier: MIT */
/* Looks at threads of this process that wait for something that is known. */
#include "record/waits/looks.h"
#include "sources/perf_data/wait_look.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 1024, LONGEST_US = 60 * G_USEC_PER_SEC };

/* What one look wrote: the fields of its last record. */
typedef struct {
	struct perf_event_header header;
	uint64_t identifier, address, time_ns, abi, stack_pointer, stack_bytes;
	uint32_t pid, tid;
	LodeWaitLook look;
} Record;

typedef struct {
	GThread *thread;
	pid_t tid; /* of it, when it is about to wait */
	LodeLookedProcess *process;
	LodeLookedThread *looked;
	LodeLookOutput output;
	Record record;
} Fixture;

static pid_t own_thread(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void begin(Fixture *self, GThreadFunc function)
{
	*self = (Fixture){.output = {STACK_BYTES, 1 << 20, g_byte_array_new()}};
	self->thread = g_thread_new("waits", function, self);
	while (g_atomic_int_get(&self->tid) == 0)
		g_usleep(1000);
	self->process = lode_looked_process_new(getpid());
	self->looked = lode_looked_thread_new(self->process, self->tid, true, 1);
}

static void end(Fixture *self)
{
	g_thread_join(self->thread);
	lode_looked_thread_free(self->looked);
	lode_looked_process_free(self->process);
	g_byte_array_unref(self->output.records);
}

static uint64_t take_u64(const uint8_t **at)
{
	uint64_t value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return value;
}

/* The record at an offset of what was written. */
static void read_record(Fixture *self, guint offset)
{
	const uint8_t *at = self->output.records->data + offset;
	Record *out = &self->record;
	uint32_t raw_bytes;

	memcpy(&out->header, at, sizeof(out->header));
	const uint8_t *end = at + out->header.size;
	at += sizeof(out->header);
	out->identifier = take_u64(&at);
	out->address = take_u64(&at);
	memcpy(&out->pid, at, sizeof(out->pid));
	memcpy(&out->tid, at + sizeof(out->pid), sizeof(out->tid));
	at += 8;
	out->time_ns = take_u64(&at);
	g_assert_cmpuint(take_u64(&at), ==, 0);
	g_assert_cmpuint(take_u64(&at), ==, 1);
	memcpy(&raw_bytes, at, sizeof(raw_bytes));
	at += sizeof(raw_bytes);
	g_assert_true(lode_wait_look_read(&out->look, at, raw_bytes));
	at += raw_bytes;
	out->abi = take_u64(&at);
	out->stack_pointer = take_u64(&at);
	g_assert_cmpuint(take_u64(&at), ==, out->address);
	out->stack_bytes = take_u64(&at);
	at += out->stack_bytes;
	if (out->stack_bytes > 0)
		g_assert_cmpuint(take_u64(&at), <=, out->stack_bytes);
	g_assert_true(at == end);
	g_assert_cmpuint(out->header.size % 8, ==, 0);
	g_assert_cmpuint(out->identifier, ==, LODE_WAITING_ID);
}

/* Until the thread waits in this call. */
static void look_for(Fixture *self, int64_t call)
{
	gint64 until_us = g_get_monotonic_time() + LONGEST_US;

	for (;;) {
		g_byte_array_set_size(self->output.records, 0);
		LodeLookOutcome outcome = lode_looked_thread_look(self->looked, &self->output);
		if (outcome == LODE_LOOK_DONE) {
			guint offset = 0;
			do {
				read_record(self, offset);
				offset += self->record.header.size;
			} while (offset < self->output.records->len);
			if (self->record.look.call == call)
				break;
		}
		g_assert_cmpint(g_get_monotonic_time(), <, until_us);
		g_usleep(1000);
	}
	g_assert_cmpuint(self->record.pid, ==, (uint32_t)getpid());
	g_assert_cmpuint(self->record.abi, ==, PERF_SAMPLE_REGS_ABI_64);
	g_assert_cmpuint(self->record.tid, ==, (uint32_t)self->tid);
	g_assert_cmpuint(self->record.stack_pointer, !=, 0);
	g_assert_cmpuint(self->record.look.interval_ns, >, 0);
	g_assert_cmpint(self->record.look.state, ==, 'S');
}

static int pipe_ends[2];

static void *read_pipe(void *data)
{
	Fixture *self = data;
	char byte;

	g_atomic_int_set(&self->tid, own_thread());
	g_assert_cmpint(read(pipe_ends[0], &byte, 1), ==, 1);
	return NULL;
}

static void test_read(void)
{
	Fixture self;

	g_assert_cmpint(pipe(pipe_ends), ==, 0);
	begin(&self, read_pipe);
	look_for(&self, SYS_read);
	g_assert_true(g_str_has_prefix(self.record.look.target, "pipe:["));
	g_assert_cmpuint(self.record.look.arguments[0], ==, (uint64_t)pipe_ends[0]);
	g_assert_cmpuint(self.record.look.arguments[2], ==, 1);
	g_assert_cmpuint(self.record.stack_bytes, ==, STACK_BYTES);
	/* It has not run since. */
	g_assert_cmpint(lode_looked_thread_look(self.looked, &self.output), ==, LODE_LOOK_SAME);
	/* Seen by somebody who does not know it, its stack need not be written again. */
	LodeLookedThread *other = lode_looked_thread_new(self.process, self.tid, false, 1);
	g_byte_array_set_size(self.output.records, 0);
	g_assert_cmpint(lode_looked_thread_look(other, &self.output), ==, LODE_LOOK_DONE);
	read_record(&self, 0);
	g_assert_cmpuint(self.record.stack_bytes, ==, 0);
	lode_looked_thread_free(other);
	g_assert_cmpint(write(pipe_ends[1], "x", 1), ==, 1);
	end(&self);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock_mutex(void *data)
{
	Fixture *self = data;

	g_atomic_int_set(&self->tid, own_thread());
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* The thread that has it is looking: it reads what it does itself. */
static void test_lock(void)
{
	Fixture self;

	pthread_mutex_lock(&mutex);
	begin(&self, lock_mutex);
	look_for(&self, SYS_futex);
	g_assert_cmpuint(self.record.look.arguments[0], ==, (uint64_t)(uintptr_t)&mutex);
	g_assert_cmpuint(self.record.look.n_words, ==, LODE_LOOK_WORDS);
	g_assert_cmpuint(self.record.look.words[LODE_LOOK_WORDS_BEFORE], ==, 2);
	g_assert_cmpuint(self.record.look.holder, ==, (uint32_t)own_thread());
	g_assert_cmpint(self.record.look.holder_call, ==, SYS_pread64);
	pthread_mutex_unlock(&mutex);
	end(&self);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *lock_to_read(void *data)
{
	Fixture *self = data;

	g_atomic_int_set(&self->tid, own_thread());
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static void test_read_lock(void)
{
	Fixture self;

	pthread_rwlock_wrlock(&rwlock);
	begin(&self, lock_to_read);
	look_for(&self, SYS_futex);
	g_assert_cmpuint(self.record.look.holder, ==, (uint32_t)own_thread());
	pthread_rwlock_unlock(&rwlock);
	end(&self);
}

static int held_ends[2];

static void *hold_mutex(void *data)
{
	pid_t *tid = data;
	char byte;

	pthread_mutex_lock(&mutex);
	g_atomic_int_set(tid, own_thread());
	g_assert_cmpint(read(held_ends[0], &byte, 1), ==, 1);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* The thread that has it waits itself: there is a record of that before. */
static void test_waiting_holder(void)
{
	Fixture self;
	pid_t holder = 0;

	g_assert_cmpint(pipe(held_ends), ==, 0);
	GThread *thread = g_thread_new("holds", hold_mutex, &holder);
	while (g_atomic_int_get(&holder) == 0)
		g_usleep(1000);
	begin(&self, lock_mutex);
	look_for(&self, SYS_futex);
	g_assert_cmpuint(self.record.look.holder, ==, (uint32_t)holder);
	/* It may not have come to its read yet. */
	gint64 until_us = g_get_monotonic_time() + LONGEST_US;
	while (self.record.look.holder_call != SYS_read) {
		g_assert_cmpint(g_get_monotonic_time(), <, until_us);
		lode_looked_thread_free(self.looked);
		self.looked = lode_looked_thread_new(self.process, self.tid, true, 1);
		look_for(&self, SYS_futex);
	}
	g_assert_cmpint(self.record.look.holder_call, ==, SYS_read);
	read_record(&self, 0);
	g_assert_cmpuint(self.record.tid, ==, (uint32_t)holder);
	g_assert_cmpuint(self.record.look.flags & LODE_LOOK_OF_HOLDER, !=, 0);
	g_assert_cmpint(self.record.look.call, ==, SYS_read);
	g_assert_true(g_str_has_prefix(self.record.look.target, "pipe:["));
	g_assert_cmpint(write(held_ends[1], "x", 1), ==, 1);
	g_thread_join(thread);
	end(&self);
	close(held_ends[0]);
	close(held_ends[1]);
}

static volatile int may_sleep_on = 1;

static void *sleep_long(void *data)
{
	Fixture *self = data;
	const struct timespec time = {3, 250000000};

	g_atomic_int_set(&self->tid, own_thread());
	while (g_atomic_int_get(&may_sleep_on))
		nanosleep(&time, NULL);
	return NULL;
}

static void ignore(int signal)
{
	(void)signal;
}

static void interrupt(Fixture *self)
{
	signal(SIGUSR1, ignore);
	g_atomic_int_set(&may_sleep_on, 0);
	syscall(SYS_tgkill, getpid(), self->tid, SIGUSR1);
	end(self);
	g_atomic_int_set(&may_sleep_on, 1);
}

static void test_sleep(void)
{
	Fixture self;

	begin(&self, sleep_long);
	look_for(&self, SYS_clock_nanosleep);
	g_assert_cmpuint(self.record.look.timeout_ns, ==, UINT64_C(3250000000));
	interrupt(&self);
}

/* At most so long from the look on. */
static void assert_time_is_left(const Fixture *self, uint64_t most_ns)
{
	g_assert_cmpuint(self->record.look.flags & LODE_LOOK_TIME_IS_LEFT, !=, 0);
	g_assert_cmpuint(self->record.look.timeout_ns, >, 0);
	g_assert_cmpuint(self->record.look.timeout_ns, <=, most_ns);
}

static struct timespec in_an_hour(clockid_t clock)
{
	struct timespec time;

	g_assert_cmpint(clock_gettime(clock, &time), ==, 0);
	time.tv_sec += 3600;
	return time;
}

static void *sleep_until(void *data)
{
	Fixture *self = data;
	const struct timespec time = in_an_hour(CLOCK_REALTIME);

	g_atomic_int_set(&self->tid, own_thread());
	while (g_atomic_int_get(&may_sleep_on))
		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL);
	return NULL;
}

static void test_sleep_until(void)
{
	Fixture self;

	begin(&self, sleep_until);
	look_for(&self, SYS_clock_nanosleep);
	assert_time_is_left(&self, UINT64_C(3600000000000));
	interrupt(&self);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *wait_until(void *data)
{
	Fixture *self = data;
	const struct timespec time = in_an_hour(CLOCK_REALTIME);

	pthread_mutex_lock(&mutex);
	g_atomic_int_set(&self->tid, own_thread());
	while (g_atomic_int_get(&may_sleep_on))
		pthread_cond_timedwait(&condition, &mutex, &time);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void test_condition_until(void)
{
	Fixture self;

	begin(&self, wait_until);
	look_for(&self, SYS_futex);
	assert_time_is_left(&self, UINT64_C(3600000000000));
	pthread_mutex_lock(&mutex);
	g_atomic_int_set(&may_sleep_on, 0);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	end(&self);
	g_atomic_int_set(&may_sleep_on, 1);
}

static void *poll_one(void *data)
{
	Fixture *self = data;
	struct pollfd one = {.fd = pipe_ends[0], .events = POLLIN};

	g_atomic_int_set(&self->tid, own_thread());
	while (g_atomic_int_get(&may_sleep_on))
		poll(&one, 1, 3600 * 1000);
	return NULL;
}

static void test_poll(void)
{
	Fixture self;

	g_assert_cmpint(pipe(pipe_ends), ==, 0);
	begin(&self, poll_one);
	look_for(&self, SYS_poll);
	g_assert_true(g_str_has_prefix(self.record.look.target, "pipe:["));
	g_assert_cmpuint(self.record.look.timeout_ns, ==, UINT64_C(3600000000000));
	interrupt(&self);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

static int n_selected;

static void *select_some(void *data)
{
	Fixture *self = data;
	const struct timespec time = {3, 5000};
	fd_set set;

	g_atomic_int_set(&self->tid, own_thread());
	while (g_atomic_int_get(&may_sleep_on)) {
		FD_ZERO(&set);
		for (int i = 0; i < n_selected; i++)
			FD_SET(pipe_ends[i], &set);
		pselect(MAX(pipe_ends[0], pipe_ends[1]) + 1, &set, NULL, NULL, &time, NULL);
	}
	return NULL;
}

static void assert_selected(int n, const char *prefix)
{
	Fixture self;

	n_selected = n;
	begin(&self, select_some);
	look_for(&self, SYS_pselect6);
	g_assert_true(g_str_has_prefix(self.record.look.target, prefix));
	g_assert_cmpint(self.record.look.target[0] == '\0', ==, prefix[0] == '\0');
	g_assert_cmpuint(self.record.look.timeout_ns, ==, UINT64_C(3000005000));
	interrupt(&self);
}

static void test_select(void)
{
	int unused[2];

	/* Two that are never ready to be read, one of them beyond the first word of the set. */
	g_assert_cmpint(pipe(pipe_ends), ==, 0);
	g_assert_cmpint(pipe(unused), ==, 0);
	pipe_ends[1] = fcntl(unused[0], F_DUPFD_CLOEXEC, 70);
	g_assert_cmpint(pipe_ends[1], >=, 70);
	assert_selected(1, "pipe:[");
	assert_selected(2, "");
}

static void *wait_for_child(void *data)
{
	Fixture *self = data;
	char *const words[] = {(char *)"sleep", (char *)"1000", NULL};
	int status;

	pid_t child = fork();
	if (child == 0) {
		execvp("sleep", words);
		_exit(127);
	}
	self->record.pid = (uint32_t)child;
	g_atomic_int_set(&self->tid, own_thread());
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	return NULL;
}

static void test_child(void)
{
	Fixture self;
	gint64 until_us = g_get_monotonic_time() + LONGEST_US;

	begin(&self, wait_for_child);
	pid_t child = (pid_t)self.record.pid;
	do {
		/* Until it has executed its program. */
		lode_looked_thread_free(self.looked);
		self.looked = lode_looked_thread_new(self.process, self.tid, true, 1);
		look_for(&self, SYS_wait4);
		g_assert_cmpint(g_get_monotonic_time(), <, until_us);
	} while (strcmp(self.record.look.target, "sleep") != 0);
	g_assert_true((self.record.look.flags & LODE_LOOK_HAS_PROCESS) != 0);
	g_assert_cmpuint(self.record.look.words[0], ==, (uint32_t)child);
	kill(child, SIGTERM);
	end(&self);
}

/* A child holds the other end of the pipe, at a descriptor of its own choice, until it ends. */
static void *read_child(void *data)
{
	Fixture *self = data;
	char byte;
	int status;

	g_assert_cmpint(pipe(pipe_ends), ==, 0);
	pid_t child = fork();
	if (child == 0) {
		/* else it would outlive a test that fails */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pipe_ends[1], 9);
		close(pipe_ends[1]);
		pause();
		_exit(0);
	}
	close(pipe_ends[1]);
	self->record.pid = (uint32_t)child;
	g_atomic_int_set(&self->tid, own_thread());
	g_assert_cmpint(read(pipe_ends[0], &byte, 1), ==, 0);
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	close(pipe_ends[0]);
	return NULL;
}

static void test_pipe_of_child(void)
{
	Fixture self;

	gint64 until_us = g_get_monotonic_time() + LONGEST_US;

	begin(&self, read_child);
	pid_t child = (pid_t)self.record.pid;
	do {
		/* One look may come too early: the child has only just been forked. */
		lode_looked_thread_free(self.looked);
		self.looked = lode_looked_thread_new(self.process, self.tid, true, 1);
		look_for(&self, SYS_read);
		g_assert_true(g_str_has_prefix(self.record.look.target, "pipe:["));
		g_assert_cmpint(g_get_monotonic_time(), <, until_us);
	} while ((self.record.look.flags & LODE_LOOK_HAS_PROCESS) == 0);
	g_assert_cmpuint(self.record.look.words[0], ==, (uint32_t)child);
	kill(child, SIGTERM);
	end(&self);
}

static int socket_read;

static void *read_socket(void *data)
{
	Fixture *self = data;
	char byte;

	g_atomic_int_set(&self->tid, own_thread());
	g_assert_cmpint(read(socket_read, &byte, 1), ==, 0);
	return NULL;
}

static void assert_target(int descriptor, const char *expected)
{
	Fixture self;

	socket_read = descriptor;
	begin(&self, read_socket);
	look_for(&self, SYS_read);
	g_assert_cmpstr(self.record.look.target, ==, expected);
	shutdown(descriptor, SHUT_RD);
	end(&self);
}

typedef union {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un local;
} Address;

static int listening;

static void *accept_one(void *data)
{
	Fixture *self = data;

	g_atomic_int_set(&self->tid, own_thread());
	socket_read = accept(listening, NULL, NULL);
	g_assert_cmpint(socket_read, >=, 0);
	return NULL;
}

/* A thread that waits for a connection, and then for bytes at both ends of one. With a port the
 * texts are formats. */
static void assert_sockets(Address *address, socklen_t size, const char *accepts,
	const char *accepted, const char *connected)
{
	Fixture self;
	Address end_of_other = {0};
	socklen_t end_size = sizeof(end_of_other);

	listening = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || bind(listening, &address->any, size) != 0) {
		g_test_skip("the system has no such sockets");
		return;
	}
	g_assert_cmpint(listen(listening, 1), ==, 0);
	g_assert_cmpint(getsockname(listening, &address->any, &size), ==, 0);
	/* At the same place in both kinds of address. */
	unsigned port = ntohs(address->four.sin_port);
	begin(&self, accept_one);
	look_for(&self, SYS_accept);
	g_autofree char *listens = g_strdup_printf(accepts, port, port);
	g_assert_cmpstr(self.record.look.target, ==, listens);
	int other = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	g_assert_cmpint(connect(other, &address->any, size), ==, 0);
	end(&self);
	g_assert_cmpint(getsockname(other, &end_of_other.any, &end_size), ==, 0);
	unsigned own_port = ntohs(end_of_other.four.sin_port);
	int accepted_one = socket_read;
	g_autofree char *is_accepted = g_strdup_printf(accepted, own_port, port);
	assert_target(accepted_one, is_accepted);
	g_autofree char *is_connected = g_strdup_printf(connected, port, own_port);
	assert_target(other, is_connected);
	close(accepted_one);
	close(other);
	close(listening);
}

static void test_tcp(void)
{
	Address address = {
		.four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};

	assert_sockets(&address, sizeof(address.four), "tcp 127.0.0.1:%u listening from :%u",
		"tcp 127.0.0.1:%u from :%u", "tcp 127.0.0.1:%u from :%u");
}

static void test_tcp_of_6(void)
{
	Address address = {.six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}};

	assert_sockets(&address, sizeof(address.six), "tcp [::1]:%u listening from :%u",
		"tcp [::1]:%u from :%u", "tcp [::1]:%u from :%u");
}

static void test_local_sockets(void)
{
	Address address = {.local = {.sun_family = AF_UNIX}};
	int ends[2];

	/* The first byte is 0: it is no file. */
	snprintf(address.local.sun_path + 1, sizeof(address.local.sun_path) - 1, "lode-%d",
		(int)getpid());
	g_autofree char *name = g_strdup_printf("unix @%s", address.local.sun_path + 1);
	g_autofree char *accepts = g_strdup_printf("%s listening", name);
	g_autofree char *accepted = g_strdup_printf("%s accepted", name);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) -
				     strlen("unix "));
	assert_sockets(&address, size, accepts, accepted, name);
	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
	assert_target(ends[0], "unix");
	close(ends[0]);
	close(ends[1]);
}

/*
 * A program of i386: nanosleep, 162 there and msync here, of 1000 seconds again and again.
 */
static const uint8_t program_of_32_bits[] = {
	0x7f,
	'E',
	'L',
	'F',
	1,
	1,
	1,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0, /* of 32 bits */
	2,
	0,
	3,
	0,
	1,
	0,
	0,
	0,
	0x54,
	0x80,
	0x04,
	0x08,
	0x34,
	0,
	0,
	0, /* executable, entry */
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0x34,
	0,
	0x20,
	0,
	1,
	0,
	0,
	0,
	0,
	0,
	0,
	0, /* one segment */
	1,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0x80,
	0x04,
	0x08,
	0,
	0x80,
	0x04,
	0x08, /* of the whole file */
	0x6e,
	0,
	0,
	0,
	0x6e,
	0,
	0,
	0,
	5,
	0,
	0,
	0,
	0,
	0x10,
	0,
	0, /* which is executable */
	0x6a,
	0x00,
	0x68,
	0xe8,
	0x03,
	0x00,
	0x00, /* push 0; push 1000 */
	0x89,
	0xe3,
	0x31,
	0xc9, /* mov esp, ebx; xor ecx */
	0xb8,
	0xa2,
	0x00,
	0x00,
	0x00,
	0xcd,
	0x80, /* mov 162, eax; int 128 */
	0x83,
	0xc4,
	0x08,
	0xeb,
	0xe9, /* add 8, esp; jmp */
	0,
	0,
	0,
};

static void test_32_bits(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "program", NULL);
	gint64 until_us = g_get_monotonic_time() + LONGEST_US;
	Fixture self = {.output = {STACK_BYTES, 1 << 20, g_byte_array_new()}};
	int status = 0;

	g_assert_true(g_file_set_contents_full(path, (const char *)program_of_32_bits,
		sizeof(program_of_32_bits), G_FILE_SET_CONTENTS_NONE, 0700, NULL));
	pid_t child = fork();
	if (child == 0) {
		execl(path, path, NULL);
		_exit(127);
	}
	self.process = lode_looked_process_new(child);
	self.looked = lode_looked_thread_new(self.process, child, true, 1);
	while ((self.record.look.flags & LODE_LOOK_ON_32_BITS) == 0 &&
		waitpid(child, &status, WNOHANG) == 0) {
		g_byte_array_set_size(self.output.records, 0);
		if (lode_looked_thread_look(self.looked, &self.output) == LODE_LOOK_DONE)
			read_record(&self, 0);
		g_assert_cmpint(g_get_monotonic_time(), <, until_us);
		g_usleep(1000);
	}
	if ((self.record.look.flags & LODE_LOOK_ON_32_BITS) != 0) {
		g_assert_cmpint(self.record.look.call, ==, 162);
		g_assert_cmpuint(self.record.abi, ==, PERF_SAMPLE_REGS_ABI_32);
		g_assert_cmpuint(self.record.look.timeout_ns, ==, 0);
		g_assert_cmpstr(self.record.look.target, ==, "");
		g_assert_cmpstr(self.record.look.kernel_function, !=, "");
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	} else {
		g_test_skip("the system executes no programs of 32 bits");
	}
	lode_looked_thread_free(self.looked);
	lode_looked_process_free(self.process);
	g_byte_array_unref(self.output.records);
	g_unlink(path);
	g_rmdir(directory);
}

/* Has a read of a pipe executed by a worker of the kernel, and waits for it. False: the system has
 * no such. */
static bool read_by_worker(int ring, const struct io_uring_params *at, int pipe_end)
{
	static char byte;
	char *queue = mmap(NULL, at->sq_off.array + at->sq_entries * sizeof(unsigned),
		PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entry = mmap(NULL, at->sq_entries * sizeof(*entry),
		PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);

	g_assert_true((void *)queue != MAP_FAILED && (void *)entry != MAP_FAILED);
	*entry = (struct io_uring_sqe){.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = pipe_end,
		.addr = (uint64_t)(uintptr_t)&byte,
		.len = 1};
	*(unsigned *)(void *)(queue + at->sq_off.array) = 0;
	__atomic_add_fetch((unsigned *)(void *)(queue + at->sq_off.tail), 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) == 1;
}

/* The thread of this process that is not known; 0: there is none. */
static pid_t find_worker(void)
{
	g_autoptr(GDir) threads = g_dir_open("/proc/self/task", 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(threads)) != NULL) {
		g_autofree char *path = g_strdup_printf("/proc/self/task/%s/comm", name);
		g_autofree char *text = NULL;
		if (g_file_get_contents(path, &text, NULL, NULL) &&
			g_str_has_prefix(text, "iou-wrk"))
			return (pid_t)g_ascii_strtoll(name, NULL, 10);
	}
	return 0;
}

/* It is never said to wait. */
static void test_worker_of_kernel(void)
{
	struct io_uring_params at = {0};
	Fixture self = {.output = {STACK_BYTES, 1 << 20, g_byte_array_new()}};
	int ring = (int)syscall(SYS_io_uring_setup, 1, &at);

	g_assert_cmpint(pipe(pipe_ends), ==, 0);
	if (ring < 0 || !read_by_worker(ring, &at, pipe_ends[0]) ||
		(self.tid = find_worker()) == 0) {
		g_test_skip("the system has no workers of io_uring");
	} else {
		self.process = lode_looked_process_new(getpid());
		self.looked = lode_looked_thread_new(self.process, self.tid, true, 1);
		for (int i = 0; i < 50; i++) {
			lode_looked_thread_look(self.looked, &self.output);
			g_usleep(1000);
		}
		g_assert_cmpuint(self.output.records->len, ==, 0);
		lode_looked_thread_free(self.looked);
		lode_looked_process_free(self.process);
	}
	g_byte_array_unref(self.output.records);
	close(pipe_ends[1]);
	close(pipe_ends[0]);
	if (ring >= 0)
		close(ring);
}

static int is_spinning = 1;

static void *spin(void *data)
{
	Fixture *self = data;

	g_atomic_int_set(&self->tid, own_thread());
	while (g_atomic_int_get(&is_spinning))
		;
	return NULL;
}

/* A thread that runs has no record, unless that is asked for; one that has ended neither. */
static void test_running(void)
{
	Fixture self;
	gint64 until_us = g_get_monotonic_time() + LONGEST_US;

	begin(&self, spin);
	while (lode_looked_thread_look(self.looked, &self.output) != LODE_LOOK_RUNNING)
		g_assert_cmpint(g_get_monotonic_time(), <, until_us);
	g_byte_array_set_size(self.output.records, 0);
	g_assert_cmpint(lode_looked_thread_look(self.looked, &self.output), ==, LODE_LOOK_RUNNING);
	g_atomic_int_set(&is_spinning, 0);
	LodeLookedThread *gone = lode_looked_thread_new(self.process, G_MAXINT32, true, 1);
	g_assert_cmpint(lode_looked_thread_look(gone, &self.output), ==, LODE_LOOK_GONE);
	g_assert_cmpuint(self.output.records->len, ==, 0);
	lode_looked_thread_free(gone);
	end(&self);
}

static void test_tells_running(void)
{
	Fixture self;
	gint64 until_us = g_get_monotonic_time() + LONGEST_US;

	g_atomic_int_set(&is_spinning, 1);
	begin(&self, spin);
	self.output.tells_running = true;
	LodeLookOutcome outcome = LODE_LOOK_GONE;
	while (outcome != LODE_LOOK_RUNNING) {
		g_byte_array_set_size(self.output.records, 0);
		outcome = lode_looked_thread_look(self.looked, &self.output);
		g_assert_cmpint(g_get_monotonic_time(), <, until_us);
	}
	read_record(&self, 0);
	g_assert_cmpint(self.record.look.state, ==, LODE_LOOK_STATE_RUNS);
	g_assert_cmpint(self.record.look.call, ==, LODE_LOOK_NO_CALL);
	g_assert_cmpuint(self.record.address, ==, 0);
	g_atomic_int_set(&is_spinning, 0);
	end(&self);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/looked-thread/read", test_read);
	g_test_add_func("/record/looked-thread/lock", test_lock);
	g_test_add_func("/record/looked-thread/read-lock", test_read_lock);
	g_test_add_func("/record/looked-thread/waiting-holder", test_waiting_holder);
	g_test_add_func("/record/looked-thread/sleep", test_sleep);
	g_test_add_func("/record/looked-thread/sleep-until", test_sleep_until);
	g_test_add_func("/record/looked-thread/condition-until", test_condition_until);
	g_test_add_func("/record/looked-thread/poll", test_poll);
	g_test_add_func("/record/looked-thread/select", test_select);
	g_test_add_func("/record/looked-thread/child", test_child);
	g_test_add_func("/record/looked-thread/pipe-of-child", test_pipe_of_child);
	g_test_add_func("/record/looked-thread/tcp", test_tcp);
	g_test_add_func("/record/looked-thread/tcp-of-6", test_tcp_of_6);
	g_test_add_func("/record/looked-thread/local-sockets", test_local_sockets);
	g_test_add_func("/record/looked-thread/32-bits", test_32_bits);
	g_test_add_func("/record/looked-thread/worker-of-kernel", test_worker_of_kernel);
	g_test_add_func("/record/looked-thread/running", test_running);
	g_test_add_func("/record/looked-thread/tells-running", test_tells_running);
	return g_test_run();
}
