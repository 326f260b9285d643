/* SPDX-License-Identifier: MIT */
#include "record/windows/window_recorder.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/files/own_library.h"
#include "base/files/run_folder.h"
#include "record/events/perf_event_choice.h"
#include "record/programs/preloaded_library.h"
#include "record/programs/running_process.h"
#include "record/windows/own_system_calls.h"
#include "sources/windows/window_log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LIBRARY_FOLDER "preload/windows"
#define LIBRARY LODE_OWN_LIBRARY("windows")
#define FOLDER "lode-windows"

/* A file takes a hundredth of the time there that it takes on a disk. */
#define MEMORY_FOLDER "/dev/shm"
#define MEMORY_LEAST (UINT64_C(256) << 20) /* free */

enum {
	/* Between two signals of a thread, in its processor time, ± a tenth: those of different
	 * processes are not to come in step. */
	PERIOD_NS = 3900 * 1000,
	/* After a process has announced itself its event is opened, unless it asked before, and
	 * enabled. Most short ones have ended then, which makes them cheap. */
	DELAY_US = 5 * 1000,
	/* Processes that have ended are given up so often, or less where that would take more than
	 * a twentieth of the time. */
	SURVEY_US = 250 * 1000,
	SURVEY_COST_FACTOR = 20,
	LEFT_DESCRIPTORS = 64,
	MAX_READS = 16,
	MAX_ANNOUNCED = 1 << 16,
	MAX_LOOKS = 64, /* processes that are examined for a debugger in each survey */
	MAX_REQUESTS = 64,
};

/* Fields of perf_event_attr that headers before Linux 5.13 do not have. */
enum { FLAGS_OFFSET = 40, SIGNAL_DATA_OFFSET = 120, ATTRIBUTE_BYTES = 128 };
#define INHERIT_THREAD LODE_BIT(35)
#define REMOVE_ON_EXEC LODE_BIT(36)
#define SIGTRAP_FLAG LODE_BIT(37)

typedef struct {
	pid_t pid;
	int descriptor;
	bool is_taken;   /* the process was examined: signals may come */
	bool is_traced;  /* by a debugger, which would see the signals */
	bool is_blocked; /* SIGTRAP was, at the last survey */
} Event;

struct LodeWindowRecorder {
	const LodePerfKernel *kernel;
	LodeWindowOptions options;
	LodeRunFolder *folder;
	LodeWindowLogs *logs;
	char *library;
	char **environment;
	LodeOwnSystemCalls *own_calls;
	int fifo;                             /* −1: none */
	int requests[LODE_N_WINDOW_REQUESTS]; /* sockets that listen; −1: none */
	bool has_timer, is_on;
	GArray *events;    /* Event: of the first thread of a process; others inherit it */
	guint n_looked;    /* of the events, by the last survey */
	GArray *announced; /* uint32_t: processes, to be taken when the delay is over */
	gint64 due_us, next_survey_us; /* due_us 0: nothing is announced */
	struct rlimit limit;           /* of descriptors, as it was */
	uint64_t n_limits;             /* filters of system calls that lode itself has */
	GHashTable *refused;           /* processes (ids) */
	pid_t refused_one;
	int refusal; /* errno of the last one */
};

/* --- the event --- */

typedef union {
	struct perf_event_attr attr;
	uint8_t bytes[MAX(ATTRIBUTE_BYTES, sizeof(struct perf_event_attr))];
} Attribute;

static int open_event(const LodeWindowRecorder *self, pid_t thread)
{
	const uint64_t flags = INHERIT_THREAD | REMOVE_ON_EXEC | SIGTRAP_FLAG;
	const uint64_t data = LODE_WINDOW_SIGNAL;
	Attribute attribute = {.attr = {
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .disabled = 1,
				       .inherit = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
			       }};
	uint64_t set;

	attribute.attr.size = ATTRIBUTE_BYTES;
	attribute.attr.sample_period = (uint64_t)(PERIOD_NS * g_random_double_range(0.9, 1.1));
	memcpy(&set, attribute.bytes + FLAGS_OFFSET, sizeof(set));
	set |= flags;
	memcpy(attribute.bytes + FLAGS_OFFSET, &set, sizeof(set));
	memcpy(attribute.bytes + SIGNAL_DATA_OFFSET, &data, sizeof(data));
	return self->kernel->open(&attribute.attr, thread, -1, self->kernel->user_data);
}

