/* SPDX-License-Identifier: MIT */
/* The findings that a live picture shows: their texts outlive the profile they were fitted to. */
#pragma once

#include "base/text/json_stream.h"

typedef struct LodeFindings LodeFindings;
typedef struct LodeLiveFindings LodeLiveFindings;
typedef struct LodeProfile LodeProfile;

/* Copies the findings with most time. Never NULL. */
LodeLiveFindings *lode_live_findings_new(const LodeProfile *profile, const LodeFindings *findings);
void lode_live_findings_free(LodeLiveFindings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveFindings, lode_live_findings_free)

/* Writes one object; of NULL, null. */
void lode_live_findings_put(const LodeLiveFindings *self, LodeJsonStream *json);
