/* SPDX-License-Identifier: MIT */
/*
 * An event by data object: a bar for each, loads and stores one after the other.
 *
 *   struct node.next  ████████████████████▒▒ 61.0 %
 *   int counts[]      ████▒▒▒▒ 20.1 %
 *   [stack]           ▒ 1.2 %
 */
#pragma once

#include "analyses/memory/objects/event_groups.h"
#include "views/plot/plot_canvas.h"

typedef struct LodeProfile LodeProfile;

/* `groups` are by object. Errors: _IO. */
bool lode_misses_by_object_plot_write(const LodeProfile *profile, const LodeEventGroups *groups,
	LodePlotFormat format, FILE *out, GError **error);
