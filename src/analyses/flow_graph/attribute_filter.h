/* SPDX-License-Identifier: MIT */
/* Which attributes are mined: namespaces to keep, globs to drop.
 * Private to analyses/flow_graph/. */
#pragma once

#include "model/mining_run.h"
#include "model/profile.h"

typedef struct {
	char **namespaces;   /* NULL: all */
	GPtrArray *excludes; /* GPatternSpec */
} LodeAttributeFilter;

/* Errors: _USAGE when a namespace is neither lode's own nor carried by any attribute. */
bool lode_attribute_filter_init(LodeAttributeFilter *self, const LodeProfile *profile,
	const LodeMiningParameters *parameters, GError **error);
void lode_attribute_filter_clear(LodeAttributeFilter *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeAttributeFilter, lode_attribute_filter_clear)

/* Whether the attribute "namespace:value" is mined. One without a namespace always is, unless
 * excluded. */
bool lode_attribute_filter_has(const LodeAttributeFilter *self, const char *attribute);
