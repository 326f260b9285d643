/* SPDX-License-Identifier: MIT */
#include "record/probes/probe_events.h"

#include "base/bits.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* A power of two: room for 180 hits, little enough for what ordinary users may lock. */
enum { PAGES = 8 };

/* The general registers and the flags: all but ip, cs and ss, and the segments. */
#define REGISTERS                                                                                  \
	(UINT64_C(0xff) | LODE_BIT(PERF_REG_X86_FLAGS) | UINT64_C(0xff) << PERF_REG_X86_R8)

typedef struct {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time, count, enabled, abi;
	uint64_t ax, bx, cx, dx, si, di, bp, sp, flags;
	uint64_t r8_to_r15[8];
} Record;

static const struct perf_event_attr attribute = {
	.size = sizeof(struct perf_event_attr),
	.type = PERF_TYPE_BREAKPOINT,
	.bp_type = HW_BREAKPOINT_X,
	/* Any address will do: it is set when a slot is armed. */
	.bp_addr = 4096,
	.bp_len = sizeof(long),
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ |
                       PERF_SAMPLE_REGS_USER,
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
	.sample_regs_user = REGISTERS,
	.disabled = 1,
	.exclude_kernel = 1,
	.exclude_hv = 1,
	.use_clockid = 1,
	.clockid = CLOCK_MONOTONIC,
	/* The ring is polled: no reader is woken. */
	.watermark = 1,
	.wakeup_watermark = 1u << 30,
	.remove_on_exec = 1,
};

/* The event itself, which gives its hits to the common ring. */
static int open_event(LodeProbeEvents *self, struct perf_event_attr *attr)
{
	int descriptor = self->kernel->open(attr, self->tid, -1, self->kernel->user_data);

	if (descriptor < 0 && errno == EINVAL && attr->remove_on_exec) {
		/* Linux before 5.13: should the thread execute a new program, the address stays
		 * armed for some milliseconds. */
		attr->remove_on_exec = self->attr.remove_on_exec = 0;
		descriptor = self->kernel->open(attr, self->tid, -1, self->kernel->user_data);
	}
	if (descriptor < 0 || self->output < 0 ||
		ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, self->output) == 0)
		return descriptor;
	int code = errno;
	close(descriptor);
	errno = code;
	return -1;
}

/* Only an event for the ring, as those of the slots are opened anew. */
static bool open_output(LodeProbeEvents *self)
{
	struct perf_event_attr attr = self->attr;

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.bp_type = 0;
	attr.bp_addr = attr.bp_len = 0;
	self->output = open_event(self, &attr);
	return self->output >= 0 && lode_perf_ring_map(&self->ring, self->output, PAGES);
}

static bool open_slot(LodeProbeEvents *self, LodeProbeSlot *slot)
{
	struct perf_event_attr attr = self->attr;

	*slot = (LodeProbeSlot){.descriptor = open_event(self, &attr)};
	return slot->descriptor >= 0;
}

int lode_probe_events_open(LodeProbeEvents *self, const LodePerfKernel *kernel, pid_t tid)
{
	*self = (LodeProbeEvents){
		.kernel = kernel,
		.tid = tid,
		.attr = attribute,
		.output = -1,
		.hits = g_array_new(FALSE, FALSE, sizeof(LodeProbeHit)),
	};
	bool is_open = open_output(self);

	while (is_open && self->n_slots < LODE_PROBE_SLOTS)
		is_open = open_slot(self, &self->slots[self->n_slots++]);
	if (is_open)
		return 0;
	int code = errno;
	lode_probe_events_close(self);
	return code;
}

void lode_probe_events_close(LodeProbeEvents *self)
{
	for (unsigned i = self->n_slots; i-- > 0;)
		if (self->slots[i].descriptor >= 0)
			close(self->slots[i].descriptor);
	if (self->output >= 0)
		close(self->output);
	lode_perf_ring_unmap(&self->ring);
	g_clear_pointer(&self->hits, g_array_unref);
	self->n_slots = 0;
}

