/* SPDX-License-Identifier: MIT */

#include "base/bits.h"
#include "base/byte_append.h"
#include "base/monotonic_clock.h"
#include "record/process_memory.h"
#include "record/waits/look_record.h"
#include "record/waits/looks.h"
#include "record/waits/waited_process.h"
#include "sources/perf_data/wait_look.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__aarch64__)
enum { STACK_POINTER = PERF_REG_ARM64_SP, PROGRAM_COUNTER = PERF_REG_ARM64_PC };
#else
enum { STACK_POINTER = PERF_REG_X86_SP, PROGRAM_COUNTER = PERF_REG_X86_IP };
#endif

enum { PATH_BYTES = 64, TEXT_BYTES = 256 };

/* Of a process: those whose stack was taken. */
enum { MAX_PLACES = 1 << 16 };

/* Where a system call has its descriptor, and how long it wants to wait. */
typedef struct {
	int call;
	int8_t descriptor;   /* the argument's number; -1: none */
	int8_t milliseconds; /* likewise: that is a number of them; negative ones are for ever */
	int8_t time;         /* likewise: that points to a struct timespec */
} Call;

static const Call calls[] = {
	{SYS_read, 0, -1, -1},
	{SYS_write, 0, -1, -1},
	{SYS_pread64, 0, -1, -1},
	{SYS_pwrite64, 0, -1, -1},
	{SYS_readv, 0, -1, -1},
	{SYS_writev, 0, -1, -1},
	{SYS_preadv, 0, -1, -1},
	{SYS_pwritev, 0, -1, -1},
	{SYS_preadv2, 0, -1, -1},
	{SYS_pwritev2, 0, -1, -1},
	{SYS_fsync, 0, -1, -1},
	{SYS_fdatasync, 0, -1, -1},
	{SYS_sync_file_range, 0, -1, -1},
	{SYS_syncfs, 0, -1, -1},
	{SYS_ftruncate, 0, -1, -1},
	{SYS_fallocate, 0, -1, -1},
	{SYS_flock, 0, -1, -1},
	{SYS_fcntl, 0, -1, -1},
	{SYS_ioctl, 0, -1, -1},
	{SYS_accept, 0, -1, -1},
	{SYS_accept4, 0, -1, -1},
	{SYS_connect, 0, -1, -1},
	{SYS_recvfrom, 0, -1, -1},
	{SYS_recvmsg, 0, -1, -1},
	{SYS_recvmmsg, 0, -1, -1},
	{SYS_sendto, 0, -1, -1},
	{SYS_sendmsg, 0, -1, -1},
	{SYS_sendmmsg, 0, -1, -1},
	{SYS_sendfile, 0, -1, -1},
	{SYS_copy_file_range, 0, -1, -1},
	{SYS_splice, 0, -1, -1},
	{SYS_io_uring_enter, 0, -1, -1},
#if defined(SYS_epoll_wait)
	{SYS_epoll_wait, 0, 3, -1},
	{SYS_poll, -1, 2, -1},
	{SYS_select, -1, -1, 4},
#endif
	{SYS_epoll_pwait, 0, 3, -1},
	{SYS_ppoll, -1, -1, 2},
	{SYS_pselect6, -1, -1, 4},
	{SYS_nanosleep, -1, -1, 0},
	{SYS_clock_nanosleep, -1, -1, 2},
	{SYS_futex, -1, -1, 3},
};

/* Numbers of i386 are those of other calls. */
static int64_t native_call(const LodeWaitLook *look)
{
	return (look->flags & LODE_LOOK_ON_32_BITS) != 0 ? LODE_LOOK_NO_CALL : look->call;
}

static const Call *find_call(const LodeWaitLook *look)
{
	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (calls[i].call == native_call(look))
			return &calls[i];
	return NULL;
}

/* --- reading --- */

static void path_of(char path[PATH_BYTES], const LodeLookedThread *self, const char *file)
{
	snprintf(path, PATH_BYTES, "/proc/%d/task/%d/%s", (int)self->process->pid, (int)self->tid,
		file);
}

