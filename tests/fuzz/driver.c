/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target as an ordinary test, without libFuzzer: each file of a corpus directory as it
 * is, cut off at many places, and with some bytes changed. The seed is fixed, so that a run that
 * fails fails again; the case that crashes is named on stderr, and `fuzz_FORMAT FILE` runs one
 * file. With STRIDE, every STRIDE-th variant; all of them where LODE_LONG_TESTS is in the
 * environment.
 */
#include "fuzz_target.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_CUTS = 512,  /* cut at each of the first bytes… */
	FURTHER_CUTS = 64, /* …and at as many places of the rest */
	USUAL_CHANGES = 400,
	CHANGES = 2000,       /* where LODE_LONG_TESTS is in the environment */
	MAX_BYTES = 32 << 20, /* of input that changes may take in all, a file */
};

static char running[512]; /* what a crash is blamed on */
static size_t stride = 1; /* every how many of the cuts and changes are run */

static void report_crash(int number)
{
	size_t length = strlen(running);

	if (write(STDERR_FILENO, running, length) == (ssize_t)length)
		signal(number, SIG_DFL);
	signal(number, SIG_DFL);
	raise(number);
}

static void run(const char *name, const char *what, size_t where, const uint8_t *data, size_t size)
{
	/* A copy of exactly this size: a sanitizer sees a read behind its end. */
	g_autofree uint8_t *copy = g_memdup2(data, size);

	g_snprintf(running, sizeof(running), "crashed: %s, %s %zu\n", name, what, where);
	LLVMFuzzerTestOneInput(copy != NULL ? copy : (const uint8_t *)"", size);
}

static void run_cuts(const char *name, const uint8_t *data, size_t size)
{
	size_t first = MIN(size, FIRST_CUTS);

	for (size_t cut = 0; cut < first; cut += stride)
		run(name, "cut at", cut, data, cut);
	for (size_t i = 0; i < FURTHER_CUTS && size > first; i += stride) {
		size_t cut = first + (size - first) * i / FURTHER_CUTS;
		run(name, "cut at", cut, data, cut);
	}
}

/* One to four changes: a flipped bit, any byte, or a byte from elsewhere in the file. */
static void change(GRand *rand, uint8_t *data, size_t size)
{
	for (int n = g_rand_int_range(rand, 1, 5); n > 0; n--) {
		size_t at = g_rand_int(rand) % size;
		switch (g_rand_int_range(rand, 0, 3)) {
		case 0:
			data[at] = (uint8_t)(data[at] ^ 1u << g_rand_int_range(rand, 0, 8));
			break;
		case 1:
			data[at] = (uint8_t)g_rand_int_range(rand, 0, 256);
			break;
		default:
			data[at] = data[g_rand_int(rand) % size];
			break;
		}
	}
}

static void run_changes(const char *name, const uint8_t *data, size_t size)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(20240501);
	size_t n = g_getenv("LODE_LONG_TESTS") != NULL ? CHANGES : USUAL_CHANGES;

	for (size_t i = 0; i < n && size > 0 && i * size < MAX_BYTES; i++) {
		g_autofree uint8_t *copy = g_memdup2(data, size);
		change(rand, copy, size);
		if (i % stride == 0)
			run(name, "changes number", i, copy, size);
	}
}

static bool run_file(const char *path, bool has_variants)
{
	g_autofree char *data = NULL;
	size_t size;

	if (!g_file_get_contents(path, &data, &size, NULL)) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return false;
	}
	run(path, "whole, bytes", size, (const uint8_t *)data, size);
	if (has_variants) {
		run_cuts(path, (const uint8_t *)data, size);
		run_changes(path, (const uint8_t *)data, size);
	}
	return true;
}

static int run_directory(const char *path)
{
	g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
	const char *name;
	unsigned n = 0;

	while (directory != NULL && (name = g_dir_read_name(directory)) != NULL) {
		g_autofree char *file = g_build_filename(path, name, NULL);
		if (!run_file(file, true))
			return EXIT_FAILURE;
		n++;
	}
	printf("%u files of %s and their variants\n", n, path);
	/* A test that ran nothing would pass for ever. */
	return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: %s CORPUS_DIRECTORY|FILE [STRIDE]\n", argv[0]);
		return 2;
	}
	if (argc == 3 && g_getenv("LODE_LONG_TESTS") == NULL)
		stride = MAX((size_t)g_ascii_strtoull(argv[2], NULL, 10), 1);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		signal(signals[i], report_crash);
	if (g_file_test(argv[1], G_FILE_TEST_IS_DIR))
		return run_directory(argv[1]);
	return run_file(argv[1], false) ? EXIT_SUCCESS : EXIT_FAILURE;
}
