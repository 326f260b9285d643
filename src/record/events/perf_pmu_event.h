/* SPDX-License-Identifier: MIT */
/*
 * Events as the kernel itself names them, by the folders of its PMUs:
 *
 *   "cpu/mem-loads,ldlat=30/"
 *      │      │        └─ format/ldlat "config1:0-15": which bits of the attribute the value fills
 *      │      └─ events/mem-loads "event=0xcd,umask=0x1,ldlat=3": terms like the others
 *      └─ type "4"
 *
 * Format: Documentation/ABI/testing/sysfs-bus-event_source-devices-* of Linux.
 */
#pragma once

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>

/*
 * Fills type and config… of *out_attr from "PMU/TERMS/". Errors: _NOT_FOUND (PMU, term), _USAGE
 * (a value that is not a number or too great), _CORRUPT (the folder's own fault).
 */
bool lode_perf_pmu_event_read(
	const char *devices, const char *text, struct perf_event_attr *out_attr, GError **error);