/* Fills `text`, which ends with 0; false: the file cannot be read, errno says why. */
static bool read_descriptor(int descriptor, char *text, size_t size)
{
	ssize_t n = pread(descriptor, text, size - 1, 0);

	text[MAX(n, 0)] = '\0';
	return n > 0;
}

static bool read_path(const char *path, char *text, size_t size)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);

	text[0] = '\0';
	if (descriptor < 0)
		return false;
	bool is_read = read_descriptor(descriptor, text, size);
	int code = errno;
	close(descriptor);
	errno = code;
	return is_read;
}

static bool read_file_of(
	const LodeLookedThread *self, const char *file, int descriptor, char *text, size_t size)
{
	char path[PATH_BYTES];

	if (descriptor >= 0)
		return read_descriptor(descriptor, text, size);
	path_of(path, self, file);
	return read_path(path, text, size);
}

static void read_line(const LodeLookedThread *self, const char *file, char *text, size_t size)
{
	read_file_of(self, file, -1, text, size);
	text[strcspn(text, "\n")] = '\0';
}

/* How often it ran, and how long it was ready in vain; false: the kernel does not tell. */
static bool read_runs(const LodeLookedThread *self, uint64_t *out_runs, uint64_t *out_delay_ns)
{
	char text[TEXT_BYTES], *at = text;

	if (!read_file_of(self, "schedstat", self->runs, text, sizeof(text)))
		return false;
	strtoull(at, &at, 10);
	*out_delay_ns = strtoull(at, &at, 10);
	*out_runs = strtoull(at, &at, 10);
	return true;
}

/* What /proc/PID/task/TID/syscall says. */
typedef struct {
	int64_t call;
	uint64_t arguments[6], stack, address;
} Stopped;

/* "running", "-1 SP PC" or "NUMBER ARGUMENT… SP PC" (proc(5)). */
static LodeLookOutcome read_call(const LodeLookedThread *self, Stopped *out)
{
	char text[TEXT_BYTES], *at = text, *end;

	errno = 0;
	if (!read_file_of(self, "syscall", self->calls, text, sizeof(text)))
		return errno == EPERM || errno == EACCES ? LODE_LOOK_REFUSED : LODE_LOOK_GONE;
	*out = (Stopped){.call = strtoll(text, &at, 10)};
	if (at == text)
		return LODE_LOOK_RUNNING;
	for (unsigned i = 0; out->call >= 0 && i < G_N_ELEMENTS(out->arguments); i++)
		out->arguments[i] = strtoull(at, &at, 16);
	out->stack = strtoull(at, &at, 16);
	out->address = strtoull(at, &end, 16);
	return end > at ? LODE_LOOK_DONE : LODE_LOOK_RUNNING;
}

/* --- what is waited for --- */

static bool is_thread_of(const LodeLookedProcess *process, uint32_t tid)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/task/%u", (int)process->pid, tid);
	return tid > 1 && access(path, F_OK) == 0;
}

/* The thread that has a lock of glibc, by the words from the futex on: of a mutex its id is 8 bytes
 * after the lock, or in it; of a read-write lock 24 bytes after its begin, at whose 8th or 12th
 * byte threads wait. 0: none is known. */
static uint32_t find_holder(const LodeLookedThread *self, const LodeWaitLook *look)
{
	const uint32_t *at = look->words + LODE_LOOK_WORDS_BEFORE;
	unsigned operation = (unsigned)look->arguments[1] & (unsigned)FUTEX_CMD_MASK;
	const uint32_t owners[] = {at[0] == 2 ? at[2] : 0, at[0] & FUTEX_TID_MASK, at[4], at[3]};
	/* Only these wait with a set of bits. */
	size_t n = operation == FUTEX_WAIT_BITSET ? G_N_ELEMENTS(owners) : 2;

	for (size_t i = 0; i < n && look->n_words == LODE_LOOK_WORDS; i++)
		if (owners[i] != (uint32_t)self->tid && is_thread_of(self->process, owners[i]))
			return owners[i];
	return 0;
}

