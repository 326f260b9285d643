/* SPDX-License-Identifier: MIT */
/*
 * Reads perf.data files of perf 3.2 to 7.x and of lode, in header and pipe mode, of either byte
 * order, record by record:
 *
 *   header ─▶ events (attributes, ids) ─▶ features ─▶ records: samples, mappings, processes, losses
 *
 * Records come in the order of the file, which is not that of time; run-time addresses stay as they
 * are. Compressed records (COMPRESSED, COMPRESSED2) are unpacked; the payload of AUXTRACE is
 * skipped. Additions of a newer perf (longer attributes, unknown record types and features) are
 * skipped and counted.
 *
 * A recording of lode's may keep copies of files that are nowhere else, see
 * docs/reference/formats/recorded-files.md, and logs of windows, see
 * docs/reference/formats/windows.md.
 *
 * Formats: linux/perf_event.h and tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#pragma once

#include "machine/machine_figures.h"

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LodePerfInfo.sampling begins so where only a part of the time was sampled, in slices that stand
 * for all; what lode took may follow after "; ". */
#define LODE_PERF_SLICED "threads were switched so often that "

typedef struct LodePerfData LodePerfData;

/* An event of the recording: one perf_event_attr. Borrowed from the reader. */
typedef struct {
	const char *name; /* as perf shows it: "cpu-clock:u"; made from type and config where the
	                     file has no name */
	uint32_t type;
	uint64_t config;
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t user_registers, interrupt_registers; /* masks */
	uint64_t period_or_frequency;
	bool is_frequency;
	uint8_t precise;
	bool has_time, has_period, has_kernel; /* kernel: its code is sampled too */
	bool has_switches;                     /* context switches are recorded with it */
	bool has_tasks;          /* threads and processes that begin and end are meant to be */
	bool has_no_user_chains; /* the call chains of its samples are of the kernel alone */
	bool is_inherited; /* each thread that was started meanwhile has a counter of its own */
} LodePerfEvent;

/*
 * Whether its samples have the address of what came after the instruction that waited: of a timer,
 * and of a processor's counter without precise sampling. Exact are faults and other events of the
 * kernel, precise_ip from 1 on, and what samples instructions itself (IBS, SPE).
 */
bool lode_perf_event_is_late(const LodePerfEvent *event);

/* Whether it counts time, so that its samples weigh waiting and not how often: a timer, cycles. */
bool lode_perf_event_is_time(uint32_t type, uint64_t config);

typedef enum {
	LODE_PERF_MODE_UNKNOWN,
	LODE_PERF_MODE_KERNEL,
	LODE_PERF_MODE_USER,
	LODE_PERF_MODE_HYPERVISOR,
	LODE_PERF_MODE_GUEST_KERNEL,
	LODE_PERF_MODE_GUEST_USER,
} LodePerfMode;

/* One entry of a branch stack, newest first: a taken branch. */
typedef struct {
	uint64_t source, target;
	uint64_t flags; /* as in struct perf_branch_entry: bit 0 mispredicted, 1 predicted, 2 in a
	                   transaction, 3 abort, 4–19 cycles, 20–23 type, 24–25 speculation… */
} LodePerfBranch;

enum { LODE_PERF_MAX_REGISTERS = 64 };

/* Fields that a sample does not have are 0, NULL, or LODE_NONE-like UINT32_MAX for cpu. */
typedef struct {
	uint64_t ip, address, id, stream_id, period;
	uint64_t
		weight; /* PERF_SAMPLE_WEIGHT, or all of var1…var3 of WEIGHT_STRUCT as they stand */
	uint64_t data_source, transaction, physical_address, data_page_size, code_page_size;
	uint64_t cgroup;
	uint32_t cpu;
	const uint64_t *callchain; /* with PERF_CONTEXT_ markers */
	size_t n_callchain;
	const LodePerfBranch *branches;
	size_t n_branches;
	const uint64_t *branch_counters;  /* as many; NULL: not recorded */
	uint64_t branch_hw_index;         /* UINT64_MAX: not recorded */
	uint64_t user_abi, interrupt_abi; /* PERF_SAMPLE_REGS_ABI_ */
	const uint64_t *user_registers;   /* as many as bits in the event's mask; NULL */
	const uint64_t *interrupt_registers;
	const uint8_t *stack; /* from the stack pointer upward */
	size_t stack_size;
	const uint8_t *raw;
	size_t raw_size;
	const uint64_t *read_values; /* PERF_SAMPLE_READ as it stands, in words */
	size_t n_read_values;
} LodePerfSample;

