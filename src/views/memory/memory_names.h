/* SPDX-License-Identifier: MIT */
/* How the views of data addresses name threads, addresses and sizes. */
#pragma once

#include "base/text/json_stream.h"

typedef struct LodeProfile LodeProfile;

/* "3", or "4711.3" in a profile of several processes; the caller frees it. */
char *lode_memory_thread_label(const LodeProfile *profile, uint32_t thread);

/* "thread 3 worker (tid 4714)"; "no thread" for LODE_NONE. The caller frees it. */
char *lode_memory_thread_name(const LodeProfile *profile, uint32_t thread);

/* Members "thread" (the label), "pid", "tid", "ordinal", "name" of an open object; null where the
 * thread is LODE_NONE. */
void lode_memory_thread_json(LodeJsonStream *json, const LodeProfile *profile, uint32_t thread);

/* "walk sample.c:21" of an instruction; "?" where nothing is known. The caller frees it. */
char *lode_memory_place_text(const LodeProfile *profile, uint32_t function, uint32_t location);