static void read_words(const LodeLookedThread *self, LodeWaitLook *look)
{
	uint64_t first = look->arguments[0] - LODE_LOOK_WORDS_BEFORE * sizeof(uint32_t);

	look->n_words = (uint32_t)(lode_process_memory_read(self->process->pid, first, look->words,
					   sizeof(look->words)) /
				   sizeof(uint32_t));
}

/* Whether the time of a call is a moment, and of which clock. */
static bool is_moment(const LodeWaitLook *look, clockid_t *out_clock)
{
	unsigned operation = (unsigned)look->arguments[1] & (unsigned)FUTEX_CMD_MASK;

	*out_clock = CLOCK_MONOTONIC;
	if (look->call == SYS_clock_nanosleep) {
		*out_clock = (clockid_t)look->arguments[0];
		return (look->arguments[1] & TIMER_ABSTIME) != 0;
	}
	if (operation == FUTEX_LOCK_PI || (look->arguments[1] & FUTEX_CLOCK_REALTIME) != 0)
		*out_clock = CLOCK_REALTIME;
	return look->call == SYS_futex && operation != FUTEX_WAIT;
}

/* Clocks of processor time are those of the process that asks. */
static bool is_of_all(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME ||
	       clock == CLOCK_TAI;
}

static uint64_t in_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static bool is_select(const LodeWaitLook *look)
{
#if defined(SYS_select)
	return look->call == SYS_select;
#else
	(void)look;
	return false;
#endif
}

static bool is_poll(const LodeWaitLook *look)
{
#if defined(SYS_poll)
	return look->call == SYS_poll || look->call == SYS_ppoll;
#else
	return look->call == SYS_ppoll;
#endif
}

static void read_time(const LodeLookedThread *self, const Call *call, LodeWaitLook *look)
{
	struct timespec time = {0}, now;
	clockid_t clock;

	if (call->milliseconds >= 0) {
		int32_t milliseconds = (int32_t)look->arguments[call->milliseconds];
		look->timeout_ns = milliseconds > 0 ? (uint64_t)milliseconds * 1000000 : 0;
	}
	if (call->time < 0 || look->arguments[call->time] == 0 ||
		lode_process_memory_read(self->process->pid, look->arguments[call->time], &time,
			sizeof(time)) != sizeof(time) ||
		time.tv_sec < 0 || time.tv_nsec < 0)
		return;
	if (is_select(look))
		time.tv_nsec *= 1000; /* its time has microseconds */
	look->timeout_ns = in_ns(&time);
	if (!is_moment(look, &clock))
		return;
	bool is_known = is_of_all(clock) && clock_gettime(clock, &now) == 0;
	look->timeout_ns = is_known ? MAX(look->timeout_ns, in_ns(&now) + 1) - in_ns(&now) : 0;
	look->flags |= LODE_LOOK_TIME_IS_LEFT;
}

static void describe_descriptor(
	const LodeLookedThread *self, const LodeWaitLook *look, int number, char *text, size_t size)
{
	LodeLookedProcess *process = self->process;
	struct sockaddr_storage peer = {0};
	bool has_peer = look->call == SYS_connect &&
	                lode_process_memory_read(process->pid, look->arguments[1], &peer,
				MIN(look->arguments[2], sizeof(peer))) > 0;

	lode_waited_descriptor_text(
		process->pid, &process->handle, number, has_peer ? &peer : NULL, text, size);
}

