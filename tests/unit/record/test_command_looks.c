/* SPDX-License-Identifier: MIT */
/* With which words processes were started: of shells that wait for a line that nobody writes. */
#include "record/waits/looks.h"

#include "sources/perf_data/script_look.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Before the raw data of a record. */
enum { HEAD_BYTES = sizeof(struct perf_event_header) + 6 * sizeof(uint64_t) };

typedef struct {
	pid_t pid;
	int input; /* the other end of its standard input */
} Child;

/* Returns once it has executed its program, in the folder "/", which closes the pipe that is closed
 * on exec. */
static Child start(const char *const *arguments, const char *const *environment)
{
	int input[2], executes[2];
	char byte;

	g_assert_cmpint(pipe2(input, O_CLOEXEC), ==, 0);
	g_assert_cmpint(pipe2(executes, O_CLOEXEC), ==, 0);
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);
		if (dup2(input[0], 0) < 0 || dup2(null, 1) < 0 || chdir("/") < 0)
			_exit(126);
		execve("/bin/sh", (char *const *)arguments, (char *const *)environment);
		_exit(127);
	}
	close(input[0]);
	close(executes[1]);
	g_assert_cmpint(pid, >, 0);
	g_assert_cmpint(read(executes[0], &byte, 1), ==, 0);
	close(executes[0]);
	return (Child){pid, input[1]};
}

static void end(Child *self)
{
	close(self->input);
	kill(self->pid, SIGKILL);
	g_assert_cmpint(waitpid(self->pid, NULL, 0), ==, self->pid);
}

/* The records, of which each must be whole; their number. `out` is the last one's, whose process is
 * `pid`; it borrows. */
static guint read_records(const GByteArray *records, pid_t pid, LodeScriptLook *out)
{
	guint n = 0;

	for (guint at = 0; at < records->len; n++) {
		struct perf_event_header header;
		uint32_t number, size;
		memcpy(&header, records->data + at, sizeof(header));
		g_assert_cmpuint(header.type, ==, PERF_RECORD_SAMPLE);
		g_assert_cmpuint(header.size % 8, ==, 0);
		g_assert_cmpuint(at + header.size, <=, records->len);
		memcpy(&number, records->data + at + sizeof(header) + 2 * sizeof(uint64_t),
			sizeof(number));
		memcpy(&size, records->data + at + HEAD_BYTES, sizeof(size));
		g_assert_true(lode_script_look_read(
			out, records->data + at + HEAD_BYTES + sizeof(size), size));
		g_assert_cmpint(out->kind, ==, LODE_SCRIPT_COMMAND);
		if (pid != 0)
			g_assert_cmpuint(number, ==, (uint32_t)pid);
		at += header.size;
	}
	return n;
}

static void test_words(void)
{
	const char *const arguments[] = {
		"/bin/sh", "-c", "read x", "a b", "\033[2J", "\xff", "", NULL};
	const char *const environment[] = {"A=1", NULL};
	LodeCommandLooks *looks = lode_command_looks_new();
	g_autoptr(GByteArray) records = g_byte_array_new();
	Child child = start(arguments, environment);
	LodeScriptLook look;

	lode_command_looks_take(looks, child.pid, 1, records);
	g_assert_cmpuint(read_records(records, child.pid, &look), ==, 1);
	g_assert_true(g_str_has_prefix(look.command.command, "/bin/sh -c 'read x' 'a b' "));
	g_assert_null(strchr(look.command.command, '\033'));
	g_assert_nonnull(strstr(look.command.command, "\\x1b[2J"));
	g_assert_true(g_utf8_validate(look.command.command, -1, NULL));
	g_assert_true(g_str_has_suffix(look.command.command, " ''"));
	g_assert_cmpstr(look.command.directory, ==, "/");
	g_assert_true(g_str_has_prefix(look.command.input, "pipe:["));
	g_assert_cmpstr(look.command.output, ==, "/dev/null");
	g_assert_cmpuint(look.command.environment, !=, 0);
	g_assert_cmpuint(look.command.flags, ==, 0);
	/* it has not changed */
	g_byte_array_set_size(records, 0);
	for (unsigned listed = 2; listed < 9; listed++)
		lode_command_looks_take(looks, child.pid, listed, records);
	g_assert_cmpuint(records->len, ==, 0);
	/* its number is free for another */
	lode_command_looks_forget(looks, 9);
	lode_command_looks_take(looks, child.pid, 9, records);
	g_assert_cmpuint(read_records(records, child.pid, &look), ==, 1);
	end(&child);
	lode_command_looks_free(looks);
}

