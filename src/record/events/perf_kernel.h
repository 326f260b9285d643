/* SPDX-License-Identifier: MIT */
/*
 * The part of the kernel that decides whether and how a program can be sampled: perf_event_open(2)
 * and the settings that bound it. Both are called through a table, so that tests can simulate a
 * machine that has a PMU or forbids everything.
 */
#pragma once

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
	/* A descriptor that execve() closes, or −1 with errno. */
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, void *user_data);
	void *user_data;
	const char *settings; /* the folder of perf_event_paranoid and its like */
	const char *devices;  /* the folder of the PMUs, with their types, formats and events */
	const char *tracing;  /* the folder of tracefs; NULL: there is none */
} LodePerfKernel;

/* The machine's own. */
extern const LodePerfKernel lode_perf_kernel;

/* The value of "perf_event_paranoid"; `otherwise` where it cannot be read. */
int64_t lode_perf_kernel_setting(const LodePerfKernel *self, const char *name, int64_t otherwise);

/*
 * Why the kernel refuses every event to this user, even a timer in programs of his own, and what
 * would allow it: "kernel.perf_event_paranoid is 4; 'sudo sysctl …=2' allows them". NULL: it does
 * not. The caller frees it.
 */
char *lode_perf_kernel_refusal(const LodePerfKernel *self);

/* The event to open, for the message if it cannot be opened. */
typedef struct {
	const struct perf_event_attr *attr;
	const char *event; /* "cycles:u" */
	pid_t pid;         /* 0: a program that we start, or ourselves */
	int code;          /* errno */
	bool is_by_kernel; /* the kernel is sampled because of --kernel, not of the event's name */
	size_t n_wanted;   /* descriptors; 0: unknown */
} LodePerfRefusal;

/*
 * Sets the error for a refused perf_event_open(): the setting that forbids it with its value, what
 * would change it, and what works without. Codes: _IO for settings and permissions, _NOT_FOUND for
 * events and processes, _UNSUPPORTED for what the hardware lacks.
 */
void lode_perf_kernel_refuse(
	const LodePerfKernel *self, const LodePerfRefusal *refusal, GError **error);