/* The only one that select() has in its sets; -1: there are several. */
static int only_in_sets(const LodeLookedThread *self, const LodeWaitLook *look)
{
	enum { MOST = 1024, BITS = 64 };
	uint64_t n = look->arguments[0], all[MOST / BITS] = {0}, set[MOST / BITS];
	size_t n_words = (n + BITS - 1) / BITS;
	int only = -1;

	for (unsigned i = 1; i <= 3 && n <= MOST; i++) {
		if (lode_process_memory_read(self->process->pid, look->arguments[i], set,
			    n_words * sizeof(set[0])) != n_words * sizeof(set[0]))
			continue;
		for (size_t k = 0; k < n_words; k++)
			all[k] |= set[k];
	}
	for (uint64_t i = 0; i < MIN(n, MOST); i++) {
		if ((all[i / BITS] & LODE_BIT(i % BITS)) == 0)
			continue;
		if (only >= 0)
			return -1;
		only = (int)i;
	}
	return only;
}

/* The only descriptor that a call waits for; -1: it has none, or several. */
static int descriptor_of(const LodeLookedThread *self, const Call *call, const LodeWaitLook *look)
{
	struct pollfd one;

	if (call->descriptor >= 0)
		return (int)look->arguments[call->descriptor];
	if (is_select(look) || look->call == SYS_pselect6)
		return only_in_sets(self, look);
	if (!is_poll(look) || look->arguments[1] != 1 ||
		lode_process_memory_read(
			self->process->pid, look->arguments[0], &one, sizeof(one)) != sizeof(one))
		return -1;
	return one.fd;
}

/* --- processes --- */

/* The wait is for that process, whose name is the target where it has no better one. */
static void take_process(LodeWaitLook *look, pid_t process, char *text, size_t size)
{
	char path[PATH_BYTES];

	if (process <= 0)
		return;
	look->flags |= LODE_LOOK_HAS_PROCESS;
	look->n_words = 1;
	look->words[0] = (uint32_t)process;
	if (text[0] != '\0')
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)process);
	read_path(path, text, size);
	text[strcspn(text, "\n")] = '\0';
}

/* "Pid:	7" of a descriptor that is a process (pidfd_open(2)). */
static pid_t process_of_descriptor(const LodeLookedThread *self, int number)
{
	char path[PATH_BYTES], text[TEXT_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)self->process->pid, number);
	read_path(path, text, sizeof(text));
	const char *line = strstr(text, "Pid:");
	return line != NULL ? (pid_t)strtol(line + strlen("Pid:"), NULL, 10) : 0;
}

/* Whether a call waits for a child, or for the signal that comes when one ends; which, 0: any. */
static bool is_for_child(const LodeLookedThread *self, const LodeWaitLook *look, pid_t *out_child)
{
	*out_child = 0;
	switch (native_call(look)) {
	case SYS_wait4:
		*out_child = (int32_t)look->arguments[0];
		return true;
	case SYS_waitid:
		if (look->arguments[0] == P_PID)
			*out_child = (int32_t)look->arguments[1];
		if (look->arguments[0] == P_PIDFD)
			*out_child = process_of_descriptor(self, (int)look->arguments[1]);
		return true;
	case SYS_clone:
	case SYS_clone3:
	case SYS_rt_sigsuspend:
#if defined(SYS_vfork)
	case SYS_vfork:
	case SYS_pause:
#endif
		return true;
	default:
		return false;
	}
}

static bool writes(const LodeWaitLook *look)
{
	switch (native_call(look)) {
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_sendfile:
		return true;
	default:
		return false;
	}
}

/* Of a poll at several pipes, as at the output and the errors of a child: the end of the first. */
static pid_t end_of_polled(const LodeLookedThread *self, const LodeWaitLook *look)
{
	enum { MOST_POLLED = 4 };
	struct pollfd polled[MOST_POLLED];
	size_t n = look->arguments[1];
	char text[PATH_BYTES];
	pid_t process = 0;

	if (!is_poll(look) || n < 2 || n > MOST_POLLED ||
		lode_process_memory_read(self->process->pid, look->arguments[0], polled,
			n * sizeof(polled[0])) != n * sizeof(polled[0]))
		return 0;
	for (size_t i = 0; i < n && process == 0; i++) {
		describe_descriptor(self, look, polled[i].fd, text, sizeof(text));
		if (!g_str_has_prefix(text, "pipe:["))
			return 0;
		process = lode_waited_pipe_end(
			self->process->pid, self->tid, text, (polled[i].events & POLLOUT) == 0);
	}
	return process;
}