/* Before Linux 5.18 the signal kills a thread that blocks SIGTRAP. Yama's level 2 lets none but
 * root open such an event on another process. */
static bool can_open_events(const LodeWindowRecorder *self)
{
	struct utsname names;
	unsigned major = 0, minor = 0;

	if (uname(&names) != 0 || sscanf(names.release, "%u.%u", &major, &minor) != 2 ||
		major < 5 || (major == 5 && minor < 18) ||
		lode_perf_kernel_setting(self->kernel, "yama/ptrace_scope", 0) >= 2)
		return false;
	int descriptor = open_event(self, 0);
	if (descriptor >= 0)
		close(descriptor);
	return descriptor >= 0;
}

static void set_event(const LodeWindowRecorder *self, const Event *event)
{
	bool is_on = self->is_on && event->is_taken && !event->is_traced;

	ioctl(event->descriptor, is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void close_event(LodeWindowRecorder *self, guint index)
{
	close(g_array_index(self->events, Event, index).descriptor);
	g_array_remove_index_fast(self->events, index);
}

/* --- processes --- */

static char *read_text(pid_t pid, const char *name)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

static bool is_traced(const char *status)
{
	return lode_thread_status_number(status, "TracerPid", 10) != 0;
}

/* The number of seccomp filters. In a container all processes have some, which allow what is
 * needed. */
static uint64_t n_limits(const char *status)
{
	return lode_thread_status_number(status, "Seccomp_filters", 10);
}

static LodeWindowObstacle find_obstacle(
	const LodeWindowRecorder *self, pid_t pid, const char *status, const char *maps)
{
	g_autofree char *file = g_strdup_printf("/proc/%d/exe", (int)pid);

	if (lode_preloaded_library_is_static(file))
		return LODE_WINDOW_OBSTACLE_PRELOAD;
	if (is_traced(status))
		return LODE_WINDOW_OBSTACLE_TRACED;
	if (n_limits(status) > self->n_limits)
		return LODE_WINDOW_OBSTACLE_SECCOMP;
	return lode_own_system_calls_are_in(self->own_calls, pid, maps) ? LODE_WINDOW_OBSTACLE_CALLS
	                                                                : LODE_WINDOW_OBSTACLE_NONE;
}

/* Whether the library is at work. */
static bool has_page(const LodeWindowRecorder *self, const char *maps)
{
	g_autofree char *folder = g_path_get_basename(self->folder->path);
	g_autofree char *budget = g_strdup_printf("/%s/" LODE_WINDOW_BUDGET_NAME, folder);

	return maps != NULL && strstr(maps, budget) != NULL;
}

/*
 * Whether a process has the library at work and handles the signal. The id may be of another one:
 * the process that announced itself is in a namespace of its own, or has ended. Or it has executed
 * a program without the library since, which the signal would kill.
 */
static bool is_ready(const LodeWindowRecorder *self, const char *status, const char *maps)
{
	return lode_thread_status_trap(status).is_caught && has_page(self, maps);
}

/* Without a ring, poll() does not tell of the end. */
static void close_ended(LodeWindowRecorder *self)
{
	for (guint i = self->events->len; i-- > 0;)
		if (kill(g_array_index(self->events, Event, i).pid, 0) != 0 && errno == ESRCH)
			close_event(self, i);
}

/* An obstacle that the library has not seen, as the program made it by a system call of its own. */
static LodeWindowObstacle find_change(
	const LodeWindowRecorder *self, Event *event, const char *status)
{
	const bool was_blocked = event->is_blocked;
	LodeTrapUse use = lode_thread_status_trap(status);

	event->is_blocked = use.is_blocked;
	if (n_limits(status) > self->n_limits)
		return LODE_WINDOW_OBSTACLE_SECCOMP;
	if (!use.is_caught)
		return LODE_WINDOW_OBSTACLE_HANDLER;
	return was_blocked && event->is_blocked ? LODE_WINDOW_OBSTACLE_BLOCKED
	                                        : LODE_WINDOW_OBSTACLE_NONE;
}

/* False: there may be no more signals for it. */
static bool look_at(LodeWindowRecorder *self, Event *event)
{
	g_autofree char *status = read_text(event->pid, "status");
	const bool was_traced = event->is_traced;

	if (status == NULL || !event->is_taken)
		return true;
	LodeWindowObstacle change = find_change(self, event, status);
	if (change != LODE_WINDOW_OBSTACLE_NONE) {
		/* if it has executed a program without the library, the event is not its own */
		g_autofree char *maps = read_text(event->pid, "maps");
		if (has_page(self, maps))
			lode_window_logs_add_obstacle(self->logs, event->pid, change);
		return false;
	}
	event->is_traced = is_traced(status);
	if (event->is_traced != was_traced)
		set_event(self, event);
	return true;
}

static void look_for_changes(LodeWindowRecorder *self)
{
	for (guint i = 0; self->events->len > 0 && i < MIN(self->events->len, MAX_LOOKS); i++) {
		guint next = ++self->n_looked % self->events->len;
		if (!look_at(self, &g_array_index(self->events, Event, next)))
			close_event(self, next);
	}
}

/* Some descriptors are left for the rest of lode: it could not even examine the process. */
static int open_event_in_room(const LodeWindowRecorder *self, pid_t thread, rlim_t limit)
{
	int descriptor = open_event(self, thread);

	if (descriptor < 0 || (rlim_t)descriptor + LEFT_DESCRIPTORS < limit)
		return descriptor;
	close(descriptor);
	errno = EMFILE;
	return -1;
}

/* The limit is raised as far as it goes: programs that were started do not see it. */
static int open_event_with_room(LodeWindowRecorder *self, pid_t thread)
{
	const struct rlimit raised = {self->limit.rlim_max, self->limit.rlim_max};
	int descriptor = open_event_in_room(self, thread, self->limit.rlim_cur);

	if (descriptor >= 0 || errno != EMFILE)
		return descriptor;
	close_ended(self);
	setrlimit(RLIMIT_NOFILE, &raised);
	return open_event_in_room(self, thread, raised.rlim_max);
}

static void refuse(LodeWindowRecorder *self, pid_t pid, int code)
{
	/* it has ended meanwhile */
	if (code == ESRCH)
		return;
	if (g_hash_table_add(self->refused, GUINT_TO_POINTER((guint)pid)))
		lode_window_logs_add_obstacle(self->logs, pid, LODE_WINDOW_OBSTACLE_EVENT);
	self->refused_one = pid;
	self->refusal = code;
}

static void close_events_of(LodeWindowRecorder *self, pid_t pid)
{
	for (guint i = self->events->len; i-- > 0;)
		if (g_array_index(self->events, Event, i).pid == pid)
			close_event(self, i);
}

static Event *find_waiting(const LodeWindowRecorder *self, pid_t pid)
{
	for (guint i = 0; i < self->events->len; i++) {
		Event *event = &g_array_index(self->events, Event, i);
		if (event->pid == pid && !event->is_taken)
			return event;
	}
	return NULL;
}

/*
 * An event that a thread inherits from another one leaves both as alike as the kernel wants them
 * for a quick switch from one to the other. One that is opened on a thread beside others makes each
 * switch of it slow, for ever.
 */
static Event *open_waiting(LodeWindowRecorder *self, pid_t pid)
{
	g_autofree char *status = read_text(pid, "status");

	/* an older process of that id has ended, or this one has executed anew */
	close_events_of(self, pid);
	if (status == NULL)
		return NULL;
	if (lode_thread_status_number(status, "Threads", 10) > 1) {
		lode_window_logs_add_obstacle(self->logs, pid, LODE_WINDOW_OBSTACLE_THREADS);
		return NULL;
	}
	const Event event = {.pid = pid, .descriptor = open_event_with_room(self, pid)};
	if (event.descriptor < 0) {
		refuse(self, pid, errno);
		return NULL;
	}
	g_array_append_val(self->events, event);
	return &g_array_index(self->events, Event, self->events->len - 1);
}

/* The event is opened first and the process examined then: from the opening on, the kernel removes
 * it when something new is executed. */
static void take_process(LodeWindowRecorder *self, pid_t pid)
{
	Event *event = find_waiting(self, pid);

	if (event == NULL)
		event = open_waiting(self, pid);
	if (event == NULL)
		return;
	g_autofree char *status = read_text(pid, "status");
	g_autofree char *maps = read_text(pid, "maps");
	event->is_taken = status != NULL && is_ready(self, status, maps);
	LodeWindowObstacle obstacle = event->is_taken ? find_obstacle(self, pid, status, maps)
	                                              : LODE_WINDOW_OBSTACLE_NONE;
	if (obstacle != LODE_WINDOW_OBSTACLE_NONE) {
		lode_window_logs_add_obstacle(self->logs, pid, obstacle);
		event->is_taken = false;
	}
	if (event->is_taken)
		set_event(self, event);
	else
		close_events_of(self, pid);
}

/* They are written by four bytes, which a pipe does not divide. A program that never stops writing
 * is not waited for. */
static void read_announced(LodeWindowRecorder *self, gint64 now_us)
{
	uint32_t pids[256];
	ssize_t n;

	for (unsigned i = 0; i < MAX_READS && (n = read(self->fifo, pids, sizeof(pids))) > 0; i++)
		if (!self->has_timer && self->announced->len < MAX_ANNOUNCED)
			g_array_append_vals(
				self->announced, pids, (guint)((size_t)n / sizeof(pids[0])));
	if (self->announced->len == 0)
		self->due_us = 0;
	else if (self->due_us == 0)
		self->due_us = now_us + DELAY_US;
}

static void take_announced(LodeWindowRecorder *self)
{
	for (guint i = 0; i < self->announced->len; i++) {
		uint32_t pid = g_array_index(self->announced, uint32_t, i);
		if (pid > 0 && pid <= G_MAXINT)
			take_process(self, (pid_t)pid);
	}
	g_array_set_size(self->announced, 0);
	self->due_us = 0;
}

/* --- what processes wait for --- */

static bool is_announced(const LodeWindowRecorder *self, pid_t pid)
{
	for (guint i = 0; i < self->announced->len; i++)
		if (g_array_index(self->announced, uint32_t, i) == (uint32_t)pid)
			return true;
	return false;
}

static void forget_announced(LodeWindowRecorder *self, pid_t pid)
{
	for (guint i = self->announced->len; i-- > 0;)
		if (g_array_index(self->announced, uint32_t, i) == (uint32_t)pid)
			g_array_remove_index_fast(self->announced, i);
}

/* A program that is not announced any more has its event, or an obstacle. */
static void answer(LodeWindowRecorder *self, LodeWindowRequest request, pid_t pid)
{
	if (request == LODE_WINDOW_REQUEST_CLOSE) {
		close_events_of(self, pid);
		forget_announced(self, pid);
	} else if (is_announced(self, pid)) {
		open_waiting(self, pid);
	}
}

/* The kernel says who connected. What the process had announced before is read first. */
static void answer_requests(LodeWindowRecorder *self, LodeWindowRequest request)
{
	for (unsigned i = 0; i < MAX_REQUESTS && self->requests[request] >= 0; i++) {
		struct ucred peer = {0};
		socklen_t size = sizeof(peer);
		int connection = accept4(self->requests[request], NULL, NULL, SOCK_CLOEXEC);
		if (connection < 0)
			return;
		read_announced(self, g_get_monotonic_time());
		if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
			peer.pid > 0)
			answer(self, request, peer.pid);
		close(connection);
	}
}

static void survey(LodeWindowRecorder *self, gint64 now_us)
{
	close_ended(self);
	look_for_changes(self);
	lode_window_logs_collect(self->logs);
	gint64 end_us = g_get_monotonic_time();
	self->next_survey_us = end_us + MAX(SURVEY_US, SURVEY_COST_FACTOR * (end_us - now_us));
}

void lode_window_recorder_update(LodeWindowRecorder *self)
{
	gint64 now_us = g_get_monotonic_time();

	for (unsigned i = 0; i < LODE_N_WINDOW_REQUESTS; i++)
		answer_requests(self, i);
	if (now_us >= self->due_us) {
		take_announced(self);
		read_announced(self, now_us);
	}
	if (now_us >= self->next_survey_us)
		survey(self, now_us);
}

gint64 lode_window_recorder_due_us(const LodeWindowRecorder *self)
{
	return self->due_us;
}

void lode_window_recorder_switch(LodeWindowRecorder *self, bool is_on)
{
	self->is_on = is_on;
	for (guint i = 0; i < self->events->len; i++)
		set_event(self, &g_array_index(self->events, Event, i));
}

void lode_window_recorder_add_obstacle(LodeWindowRecorder *self, pid_t pid)
{
	lode_window_logs_add_obstacle(self->logs, pid, LODE_WINDOW_OBSTACLE_PRELOAD);
}

/* --- begin and end --- */

static bool is_folder_name(const char *name)
{
	return strcmp(name, FOLDER) == 0;
}

static bool has_memory_folder(void)
{
	struct statfs status;

	return statfs(MEMORY_FOLDER, &status) == 0 && status.f_type == TMPFS_MAGIC &&
	       (uint64_t)status.f_bavail * (uint64_t)status.f_bsize >= MEMORY_LEAST;
}

/* The path of a socket is short: it leads through the descriptor of the directory. */
static int listen_at(const LodeWindowRecorder *self, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int folder = open(self->folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	g_snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder, name);
	bool is_done = folder >= 0 && listener >= 0 &&
	               bind(listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	               listen(listener, SOMAXCONN) == 0;
	const int code = errno;
	if (folder >= 0)
		close(folder);
	if (!is_done && listener >= 0)
		close(listener);
	errno = code;
	return is_done ? listener : -1;
}

static bool open_requests(LodeWindowRecorder *self, GError **error)
{
	static const char *const names[] = {LODE_WINDOW_OPEN_NAME, LODE_WINDOW_CLOSE_NAME};

	G_STATIC_ASSERT(G_N_ELEMENTS(names) == LODE_N_WINDOW_REQUESTS);
	for (unsigned i = 0; i < LODE_N_WINDOW_REQUESTS; i++)
		if ((self->requests[i] = listen_at(self, names[i])) < 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s/%s: %s",
				self->folder->path, names[i], g_strerror(errno));
			return false;
		}
	return true;
}

static bool make_folder(LodeWindowRecorder *self, GError **error)
{
	g_autofree char *parent = g_canonicalize_filename(g_get_tmp_dir(), NULL);

	lode_run_folder_remove_stale(MEMORY_FOLDER, is_folder_name);
	lode_run_folder_remove_stale(parent, is_folder_name);
	if (has_memory_folder())
		self->folder = lode_run_folder_make(MEMORY_FOLDER, FOLDER);
	if (self->folder == NULL)
		self->folder = lode_run_folder_make(parent, FOLDER);
	if (self->folder == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"cannot make a directory for their logs in '%s' (TMPDIR): %s", parent,
			g_strerror(errno));
		return false;
	}
	g_autofree char *path = g_build_filename(self->folder->path, "announce", NULL);
	/* for both, so that reading does not end when no process has it open */
	if (mkfifo(path, 0600) == 0)
		self->fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (self->fifo < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(errno));
		return false;
	}
	self->logs = lode_window_logs_new(self->folder->path, error);
	return self->logs != NULL && open_requests(self, error);
}

