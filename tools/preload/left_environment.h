/* SPDX-License-Identifier: MIT */
/* A program can outlive the recorder, and start others with the environment that it had. */
#pragma once

/* Takes a library ("liblode-x.so") out of LD_PRELOAD, and variables whose names begin with `prefix`
 * away: what this process starts is not to have them. Without memory: strings stay in place. */
void remove_from_environment(const char *library, const char *prefix);
