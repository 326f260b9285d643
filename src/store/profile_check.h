/* SPDX-License-Identifier: MIT */
/*
 * The rules that model/profile.h sets for a profile's arrays: references inside bounds, ranges that
 * follow each other, sorted orders, numbers that are numbers. The writer asks before it writes and
 * the reader after it has read, so that what was written can be read.
 */
#pragma once

#include "model/profile.h"

/* _CORRUPT with table and row (from 1) of the first broken rule. */
bool lode_profile_check(const LodeProfile *profile, GError **error);