LodeWindowRecorder *lode_window_recorder_new(
	const LodeWindowOptions *options, const LodePerfKernel *kernel, bool is_on, GError **error)
{
	g_autoptr(LodeWindowRecorder) self = g_new0(LodeWindowRecorder, 1);

	self->kernel = kernel;
	self->options = *options;
	self->is_on = is_on;
	self->fifo = -1;
	for (unsigned i = 0; i < LODE_N_WINDOW_REQUESTS; i++)
		self->requests[i] = -1;
	self->own_calls = lode_own_system_calls_new();
	self->events = g_array_new(FALSE, FALSE, sizeof(Event));
	self->announced = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->refused = g_hash_table_new(NULL, NULL);
	getrlimit(RLIMIT_NOFILE, &self->limit);
	g_autofree char *status = read_text(getpid(), "status");
	self->n_limits = n_limits(status);
	self->library = lode_preloaded_library_find(LIBRARY_FOLDER, LIBRARY, error);
	if (self->library == NULL || !make_folder(self, error))
		return NULL;
	self->has_timer = !can_open_events(self);
	return g_steal_pointer(&self);
}

void lode_window_recorder_end(LodeWindowRecorder *self)
{
	while (self->events->len > 0)
		close_event(self, self->events->len - 1);
	/* processes that wait learn by this that there are no more events */
	for (unsigned i = 0; i < LODE_N_WINDOW_REQUESTS; i++)
		if (self->requests[i] >= 0) {
			close(self->requests[i]);
			self->requests[i] = -1;
		}
	setrlimit(RLIMIT_NOFILE, &self->limit);
}

