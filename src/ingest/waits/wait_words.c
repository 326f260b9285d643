/* SPDX-License-Identifier: MIT */
#include "ingest/waits/wait_words.h"

#include <glib.h>
#include <string.h>

/* --- system calls --- */

static const LodeWaitCall calls[] = {
	{.name = "nanosleep", .reason = LODE_WAIT_SLEEP, .has_timeout = true},
	{.name = "clock_nanosleep", .reason = LODE_WAIT_SLEEP, .has_timeout = true},
	{.name = "clock_nanosleep_time64", .reason = LODE_WAIT_SLEEP, .has_timeout = true},

	{"poll", LODE_WAIT_CALL_POLL, LODE_WAIT_POLL, 1, true},
	{"ppoll", LODE_WAIT_CALL_POLL, LODE_WAIT_POLL, 1, true},
	{"ppoll_time64", LODE_WAIT_CALL_POLL, LODE_WAIT_POLL, 1, true},
	{"select", LODE_WAIT_CALL_POLL, LODE_WAIT_POLL, 0, true},
	{"_newselect", LODE_WAIT_CALL_POLL, LODE_WAIT_POLL, 0, true},
	{"pselect6", LODE_WAIT_CALL_POLL, LODE_WAIT_POLL, 0, true},
	{"pselect6_time64", LODE_WAIT_CALL_POLL, LODE_WAIT_POLL, 0, true},
	{.name = "epoll_wait", .kind = LODE_WAIT_CALL_EPOLL, .reason = LODE_WAIT_POLL},
	{.name = "epoll_pwait", .kind = LODE_WAIT_CALL_EPOLL, .reason = LODE_WAIT_POLL},
	{.name = "epoll_pwait2", .kind = LODE_WAIT_CALL_EPOLL, .reason = LODE_WAIT_POLL},

	{"read", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_READ, 0, false},
	{"readv", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_READ, 0, false},
	{"pread64", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_READ, 0, false},
	{"preadv", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_READ, 0, false},
	{"preadv2", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_READ, 0, false},
	{"readahead", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_READ, 0, false},
	{"getdents", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_READ, 0, false},
	{"getdents64", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_READ, 0, false},
	{"write", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"writev", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"pwrite64", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"pwritev", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"pwritev2", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"sendfile", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"sendfile64", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"copy_file_range", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"fallocate", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"ftruncate", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{"ftruncate64", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_WRITE, 0, false},
	{.name = "truncate", .reason = LODE_WAIT_WRITE},
	{"splice", LODE_WAIT_CALL_DESCRIPTOR, LODE_WAIT_PIPE, 0, false},
	{.name = "tee", .reason = LODE_WAIT_PIPE},
	{.name = "vmsplice", .reason = LODE_WAIT_PIPE},

	{.name = "fsync", .reason = LODE_WAIT_SYNC},
	{.name = "fdatasync", .reason = LODE_WAIT_SYNC},
	{.name = "msync", .reason = LODE_WAIT_SYNC},
	{.name = "sync", .reason = LODE_WAIT_SYNC},
	{.name = "syncfs", .reason = LODE_WAIT_SYNC},
	{.name = "sync_file_range", .reason = LODE_WAIT_SYNC},

	{.name = "wait4", .reason = LODE_WAIT_CHILD},
	{.name = "waitid", .reason = LODE_WAIT_CHILD},
	{.name = "waitpid", .reason = LODE_WAIT_CHILD},
	/* until the child runs another program, or ends */
	{.name = "vfork", .reason = LODE_WAIT_CHILD},
	{.name = "clone", .reason = LODE_WAIT_CHILD},
	{.name = "clone3", .reason = LODE_WAIT_CHILD},

	{.name = "accept", .reason = LODE_WAIT_SOCKET},
	{.name = "accept4", .reason = LODE_WAIT_SOCKET},
	{.name = "connect", .reason = LODE_WAIT_SOCKET},
	{.name = "recvfrom", .reason = LODE_WAIT_SOCKET},
	{.name = "recvmsg", .reason = LODE_WAIT_SOCKET},
	{.name = "recvmmsg", .reason = LODE_WAIT_SOCKET},
	{.name = "recvmmsg_time64", .reason = LODE_WAIT_SOCKET},
	{.name = "sendto", .reason = LODE_WAIT_SOCKET},
	{.name = "sendmsg", .reason = LODE_WAIT_SOCKET},
	{.name = "sendmmsg", .reason = LODE_WAIT_SOCKET},
	{.name = "shutdown", .reason = LODE_WAIT_SOCKET},
	{.name = "socketcall", .reason = LODE_WAIT_SOCKET},

	{"futex", LODE_WAIT_CALL_FUTEX, LODE_WAIT_CONDITION, 0, true},
	{"futex_time64", LODE_WAIT_CALL_FUTEX, LODE_WAIT_CONDITION, 0, true},
	{.name = "futex_waitv", .reason = LODE_WAIT_CONDITION, .has_timeout = true},
	{.name = "semop", .reason = LODE_WAIT_CONDITION},
	{.name = "semtimedop", .reason = LODE_WAIT_CONDITION},

	{.name = "flock", .reason = LODE_WAIT_LOCK},
	{"fcntl", LODE_WAIT_CALL_FILE_LOCK, LODE_WAIT_LOCK, 0, false},
	{"fcntl64", LODE_WAIT_CALL_FILE_LOCK, LODE_WAIT_LOCK, 0, false},

	{"restart_syscall", LODE_WAIT_CALL_AGAIN, LODE_WAIT_OTHER, 0, true},
};

const LodeWaitCall *lode_wait_call_find(const char *name)
{
	static const LodeWaitCall other = {.reason = LODE_WAIT_OTHER};

	for (size_t i = 0; name != NULL && i < G_N_ELEMENTS(calls); i++)
		if (strcmp(name, calls[i].name) == 0)
			return &calls[i];
	return &other;
}

/* --- functions of the kernel --- */

typedef struct {
	const char *begin; /* of its name */
	LodeWaitReason reason;
	bool is_futex;
} KernelFunction;

/* The first that fits; Linux 4.19 to 6.18. */
static const KernelFunction kernel_functions[] = {
	{"futex_lock_pi", LODE_WAIT_LOCK, true},
	{"futex_", LODE_WAIT_CONDITION, true},
	{"__futex_", LODE_WAIT_CONDITION, true},
	{"rt_mutex_", LODE_WAIT_LOCK, true},
	{"hrtimer_nanosleep", LODE_WAIT_SLEEP, false},
	{"do_nanosleep", LODE_WAIT_SLEEP, false},
	{"common_nsleep", LODE_WAIT_SLEEP, false},
	{"alarm_timer_nsleep", LODE_WAIT_SLEEP, false},
	{"pipe_", LODE_WAIT_PIPE, false},
	{"anon_pipe_", LODE_WAIT_PIPE, false},
	{"fifo_", LODE_WAIT_PIPE, false},
	{"wait_for_partner", LODE_WAIT_PIPE, false},
	{"splice_", LODE_WAIT_PIPE, false},
	{"ep_poll", LODE_WAIT_POLL, false},
	{"do_epoll_wait", LODE_WAIT_POLL, false},
	{"poll_schedule_timeout", LODE_WAIT_POLL, false},
	{"do_poll", LODE_WAIT_POLL, false},
	{"do_sys_poll", LODE_WAIT_POLL, false},
	{"do_select", LODE_WAIT_POLL, false},
	{"core_sys_select", LODE_WAIT_POLL, false},
	{"eventfd_", LODE_WAIT_POLL, false},
	{"timerfd_", LODE_WAIT_POLL, false},
	{"inotify_", LODE_WAIT_POLL, false},
	{"fanotify_", LODE_WAIT_POLL, false},
	{"signalfd_", LODE_WAIT_POLL, false},
	{"do_wait", LODE_WAIT_CHILD, false},
	{"kernel_wait4", LODE_WAIT_CHILD, false},
	{"kernel_waitid", LODE_WAIT_CHILD, false},
	{"wait_for_vfork_done", LODE_WAIT_CHILD, false},
	{"jbd2_log_wait_commit", LODE_WAIT_SYNC, false},
	{"jbd2_complete_transaction", LODE_WAIT_SYNC, false},
	{"file_write_and_wait", LODE_WAIT_SYNC, false},
	{"__filemap_fdatawait_range", LODE_WAIT_SYNC, false},
	{"filemap_fdatawait", LODE_WAIT_SYNC, false},
	{"blkdev_issue_flush", LODE_WAIT_SYNC, false},
	{"submit_bio_wait", LODE_WAIT_SYNC, false},
	{"ext4_sync_file", LODE_WAIT_SYNC, false},
	{"xfs_log_force", LODE_WAIT_SYNC, false},
	{"xlog_wait", LODE_WAIT_SYNC, false},
	{"btrfs_sync_", LODE_WAIT_SYNC, false},
	{"btrfs_wait_", LODE_WAIT_SYNC, false},
	{"inet_csk_accept", LODE_WAIT_SOCKET, false},
	{"inet_", LODE_WAIT_SOCKET, false},
	{"tcp_", LODE_WAIT_SOCKET, false},
	{"udp_", LODE_WAIT_SOCKET, false},
	{"unix_", LODE_WAIT_SOCKET, false},
	{"sk_", LODE_WAIT_SOCKET, false},
	{"sock_", LODE_WAIT_SOCKET, false},
	{"skb_", LODE_WAIT_SOCKET, false},
	{"__skb_", LODE_WAIT_SOCKET, false},
	{"n_tty_read", LODE_WAIT_READ, false},
	{"n_tty_write", LODE_WAIT_WRITE, false},
	{"balance_dirty_pages", LODE_WAIT_WRITE, false},
	{"folio_wait_bit_common", LODE_WAIT_PAGE, false},
	{"folio_wait_", LODE_WAIT_PAGE, false},
	{"__folio_lock", LODE_WAIT_PAGE, false},
	{"wait_on_page_", LODE_WAIT_PAGE, false},
	{"__lock_page", LODE_WAIT_PAGE, false},
	{"filemap_", LODE_WAIT_PAGE, false},
	{"swap_", LODE_WAIT_PAGE, false},
	{"do_swap_page", LODE_WAIT_PAGE, false},
	{"handle_userfault", LODE_WAIT_PAGE, false},
	{"throttle_direct_reclaim", LODE_WAIT_PAGE, false},
	{"mem_cgroup_", LODE_WAIT_PAGE, false},
	{"locks_lock_inode_wait", LODE_WAIT_LOCK, false},
	{"flock_lock_inode_wait", LODE_WAIT_LOCK, false},
	{"posix_lock_inode_wait", LODE_WAIT_LOCK, false},
	{"fcntl_setlk", LODE_WAIT_LOCK, false},
	{"do_lock_file_wait", LODE_WAIT_LOCK, false},
	{"do_semtimedop", LODE_WAIT_CONDITION, false},
	{"__do_semtimedop", LODE_WAIT_CONDITION, false},
	{"do_signal_stop", LODE_WAIT_STOPPED, false},
	{"ptrace_stop", LODE_WAIT_STOPPED, false},
	{"do_jobctl_trap", LODE_WAIT_STOPPED, false},
	{"do_freezer_trap", LODE_WAIT_STOPPED, false},
	{"__refrigerator", LODE_WAIT_STOPPED, false},
	{"io_cqring_wait", LODE_WAIT_OTHER, false},
	{"do_sigtimedwait", LODE_WAIT_OTHER, false},
	{"sigsuspend", LODE_WAIT_OTHER, false},
};

LodeWaitReason lode_wait_reason_of_kernel(const char *function, bool *out_is_futex)
{
	for (size_t i = 0; i < G_N_ELEMENTS(kernel_functions); i++) {
		const KernelFunction *row = &kernel_functions[i];
		if (!g_str_has_prefix(function, row->begin))
			continue;
		*out_is_futex = row->is_futex;
		return row->reason;
	}
	*out_is_futex = false;
	return LODE_N_WAIT_REASONS;
}

/* --- descriptors --- */

typedef struct {
	const char *begin;
	LodeWaitReason reason;
	const char *name; /* NULL: what it is called */
} Target;

static const Target targets[] = {
	{"pipe:[", LODE_WAIT_PIPE, "pipe"},
	{"pipe", LODE_WAIT_PIPE, NULL},
	{"socket:[", LODE_WAIT_SOCKET, "socket"},
	{"socket", LODE_WAIT_SOCKET, NULL},
	{"tcp", LODE_WAIT_SOCKET, NULL},
	{"udp", LODE_WAIT_SOCKET, NULL},
	{"unix", LODE_WAIT_SOCKET, NULL},
	{"netlink", LODE_WAIT_SOCKET, NULL},
	{"anon_inode:[eventfd]", LODE_WAIT_POLL, "eventfd"},
	{"anon_inode:[eventpoll]", LODE_WAIT_POLL, "epoll"},
	{"anon_inode:[timerfd]", LODE_WAIT_POLL, "timerfd"},
	{"anon_inode:[signalfd]", LODE_WAIT_POLL, "signalfd"},
	{"anon_inode:[fanotify]", LODE_WAIT_POLL, "fanotify"},
	{"anon_inode:[userfaultfd]", LODE_WAIT_POLL, "userfaultfd"},
	{"anon_inode:[pidfd]", LODE_WAIT_CHILD, "process"},
	{"anon_inode:[io_uring]", LODE_WAIT_OTHER, "io_uring"},
	{"anon_inode:inotify", LODE_WAIT_POLL, "inotify"},
	{"anon_inode:", LODE_WAIT_POLL, NULL},
	{"eventfd", LODE_WAIT_POLL, NULL},
	{"timerfd", LODE_WAIT_POLL, NULL},
	{"signalfd", LODE_WAIT_POLL, NULL},
	{"inotify", LODE_WAIT_POLL, NULL},
	{"epoll", LODE_WAIT_POLL, NULL},
};

LodeWaitReason lode_wait_reason_of_target(const char *target, const char **out_name)
{
	*out_name = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(targets); i++) {
		if (!g_str_has_prefix(target, targets[i].begin))
			continue;
		*out_name = targets[i].name;
		return targets[i].reason;
	}
	return LODE_N_WAIT_REASONS;
}

