/* SPDX-License-Identifier: MIT */
/* The result of every way of recording a program: files to import, and how the program ended. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	GPtrArray *recordings; /* char *: what lode_import() takes; may be empty */
	GPtrArray *maps;       /* char *: where the images lay in memory, of a counting run */
	GPtrArray *jit_files;  /* char *: jitdumps that runtimes wrote */
	char *obstacle;        /* why there are no recordings; NULL: no such reason is known */
	int exit_status;       /* of the program's first run, as wait() gives it */
	bool was_closed;       /* the kernel did not let a program be sampled; the notes say why */
	int stop_signal;       /* came meanwhile and is meant for us too, see child.h; 0: none */
} LodeRecordedRun;

void lode_recorded_run_init(LodeRecordedRun *self);
void lode_recorded_run_clear(LodeRecordedRun *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeRecordedRun, lode_recorded_run_clear)
