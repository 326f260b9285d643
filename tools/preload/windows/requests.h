/* SPDX-License-Identifier: MIT */
/*
 * Requests of this process to the recorder about its event, which it waits for:
 *
 *   open    before it makes its first thread: threads that inherit the event are switched as fast
 * as without; one that is opened on a single thread makes all switches of it slow close   before it
 * does what a signal of ours must not meet: it blocks SIGTRAP, handles it, limits its system calls
 *
 * The recorder answers by closing the connection. For signal handlers, too.
 */
#pragma once

#include <stdbool.h>

/* `directory`: of the logs; borrowed for good. */
void requests_begin(const char *directory);

void requests_open_event(void);

/* Whether no signal of the recorder's comes any more. */
bool requests_close_event(void);
