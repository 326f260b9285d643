/* SPDX-License-Identifier: MIT */
/*
 * The plugin's second mode: how often each block of code is executed, and where control goes on to
 * from it. QEMU calls once for each block that begins; each thread remembers the block that it
 * executed last, in whose exits this is counted:
 *
 *   last block ─▶ exits[last] ─ one of the two targets is this block ─▶ its count + 1
 *                             └ else the thread's table of targets    ─▶ likewise
 *
 * A block is left in its middle only when an instruction faults. Blocks at which handlers of
 * signals begin never are one of the two targets: so each beginning of a handler is seen, and the
 * block before it remembered until sigreturn, where the next block begins at the instruction that
 * is resumed.
 */
#pragma once

#include "event_counter.h"
#include "qemu_plugin_interface.h"

#include <stdbool.h>

typedef struct {
	const char *folder; /* for the files */
	bool is_followed;   /* what forked processes execute is counted too */
	bool has_events;    /* as those of callgrind, with what follows */
	EventCounterOptions events;
} CounterOptions;

/* Registers all calls. False: the file cannot be made. */
bool counter_install(qemu_plugin_id_t id, const CounterOptions *options);
