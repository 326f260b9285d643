/* SPDX-License-Identifier: MIT */
/*
 * Prints what the log of allocations of a program holds that the program itself asked for, in the
 * order of time, with the line of the call by the program's line table:
 *
 *   malloc 64 known.c:12 thread 0 freed
 *
 *   dump_allocations sites LOG PROGRAM    PROGRAM: linked without -pie, so that addresses are the
 *                                         file's
 *   dump_allocations paths LOG PROGRAM    "SIZE LINE LINE …" of each allocation, its calls in the
 *                                         program by their lines, the innermost first
 *   dump_allocations figures LOG…
 *   dump_allocations threads LOG…         "NUMBER 0xPOINTER" of each
 */
#include "images/elf/binary_image.h"
#include "sources/allocations/allocation_log.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[LODE_N_ALLOCATION_KINDS] = {
	"malloc", "calloc", "realloc", "aligned", "new", "mmap"};

static int fail(const GError *error)
{
	fprintf(stderr, "dump_allocations: %s\n", error->message);
	return 1;
}

/* The innermost call that stands in the program; 0: none does. */
static uint64_t call_in(LodeBinaryImage *image, const LodeAllocationStack *stack)
{
	size_t n;

	for (size_t i = 0; i < stack->n; i++)
		if (lode_binary_image_bytes(image, stack->addresses[i] - 1, &n) != NULL)
			return stack->addresses[i] - 1;
	return 0;
}

static size_t thread_of(const LodeAllocationLog *log, uint32_t tid)
{
	size_t n, i = 0;
	const LodeLoggedThread *threads = lode_allocation_log_threads(log, &n);

	while (i < n && threads[i].tid != tid)
		i++;
	return i;
}

static void print(
	const LodeAllocationLog *log, LodeBinaryImage *image, const LodeLoggedAllocation *made)
{
	LodeBinaryLocation location;

	if (made->stack == UINT32_MAX)
		return;
	const LodeAllocationStack stack = lode_allocation_log_stack(log, made->stack);
	uint64_t call = call_in(image, &stack);
	if (call == 0)
		return;
	lode_binary_image_locate(image, &call, 1, &location);
	g_autofree char *file = g_path_get_basename(location.file != NULL ? location.file : "?");
	printf("%s %" G_GUINT64_FORMAT " %s:%u thread %zu %s\n", kinds[made->kind], made->size,
		file, location.line, thread_of(log, made->tid),
		made->end_ns == UINT64_MAX ? "kept" : "freed");
}

static void print_path(
	const LodeAllocationLog *log, LodeBinaryImage *image, const LodeLoggedAllocation *made)
{
	if (made->stack == UINT32_MAX)
		return;
	const LodeAllocationStack stack = lode_allocation_log_stack(log, made->stack);
	printf("%" G_GUINT64_FORMAT, made->size);
	for (size_t i = 0; i < stack.n; i++) {
		uint64_t call = stack.addresses[i] - 1;
		LodeBinaryLocation location;
		size_t n;
		if (lode_binary_image_bytes(image, call, &n) == NULL)
			continue;
		lode_binary_image_locate(image, &call, 1, &location);
		printf(" %u", location.line);
	}
	putchar('\n');
}

static void print_figures(const LodeAllocationLog *log)
{
	const LodeAllocationLogSummary *summary = lode_allocation_log_summary(log);
	size_t n, n_threads, n_freed = 0;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(log, &n);

	lode_allocation_log_threads(log, &n_threads);
	for (size_t i = 0; i < n; i++)
		n_freed += all[i].end_ns != UINT64_MAX;
	printf("allocations=%zu freed=%zu threads=%zu stacks=%zu unseen=%" G_GUINT64_FORMAT
	       " dropped=%" G_GUINT64_FORMAT " own_malloc=%d truncated=%d pid=%u parent=%u\n",
		n, n_freed, n_threads, lode_allocation_log_n_stacks(log), summary->n_unseen,
		summary->n_dropped, summary->has_own_malloc, summary->is_truncated, summary->pid,
		summary->parent);
}

static void print_threads(const LodeAllocationLog *log)
{
	size_t n;
	const LodeLoggedThread *threads = lode_allocation_log_threads(log, &n);

	for (size_t i = 0; i < n; i++)
		printf("%u 0x%" G_GINT64_MODIFIER "x\n", threads[i].tid, threads[i].pointer);
}

typedef void (*Print)(
	const LodeAllocationLog *log, LodeBinaryImage *image, const LodeLoggedAllocation *made);

static int print_all(const char *path, const char *program, Print each, GError **error)
{
	const LodeBinaryImageOptions options = {0};
	g_autoptr(LodeAllocationLog) log = lode_allocation_log_read(path, error);
	size_t n;

	if (log == NULL)
		return 1;
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(program, &options, error);
	if (image == NULL)
		return 1;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(log, &n);
	for (size_t i = 0; i < n; i++)
		each(log, image, &all[i]);
	return 0;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;

	bool has_paths = strcmp(argv[1], "paths") == 0;
	if (argc == 4 && (has_paths || strcmp(argv[1], "sites") == 0))
		return print_all(argv[2], argv[3], has_paths ? print_path : print, &error) == 0
		               ? 0
		               : fail(error);
	for (int i = 2; i < argc; i++) {
		g_autoptr(LodeAllocationLog) log = lode_allocation_log_read(argv[i], &error);
		if (log == NULL)
			return fail(error);
		if (strcmp(argv[1], "threads") == 0)
			print_threads(log);
		else
			print_figures(log);
	}
	return 0;
}
