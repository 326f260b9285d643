/* SPDX-License-Identifier: MIT */
/*
 * Functions for the logs that libraries of ours write in a program's process: a file for each
 * process and each program that it executes, mapped far from all that the program maps.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCESS_LOG_PATH_BYTES = PATH_MAX + 64 };

/* Writes at `at`, before `end`, and a 0 after it; gives where that is. Not snprintf(), which needs
 * more stack than a signal handler may have. */
char *append_text(char *at, const char *end, const char *text);
char *append_number(char *at, const char *end, uint32_t number);

/*
 * Opens the directory of the logs (O_PATH). −1, with errno: it is not there, or others than this
 * user made it or may write in it. A process can outlive the recorder, whose directory is removed
 * then: another user may have one of that name.
 */
int process_log_open_folder(const char *directory);

/*
 * Makes DIRECTORY/NAME-PID.log, or NAME-PID.1.log … where that is taken: a process that executes
 * another program keeps its number, and a number comes again. Gives the descriptor and which of
 * these it is; −1: none, with errno. For signal handlers, too.
 */
int process_log_create(const char *directory, const char *name,
	char out_path[PROCESS_LOG_PATH_BYTES], uint32_t *out_number);

/* How large a log may become, at most `most`: it must not use up what the program is allowed. */
size_t process_log_allowed_bytes(size_t most);

/* Maps memory where it is at `place` if that is free, or elsewhere; NULL: no memory. */
void *map_far(void *place, size_t size, int protection, int flags, int descriptor);
