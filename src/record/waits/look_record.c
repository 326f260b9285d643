/* SPDX-License-Identifier: MIT */
#include "record/waits/look_record.h"

#include "base/byte_append.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

enum { HEAD_BYTES = sizeof(struct perf_event_header) + 6 * sizeof(uint64_t) };

void lode_look_record_attribute(struct perf_event_attr *out_attr)
{
	*out_attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*out_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	                       PERF_SAMPLE_RAW,
		.read_format = PERF_FORMAT_ID,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

guint lode_look_record_begin(GByteArray *records, const LodeLookRecord *of)
{
	guint begin = records->len;
	const struct perf_event_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0};

	g_byte_array_append(records, (const guint8 *)&header, sizeof(header));
	lode_append_u64(records, of->id);
	lode_append_u64(records, of->address);
	lode_append_u32(records, (uint32_t)of->pid);
	lode_append_u32(records, (uint32_t)of->tid);
	lode_append_u64(records, of->time_ns);
	lode_append_u64(records, 0); /* CPU */
	lode_append_u64(records, 1); /* period */
	lode_append_u32(records, 0); /* bytes of the raw data */
	return begin;
}

void lode_look_record_end_raw(GByteArray *records, guint begin)
{
	uint32_t size = records->len - begin - HEAD_BYTES - (guint)sizeof(uint32_t);

	memcpy(records->data + begin + HEAD_BYTES, &size, sizeof(size));
}

void lode_look_record_end(GByteArray *records, guint begin)
{
	((struct perf_event_header *)(void *)(records->data + begin))->size =
		(uint16_t)(records->len - begin);
}
