/* SPDX-License-Identifier: MIT */
/*
 * Programs that are so short that no window can begin in them, such as /bin/true: to load the
 * library takes a quarter as long as they do. When one has ended quickly, and without children, in
 * 16 runs one after another, it is executed without the library, but for one run in 32. As soon as
 * a run is seen to be longer, or to start others, it has the library again, for good.
 *
 * All processes of a recording share what is known, by the name of the program's file, in the page
 * of the budget.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* This process has used so much time since it executed its program, and ends. */
void short_programs_end(uint64_t worked_ns);

/* This process works for long, or has children. */
void short_programs_leave_out(void);

/* In a child of fork: its end says nothing of the program. */
void short_programs_begin_child(void);

/* Whether a program is to be executed without the library: it is short, or the recorder has ended.
 */
bool short_programs_has(const char *path);
