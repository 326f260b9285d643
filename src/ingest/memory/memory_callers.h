/* SPDX-License-Identifier: MIT */
/*
 * The calls that led to each access, by name, from the chains of a reading: brought into the
 * profile's own list. Private to ingest/.
 */
#pragma once

#include "model/profile.h"

typedef struct LodeMemoryReading LodeMemoryReading;
typedef struct LodeReadAccess LodeReadAccess;
typedef struct LodeMemoryCallers LodeMemoryCallers;

/* Names the calls of all chains, and the code of all accesses; rows go to profile->memory. NULL: no
 * chains were recorded. */
LodeMemoryCallers *lode_memory_callers_new(LodeProfile *profile, LodeMemoryReading *reading);
void lode_memory_callers_free(LodeMemoryCallers *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryCallers, lode_memory_callers_free)

/* The row of profile->memory->access_calls that is an access of the reading, after those of its
 * callers; LODE_NONE: its code is not known. */
uint32_t lode_memory_callers_add(LodeMemoryCallers *self, const LodeReadAccess *access);
