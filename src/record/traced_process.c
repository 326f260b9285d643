/* SPDX-License-Identifier: MIT */
#include "record/traced_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

LodeTracedProcess *lode_traced_process_new(uint32_t number, pid_t pid)
{
	LodeTracedProcess *self = g_new0(LodeTracedProcess, 1);

	self->number = number;
	self->pid = pid;
	self->descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
	return self;
}

void lode_traced_process_free(LodeTracedProcess *self)
{
	if (self == NULL)
		return;
	if (self->descriptor >= 0)
		close(self->descriptor);
	lode_trace_mappings_free(self->mappings);
	if (self->path != NULL) {
		lode_trace_intake_free(self->intake);
		lode_trace_writer_close(self->writer);
		lode_trace_description_free(self->description);
	}
	g_clear_error(&self->error);
	g_free(self->path);
	g_free(self->code);
	g_free(self->executed);
	g_free(self);
}

bool lode_traced_process_is_alive(LodeTracedProcess *self)
{
	struct pollfd end = {.fd = self->descriptor, .events = POLLIN};

	if (self->descriptor >= 0)
		return poll(&end, 1, 0) == 0;
	return kill(self->pid, 0) == 0 || errno != ESRCH;
}

char *lode_traced_process_path(const char *output, unsigned number)
{
	static const char ending[] = ".rps";
	size_t length = strlen(output);
	bool has_ending = g_str_has_suffix(output, ending);

	if (has_ending)
		length -= strlen(ending);
	return g_strdup_printf("%.*s.%u%s", (int)length, output, number, has_ending ? ending : "");
}

bool lode_traced_process_open(LodeTracedProcess *self, const LodeTraceRecordingOptions *options,
	const char *command, unsigned share, GError **error)
{
	LodeTraceWriterOptions writer = options->writer;
	LodeTraceIntakeOptions intake = {.skip = options->skip, .limit = options->limit};

	writer.share = share;
	self->writer = lode_trace_writer_open(self->path, &writer, error);
	if (self->writer == NULL)
		return false;
	self->description = lode_trace_description_new();
	lode_trace_run_describe_program(self->description, command);
	lode_trace_writer_follow(self->writer, self->description);
	intake.writer = self->writer;
	intake.description = self->description;
	self->intake = lode_trace_intake_new(&intake);
	return true;
}

void lode_traced_process_finish(LodeTracedProcess *self, const LodeTraceRecordingOptions *options)
{
	if (self->path == NULL || self->writer == NULL)
		return;
	self->error = lode_trace_intake_steal_error(self->intake);
	lode_trace_run_describe_end(options, self->intake, self->description);
	if (self->error == NULL && lode_trace_intake_n_references(self->intake) > 0)
		lode_trace_writer_finish(self->writer, self->description, &self->error);
	self->n_bytes = lode_trace_writer_bytes(self->writer);
	g_clear_pointer(&self->writer, lode_trace_writer_close);
}
