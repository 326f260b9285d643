/* SPDX-License-Identifier: MIT */
/* Progress where standard error is a file: lines, few, without control characters. */
#include "cli/terminal_progress.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What standard error got since the file was empty. */
static char *take_text(const char *path)
{
	char *text = NULL;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_assert_cmpint(ftruncate(STDERR_FILENO, 0), ==, 0);
	return text;
}

static void report(LodeTerminalProgress *screen, double done)
{
	lode_progress_report(&screen->progress, "mining", done, 100, "x\033[31m");
}

static void check_lines(const char *path)
{
	g_auto(LodeTerminalProgress) screen;
	g_autofree char *early = NULL, *first = NULL, *soon = NULL, *second = NULL, *note = NULL;

	lode_terminal_progress_init(&screen);
	/* The clock does not wait for a test. */
	screen.start_us += 3600LL * G_USEC_PER_SEC;
	report(&screen, 10);
	early = take_text(path);
	g_assert_cmpstr(early, ==, "");
	screen.start_us = g_get_monotonic_time() - 2 * G_USEC_PER_SEC;
	report(&screen, 20);
	first = take_text(path);
	g_assert_true(g_str_has_prefix(first, "lode: mining  20 %  x\\x1b[31m  "));
	g_assert_true(g_str_has_suffix(first, " s\n"));
	screen.drawn_us = g_get_monotonic_time() + 3600LL * G_USEC_PER_SEC;
	report(&screen, 30);
	soon = take_text(path);
	g_assert_cmpstr(soon, ==, "");
	screen.drawn_us = g_get_monotonic_time() - 7 * G_USEC_PER_SEC;
	report(&screen, 40);
	lode_progress_end(&screen.progress);
	second = take_text(path);
	g_assert_true(g_str_has_prefix(second, "lode: mining  40 %  x"));
	g_assert_cmpuint(strlen(second), ==, strcspn(second, "\n") + 1);
	screen.progress.note("a note", screen.progress.user_data);
	note = take_text(path);
	g_assert_cmpstr(note, ==, "lode: a note\n");
}

static void test_lines(void)
{
	int kept = dup(STDERR_FILENO);
	g_autofree char *path = NULL;
	int file = g_file_open_tmp(NULL, &path, NULL);

	g_assert_cmpint(file, >=, 0);
	/* Each message is at the end, also after it was cut. */
	g_close(file, NULL);
	file = g_open(path, O_WRONLY | O_APPEND);
	dup2(file, STDERR_FILENO);
	g_setenv("LODE_PROGRESS", "7", TRUE);
	check_lines(path);
	dup2(kept, STDERR_FILENO);
	g_close(kept, NULL);
	g_close(file, NULL);
	g_unlink(path);
}

static void test_silent(void)
{
	g_auto(LodeTerminalProgress) screen;

	g_setenv("LODE_PROGRESS", "0", TRUE);
	lode_terminal_progress_init(&screen);
	g_assert_true(isatty(STDERR_FILENO) || screen.progress.report == NULL);
}

/* Waits for the text; the terminal shows it sometime. */
static void wait_for(int terminal, GString *seen, const char *text, unsigned times)
{
	char part[256];

	for (unsigned n = 0; n < times;) {
		ssize_t length = read(terminal, part, sizeof(part));
		g_assert_cmpint(length, >, 0);
		g_string_append_len(seen, part, length);
		n = 0;
		for (const char *at = seen->str; (at = strstr(at, text)) != NULL; at++)
			n++;
	}
}

/* A stage that reports once is seen to go on, until the line is hidden. */
static void test_ticks(void)
{
	int kept = dup(STDERR_FILENO), terminal = posix_openpt(O_RDWR | O_NOCTTY);
	g_autoptr(GString) seen = g_string_new(NULL);

	g_assert_cmpint(terminal, >=, 0);
	g_assert_cmpint(grantpt(terminal) | unlockpt(terminal), ==, 0);
	int shown = g_open(ptsname(terminal), O_RDWR | O_NOCTTY);
	dup2(shown, STDERR_FILENO);
	g_setenv("TERM", "xterm", TRUE);
	{
		g_auto(LodeTerminalProgress) screen;
		lode_terminal_progress_init(&screen);
		lode_progress_report(&screen.progress, "reading mappings", 0, 0, NULL);
		wait_for(terminal, seen, "reading mappings  ", 3);
		lode_progress_end(&screen.progress);
		g_assert_false(screen.is_visible || screen.is_working);
	}
	dup2(kept, STDERR_FILENO);
	g_close(kept, NULL);
	g_close(shown, NULL);
	g_close(terminal, NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/terminal_progress/lines", test_lines);
	g_test_add_func("/terminal_progress/silent", test_silent);
	g_test_add_func("/terminal_progress/ticks", test_ticks);
	return g_test_run();
}
