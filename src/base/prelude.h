/* SPDX-License-Identifier: MIT */
/*
 * The headers that nearly every file includes, compiled once for each library and program and read
 * first, where no cache of compiled files is installed: a quarter of the time that a file takes to
 * compile goes into these. Each file includes them all the same where it needs them:
 * scripts/check_includes.py.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
