/* SPDX-License-Identifier: MIT */
/*
 * Two runs of a program as one: what they read and print, whose end counts, and what is left out
 * where the program can run only once or must not be sampled. With the real qemu.
 */
#include "base/error.h"
#include "record/program_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORK "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; "
/* In the first run, which is sampled. Counting it would take most of the test's time. */
#define WORK_ONCE "[ -e $DIRECTORY/ran ] || { " WORK "}; "

typedef struct {
	char *directory;
	GString *notes;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->notes = g_string_new(NULL);
	g_setenv("DIRECTORY", self->directory, TRUE);
}

static void tear_down(Fixture *self, const void *data)
{
	g_autoptr(GDir) listing = g_dir_open(self->directory, 0, NULL);
	const char *name;

	(void)data;
	while ((name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->directory, name, NULL);
		g_remove(path);
	}
	g_rmdir(self->directory);
	g_free(self->directory);
	g_string_free(self->notes, TRUE);
}

static void take_note(const char *text, LodeAdvice advice, void *user_data)
{
	Fixture *self = user_data;

	(void)advice;
	g_string_append_printf(self->notes, "%s\n", text);
}

static bool noted(const Fixture *self, const char *words)
{
	return strstr(self->notes->str, words) != NULL;
}

static bool record_as(Fixture *self, LodeRecordingKind kind, const char *script,
	LodeRecordedRun *out_run, GError **error)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const LodeProgramRecordingOptions options = {
		.argv = argv,
		.directory = self->directory,
		.kind = kind,
		.is_fast = true,
		.notes = {take_note, self},
	};

	return lode_program_recording_run(&options, out_run, error);
}

/* With another standard input and with output to a file, while TAP goes its own way. */
static LodeRecordedRun record(Fixture *self, int input, const char *script)
{
	g_autofree char *output = g_build_filename(self->directory, "output", NULL);
	g_autoptr(GError) error = NULL;
	int own_input = dup(STDIN_FILENO), own_output = dup(STDOUT_FILENO);
	int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fflush(stdout);
	g_assert_cmpint(dup2(input, STDIN_FILENO), ==, STDIN_FILENO);
	g_assert_cmpint(dup2(file, STDOUT_FILENO), ==, STDOUT_FILENO);
	LodeRecordedRun recording = {0};
	record_as(self, LODE_RECORDING_BOTH, script, &recording, &error);
	dup2(own_input, STDIN_FILENO);
	dup2(own_output, STDOUT_FILENO);
	close(own_input);
	close(own_output);
	close(file);
	close(input);
	g_assert_no_error(error);
	return recording;
}

