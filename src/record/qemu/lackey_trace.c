/* SPDX-License-Identifier: MIT */
/*
 * Traces a program under valgrind's lackey, which writes text into a pipe:
 *
 *   valgrind ─pipe─▶ a thread that takes out all but references ─pipe─▶ reader ─▶ intake
 *                          └───────load addresses, queue────────────────┴─▶ mappings
 *
 * Valgrind sends both to one place, and its messages have lines without "--PID--" before them. Its
 * references have no threads: valgrind runs one at a time, and lackey does not say which.
 */
#include "base/error.h"
#include "base/quiet_thread.h"
#include "record/programs/script_program.h"
#include "record/qemu/trace_intake.h"
#include "record/qemu/trace_mappings.h"
#include "record/qemu/trace_run.h"
#include "sources/references/reference_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 16, BATCH = 4096, HEAD_BYTES = 3 };

typedef struct {
	char *path;
	uint64_t bias, first_reference; /* see trace_mappings.h */
} Image;

typedef struct {
	LodeTraceRun *run;
	LodeTraceMappings *mappings;    /* the reader's, as are its parts */
	GAsyncQueue *images;            /* Image, for the reader */
	int from_tool[2], to_reader[2]; /* pipes; −1: closed */
	char *image;                    /* whose addresses come next */
	uint64_t n_lines;               /* of references, so far */
	bool is_overlong;               /* the line that has begun has no room in a block */
	GError *error;                  /* of the reader */
} Session;

static void close_end(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

static void image_free(Image *self)
{
	g_free(self->path);
	g_free(self);
}

static void add_images(Session *self)
{
	Image *image;

	while ((image = g_async_queue_try_pop(self->images)) != NULL) {
		lode_trace_mappings_add_image(
			self->mappings, image->path, image->bias, image->first_reference);
		image_free(image);
	}
}

/* "--PID-- Reading syms from PATH", "--PID--    svma 0x34f0, avma 0x10b4f0" */
static void take_message(Session *self, const char *line)
{
	static const char reading[] = "Reading syms from ";
	const char *path = strstr(line, reading);
	unsigned long long in_file, at;
	const char *addresses = strstr(line, "svma 0x");

	if (path != NULL) {
		g_free(self->image);
		self->image = g_strdup(path + strlen(reading));
	} else if (addresses != NULL && self->image != NULL &&
		   sscanf(addresses, "svma 0x%llx, avma 0x%llx", &in_file, &at) == 2) {
		Image *image = g_new(Image, 1);

		*image = (Image){g_steal_pointer(&self->image), at - in_file, self->n_lines};
		g_async_queue_push(self->images, image);
	}
}

static bool is_reference(const char *line, size_t length)
{
	if (length < HEAD_BYTES)
		return false;
	return memcmp(line, "I  ", HEAD_BYTES) == 0 || memcmp(line, " L ", HEAD_BYTES) == 0 ||
	       memcmp(line, " S ", HEAD_BYTES) == 0 || memcmp(line, " M ", HEAD_BYTES) == 0;
}

static bool pass_on(int descriptor, const char *block, size_t size)
{
	while (size > 0) {
		ssize_t n = write(descriptor, block, size);
		if (n < 0 && errno != EINTR)
			return false;
		block += MAX(n, 0);
		size -= (size_t)MAX(n, 0);
	}
	return true;
}

/* Ends the string at the line feed. */
static void take_other_line(Session *self, char *line, char *line_feed)
{
	*line_feed = '\0';
	if (!self->is_overlong)
		take_message(self, line);
	self->is_overlong = false;
}

/* Sorts whole lines; moves *at to after the last of them. False: the reader has ended. */
static bool sort_lines(Session *self, char **at, char *end)
{
	char *references = *at; /* not passed on yet; they reach up to the line */
	char *line_feed;

	while ((line_feed = memchr(*at, '\n', (size_t)(end - *at))) != NULL) {
		char *line = *at;
		*at = line_feed + 1;
		if (!self->is_overlong && is_reference(line, (size_t)(line_feed - line))) {
			self->n_lines++;
			continue;
		}
		take_other_line(self, line, line_feed);
		if (!pass_on(self->to_reader[1], references, (size_t)(line - references)))
			return false;
		references = *at;
	}
	return pass_on(self->to_reader[1], references, (size_t)(*at - references));
}

/* A last line that is not whole, as of a valgrind that was killed, is left out. */
static gpointer pump(gpointer data)
{
	Session *self = data;
	g_autofree char *block = g_malloc(BLOCK_BYTES);
	size_t held = 0;
	ssize_t n;

	while ((n = read(self->from_tool[0], block + held, BLOCK_BYTES - held)) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		char *rest = block, *end = block + held + MAX(n, 0);
		if (!sort_lines(self, &rest, end))
			break;
		held = (size_t)(end - rest);
		memmove(block, rest, held);
		/* Too long for a reference or an address: its end is all that matters. */
		self->is_overlong |= held == BLOCK_BYTES;
		held %= BLOCK_BYTES;
	}
	close_end(&self->to_reader[1]);
	return NULL;
}

/* Reads on when the lines are no longer wanted, as the program would stop otherwise. */
static gpointer read_references(gpointer data)
{
	Session *self = data;
	g_autoptr(LodeReferenceReader) reader = lode_reference_reader_open(
		self->to_reader[0], "lackey", LODE_REFERENCE_FORM_LACKEY, &self->error);
	g_autofree LodeReference *batch = g_new(LodeReference, BATCH);
	ptrdiff_t n = reader != NULL ? 1 : 0;

	while (n > 0 && (n = lode_reference_reader_next(reader, batch, BATCH, &self->error)) > 0) {
		add_images(self);
		lode_trace_intake_add(self->run->intake, batch, (size_t)n, 0, 0);
		lode_trace_intake_report(self->run->intake, 0, 0);
	}
	char rest[BLOCK_BYTES];
	while (self->error != NULL && read(self->to_reader[0], rest, sizeof(rest)) > 0)
		;
	return NULL;
}

static GPtrArray *command_line(const Session *self, const char *valgrind)
{
	static const char *const always[] = {
		/* ~/.valgrindrc and VALGRIND_OPTS must not change the recording. */
		"--command-line-only=yes",
		"--tool=lackey",
		"--trace-mem=yes",
		"--basic-counts=no",
		"--vgdb=no",
		"--child-silent-after-fork=yes",
		/* Three make it log the load address of each image. */
		"-v",
		"-v",
		"-v",
	};
	GPtrArray *line = g_ptr_array_new_with_free_func(g_free);
	const char *const *argv = self->run->options->argv;

	g_ptr_array_add(line, g_strdup(valgrind));
	for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
		g_ptr_array_add(line, g_strdup(always[i]));
	g_ptr_array_add(line,
		g_strdup_printf("--log-file=/proc/%d/fd/%d", (int)getpid(), self->from_tool[1]));
	g_ptr_array_add(line, g_strdup("--"));
	for (size_t i = 0; argv[i] != NULL; i++)
		g_ptr_array_add(line, g_strdup(argv[i]));
	g_ptr_array_add(line, NULL);
	return line;
}

static bool run_program(Session *self, const char *valgrind, GError **error)
{
	g_autoptr(GPtrArray) line = command_line(self, valgrind);
	const LodeChildOptions child = {
		.argv = (const char *const *)line->pdata,
		.notes = self->run->options->notes,
	};
	GThread *pumper = lode_quiet_thread_new("pump", pump, self);
	GThread *reader = lode_quiet_thread_new("lackey", read_references, self);
	bool is_started = lode_child_run(&child, &self->run->end, error);

	close_end(&self->from_tool[1]);
	g_thread_join(pumper);
	g_thread_join(reader);
	add_images(self);
	return is_started;
}

static LodeTraceRunOutcome trace(Session *self, const char *valgrind, GError **error)
{
	if (pipe2(self->from_tool, O_CLOEXEC) != 0 || pipe2(self->to_reader, O_CLOEXEC) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot make a pipe: %s",
			g_strerror(errno));
		return LODE_TRACE_RUN_FAILED;
	}
	if (!run_program(self, valgrind, error))
		return LODE_TRACE_RUN_UNFIT;
	if (self->error == NULL)
		return LODE_TRACE_RUN_DONE;
	g_propagate_error(error, g_steal_pointer(&self->error));
	return LODE_TRACE_RUN_FAILED;
}

