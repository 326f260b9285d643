/* SPDX-License-Identifier: MIT */
/*
 * Findings that take each other's place: where a compiler makes other instructions of the same
 * lines, time moves from one pattern to another, and each alone looks like a change.
 *
 * Private to analyses/compare/.
 */
#pragma once

#include "analyses/findings/findings.h"

#include <stdint.h>

typedef struct LodeOwnLines LodeOwnLines;

/*
 * For each finding the first one of its group: findings are in one group if one got faster, the
 * other slower, and at least half of the time that the first had in the base is at the same lines
 * as half of that which the other has in the second profile: Σ over lines of the lesser of their
 * shares; and with them what is in one group with either. `changes`: of the time of each. The
 * caller frees the array.
 */
uint32_t *lode_exchanged_findings_group(const LodeProfile *const profiles[2],
	const LodeSharedFindings *shared, const LodeOwnLines *const own[2], const double *changes);
