/* SPDX-License-Identifier: MIT */
/* The instructions around the places of a finding that match the elements of its pattern. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeFinding LodeFinding;
typedef struct LodeMiningRun LodeMiningRun;
typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t instruction; /* of the profile */
	uint32_t elements;    /* bit i: it matches element i of the finding */
} LodeFindingMatch;

typedef struct {
	GArray *matches;  /* LodeFindingMatch, by place; ascending by instruction inside one */
	uint32_t *starts; /* [places + 1]: the range of each place */
} LodeFindingMatches;

/*
 * Finds them for the first `n_places` of the places that the run keeps of a finding. The focus is
 * always among them; an instruction before or after it is when a whole context leads over it, along
 * edges that make up 1 % of the executions, calls and returns too. Where that would take long, the
 * contexts of the later places are left out. The caller owns the result. Errors: _NOT_FOUND, _USAGE
 * (as lode_flow_graph_build()).
 */
LodeFindingMatches *lode_finding_matches_find(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeFinding *finding, uint32_t n_places, GError **error);
void lode_finding_matches_free(LodeFindingMatches *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFindingMatches, lode_finding_matches_free)