static void describe_process(
	const LodeLookedThread *self, int descriptor, LodeWaitLook *look, char *text, size_t size)
{
	pid_t pid = self->process->pid, child;

	if (is_for_child(self, look, &child))
		take_process(look, lode_waited_child(pid, self->tid, child), text, size);
	else if (g_str_has_prefix(text, "pipe:["))
		take_process(look, lode_waited_pipe_end(pid, self->tid, text, !writes(look)), text,
			size);
	else if (strcmp(text, "anon_inode:[pidfd]") == 0)
		take_process(look, process_of_descriptor(self, descriptor), text, size);
	else if (descriptor < 0)
		take_process(look, end_of_polled(self, look), text, size);
}

static void describe_target(
	const LodeLookedThread *self, const Call *call, LodeWaitLook *look, char *text, size_t size)
{
	int descriptor = call != NULL ? descriptor_of(self, call, look) : -1;

	if (descriptor >= 0)
		describe_descriptor(self, look, descriptor, text, size);
	describe_process(self, descriptor, look, text, size);
	look->target = text;
}

/* --- writing --- */

static bool is_new_place(LodeLookedThread *self, const Stopped *at)
{
	uint64_t key = (uint64_t)self->tid;

	for (unsigned i = 0; i < 3; i++)
		key = (key ^ (i == 0          ? at->stack
				     : i == 1 ? at->address
					      : at->arguments[0])) *
		      UINT64_C(0x9e3779b97f4a7c15);
	if (g_hash_table_size(self->process->places) >= MAX_PLACES ||
		g_hash_table_contains(self->process->places, &key))
		return false;
	g_hash_table_add(self->process->places, g_memdup2(&key, sizeof(key)));
	return true;
}

static void add_stack(LodeLookedThread *self, const Stopped *at, LodeLookOutput *out)
{
	size_t size = MIN(out->stack_bytes, out->n_stack_bytes);
	guint begin = out->records->len;

	if (size < out->stack_bytes || at->stack == 0 || !is_new_place(self, at)) {
		lode_append_u64(out->records, 0);
		return;
	}
	lode_append_u64(out->records, size);
	g_byte_array_set_size(out->records, begin + (guint)(sizeof(uint64_t) + size));
	uint8_t *bytes = out->records->data + begin + sizeof(uint64_t);
	memset(bytes, 0, size);
	size_t used = lode_process_memory_read(self->process->pid, at->stack, bytes, size);
	lode_append_u64(out->records, used);
	out->n_stack_bytes -= size;
}

void lode_look_attribute(struct perf_event_attr *out_attr, uint16_t stack_bytes)
{
	lode_look_record_attribute(out_attr);
	out_attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	out_attr->sample_regs_user = LODE_BIT(STACK_POINTER) | LODE_BIT(PROGRAM_COUNTER);
	out_attr->sample_stack_user = stack_bytes;
}

static void add_record(LodeLookedThread *self, const Stopped *at, const LodeWaitLook *look,
	uint64_t time_ns, LodeLookOutput *out)
{
	GByteArray *records = out->records;
	guint begin = lode_look_record_begin(
		records, &(LodeLookRecord){LODE_WAITING_ID, at->address, time_ns,
				 self->process->pid, self->tid});

	lode_wait_look_append(look, records);
	lode_look_record_end_raw(records, begin);
	bool is_32 = (look->flags & LODE_LOOK_ON_32_BITS) != 0;
	lode_append_u64(records, is_32 ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64);
	lode_append_u64(records, at->stack);
	lode_append_u64(records, at->address);
	add_stack(self, at, out);
	lode_look_record_end(records, begin);
}

/* --- looks --- */