/* --- functions of the program --- */

typedef struct {
	const char *patterns; /* separated by spaces */
	LodeWaitFunction says;
} FunctionRow;

/*
 * glibc's and musl's names are compared without the underscores before them and the version after
 * them. The first that fits.
 */
static const FunctionRow functions[] = {
	/* the C library */
	{"pthread_cond_wait* pthread_cond_timedwait* pthread_cond_clockwait* cnd_wait "
	 "cnd_timedwait",
		{.reason = LODE_WAIT_CONDITION, .mutex_argument = 2}},
	{"pthread_barrier_wait*", {LODE_WAIT_CONDITION, NULL, "a barrier", true}},
	{"pthread_once* call_once", {LODE_WAIT_CONDITION, NULL, "a first initialisation", true}},
	{"sem_wait* sem_timedwait* sem_clockwait* new_sem_wait*",
		{LODE_WAIT_CONDITION, NULL, "a semaphore", true}},
	{"pthread_join* pthread_timedjoin* pthread_clockjoin* thrd_join",
		{.reason = LODE_WAIT_JOIN, .is_sure = true}},
	{"pthread_mutex_* pthread_rwlock_* pthread_spin_* lll_lock_* mtx_lock mtx_timedlock",
		{.reason = LODE_WAIT_LOCK, .is_sure = true}},
	{"malloc calloc realloc free cfree memalign aligned_alloc posix_memalign valloc pvalloc "
	 "malloc_trim mallinfo* int_malloc int_free* int_realloc arena_get* libc_malloc "
	 "libc_calloc "
	 "libc_realloc libc_free",
		{LODE_WAIT_LOCK, "malloc's arena", NULL, true}},
	{"fwrite* fread* fputs* fgets* fputc* fgetc putc getc putchar puts printf fprintf "
	 "vprintf vfprintf* printf_chk fprintf_chk vfprintf_internal fflush* fclose IO_fflush "
	 "IO_puts IO_fwrite IO_fputs IO_fclose IO_flush_all* flockfile getline getdelim perror",
		{LODE_WAIT_LOCK, "stdio", NULL, true}},
	{"dlopen* dlsym dlclose dl_iterate_phdr dl_open dl_close tls_get_addr* dl_fini",
		{LODE_WAIT_LOCK, "the dynamic loader's lock", NULL, true}},
	{"exit run_exit_handlers cxa_finalize",
		{LODE_WAIT_LOCK, "the exit handlers' lock", NULL, false}},
	/* C++ */
	{"std::condition_variable::* std::_V2::condition_variable_any*",
		{.reason = LODE_WAIT_CONDITION}},
	{"std::thread::join*", {.reason = LODE_WAIT_JOIN, .is_sure = true}},
	{"std::mutex::lock* std::timed_mutex::* std::recursive_mutex::* std::shared_mutex::*",
		{.reason = LODE_WAIT_LOCK, .is_sure = true}},
	{"std::__atomic_futex_unsigned* std::__atomic_wait* std::atomic*::wait* std::latch::* "
	 "std::barrier* std::counting_semaphore* std::__future_base::* "
	 "std::__detail::__platform_wait* std::__1::__libcpp_atomic_* "
	 "std::__1::condition_variable::*",
		{.reason = LODE_WAIT_CONDITION, .is_sure = true}},
	{"cxa_guard_acquire", {LODE_WAIT_LOCK, "a static variable's guard", NULL, true}},
	/* CPython */
	{"PyThread_acquire_lock*", {LODE_WAIT_CONDITION, "a Python lock", NULL, true}},
	{"take_gil PyEval_RestoreThread PyEval_AcquireThread PyEval_AcquireLock",
		{LODE_WAIT_LOCK, LODE_WAIT_GIL, NULL, true}},
	/* HotSpot */
	{"ObjectMonitor::enter* ObjectMonitor::EnterI* ObjectMonitor::ReenterI*",
		{.reason = LODE_WAIT_LOCK, .is_sure = true}},
	{"ObjectMonitor::wait* Parker::park* Unsafe_Park*",
		{.reason = LODE_WAIT_CONDITION, .is_sure = true}},
	{"Mutex::lock* Mutex::lock_contended*", {.reason = LODE_WAIT_LOCK}},
	{"Monitor::wait* PlatformMonitor::wait* os::PlatformMonitor::wait* "
	 "os::PlatformEvent::park* PlatformEvent::park*",
		{.reason = LODE_WAIT_CONDITION}},
	/* Go: a thread that has no goroutine to run, or waits in the runtime */
	{"runtime.lock2* runtime.lock runtime.lockWithRank*",
		{.reason = LODE_WAIT_LOCK, .is_sure = true}},
	{"runtime.notesleep* runtime.notetsleep* runtime.futexsleep* runtime.semasleep*",
		{.reason = LODE_WAIT_CONDITION, .is_sure = true}},
	/* Rust */
	{"std::sys::*::condvar::* std::sys::*Condvar::* std::sync::*condvar::* std::thread::park* "
	 "std::sys::*thread_parking::* std::sys::*thread_parker::* "
	 "parking_lot::condvar::* <*Condvar*>::*",
		{.reason = LODE_WAIT_CONDITION, .is_sure = true}},
	{"std::sys::*::mutex::* std::sys::*::rwlock::* std::sys::*Mutex::lock* "
	 "std::sys::*RwLock::* std::sync::*mutex::* std::sync::*rwlock::* "
	 "parking_lot::raw_mutex::* parking_lot::raw_rwlock::*",
		{.reason = LODE_WAIT_LOCK, .is_sure = true}},
	{"std::sync::barrier::* std::sync::*::once::* std::sys::*::once::* std::sync::mpmc::* "
	 "std::sync::mpsc::* crossbeam_channel::*",
		{.reason = LODE_WAIT_CONDITION, .is_sure = true}},
};

