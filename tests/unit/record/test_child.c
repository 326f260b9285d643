/* SPDX-License-Identifier: MIT */
/* A child's status, signals and standard input, with the shell as the child. */
#include "base/error.h"
#include "record/programs/child.h"
#include "traces/trace_writer.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static LodeChildEnd run_shell(const char *script)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	g_autoptr(GError) error = NULL;
	LodeChildEnd end = {0};

	g_assert_true(lode_child_run(&(LodeChildOptions){.argv = argv}, &end, &error));
	g_assert_no_error(error);
	g_assert_cmpint(end.pid, >, 0);
	return end;
}

static void test_status(void)
{
	g_assert_cmpint(WEXITSTATUS(run_shell("exit 0").status), ==, 0);
	g_assert_cmpint(WEXITSTATUS(run_shell("exit 42").status), ==, 42);
	LodeChildEnd killed = run_shell("kill -SEGV $$");
	g_assert_true(WIFSIGNALED(killed.status));
	g_assert_cmpint(WTERMSIG(killed.status), ==, SIGSEGV);
	g_assert_cmpint(killed.stop_signal, ==, 0);
}

static void test_missing(void)
{
	const char *const argv[] = {"/there/is/no/such/program", NULL};
	g_autoptr(GError) error = NULL;
	LodeChildEnd end;

	g_assert_false(lode_child_run(&(LodeChildOptions){.argv = argv}, &end, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(error->message, argv[0]));
}

/* Each child tells us to signal ourselves: what then happens to it is what we forwarded. */
static void test_forwarding(void)
{
	static const int stops[] = {SIGTERM, SIGHUP}, others[] = {SIGINT, SIGUSR1};
	const char *script = "trap 'exit 9' HUP INT TERM USR1; kill -%d $PPID; "
			     "while :; do sleep 0.05; done";

	/* Where it was ignored, as under nohup, a shell cannot take it up again. */
	signal(SIGHUP, SIG_DFL);
	for (size_t i = 0; i < G_N_ELEMENTS(stops); i++) {
		g_autofree char *text = g_strdup_printf(script, stops[i]);
		LodeChildEnd end = run_shell(text);
		g_assert_cmpint(WEXITSTATUS(end.status), ==, 9);
		g_assert_cmpint(end.stop_signal, ==, stops[i]);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		g_autofree char *text = g_strdup_printf(script, others[i]);
		LodeChildEnd end = run_shell(text);
		g_assert_cmpint(WEXITSTATUS(end.status), ==, 9);
		g_assert_cmpint(end.stop_signal, ==, 0);
	}
}

static void count_note(const char *text, LodeAdvice advice, void *user_data)
{
	g_assert_cmpint(advice, ==, LODE_ADVICE_NONE);
	g_string_append_printf(user_data, "%s\n", text);
}

/* The child waits long enough between its signals to us that none is taken for an echo. */
static void check_ended(const char *ignored, int ending, const char *words)
{
	g_autofree char *script = g_strdup_printf(
		"trap '' %s; while :; do kill -INT $PPID; sleep 0.4; done", ignored);
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	g_autoptr(GString) notes = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	const LodeChildOptions options = {.argv = argv, .notes = {count_note, notes}};
	LodeChildEnd end;

	g_assert_true(lode_child_run(&options, &end, &error));
	g_assert_no_error(error);
	g_assert_true(WIFSIGNALED(end.status));
	g_assert_cmpint(WTERMSIG(end.status), ==, ending);
	/* The recording is wanted. */
	g_assert_cmpint(end.stop_signal, ==, 0);
	g_assert_nonnull(strstr(notes->str, words));
}

static void test_insisting(void)
{
	check_ended("INT", SIGTERM, "ended by SIGTERM");
	check_ended("INT TERM", SIGKILL, "ended by SIGKILL");
}

static int n_interrupts;

static void count_interrupt(int signal)
{
	(void)signal;
	n_interrupts++;
}

/* Ctrl-C ends the child before its signal is sent to us, too: ours is not meant for what comes
 * after. On a busy machine ours may come too late; then it is tried again. */
static void test_late_interrupt(void)
{
	bool was_taken = false;

	signal(SIGINT, count_interrupt);
	for (int i = 0; i < 20 && !was_taken; i++) {
		n_interrupts = 0;
		LodeChildEnd end = run_shell("(sleep 0.05; kill -INT $PPID) & kill -INT $$");
		g_assert_true(WIFSIGNALED(end.status));
		g_usleep(G_USEC_PER_SEC / 5);
		was_taken = n_interrupts == 0;
	}
	signal(SIGINT, SIG_IGN); /* one may still come */
	g_assert_true(was_taken);
}

/* What we ignore, as under nohup, neither kills nor reaches the child. */
static void test_ignored(void)
{
	signal(SIGHUP, SIG_IGN);
	LodeChildEnd end = run_shell("kill -HUP $PPID; kill -HUP $$; exit 3");
	signal(SIGHUP, SIG_DFL);
	g_assert_true(WIFEXITED(end.status));
	g_assert_cmpint(WEXITSTATUS(end.status), ==, 3);
	g_assert_cmpint(end.stop_signal, ==, 0);
}

static void test_ignored_child_signal(void)
{
	signal(SIGCHLD, SIG_IGN);
	LodeChildEnd end = run_shell("exit 5");
	g_assert_true(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
	g_assert_cmpint(WEXITSTATUS(end.status), ==, 5);
}

static void test_mask_restored(void)
{
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	run_shell(":");
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int number = 1; number < 32; number++)
		g_assert_cmpint(sigismember(&before, number), ==, sigismember(&after, number));
}

/* A worker that lets the end of a child in would take it from the thread that waits for it. */
static void test_workers_take_no_signal(void)
{
	const LodeTraceWriterOptions options = {.threads = 2};
	const struct timespec none = {0};
	g_autofree char *path = g_build_filename(g_get_tmp_dir(), "lode-test-child.rps", NULL);
	g_autoptr(GError) error = NULL;
	sigset_t set, before;

	g_autoptr(LodeTraceStream) writer = lode_trace_writer_open(path, &options, NULL, &error);
	g_assert_no_error(error);
	g_assert_nonnull(writer);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	kill(getpid(), SIGCHLD);
	g_usleep(G_USEC_PER_SEC / 10);
	g_assert_cmpint(sigtimedwait(&set, NULL, &none), ==, SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void test_standard_input(void)
{
	int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10), ends[2];

	g_assert_cmpint(pipe(ends), ==, 0);
	g_assert_cmpint(write(ends[1], "word\n", 5), ==, 5);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	LodeChildEnd end = run_shell("read x && [ \"$x\" = word ]");
	g_assert_cmpint(WEXITSTATUS(end.status), ==, 0);
	close(STDIN_FILENO);
	end = run_shell("[ ! -e /proc/$$/fd/0 ]");
	g_assert_cmpint(WEXITSTATUS(end.status), ==, 0);
	if (saved >= 0)
		dup2(saved, STDIN_FILENO);
}

static volatile sig_atomic_t n_signals;

static void count_signal(int signal)
{
	(void)signal;
	n_signals++;
}

static void *trace_thread(void *data)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	return data;
}

/* Is stopped at a signal, at an execution, and is waited for as a thread; status 7. */
static int run_traced(const char *way)
{
	const char *const argv[] = {"/proc/self/exe", "--traced", "thread", NULL};
	pthread_t thread;

	if (strcmp(way, "thread") == 0) {
		pthread_create(&thread, NULL, trace_thread, NULL);
		pthread_join(thread, NULL);
		return 7;
	}
	signal(SIGUSR1, count_signal);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	if (strcmp(way, "signal") == 0)
		raise(SIGUSR1);
	if (strcmp(way, "killed") == 0)
		raise(SIGTERM);
	if (strcmp(way, "signal") == 0 && n_signals != 1)
		return 1;
	execv(argv[0], (char *const *)argv);
	return 2;
}

/* A child that asks to be traced makes us its tracer. */
static void test_traced(void)
{
	static const char *const ways[] = {"signal", "execution", "thread", "killed"};

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		const char *const argv[] = {"/proc/self/exe", "--traced", ways[i], NULL};
		g_autoptr(GError) error = NULL;
		LodeChildEnd end = {0};

		g_assert_true(lode_child_run(&(LodeChildOptions){.argv = argv}, &end, &error));
		g_assert_no_error(error);
		if (strcmp(ways[i], "killed") == 0)
			g_assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGTERM);
		else
			g_assert_true(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--traced") == 0)
		return run_traced(argv[2]);
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/child/status", test_status);
	g_test_add_func("/record/child/missing", test_missing);
	g_test_add_func("/record/child/forwarding", test_forwarding);
	g_test_add_func("/record/child/insisting", test_insisting);
	g_test_add_func("/record/child/ignored", test_ignored);
	g_test_add_func("/record/child/ignored-child-signal", test_ignored_child_signal);
	g_test_add_func("/record/child/mask-restored", test_mask_restored);
	g_test_add_func("/record/child/workers-take-no-signal", test_workers_take_no_signal);
	g_test_add_func("/record/child/standard-input", test_standard_input);
	g_test_add_func("/record/child/traced", test_traced);
	g_test_add_func("/record/child/late-interrupt", test_late_interrupt);
	return g_test_run();
}
