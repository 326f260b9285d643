/* SPDX-License-Identifier: MIT */
/*
 * With which words processes were started, by looks at them (LODE_SCRIPT_COMMAND), and what they
 * executed when:
 *
 *   fork ──── exec ──── look ──── exit      the words are those of what it executed
 *   fork ──── look ──── exec ──── exit      those of its parent: not known
 *
 * Private to ingest/sampled/.
 */
#pragma once

#include "sources/perf_data/perf_data.h"
#include "sources/perf_data/script_look.h"

typedef struct LodeProcessCommands LodeProcessCommands;

typedef struct {
	bool has_executed;           /* a program of its own */
	const LodeCommandLook *look; /* NULL: not known; its texts are this struct's */
} LodeProcessCommand;

LodeProcessCommands *lode_process_commands_new(void);
void lode_process_commands_free(LodeProcessCommands *self);

/* A look, and any other record, of a recording, in any order. */
void lode_process_commands_note_look(LodeProcessCommands *self, uint32_t recording, uint32_t pid,
	uint64_t time_ns, const LodeCommandLook *look);
void lode_process_commands_note(LodeProcessCommands *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns);

/* Of the process that had the number in that time. */
LodeProcessCommand lode_process_commands_find(LodeProcessCommands *self, uint32_t recording,
	uint32_t pid, uint64_t begin_ns, uint64_t end_ns);