/* Variables count, in whatever order they are; but `_`, in which shells put their last word. */
static void test_environment(void)
{
	static const char *const environments[][4] = {{"A=1", "B=2", "_=x", NULL},
		{"B=2", "_=other", "A=1", NULL}, {"A=1", "B=3", "_=x", NULL}};
	const char *const arguments[] = {"/bin/sh", "-c", "read x", NULL};
	uint32_t hashes[G_N_ELEMENTS(environments)];

	for (size_t i = 0; i < G_N_ELEMENTS(environments); i++) {
		LodeCommandLooks *looks = lode_command_looks_new();
		g_autoptr(GByteArray) records = g_byte_array_new();
		Child child = start(arguments, environments[i]);
		LodeScriptLook look;
		lode_command_looks_take(looks, child.pid, 1, records);
		g_assert_cmpuint(read_records(records, child.pid, &look), ==, 1);
		hashes[i] = look.command.environment;
		end(&child);
		lode_command_looks_free(looks);
	}
	g_assert_cmpuint(hashes[0], ==, hashes[1]);
	g_assert_cmpuint(hashes[0], !=, hashes[2]);
}

/* More than there is room for is said to be cut, and ends a record all the same. */
static void test_long(void)
{
	for (size_t n = 400; n <= 100000; n *= 5) {
		g_autofree char *word = g_strnfill(n, 'x');
		const char *const arguments[] = {"/bin/sh", "-c", "read x", word, word, NULL};
		const char *const environment[] = {word, NULL};
		LodeCommandLooks *looks = lode_command_looks_new();
		g_autoptr(GByteArray) records = g_byte_array_new();
		Child child = start(arguments, environment);
		LodeScriptLook look;
		lode_command_looks_take(looks, child.pid, 1, records);
		g_assert_cmpuint(read_records(records, child.pid, &look), ==, 1);
		g_assert_cmpuint(look.command.flags, ==, LODE_COMMAND_IS_CUT);
		g_assert_cmpuint(strlen(look.command.command), <, LODE_COMMAND_MAX_TEXT);
		end(&child);
		lode_command_looks_free(looks);
	}
}

/* One that was forked has its parent's words until it executes something. */
static void test_copies(void)
{
	LodeCommandLooks *looks = lode_command_looks_new();
	g_autoptr(GByteArray) records = g_byte_array_new();
	LodeScriptLook look;
	int hold[2];
	char byte;

	g_assert_cmpint(pipe2(hold, O_CLOEXEC), ==, 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(hold[1]);
		_exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(hold[0]);
	lode_command_looks_take(looks, getpid(), 1, records);
	g_assert_cmpuint(read_records(records, getpid(), &look), ==, 1);
	g_byte_array_set_size(records, 0);
	lode_command_looks_take(looks, pid, 1, records);
	g_assert_false(lode_command_looks_take_children(looks, getpid(), getpid(), records));
	g_assert_cmpuint(records->len, ==, 0);
	close(hold[1]);
	g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
	/* one that has ended is nobody */
	lode_command_looks_take(looks, pid, 2, records);
	g_assert_false(lode_command_looks_take_children(looks, pid, pid, records));
	g_assert_cmpuint(records->len, ==, 0);
	lode_command_looks_free(looks);
}

/* Of what a thread started, and that in turn; each once. */
static void test_started(void)
{
	/* the outer shell starts an inner one, which reads in place of it */
	const char *const arguments[] = {
		"/bin/sh", "-c", "/bin/sh -c 'read x; read y' inner <&0; :", "outer", NULL};
	const char *const environment[] = {"A=1", NULL};
	LodeCommandLooks *looks = lode_command_looks_new();
	g_autoptr(GByteArray) records = g_byte_array_new();
	Child child = start(arguments, environment);
	LodeScriptLook look;
	guint n = 0;
	gint64 until_us = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;

	while (n < 2 && g_get_monotonic_time() < until_us) {
		/* each is looked at as it waits */
		lode_command_looks_take_children(looks, getpid(), getpid(), records);
		lode_command_looks_take_children(looks, child.pid, child.pid, records);
		n = 0;
		/* the test's own is the first */
		for (guint at = 0; at < records->len; n++)
			at += ((const struct perf_event_header *)(const void *)(records->data + at))
			              ->size;
		n -= n > 0;
		g_usleep(1000);
	}
	g_assert_cmpuint(read_records(records, 0, &look), ==, 3);
	g_assert_true(g_str_has_suffix(look.command.command, " inner"));
	g_assert_false(lode_command_looks_take_children(looks, getpid(), getpid(), records));
	g_assert_cmpuint(read_records(records, 0, &look), ==, 3);
	end(&child);
	lode_command_looks_free(looks);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/command_looks/words", test_words);
	g_test_add_func("/command_looks/environment", test_environment);
	g_test_add_func("/command_looks/long", test_long);
	g_test_add_func("/command_looks/copies", test_copies);
	g_test_add_func("/command_looks/started", test_started);
	return g_test_run();
}