void lode_window_recorder_free(LodeWindowRecorder *self)
{
	if (self == NULL)
		return;
	lode_window_recorder_end(self);
	if (self->fifo >= 0)
		close(self->fifo);
	lode_run_folder_remove(self->folder);
	lode_window_logs_free(self->logs);
	lode_own_system_calls_free(self->own_calls);
	g_array_unref(self->events);
	g_array_unref(self->announced);
	g_hash_table_unref(self->refused);
	g_strfreev(self->environment);
	g_free(self->library);
	g_free(self);
}

/* A program built with it, that the recorded one starts, refuses to run after another library. */
static char **allow_for_sanitizer(char **environment)
{
	static const char name[] = "ASAN_OPTIONS", option[] = "verify_asan_link_order=0";
	const char *given = g_environ_getenv(environment, name);
	g_autofree char *both = given != NULL && *given != '\0'
	                                ? g_strconcat(given, ":", option, NULL)
	                                : g_strdup(option);

	return g_environ_setenv(environment, name, both, TRUE);
}

const char *const *lode_window_recorder_environment(
	LodeWindowRecorder *self, const char *const *environment)
{
	char share[G_ASCII_DTOSTR_BUF_SIZE];
	char **all = lode_preloaded_library_environment(environment, self->library);

	g_ascii_formatd(share, sizeof(share), "%g", self->options.share);
	all = g_environ_setenv(all, "LODE_WINDOWS", self->folder->path, TRUE);
	all = g_environ_setenv(all, "LODE_WINDOWS_SHARE", share, TRUE);
	all = self->options.has_only_paths ? g_environ_setenv(all, "LODE_WINDOWS_PATHS", "1", TRUE)
	                                   : g_environ_unsetenv(all, "LODE_WINDOWS_PATHS");
	all = self->has_timer ? g_environ_setenv(all, "LODE_WINDOWS_TIMER", "1", TRUE)
	                      : g_environ_unsetenv(all, "LODE_WINDOWS_TIMER");
	g_strfreev(self->environment);
	self->environment = allow_for_sanitizer(all);
	return (const char *const *)self->environment;
}

