/* SPDX-License-Identifier: MIT */
/* How a view of data addresses is written. */
#pragma once

#include "views/format.h"
#include "views/memory_notes.h"

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const LodeMemoryNotes *notes;
} LodeMemoryViewOptions;
