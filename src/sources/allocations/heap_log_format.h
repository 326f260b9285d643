/* SPDX-License-Identifier: MIT */
/* The types of records in the log of a garbage-collected heap, for its reader and lode's own
 * writer; docs/reference/formats/heap-log.md describes them. */
#pragma once

enum {
	LODE_HEAP_RECORD_NAME = 1,
	LODE_HEAP_RECORD_MOVE,
	LODE_HEAP_RECORD_WALK,
	LODE_HEAP_RECORD_BLOCK,
	LODE_HEAP_RECORD_RANGE,
	LODE_HEAP_RECORD_SITE,
	LODE_HEAP_RECORD_SAMPLES,
};