bool lode_window_recorder_has_timer(const LodeWindowRecorder *self)
{
	return self->has_timer;
}

int lode_window_recorder_descriptor(const LodeWindowRecorder *self)
{
	return self->fifo;
}

int lode_window_recorder_request_descriptor(
	const LodeWindowRecorder *self, LodeWindowRequest request)
{
	return self->requests[request];
}

LodeWindowLogs *lode_window_recorder_logs(const LodeWindowRecorder *self)
{
	return self->logs;
}

void lode_window_recorder_add_note(const LodeWindowRecorder *self, GString *note)
{
	const LodeWindowTally *tally = lode_window_logs_tally(self->logs);
	guint n_refused = g_hash_table_size(self->refused);

	if (tally->n_logs == 0 && !tally->is_loaded)
		lode_perf_note(note,
			"no windows were recorded: no process loaded " LIBRARY
			", or none could write to the directory for temporary files (TMPDIR)");
	if (n_refused > 0)
		lode_perf_note(note,
			"processes without windows, as the kernel refused their event: %u, such as "
			"process %d (%s)",
			n_refused, (int)self->refused_one, g_strerror(self->refusal));
	if (tally->n_left_out > 0)
		lode_perf_note(note, "processes whose windows the recording had no room for: %u",
			tally->n_left_out);
}