/* The value of a counter when a sample was taken. */
typedef struct {
	uint64_t value;
	uint64_t id;    /* of the counter; 0: not recorded */
	uint32_t event; /* UINT32_MAX: the recording does not describe it */
} LodePerfCount;

typedef struct {
	uint64_t start, size, offset; /* run-time addresses [start, start + size), of the file */
	uint32_t protection; /* PROT_…; of MMAP, which has none: executable unless data */
	uint8_t build_id_size;
	bool is_build_id_padded; /* as in LodePerfBuildId */
	const char *path;
	const uint8_t *build_id; /* NULL: none in the record */
	/* The file as the kernel knows it; 0 all: not in the record, or not of a file. The device
	 * is that of the kernel's memory (/proc/PID/maps), which for btrfs and overlayfs is not
	 * that of stat(2). */
	uint32_t device_major, device_minor;
	uint64_t inode;
	uint64_t generation; /* of the inode; 0: not recorded */
} LodePerfMapping;

typedef enum {
	LODE_PERF_SAMPLE,
	LODE_PERF_MAPPING, /* MMAP, MMAP2 */
	LODE_PERF_COMMAND, /* COMM; is_exec when by exec, which also empties the address space */
	LODE_PERF_FORK,
	LODE_PERF_EXIT,
	LODE_PERF_LOST,         /* value: records that the kernel dropped */
	LODE_PERF_LOST_SAMPLES, /* value: samples that the kernel dropped */
	LODE_PERF_THROTTLE,
	LODE_PERF_UNTHROTTLE,
	LODE_PERF_SWITCH, /* a thread begins to run on a CPU, or stops */
} LodePerfRecordKind;

typedef struct {
	LodePerfRecordKind kind;
	LodePerfMode mode;
	uint32_t event;                  /* index; of a sample always valid */
	uint32_t pid, tid;               /* UINT32_MAX: unknown */
	uint32_t parent_pid, parent_tid; /* of a fork */
	uint64_t time_ns;                /* of the recording's clock; 0: not recorded */
	uint64_t offset; /* in the file (of the compressed record, when inside one) */
	uint64_t value;
	bool is_exec;
	bool is_out, is_preempted; /* a switch: the thread stops; it could have gone on */
	const char *text;          /* the command's name; never NULL for a COMMAND */
	LodePerfSample sample;
	LodePerfMapping mapping;
} LodePerfRecord;

/* The program, and how it was sampled; of recordings of lode, mostly. */
typedef struct {
	uint64_t user_ns, system_ns; /* processor time of the program; 0 both: unknown */
	uint64_t n_page_faults;      /* of the program, as counted; 0: unknown */
	uint64_t n_processors;       /* that it may use; 0: unknown */
	/* The cost of a sample to the program, and its error; 0: unknown. The processor's clock
	 * at the end; likewise */
	uint64_t sample_ns, sample_error_ns, clock_khz;
	/* How the samples of the program were taken, and why so: "… sampled by ptrace, …"; NULL:
	 * by perf events at one rate all the time, at the usual cost. */
	const char *sampling;
	bool is_by_ptrace;
	uint64_t wall_ns;             /* of the program; 0: unknown */
	LodeMachineSpeed speed;       /* while it ran */
	LodeMemoryRates rates;        /* of the machine */
	LodeCoreFigures core_figures; /* likewise */
} LodePerfRun;

