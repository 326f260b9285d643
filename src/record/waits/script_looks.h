/* SPDX-License-Identifier: MIT */
/*
 * Private to record/waits/: looks at the frames of an interpreter in a process, as samples of the
 * event "script" (sources/perf_data/script_look.h). A process is searched for an interpreter at the
 * first look, when it executes another program, and at times that come less and less often, as one
 * may be loaded later. Where one of a program's processes has none, that holds for the others for a
 * while, unless the program is named as an interpreter: a search takes as long as some ten looks.
 */
#pragma once

#include "process/interpreters/interpreter.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct LodeScriptLooks LodeScriptLooks;

/* What all processes have in common. */
typedef struct {
	uint32_t next_code; /* the number of the next code */
	LodeInterpreterFiles files;
	GHashTable *programs; /* device and inode → when its processes are searched again */
	const char *unread;   /* the file of an interpreter whose frames cannot be read; borrowed
	                       * from `files`; NULL: none */
} LodeScriptSearch;

void lode_script_search_init(LodeScriptSearch *self);
void lode_script_search_clear(LodeScriptSearch *self);

/* `common` is borrowed. */
LodeScriptLooks *lode_script_looks_new(pid_t pid, LodeScriptSearch *common);
void lode_script_looks_free(LodeScriptLooks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeScriptLooks, lode_script_looks_free)

/* Looks at a thread, and appends what it finds; whether it ran a script whose
 * frames are those of samples. */
bool lode_script_looks_take(LodeScriptLooks *self, pid_t tid, bool is_waiting, GByteArray *records);