/* How long the thread ran while the event was enabled. */
static uint64_t read_ran_ns(int descriptor)
{
	uint64_t values[2] = {0, 0};

	return read(descriptor, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

bool lode_probe_events_arm(LodeProbeEvents *self, unsigned slot, uint64_t address, unsigned n)
{
	LodeProbeSlot *at = &self->slots[slot];
	struct perf_event_attr attr = self->attr;
	uint64_t period = 1;

	g_array_set_size(self->hits, 0);
	if (at->is_stopped) {
		close(at->descriptor);
		if (!open_slot(self, at))
			return false;
	}
	/* REFRESH adds to the number of hits that are left, of which the last place may have left
	 * some; it may add a negative number. */
	int added = (int)n - (int)at->left;
	attr.bp_addr = address;
	if (ioctl(at->descriptor, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) != 0)
		return false;
	at->address = address;
	at->left = n;
	at->is_armed = true;
	at->armed_ran_ns = at->last_ran_ns = read_ran_ns(at->descriptor);
	return ioctl(at->descriptor, PERF_EVENT_IOC_REFRESH, added) == 0 &&
	       ioctl(at->descriptor, PERF_EVENT_IOC_PERIOD, &period) == 0;
}

static void take(LodeProbeEvents *self, const Record *record)
{
	LodeProbeHit hit = {
		.time_ns = record->time,
		.ran_ns = record->enabled,
		.address = record->ip,
		.flags = record->flags,
		.registers = {record->ax, record->cx, record->dx, record->bx, record->sp,
			record->bp, record->si, record->di},
	};

	memcpy(hit.registers + 8, record->r8_to_r15, sizeof(record->r8_to_r15));
	for (unsigned i = 0; i < self->n_slots; i++)
		if (self->slots[i].address == hit.address && self->slots[i].left > 0) {
			self->slots[i].is_stopped = --self->slots[i].left == 0;
			self->slots[i].last_ran_ns = hit.ran_ns;
			break;
		}
	g_array_append_val(self->hits, hit);
}

bool lode_probe_events_collect(LodeProbeEvents *self)
{
	struct perf_event_header header;
	bool is_any_left = false;
	Record record;

	if (lode_perf_ring_update(&self->ring)) {
		for (uint64_t at = self->ring.tail; at + sizeof(header) <= self->ring.head;
			at += header.size) {
			lode_perf_ring_copy(&self->ring, at, &header, sizeof(header));
			if (header.size < sizeof(header))
				break;
			/* A thread of 32 bits has no such registers. */
			if (header.type == PERF_RECORD_LOST)
				self->n_lost++;
			if (header.type != PERF_RECORD_SAMPLE || header.size != sizeof(record))
				continue;
			lode_perf_ring_copy(&self->ring, at, &record, sizeof(record));
			if (record.abi == PERF_SAMPLE_REGS_ABI_64)
				take(self, &record);
		}
		lode_perf_ring_release(&self->ring);
	}
	for (unsigned i = 0; i < self->n_slots; i++)
		is_any_left |= self->slots[i].is_armed && self->slots[i].left > 0;
	return is_any_left;
}

LodeProbeRunning lode_probe_events_running(const LodeProbeEvents *self)
{
	LodeProbeRunning least = {UINT64_MAX, UINT64_MAX};

	for (unsigned i = 0; i < self->n_slots; i++) {
		const LodeProbeSlot *slot = &self->slots[i];
		if (!slot->is_armed || slot->left == 0)
			continue;
		uint64_t ran_ns = read_ran_ns(slot->descriptor);
		least.armed_ns = MIN(least.armed_ns, ran_ns - MIN(slot->armed_ran_ns, ran_ns));
		least.idle_ns = MIN(least.idle_ns, ran_ns - MIN(slot->last_ran_ns, ran_ns));
	}
	return least.armed_ns != UINT64_MAX ? least : (LodeProbeRunning){0, 0};
}

void lode_probe_events_disarm(LodeProbeEvents *self)
{
	for (unsigned i = 0; i < self->n_slots; i++)
		if (self->slots[i].is_armed)
			ioctl(self->slots[i].descriptor, PERF_EVENT_IOC_DISABLE, 0);
	lode_probe_events_collect(self);
	for (unsigned i = 0; i < self->n_slots; i++)
		self->slots[i].is_armed = false;
}