/* What is not read, or not there. */
typedef struct {
	uint64_t n_unknown_features;
	GArray *skipped;    /* LodePerfSkipped: records that are not read, by type… */
	uint64_t n_skipped; /* …and all of them */
	/* Samples since the last rewind whose user frames came later (defer_callchain) and are not
	 * there, in the first reading all; such frames that no sample waits for. */
	uint64_t n_missing_chains, n_unused_chains;
	uint64_t n_damaged_features; /* left out: they end before their own counts say */
	uint64_t n_unknown_ids;      /* samples left out since the last rewind: their event stands
	                                nowhere */
	/* A trace that the processor made, with its article, "an Intel PT trace"; NULL: none. It is
	 * skipped. */
	const char *aux_trace;
	uint64_t aux_bytes; /* of it */
} LodePerfLeftOut;

/* The content of the header and the features. Strings may be NULL, arrays may be empty. */
typedef struct {
	const char *host, *os_release, *version, *architecture, *cpu_description, *cpu_id;
	const char *command; /* of the recorder; quoted as a shell would */
	const char *program; /* what was recorded, likewise; of lode's and perf's command lines */
	LodePerfRun run;
	uint32_t n_cpus_online, n_cpus_available;
	uint64_t total_memory_kib;
	int32_t clock_id; /* CLOCK_…; −1: not recorded (perf's own clock) */
	bool is_pipe, is_swapped, is_truncated; /* truncated: data.size 0 after a crash */
	GArray *build_ids;                      /* LodePerfBuildId */
	GArray *files; /* LodePerfFile; of lode's recordings: those that were mapped to execute */
	GArray *window_logs; /* LodePerfWindowLog; of lode's recordings, in no order */
	GArray *numa_nodes;  /* LodePerfNumaNode */
	GPtrArray *core_siblings, *thread_siblings; /* const char *: lists of CPUs, "0-3,8" */
	LodePerfLeftOut left_out;
	uint64_t compressed_bytes, decompressed_bytes;
} LodePerfInfo;

typedef struct {
	uint32_t type; /* LODE_PERF_FURTHER_TYPES: more than are counted one by one */
	uint64_t n;
} LodePerfSkipped;

#define LODE_PERF_FURTHER_TYPES UINT32_MAX

typedef struct {
	const char *path;
	const char *build_id; /* hex, of 1 to 20 bytes */
	/* Its size was not recorded, but 20 bytes with zeros after the id: how many of the zeros
	 * belong to it is a guess. It is the id of a file when the two are equal without the zero
	 * bytes that end either. */
	bool is_padded;
	uint32_t pid; /* UINT32_MAX: any (the kernel's, −1 in the file) */
	LodePerfMode mode;
} LodePerfBuildId;

/*
 * A file as it was when it was recorded. Path, device, inode and generation are those of the
 * records of its mappings, so that it is found by them also where one path was several files; the
 * generation may be 0 where the records have one. "[vdso]" is one of them.
 */
typedef struct {
	const char *path;
	const char *build_id; /* hex; NULL: none */
	uint32_t device_major, device_minor;
	uint64_t inode, generation;
	uint64_t size;                         /* bytes of the file */
	uint64_t content_offset, content_size; /* of the copy, compressed, in the recording; 0: it
	                                          has none */
} LodePerfFile;

/* A log of windows (sources/windows/window_log.h). */
typedef struct {
	uint64_t offset, size; /* of its frame in the recording; size 0: left out, as there was no
	                          room for it */
	uint64_t raw_size;     /* unpacked; the logs that are kept have at most 1 GiB together */
} LodePerfWindowLog;

typedef struct {
	uint32_t node;
	uint64_t total_kib, free_kib;
	const char *cpus;
} LodePerfNumaNode;

typedef enum { LODE_PERF_NEXT_RECORD, LODE_PERF_NEXT_END, LODE_PERF_NEXT_ERROR } LodePerfNext;

