/* SPDX-License-Identifier: MIT */
/* Looks at threads of this process that wait for something that is known. */
#include "record/waits/looked_thread.h"
#include "sources/perf_data/wait_look.h"

#include <arpa/inet.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
	uint64_t identifier, address, time_ns, stack_pointer, stack_bytes;
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
	g_assert_false(self->process->is_32_bits);
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
	g_assert_cmpuint(take_u64(&at), ==, PERF_SAMPLE_REGS_ABI_64);
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

static void test_sleep(void)
{
	Fixture self;

	signal(SIGUSR1, ignore);
	begin(&self, sleep_long);
	look_for(&self, SYS_clock_nanosleep);
	g_assert_cmpuint(self.record.look.timeout_ns, ==, UINT64_C(3250000000));
	g_atomic_int_set(&may_sleep_on, 0);
	syscall(SYS_tgkill, getpid(), self.tid, SIGUSR1);
	end(&self);
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

static int is_spinning = 1;

static void *spin(void *data)
{
	Fixture *self = data;

	g_atomic_int_set(&self->tid, own_thread());
	while (g_atomic_int_get(&is_spinning))
		;
	return NULL;
}

/* A thread that runs has no record; one that has ended neither. */
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

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/looked-thread/read", test_read);
	g_test_add_func("/record/looked-thread/lock", test_lock);
	g_test_add_func("/record/looked-thread/read-lock", test_read_lock);
	g_test_add_func("/record/looked-thread/waiting-holder", test_waiting_holder);
	g_test_add_func("/record/looked-thread/sleep", test_sleep);
	g_test_add_func("/record/looked-thread/child", test_child);
	g_test_add_func("/record/looked-thread/tcp", test_tcp);
	g_test_add_func("/record/looked-thread/tcp-of-6", test_tcp_of_6);
	g_test_add_func("/record/looked-thread/local-sockets", test_local_sockets);
	g_test_add_func("/record/looked-thread/running", test_running);
	return g_test_run();
}