static bool fits(const char *patterns, const char *name)
{
	g_auto(GStrv) split = g_strsplit(patterns, " ", -1);

	for (char **pattern = split; *pattern != NULL; pattern++)
		if (g_pattern_match_simple(*pattern, name))
			return true;
	return false;
}

/* "pthread_mutex_lock" of "___pthread_mutex_lock@@GLIBC_2.2.5", and "std::sync::Mutex::lock" of
 * Rust's "<std::sync::Mutex>::lock". The caller frees it. */
static char *plain_name(const char *name)
{
	const char *end = name[0] == '<' ? strstr(name, ">::") : NULL;

	if (end != NULL && strstr(name, " as ") == NULL && strchr(name + 1, '<') == NULL)
		return g_strdup_printf("%.*s%s", (int)(end - name - 1), name + 1, end + 1);
	name += strspn(name, "_");
	return g_strndup(name, strcspn(name, "@"));
}

const LodeWaitFunction *lode_wait_function_find(const char *name)
{
	g_autofree char *plain = plain_name(name);

	for (size_t i = 0; i < G_N_ELEMENTS(functions); i++)
		if (fits(functions[i].patterns, plain))
			return &functions[i].says;
	return NULL;
}

/* --- variables --- */

static const struct {
	const char *name, *words;
} variables[] = {
	{"main_arena", "malloc's arena"},
	{"_IO_2_1_stdin_", "stdin"},
	{"_IO_2_1_stdout_", "stdout"},
	{"_IO_2_1_stderr_", "stderr"},
	{"_IO_stdfile_0_lock", "stdin"},
	{"_IO_stdfile_1_lock", "stdout"},
	{"_IO_stdfile_2_lock", "stderr"},
	{"list_all_lock", "the list of stdio's files"},
	{"_rtld_global", "the dynamic loader's lock"},
	{"__exit_funcs_lock", "the exit handlers' lock"},
	{"_PyRuntime", LODE_WAIT_GIL},
};