static bool is_same_run(const LodeLookedThread *self)
{
	uint64_t n_runs, delay_ns;

	return read_runs(self, &n_runs, &delay_ns) && n_runs == self->n_runs;
}

/* What the holder of a lock does, if it had the lock before and after that was read, and the thread
 * still waits; when it is in a call too, there is a record of its place. */
static void look_at_futex(const LodeLookedThread *self, LodeWaitLook *look, LodeLookOutput *out)
{
	char target[LODE_LOOK_MAX_TEXT] = "";
	Stopped at;

	read_words(self, look);
	LodeLookedThread holder = {.process = self->process,
		.tid = (pid_t)find_holder(self, look),
		.calls = -1,
		.runs = -1};
	if (holder.tid == 0)
		return;
	LodeLookOutcome outcome = read_call(&holder, &at);
	LodeWaitLook again = *look;
	read_words(self, &again);
	if (find_holder(self, &again) != (uint32_t)holder.tid || !is_same_run(self))
		return;
	look->holder = (uint32_t)holder.tid;
	look->holder_call = outcome == LODE_LOOK_DONE ? at.call : LODE_LOOK_RUNS;
	if (outcome != LODE_LOOK_DONE)
		return;
	LodeWaitLook its = {
		.flags = LODE_LOOK_OF_HOLDER,
		.call = at.call,
		.holder_call = LODE_LOOK_RUNS,
		.state = 'S',
		.kernel_function = "",
	};
	memcpy(its.arguments, at.arguments, sizeof(its.arguments));
	describe_target(&holder, find_call(&its), &its, target, sizeof(target));
	add_record(&holder, &at, &its, lode_now_ns(), out);
}

static char state_of(const LodeLookedThread *self)
{
	char text[TEXT_BYTES];
	const char *end;

	read_line(self, "stat", text, sizeof(text));
	end = strrchr(text, ')');
	return end != NULL && end[1] != '\0' ? end[2] : 'S';
}

/* A worker of io_uring ("iou-wrk-7") is a thread of the process without a stack there: it waits for
 * what the thread in io_uring_enter waits for. */
static bool is_of_kernel(const Stopped *at)
{
	return at->stack == 0 && at->address == 0;
}

/* Read when it is asked for, as the process may execute another program at any time. The class of
 * an ELF file is its fifth byte. */
static bool has_32_bits(const LodeLookedProcess *process)
{
	char path[PATH_BYTES], head[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)process->pid);
	return read_path(path, head, sizeof(head)) && head[4] == 1;
}

/* Where nothing else says that threads run. */
static LodeLookOutcome tell_running(
	const LodeLookedThread *self, uint64_t last_ns, LodeLookOutput *out)
{
	const Stopped nowhere = {.call = LODE_LOOK_NO_CALL};
	uint64_t time_ns = self->looked_ns;

	if (out->tells_running)
		add_record((LodeLookedThread *)self, &nowhere,
			&(LodeWaitLook){.call = LODE_LOOK_NO_CALL,
				.interval_ns = time_ns - MIN(last_ns, time_ns),
				.holder_call = LODE_LOOK_RUNS,
				.state = LODE_LOOK_STATE_RUNS,
				.target = "",
				.kernel_function = ""},
			time_ns, out);
	return LODE_LOOK_RUNNING;
}

