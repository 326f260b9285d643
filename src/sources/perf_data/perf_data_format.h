/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the perf.data format that linux/perf_event.h does not have: those of perf itself, and
 * those of kernels newer than the header that lode may be compiled with.
 */
#pragma once

#include "base/bits.h"

#include <linux/perf_event.h>
#include <stdint.h>

enum {                                            /* record types of the kernel */
	LODE_PERF_RECORD_CALLCHAIN_DEFERRED = 22, /* Linux 6.19 */
};

enum { /* record types of perf itself */
	LODE_PERF_RECORD_FIRST_OF_PERF = 64,
	LODE_PERF_RECORD_HEADER_ATTR = 64,
	LODE_PERF_RECORD_EVENT_TYPE = 65,
	LODE_PERF_RECORD_TRACING_DATA = 66, /* its payload follows the record; of old simpleperf it
	                                       is in the record */
	LODE_PERF_RECORD_BUILD_ID = 67,
	LODE_PERF_RECORD_FINISHED_ROUND = 68,
	LODE_PERF_RECORD_ID_INDEX = 69,
	LODE_PERF_RECORD_AUXTRACE_INFO = 70,
	LODE_PERF_RECORD_AUXTRACE = 71, /* its payload follows the record */
	LODE_PERF_RECORD_THREAD_MAP = 73,
	LODE_PERF_RECORD_CPU_MAP = 74,
	LODE_PERF_RECORD_EVENT_UPDATE = 78,
	LODE_PERF_RECORD_TIME_CONV = 79,
	LODE_PERF_RECORD_FEATURE = 80,
	LODE_PERF_RECORD_COMPRESSED = 81,
	LODE_PERF_RECORD_FINISHED_INIT = 82,
	LODE_PERF_RECORD_COMPRESSED2 = 83,
	/* From here on of Android's simpleperf: the upper half of a size stands in place of misc.
	 */
	LODE_PERF_RECORD_FIRST_OF_SIMPLEPERF = 32768,
};

enum { /* bits of the header's feature map, and numbers of FEATURE records */
	LODE_PERF_FEATURE_TRACING_DATA = 1,
	LODE_PERF_FEATURE_BUILD_ID = 2,
	LODE_PERF_FEATURE_HOSTNAME = 3,
	LODE_PERF_FEATURE_OS_RELEASE = 4,
	LODE_PERF_FEATURE_VERSION = 5,
	LODE_PERF_FEATURE_ARCHITECTURE = 6,
	LODE_PERF_FEATURE_CPU_COUNT = 7,
	LODE_PERF_FEATURE_CPU_DESCRIPTION = 8,
	LODE_PERF_FEATURE_CPU_ID = 9,
	LODE_PERF_FEATURE_TOTAL_MEMORY = 10,
	LODE_PERF_FEATURE_COMMAND_LINE = 11,
	LODE_PERF_FEATURE_EVENT_DESCRIPTION = 12,
	LODE_PERF_FEATURE_CPU_TOPOLOGY = 13,
	LODE_PERF_FEATURE_NUMA_TOPOLOGY = 14,
	LODE_PERF_FEATURE_PMU_MAPPINGS = 16,
	LODE_PERF_FEATURE_DIRECTORY = 24,
	LODE_PERF_FEATURE_CLOCK_DATA = 29,
	LODE_PERF_FEATURE_LAST_KNOWN = 31, /* PMU_CAPS */
	LODE_PERF_FEATURE_LODE_WINDOWS =
		253, /* of lode's own, see docs/reference/formats/windows.md */
	LODE_PERF_FEATURE_LODE_FILES =
		254, /* of lode's own, see docs/reference/formats/recorded-files.md */
	LODE_PERF_FEATURE_LODE = 255, /* likewise, see record/perf/perf_features.h */
	LODE_PERF_FEATURE_BITS = 256,
};

/*
 * The section of recorded files, docs/reference/formats/recorded-files.md. The limits are those of
 * a recording, and what a reader accepts.
 */
enum {
	LODE_PERF_FILES_VERSION = 1,
	LODE_PERF_FILES_HEAD_BYTES = 16,  /* before the entries */
	LODE_PERF_FILES_ENTRY_BYTES = 64, /* of an entry before its build-id */
	LODE_PERF_FILES_MAX_BUILD_ID = 64,
	LODE_PERF_FILES_MAX_INDEX_BYTES = 64 << 20,
};
#define LODE_PERF_FILES_MAX_BYTES_EACH (UINT64_C(512) << 20)
#define LODE_PERF_FILES_MAX_BYTES (UINT64_C(1) << 30) /* of all that are kept, not compressed */

/* The section of windows, docs/reference/formats/windows.md; likewise. */
enum {
	LODE_PERF_WINDOWS_VERSION = 1,
	LODE_PERF_WINDOWS_HEAD_BYTES = 8, /* before the logs */
	LODE_PERF_WINDOWS_LOG_BYTES = 16, /* of a log before its frame */
	LODE_PERF_WINDOWS_MAX_LOGS = 1 << 20,
};
#define LODE_PERF_WINDOWS_MAX_BYTES (UINT64_C(1) << 30) /* of all logs, not compressed */

enum { /* kinds of EVENT_UPDATE */
	LODE_PERF_UPDATE_NAME = 2,
};

enum {
	LODE_PERF_MISC_BUILD_ID_SIZE = 1 << 15, /* of build-id table entries */
	LODE_PERF_MISC_MMAP_BUILD_ID = 1 << 14,
	LODE_PERF_BUILD_ID_BYTES = 20,
	LODE_PERF_RECORD_HEADER_BYTES = 8,
	LODE_PERF_EVENT_NAME_BYTES = 64, /* of EVENT_TYPE */
	LODE_PERF_ATTRIBUTE_MIN_BYTES = PERF_ATTR_SIZE_VER0,
};

/* A bit of branch_sample_type; Linux 6.8. */
#define LODE_PERF_BRANCH_COUNTERS LODE_BIT(19)
/* A bit of read_format; Linux 6.0. */
#define LODE_PERF_FORMAT_LOST LODE_BIT(4)

/*
 * The thread, of process 0, of a switch that lode itself writes: context switches are recorded from
 * its time on (in), or are no longer (out). No thread has this number, and the kernel gives it to
 * those that have ended only together with such a process.
 */
#define LODE_PERF_NO_SWITCHES_TID UINT32_MAX

/* Bits of the attribute's flags, as a little-endian machine has them. */
#define LODE_PERF_FLAG_INHERIT LODE_BIT(1)
#define LODE_PERF_FLAG_EXCLUDE_USER LODE_BIT(4)
#define LODE_PERF_FLAG_EXCLUDE_KERNEL LODE_BIT(5)
#define LODE_PERF_FLAG_EXCLUDE_CALLCHAIN_USER LODE_BIT(22)
#define LODE_PERF_FLAG_EXCLUDE_HYPERVISOR LODE_BIT(6)
#define LODE_PERF_FLAG_FREQUENCY LODE_BIT(10)
#define LODE_PERF_PRECISE_SHIFT 15
#define LODE_PERF_FLAG_TASK LODE_BIT(13)
#define LODE_PERF_FLAG_SAMPLE_ID_ALL LODE_BIT(18)
#define LODE_PERF_FLAG_EXCLUDE_HOST LODE_BIT(19)
#define LODE_PERF_FLAG_EXCLUDE_GUEST LODE_BIT(20)
#define LODE_PERF_FLAG_USE_CLOCK_ID LODE_BIT(25)
#define LODE_PERF_FLAG_CONTEXT_SWITCH LODE_BIT(26)