static void clear(Session *self)
{
	close_end(&self->from_tool[0]);
	close_end(&self->from_tool[1]);
	close_end(&self->to_reader[0]);
	close_end(&self->to_reader[1]);
	lode_trace_mappings_free(self->mappings);
	g_async_queue_unref(self->images);
	g_free(self->image);
}

static LodeTraceRunOutcome run(LodeTraceRun *run, GError **error)
{
	if (run->options->allocations != NULL)
		lode_notes_add(&run->options->notes, "allocations are not recorded by lackey");
	g_autofree char *valgrind = g_find_program_in_path("valgrind");

	if (valgrind == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"valgrind is not installed (Debian: apt install valgrind)");
		return LODE_TRACE_RUN_UNFIT;
	}
	if (run->options->function != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"lackey cannot trace a function alone");
		return LODE_TRACE_RUN_UNFIT;
	}
	Session session = {
		.run = run,
		.mappings = lode_trace_mappings_new(run->description, NULL, NULL),
		.images = g_async_queue_new_full((GDestroyNotify)image_free),
		.from_tool = {-1, -1},
		.to_reader = {-1, -1},
	};
	g_autofree char *version = lode_trace_run_version(valgrind);
	g_autofree char *tool = g_strdup_printf(
		"lackey %s", version != NULL ? version : "(unknown version)");
	run->description->tool = lode_trace_description_intern(run->description, tool);
	LodeTraceRunOutcome outcome = trace(&session, valgrind, error);
	clear(&session);
	return outcome;
}

const LodeTraceRunWay lode_lackey_trace = {.name = "lackey", .run = run};