/*
 * Opens a file, or a directory as of perf record --threads, and reads the header. Errors name file
 * and offset: _IO, _CORRUPT, _UNSUPPORTED (the format before perf 2.6.31's; a file of a directory,
 * then which to give), _LIMIT.
 */
LodePerfData *lode_perf_data_open(const char *path, GError **error);
void lode_perf_data_close(LodePerfData *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePerfData, lode_perf_data_close)

/* Whether the first bytes of a file look like perf.data. */
bool lode_perf_data_is_format(const char *data, size_t size);

/* Whether a file has records of a directory that perf record --threads wrote, without a header. */
bool lode_perf_data_is_part(const char *path);

/*
 * Borrowed; in pipe mode events and features come between records and are complete at the end. Then
 * the array is valid until the next lode_perf_data_next(), the names as long as the reader.
 */
const LodePerfEvent *lode_perf_data_events(const LodePerfData *self, size_t *out_n);
const LodePerfInfo *lode_perf_data_info(const LodePerfData *self);

/* "KSYMBOL", as linux/perf_event.h, perf or simpleperf name a type of records, without the words
 * that begin all; NULL: it has no name. */
const char *lode_perf_data_record_name(uint32_t type);

/* Whether any event's records have times. */
bool lode_perf_data_has_times(const LodePerfData *self);

/*
 * The next record that concerns a user; others are skipped. Its pointers are valid until the next
 * call. After an error, the reader can only be closed or rewound.
 */
LodePerfNext lode_perf_data_next(LodePerfData *self, LodePerfRecord *out_record, GError **error);

/*
 * Appends the counts (LodePerfCount) that a sample has, by PERF_SAMPLE_READ: of its own event, or
 * of all that are counted as a group with it. Without ids those of a group are of its event and
 * those after it.
 */
void lode_perf_data_read_counts(
	LodePerfData *self, const LodePerfRecord *record, GArray *out_counts);

/* The samples that were read or skipped since the beginning or the last rewind. */
uint64_t lode_perf_data_n_samples(const LodePerfData *self);

/* Whether samples are skipped, which is much faster than to read them. */
void lode_perf_data_skip_samples(LodePerfData *self, bool is_wanted);

/* Back to the first record. The events and features stay. */
void lode_perf_data_rewind(LodePerfData *self);

/*
 * A reader without a file, of records that are handed to it while they are recorded, by this
 * machine. `name` stands in for the file's in errors.
 */
LodePerfData *lode_perf_data_new(const char *name);

/* Adds an event. All come before the first record. */
void lode_perf_data_add(LodePerfData *self, const struct perf_event_attr *attr, const char *name,
	const uint64_t *ids, size_t n_ids);

/* Reads one whole record; END: it does not concern the user. The result is valid as long as the
 * record, until the next one is read. Errors: _CORRUPT. */
LodePerfNext lode_perf_data_parse(LodePerfData *self, const void *record, size_t size,
	LodePerfRecord *out_record, GError **error);

/*
 * Writes the copy of a file that the recording keeps, one of info's `files` with content, to a new
 * file. Not for several threads at once. Errors: _IO, _CORRUPT, _LIMIT (more than 1 GiB of one
 * recording, more than 512 MiB at once); nothing is left then.
 */
bool lode_perf_data_unpack(
	LodePerfData *self, const LodePerfFile *file, const char *path, GError **error);

/*
 * Unpacks one of info's `window_logs`; the caller unrefs it. Not for several threads at once.
 * Errors: _NOT_FOUND (it was left out), _IO, _CORRUPT, _LIMIT (no memory).
 */
GBytes *lode_perf_data_window_log(LodePerfData *self, guint index, GError **error);

/* How far it is, for progress: bytes of the file or files. */
uint64_t lode_perf_data_position(const LodePerfData *self);
uint64_t lode_perf_data_size(const LodePerfData *self);