static char *contents(const Fixture *self, const char *name)
{
	g_autofree char *path = g_build_filename(self->directory, name, NULL);
	char *text = NULL;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

static bool has_recording(const LodeRecordedRun *recording, const char *word)
{
	for (guint i = 0; i < recording->recordings->len; i++) {
		const char *path = g_ptr_array_index(recording->recordings, i);
		g_autofree char *name = g_path_get_basename(path);
		if (strstr(name, word) != NULL)
			return g_file_test(path, G_FILE_TEST_IS_REGULAR);
	}
	return false;
}

/* Whether there is all that two runs need; if not, the test is marked as skipped. */
static bool can_run_twice(const Fixture *self)
{
	g_autofree char *emulator = g_find_program_in_path("qemu-x86_64");

	if (emulator != NULL && !noted(self, "without samples"))
		return true;
	g_test_skip("no qemu, or sampling is not allowed");
	return false;
}

/* Both runs read the same words; what is printed, and the end, are those of the first. */
static void test_file_as_input(Fixture *self, const void *data)
{
	g_autofree char *path = g_build_filename(self->directory, "input", NULL);
	static const char script[] =
		"read word; echo $word >>$DIRECTORY/words; " WORK_ONCE
		"[ -e $DIRECTORY/ran ] && { echo second; exit 9; }; :>$DIRECTORY/ran; "
		"echo first; exit 4";

	(void)data;
	g_assert_true(g_file_set_contents(path, "skipped\nread\nmore\n", -1, NULL));
	int input = open(path, O_RDONLY | O_CLOEXEC);
	g_assert_cmpint(lseek(input, 8, SEEK_SET), ==, 8);
	g_auto(LodeRecordedRun) recording = record(self, input, script);
	g_autofree char *words = contents(self, "words");
	g_autofree char *output = contents(self, "output");
	g_assert_cmpstr(output, ==, "first\n");
	g_assert_cmpint(WEXITSTATUS(recording.exit_status), ==, 4);
	if (!can_run_twice(self))
		return;
	g_assert_cmpstr(words, ==, "read\nread\n");
	g_assert_cmpuint(recording.recordings->len, ==, 2);
	g_assert_true(has_recording(&recording, "perf.data"));
	g_assert_true(has_recording(&recording, "counts."));
	g_assert_cmpuint(recording.maps->len, ==, 0);
}

static void test_pipe_as_input(Fixture *self, const void *data)
{
	int ends[2];

	(void)data;
	g_assert_cmpint(pipe(ends), ==, 0);
	g_assert_cmpint(write(ends[1], "word\n", 5), ==, 5);
	close(ends[1]);
	g_auto(LodeRecordedRun) recording = record(
		self, ends[0], "read x; echo $x; echo run >>$DIRECTORY/runs; " WORK "exit 3");
	g_autofree char *output = contents(self, "output");
	g_autofree char *runs = contents(self, "runs");
	if (!can_run_twice(self))
		return;
	g_assert_cmpstr(output, ==, "word\n");
	g_assert_cmpstr(runs, ==, "run\n");
	g_assert_cmpint(WEXITSTATUS(recording.exit_status), ==, 3);
	g_assert_cmpuint(recording.recordings->len, ==, 1);
	g_assert_true(has_recording(&recording, "perf.data"));
	g_assert_true(noted(self, "pipe"));
}

static int no_input(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* It might do so again, and what it did until then is sampled. */
static void test_signal(Fixture *self, const void *data)
{
	(void)data;
	g_auto(LodeRecordedRun) recording = record(
		self, no_input(), "echo run >>$DIRECTORY/runs; " WORK "kill -SEGV $$");
	g_autofree char *runs = contents(self, "runs");
	if (!can_run_twice(self))
		return;
	g_assert_cmpstr(runs, ==, "run\n");
	g_assert_true(WIFSIGNALED(recording.exit_status));
	g_assert_cmpint(WTERMSIG(recording.exit_status), ==, SIGSEGV);
	g_assert_true(has_recording(&recording, "perf.data"));
	g_assert_true(noted(self, "not run again"));
}

/* Few samples are all there is of a program that a signal ended early; none is not an error. */
static void test_early_signal(Fixture *self, const void *data)
{
	(void)data;
	g_auto(LodeRecordedRun)
		recording = record(self, no_input(), "echo run >>$DIRECTORY/runs; kill -SEGV $$");
	g_autofree char *runs = contents(self, "runs");
	if (!can_run_twice(self))
		return;
	g_assert_cmpstr(runs, ==, "run\n");
	g_assert_true(WIFSIGNALED(recording.exit_status));
	g_assert_cmpint(WTERMSIG(recording.exit_status), ==, SIGSEGV);
	g_assert_false(noted(self, "too short"));
	g_assert_cmpuint(recording.recordings->len, ==, has_recording(&recording, "perf.data"));
}

/* Too short to be sampled, but not to be counted. */
static void test_short(Fixture *self, const void *data)
{
	(void)data;
	g_auto(LodeRecordedRun) recording = record(self, no_input(), "exit 6");
	if (!can_run_twice(self))
		return;
	g_assert_cmpint(WEXITSTATUS(recording.exit_status), ==, 6);
	g_assert_false(has_recording(&recording, "perf.data"));
	g_assert_true(has_recording(&recording, "counts."));
	g_assert_true(noted(self, "too short"));
}

/* Errno EACCES is what perf_event_paranoid does on other machines, ENOSYS a kernel without events;
 * false where filters cannot be had. */
static bool forbid_sampling(unsigned code_of_error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code_of_error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {G_N_ELEMENTS(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void run_forbidden(Fixture *self, unsigned code_of_error)
{
	g_autoptr(GError) error = NULL;

	if (!forbid_sampling(code_of_error)) {
		g_print("no filter\n");
		return;
	}
	g_auto(LodeRecordedRun)
		recording = record(self, no_input(), "echo run >>$DIRECTORY/runs; exit 5");
	g_autofree char *runs = contents(self, "runs");
	g_assert_cmpstr(runs, ==, "run\n");
	g_assert_cmpint(WEXITSTATUS(recording.exit_status), ==, 5);
	g_assert_false(has_recording(&recording, "perf.data"));
	g_assert_true(has_recording(&recording, "counts."));
	g_assert_true(noted(self, "going on without samples"));
	/* Only samples were asked for: they are taken by ptrace, where that is not refused, too. */
	g_auto(LodeRecordedRun) sampled = {0};
	if (record_as(self, LODE_RECORDING_SAMPLES, "exit 5", &sampled, &error))
		g_assert_cmpint(WEXITSTATUS(sampled.exit_status), ==, 5);
	else
		g_assert_nonnull(error);
}

static void check_forbidden(Fixture *self, unsigned code_of_error)
{
	g_autofree char *emulator = g_find_program_in_path("qemu-x86_64");

	if (g_test_subprocess()) {
		run_forbidden(self, code_of_error);
		return;
	}
	if (emulator == NULL) {
		g_test_skip("no qemu");
		return;
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_passed();
}

static void test_forbidden(Fixture *self, const void *data)
{
	(void)data;
	check_forbidden(self, EACCES);
}

static void test_not_there(Fixture *self, const void *data)
{
	(void)data;
	check_forbidden(self, ENOSYS);
}

static void run_on_full_disk(Fixture *self)
{
	const struct rlimit limit = {2048, 2048};
	g_autoptr(GError) error = NULL;

	signal(SIGXFSZ, SIG_IGN);
	g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
	g_auto(LodeRecordedRun) recording = {0};
	bool is_recorded = record_as(
		self, LODE_RECORDING_BOTH, "echo run >>$DIRECTORY/runs; " WORK, &recording, &error);
	g_autofree char *runs = contents(self, "runs");
	g_assert_cmpstr(runs, ==, "run\n");
	if (noted(self, "without samples") && !noted(self, "the recording ended early"))
		return; /* sampling is not allowed here, so that it ran to be counted */
	g_assert_false(is_recorded);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
}

/* What the program did is done: it is not run again because its recording could not be written. */
static void test_full_disk(Fixture *self, const void *data)
{
	(void)data;
	if (g_test_subprocess()) {
		run_on_full_disk(self);
		return;
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_passed();
}

static void test_errors(Fixture *self, const void *data)
{
	const char *const argv[] = {"lode-has-no-such-program", NULL}, *const shell[] = {
									       "sh", NULL};
	LodeProgramRecordingOptions options = {.argv = argv, .directory = self->directory};
	g_autoptr(GError) error = NULL;
	LodeRecordedRun none;

	(void)data;
	g_assert_false(lode_program_recording_run(&options, &none, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_clear_error(&error);
	options.argv = shell;
	options.directory = "/nonexistent/directory";
	g_assert_false(lode_program_recording_run(&options, &none, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
}

static void add(const char *name, void (*test)(Fixture *, const void *))
{
	g_autofree char *path = g_strconcat("/record/program-recording/", name, NULL);

	g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add("file-as-input", test_file_as_input);
	add("pipe-as-input", test_pipe_as_input);
	add("signal", test_signal);
	add("early-signal", test_early_signal);
	add("short", test_short);
	add("forbidden", test_forbidden);
	add("not-there", test_not_there);
	add("full-disk", test_full_disk);
	add("errors", test_errors);
	return g_test_run();
}
