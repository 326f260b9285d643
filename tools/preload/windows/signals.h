/* SPDX-License-Identifier: MIT */
/* Prepares signals for the execution of a different program. */
#pragma once

#include <stdbool.h>

/* Before this thread executes one: it finds the mask that the program has set, and no signal of
 * ours that waits. errno is kept. */
void signals_prepare_execution(void);

/* Blocks SIGTRAP, if the program believes that it is, while a child is made that executes a
 * program; true: signals_unblock() is to be called. */
bool signals_block_for_child(void);
void signals_unblock(void);
