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
	uint64_t time, abi;
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
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER,
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

static int open_slot(
	LodeProbeEvents *self, const LodePerfKernel *kernel, pid_t tid, LodeProbeSlot *slot)
{
	struct perf_event_attr attr = self->attr;

	slot->descriptor = kernel->open(&attr, tid, -1, kernel->user_data);
	if (slot->descriptor < 0 && errno == EINVAL && self->attr.remove_on_exec) {
		/* Linux before 5.13: should the thread execute a new program, the address stays
		 * armed for some milliseconds. */
		attr = self->attr;
		attr.remove_on_exec = self->attr.remove_on_exec = 0;
		slot->descriptor = kernel->open(&attr, tid, -1, kernel->user_data);
	}
	if (slot->descriptor < 0)
		return errno;
	if (slot == self->slots)
		return lode_perf_ring_map(&self->ring, slot->descriptor, PAGES) ? 0 : errno;
	return ioctl(slot->descriptor, PERF_EVENT_IOC_SET_OUTPUT, self->slots[0].descriptor) == 0
	               ? 0
	               : errno;
}

int lode_probe_events_open(LodeProbeEvents *self, const LodePerfKernel *kernel, pid_t tid)
{
	*self = (LodeProbeEvents){
		.attr = attribute,
		.hits = g_array_new(FALSE, FALSE, sizeof(LodeProbeHit)),
	};
	for (unsigned i = 0; i < LODE_PROBE_SLOTS; i++)
		self->slots[i].descriptor = -1;
	while (self->n_slots < LODE_PROBE_SLOTS) {
		int code = open_slot(self, kernel, tid, &self->slots[self->n_slots++]);
		if (code != 0) {
			lode_probe_events_close(self);
			return code;
		}
	}
	return 0;
}

void lode_probe_events_close(LodeProbeEvents *self)
{
	for (unsigned i = self->n_slots; i-- > 0;)
		if (self->slots[i].descriptor >= 0)
			close(self->slots[i].descriptor);
	lode_perf_ring_unmap(&self->ring);
	g_clear_pointer(&self->hits, g_array_unref);
	self->n_slots = 0;
}

bool lode_probe_events_arm(LodeProbeEvents *self, unsigned slot, uint64_t address, unsigned n)
{
	LodeProbeSlot *at = &self->slots[slot];
	struct perf_event_attr attr = self->attr;
	uint64_t period = 1;
	/* REFRESH adds to the number of hits that are left, of which the last place may have left
	 * some; it may add a negative number. */
	int added = (int)n - (int)at->left;

	attr.bp_addr = address;
	g_array_set_size(self->hits, 0);
	if (ioctl(at->descriptor, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) != 0)
		return false;
	at->address = address;
	at->left = n;
	at->is_armed = true;
	return ioctl(at->descriptor, PERF_EVENT_IOC_REFRESH, added) == 0 &&
	       ioctl(at->descriptor, PERF_EVENT_IOC_PERIOD, &period) == 0;
}

static void take(LodeProbeEvents *self, const Record *record)
{
	LodeProbeHit hit = {
		.time_ns = record->time,
		.address = record->ip,
		.flags = record->flags,
		.registers = {record->ax, record->cx, record->dx, record->bx, record->sp,
			record->bp, record->si, record->di},
	};

	memcpy(hit.registers + 8, record->r8_to_r15, sizeof(record->r8_to_r15));
	for (unsigned i = 0; i < self->n_slots; i++)
		if (self->slots[i].address == hit.address && self->slots[i].left > 0) {
			self->slots[i].left--;
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

void lode_probe_events_disarm(LodeProbeEvents *self)
{
	for (unsigned i = 0; i < self->n_slots; i++)
		if (self->slots[i].is_armed)
			ioctl(self->slots[i].descriptor, PERF_EVENT_IOC_DISABLE, 0);
	lode_probe_events_collect(self);
	for (unsigned i = 0; i < self->n_slots; i++)
		self->slots[i].is_armed = false;
}
