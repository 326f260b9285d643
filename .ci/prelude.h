/* SPDX-License-Identifier: MIT */
/*
 * What nearly every file includes. The sanitizers' builds read it first, from a compiled copy
 * (precompile.py), which halves the time that they take. gcc's build reads each file as it is, so
 * an include that is missing in one is found there.
 */
#ifndef LODE_PRELUDE_H
#define LODE_PRELUDE_H
#ifndef __ASSEMBLER__

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if __has_include(<glib.h>)
#include <gio/gio.h>
#include <glib.h>
#endif

#endif
#endif
