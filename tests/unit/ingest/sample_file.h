/* SPDX-License-Identifier: MIT */
/* Writes perf.data files of samples, record by record, for imports of what a test has thought up.
 */
#pragma once

#include "../sources/perf_data_writer.h"
#include "sources/perf_data/perf_data.h"
#include "sources/perf_data/script_look.h"
#include "sources/perf_data/wait_look.h"

/* The layout of all its records; to be set before the first. */
typedef struct {
	PerfDataFile file;
	bool has_times, has_periods, has_branches;
	bool has_cpus, has_addresses, has_registers; /* addresses: with latency and data source */
	bool has_chains;
	bool has_switches;
	bool has_counts; /* PERF_SAMPLE_READ, as read_format says */
	uint64_t read_format;
	uint64_t register_mask;     /* which registers samples have, of SAMPLE_REGISTERS */
	const char *dummy_names[3]; /* of events; NULL: it is of the kernel */
} SampleFile;

/* As perf asks for: ax bx cx dx si di bp sp ip flags, r8 to r15. */
enum { SAMPLE_REGISTERS = 0xff03ff, SAMPLE_N_REGISTERS = 18 };
enum { SAMPLE_AX, SAMPLE_BX, SAMPLE_CX, SAMPLE_DX, SAMPLE_SI, SAMPLE_DI, SAMPLE_BP, SAMPLE_SP };

/* With times, periods and branch stacks, without cpus, addresses and registers; of a little-endian
 * machine. */
void sample_file_init(SampleFile *self);
void sample_file_clear(SampleFile *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SampleFile, sample_file_clear)

/* The id of an event's counter, 0 or 1. */
uint64_t sample_file_id(unsigned event, unsigned counter);

/* Events are numbered from 0. Without frequency: `period` is fixed. */
void sample_file_add_event(SampleFile *self, uint32_t type, uint64_t config, uint64_t period);

/* Executable; `build_id` NULL or 20 bytes. */
void sample_file_map(SampleFile *self, uint32_t pid, uint64_t time_ns, const LodePerfMapping *map);
/* Of memory that is not executable, MAP_PRIVATE, as with --data. */
void sample_file_map_data(
	SampleFile *self, uint32_t pid, uint64_t time_ns, const LodePerfMapping *map);
/* The kernel's own, without a process. */
void sample_file_map_kernel(SampleFile *self, const LodePerfMapping *map);
void sample_file_exec(SampleFile *self, uint32_t pid, uint64_t time_ns);
void sample_file_fork(SampleFile *self, uint32_t pid, uint32_t parent_pid, uint64_t time_ns);

/* A thread: its beginning, its end, its name. */
void sample_file_clone(SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns);
void sample_file_exit(SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns);
void sample_file_name(
	SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns, const char *name);

/* PERF_RECORD_SWITCH, or as perf record -a has it; a thread that goes out may be preempted. */
typedef struct {
	uint32_t pid, tid;
	uint64_t time_ns;
	bool is_out, is_preempted, is_wide;
} SampleSwitch;

void sample_file_switch(SampleFile *self, const SampleSwitch *change);

/* PERF_RECORD_LOST, _LOST_SAMPLES, _THROTTLE. */
void sample_file_lose(SampleFile *self, uint32_t type, uint64_t n);

typedef struct {
	unsigned event;
	uint16_t mode;     /* PERF_RECORD_MISC_KERNEL… */
	uint32_t pid, tid; /* tid 0: the first thread's */
	uint64_t time_ns, ip, period;
	uint32_t cpu;
	unsigned counter;     /* 0 or 1: which of the event's ids */
	const uint64_t *read; /* the words of PERF_SAMPLE_READ */
	size_t n_read;
	uint64_t address, latency, data_source;
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_; NONE: without registers */
	uint64_t registers[SAMPLE_N_REGISTERS];
	const uint64_t *chain; /* with PERF_CONTEXT_ markers */
	size_t n_chain;
	const LodePerfBranch *branches; /* newest first */
	size_t n_branches;
} Sample;

void sample_file_add(SampleFile *self, const Sample *sample);

/* The event of lode's looks at threads that wait, after all other events. */
void sample_file_add_look_event(SampleFile *self);

typedef struct {
	uint32_t pid, tid;
	uint64_t time_ns, ip, stack_pointer;
	const LodeWaitLook *look; /* NULL: `raw` instead */
	const uint8_t *raw;
	uint32_t raw_size;     /* 4 more than a multiple of 8 */
	const uint64_t *stack; /* words from the stack pointer on */
	size_t n_stack;
} SampleLook;

void sample_file_look(SampleFile *self, const SampleLook *look);

/* The event of lode's looks at scripts, likewise; and such a look. */
void sample_file_add_script_event(SampleFile *self);
void sample_file_script(
	SampleFile *self, uint32_t pid, uint32_t tid, uint64_t time_ns, const GByteArray *raw);

/* To a file, whose directory must exist. */
void sample_file_write(SampleFile *self, const char *path);