LodeLookOutcome lode_looked_thread_look(LodeLookedThread *self, LodeLookOutput *out)
{
	char target[LODE_LOOK_MAX_TEXT] = "", function[TEXT_BYTES] = "";
	uint64_t n_runs = 0, delay_ns = 0, last_ns = self->looked_ns;
	Stopped at = {.call = LODE_LOOK_NO_CALL};

	self->looked_ns = lode_now_ns();
	/* One that runs is not asked for more. */
	if (self->is_seen && !self->was_waiting && read_call(self, &at) == LODE_LOOK_RUNNING)
		return tell_running(self, last_ns, out);
	bool has_runs = read_runs(self, &n_runs, &delay_ns);
	if (has_runs && self->is_seen && self->was_waiting && n_runs == self->n_runs)
		return LODE_LOOK_SAME;
	LodeLookOutcome outcome = read_call(self, &at);
	uint64_t time_ns = lode_now_ns();
	self->n_runs = n_runs;
	self->is_seen = true;
	self->was_waiting = outcome == LODE_LOOK_DONE || outcome == LODE_LOOK_REFUSED;
	if (!self->was_waiting)
		return outcome == LODE_LOOK_RUNNING ? tell_running(self, last_ns, out) : outcome;
	if (is_of_kernel(&at) && outcome == LODE_LOOK_DONE)
		return LODE_LOOK_SAME;
	LodeWaitLook look = {
		.call = at.call,
		.interval_ns = time_ns - MIN(last_ns, time_ns),
		.delay_ns = delay_ns,
		.holder_call = LODE_LOOK_RUNS,
		.state = 'S',
		.target = target,
		.kernel_function = function,
	};
	memcpy(look.arguments, at.arguments, sizeof(look.arguments));
	if (outcome == LODE_LOOK_REFUSED)
		look.flags |= LODE_LOOK_WAS_REFUSED;
	else if (at.stack <= UINT32_MAX && has_32_bits(self->process))
		look.flags |= LODE_LOOK_ON_32_BITS;
	const Call *call = find_call(&look);
	if (call != NULL)
		read_time(self, call, &look);
	if (native_call(&look) == SYS_futex)
		look_at_futex(self, &look, out);
	describe_target(self, call, &look, target, sizeof(target));
	/* One that is stopped need not wait in the call that it has made. */
	if (call == NULL)
		look.state = state_of(self);
	if (native_call(&look) == LODE_LOOK_NO_CALL || at.call == SYS_restart_syscall)
		read_line(self, "wchan", function, sizeof(function));
	/* So the kernel says that it does not tell. */
	if (strcmp(function, "0") == 0)
		function[0] = '\0';
	/* One that lode itself has stopped, for a probe, is not waiting for anything. */
	if (look.state == 'R' || look.state == 't') {
		self->was_waiting = false;
		return LODE_LOOK_RUNNING;
	}
	add_record(self, &at, &look, time_ns, out);
	return outcome;
}

LodeLookOutcome lode_looked_thread_peek(const LodeLookedThread *self)
{
	Stopped at;
	LodeLookOutcome outcome = read_call(self, &at);

	return outcome == LODE_LOOK_RUNNING || outcome == LODE_LOOK_GONE ? outcome : LODE_LOOK_SAME;
}

/* --- processes and threads --- */

LodeLookedProcess *lode_looked_process_new(pid_t pid)
{
	LodeLookedProcess *self = g_new0(LodeLookedProcess, 1);

	self->pid = pid;
	self->handle = -1;
	self->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return self;
}

void lode_looked_process_free(LodeLookedProcess *self)
{
	if (self == NULL)
		return;
	if (self->handle >= 0)
		close(self->handle);
	g_hash_table_unref(self->places);
	lode_script_looks_free(self->scripts);
	g_free(self);
}

LodeLookedThread *lode_looked_thread_new(
	LodeLookedProcess *process, pid_t tid, bool keeps_open, uint64_t now_ns)
{
	LodeLookedThread *self = g_new0(LodeLookedThread, 1);
	char path[PATH_BYTES];

	*self = (LodeLookedThread){
		.process = process, .tid = tid, .calls = -1, .runs = -1, .looked_ns = now_ns};
	if (!keeps_open)
		return self;
	path_of(path, self, "syscall");
	self->calls = open(path, O_RDONLY | O_CLOEXEC);
	path_of(path, self, "schedstat");
	self->runs = open(path, O_RDONLY | O_CLOEXEC);
	return self;
}

void lode_looked_thread_free(LodeLookedThread *self)
{
	if (self == NULL)
		return;
	if (self->calls >= 0)
		close(self->calls);
	if (self->runs >= 0)
		close(self->runs);
	g_free(self);
}