const char *lode_wait_variable_words(const char *variable)
{
	for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
		if (strcmp(variables[i].name, variable) == 0)
			return variables[i].words;
	return NULL;
}

/* --- threads of run-times --- */

/* As the kernel has the names, of 15 bytes at most. */
static const struct {
	const char *sign; /* a thread that each such process has */
	const char *own;
	bool has_launcher; /* its first thread waits for the one that runs main */
} run_times[] = {
	/* HotSpot: runtime/thread.cpp and gc/shared/ name them */
	{"VM Thread",
		"VM?Thread VM?Periodic?Tas* GC?Thread#* G1?* ZDriver* ZWorker* ZDirector* ZStat* "
		"Shenandoah* Reference?Handl* Finalizer Signal?Dispatch* Service?Thread "
		"Monitor?Deflati* C1?CompilerThre* C2?CompilerThre* JVMCI* Sweeper?thread "
		"Notification?Th* Common-Cleaner Attach?Listener",
		true},
	{".NET Finalizer", ".NET?*", false},
};

bool lode_wait_is_for_signal(const char *call)
{
	return fits("rt_sigsuspend sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 pause", call);
}

bool lode_wait_may_be_for_child(LodeWaitReason reason, const char *call)
{
	if (call == NULL)
		return false;
	return (reason == LODE_WAIT_PIPE && fits("read readv preadv* *poll* *select*", call)) ||
	       (reason == LODE_WAIT_POLL && fits("*poll* *select*", call)) ||
	       (reason == LODE_WAIT_OTHER && lode_wait_is_for_signal(call));
}

bool lode_wait_is_of_kernel(const char *thread_name)
{
	return fits("iou-wrk-* iou-sqp-*", thread_name);
}

unsigned lode_wait_run_time_find(const char *thread_name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(run_times); i++)
		if (strcmp(run_times[i].sign, thread_name) == 0)
			return i + 1;
	return 0;
}

bool lode_wait_run_time_has(unsigned run_time, const char *thread_name, bool is_first)
{
	return run_time > 0 && run_time <= G_N_ELEMENTS(run_times) &&
	       ((is_first && run_times[run_time - 1].has_launcher) ||
		       fits(run_times[run_time - 1].own, thread_name));
}
