/* SPDX-License-Identifier: MIT */
/*
 * Which memory of a recorded program is lode's own: that of the libraries it preloads, and the logs
 * that they write. The program has none of it when it runs by itself.
 */
#pragma once

#include "model/profile.h"

/* Whether the sample's address lies there. */
bool lode_recorder_memory_has(const LodeMemory *memory, const LodeMemorySample *sample);
