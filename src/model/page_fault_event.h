/* SPDX-License-Identifier: MIT */
/* Events that count page faults, by their names. */
#pragma once

#include <stdbool.h>

/* "page-faults", "minor-faults", "major-faults" or "faults", with or without a modifier
 * ("page-faults:u"). */
bool lode_is_page_fault_event(const char *name);
