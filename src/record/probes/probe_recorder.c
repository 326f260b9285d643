/* SPDX-License-Identifier: MIT */
#include "record/probes/probe_recorder.h"

#include "base/monotonic_clock.h"
#include "record/probes/probe_events.h"
#include "record/probes/probe_log.h"
#include "record/probes/probe_places.h"
#include "record/probes/probe_steps.h"
#include "record/programs/running_process.h"
#include "sources/windows/window_log_format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	FEWEST_SAMPLES = 40, /* before the first session */
	FIRST_US = 15 * 1000,
	SESSION_US = 10 * 1000, /* in which no records are read: the rings hold more */
	ROUNDS = 3,             /* of a session: four places each… */
	PERIODS = 3,            /* …and one pair of instructions each */
	LOOK_US = 150,          /* at the ring, after a nap; after each, twice as long… */
	MOST_LOOK_US = 1000,    /* …up to this */
	NO_HIT_NS = 2 * 1000 *
	            1000, /* of the thread's: a place that is not hit meanwhile is left… */
	ROUND_NS = 4 * 1000 * 1000, /* …and one that is not hit often enough until then, */
	MOST_ROUND_US = 25 * 1000,  /* …or where the thread does not run */
	LEAST_GAP_US = 4 * 1000,
	IDLE_GAP_US = 20 * 1000, /* where there is nothing to ask */
	MOST_GAP_US = 1000 * 1000,
	SWITCHES_PER_SECOND = 500, /* of a thread, beyond which it gets no events */
	/* The program's time that opening, arming and closing a session's events take. */
	OPEN_NS = 100 * 1000,
	MOST_PROCESSES = 256,
	CALIBRATION_HITS = 64,
	/* Steps of a burst, and up to twice as many. */
	SHORT_STEPS = 24,
	SOME_STEPS = 64,
	MANY_STEPS = 256,
	END_MS = 2000, /* for threads that are late to stop: a step of one that is not waited for
	                  would end it */
	MOST_HIT_NS = 100 * 1000,
};

/* A short program may lose more than the share: so much of what it took so far, up to so much. */
static const double SHORT_SHARE = 0.04;
enum { SHORT_NS = 25 * 1000 * 1000 };

/* The share of steps in what is spent, where there are both steps and hits. */
static const double STEPS_SHARE = 0.4;

/* The share of its time that code loses whose line of 64 bytes has a breakpoint: it is four times
 * slower then. */
static const double SLOWDOWN = 0.75;

typedef struct {
	pid_t pid;
	LodeProbePlaces *places;
	LodeProbePeriods *periods;
	LodeProbeLog *log;
	uint64_t cpu_ns; /* of all threads, when it was looked at last */
	uint32_t n_samples;
	/* The thread that was looked at last. */
	pid_t tid;
	uint64_t n_switches;
	gint64 looked_us;
	bool is_calm;      /* it has few switches */
	bool is_running;   /* or could: a stop in a wait would wake the thread for nothing */
	bool has_no_steps; /* SIGTRAP is the program's, or ptrace refused */
} Process;

struct LodeProbeRecorder {
	const LodePerfKernel *kernel;
	LodeWindowLogs *logs;
	double share;
	GHashTable *processes; /* pid → Process */
	Process *busiest;      /* of the samples since the last session */
	uint64_t n_samples;
	gint64 begin_us, due_us;
	uint64_t hit_ns;             /* 0: breakpoints do not work here */
	uint64_t spent_ns, steps_ns; /* in all; of it, by steps */
	uint64_t n_stops;            /* for steps */
	uint64_t ended_ns;           /* processor time of processes that are gone */
	GArray *late;                /* LodeProbeSteps: threads to be let go */
	pid_t child;
	bool is_over, is_resting;
	bool uses_stops; /* no session is held but in stops of others */
};

static gint64 now_us(void)
{
	return g_get_monotonic_time();
}

static void free_process(void *data)
{
	Process *self = data;

	lode_probe_periods_free(self->periods);
	lode_probe_places_free(self->places);
	lode_probe_log_free(self->log);
	g_free(self);
}

/* --- what a hit costs --- */

/* A function of its own, as its first instruction is where the breakpoint lies. */
__attribute__((noinline)) static void calibration_target(void)
{
	__asm__ volatile("");
}

/* A median: something else may run meanwhile. 0: the kernel has no such events. */
static uint64_t measure_hit_ns(const LodePerfKernel *kernel)
{
	LodeProbeEvents events;
	uint64_t times[CALIBRATION_HITS];

	if (lode_probe_events_open(&events, kernel, 0) != 0)
		return 0;
	bool is_armed = lode_probe_events_arm(
		&events, 0, (uint64_t)(uintptr_t)calibration_target, CALIBRATION_HITS);
	for (unsigned i = 0; i < CALIBRATION_HITS && is_armed; i++) {
		uint64_t begin_ns = lode_now_ns();
		calibration_target();
		uint64_t took_ns = lode_now_ns() - begin_ns;
		unsigned k = i;
		for (; k > 0 && times[k - 1] > took_ns; k--)
			times[k] = times[k - 1];
		times[k] = took_ns;
	}
	lode_probe_events_disarm(&events);
	bool was_hit = events.hits->len == CALIBRATION_HITS;
	lode_probe_events_close(&events);
	return is_armed && was_hit ? CLAMP(times[CALIBRATION_HITS / 2], 1, MOST_HIT_NS) : 0;
}

LodeProbeRecorder *lode_probe_recorder_new(
	const LodeProbeOptions *options, const LodePerfKernel *kernel, LodeWindowLogs *logs)
{
	LodeProbeRecorder *self = g_new0(LodeProbeRecorder, 1);

	self->kernel = kernel;
	self->logs = logs;
	self->share = options->share;
	self->processes = g_hash_table_new_full(NULL, NULL, NULL, free_process);
	self->hit_ns = measure_hit_ns(kernel);
	self->late = g_array_new(FALSE, FALSE, sizeof(LodeProbeSteps));
	self->begin_us = now_us();
	self->due_us = self->begin_us + FIRST_US;
	return self;
}

void lode_probe_recorder_free(LodeProbeRecorder *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->processes);
	g_array_unref(self->late);
	g_free(self);
}

void lode_probe_recorder_set_child(LodeProbeRecorder *self, pid_t child)
{
	self->child = child;
}

/* --- processes --- */

void lode_probe_recorder_take_sample(
	LodeProbeRecorder *self, pid_t pid, pid_t tid, uint64_t address)
{
	Process *process = g_hash_table_lookup(self->processes, GINT_TO_POINTER(pid));

	if (process == NULL && g_hash_table_size(self->processes) < MOST_PROCESSES) {
		process = g_new0(Process, 1);
		process->pid = pid;
		process->places = lode_probe_places_new(pid);
		process->periods = lode_probe_periods_new(pid, process->places);
		g_hash_table_insert(self->processes, GINT_TO_POINTER(pid), process);
	}
	if (process == NULL)
		return;
	lode_probe_places_add_sample(process->places, tid, address);
	lode_probe_periods_add_sample(process->periods, address);
	self->n_samples++;
	if (++process->n_samples > (self->busiest != NULL ? self->busiest->n_samples : 0))
		self->busiest = process;
}

static void give_log(LodeProbeRecorder *self, Process *process)
{
	size_t size;

	if (process->log == NULL)
		return;
	const uint8_t *bytes = lode_probe_log_bytes(process->log, &size);
	lode_window_logs_add(self->logs, bytes, size);
	g_clear_pointer(&process->log, lode_probe_log_free);
}

void lode_probe_recorder_forget(LodeProbeRecorder *self, pid_t pid)
{
	Process *process = g_hash_table_lookup(self->processes, GINT_TO_POINTER(pid));

	if (process == NULL)
		return;
	give_log(self, process);
	self->ended_ns += process->cpu_ns;
	if (self->busiest == process)
		self->busiest = NULL;
	g_hash_table_remove(self->processes, GINT_TO_POINTER(pid));
}

/* The time of all its threads, those that have ended too. */
static uint64_t processor_time_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * Sees whether a thread may get events of its own: among others of its process, each of its
 * switches costs the kernel microseconds more from the first one on, until it ends. False: a
 * debugger is attached, which might want breakpoints itself, or the thread has ended.
 */
static bool look_at(const LodeProbeRecorder *self, Process *process, pid_t tid)
{
	g_autofree char *status = lode_thread_status_read(process->pid, tid);
	gint64 now = now_us();

	if (status == NULL || lode_thread_status_number(status, "TracerPid", 10) != 0)
		return false;
	uint64_t n = lode_thread_status_number(status, "voluntary_ctxt_switches", 10) +
	             lode_thread_status_number(status, "nonvoluntary_ctxt_switches", 10);
	bool is_known = process->tid == tid;
	gint64 since_us = is_known ? process->looked_us : self->begin_us;
	uint64_t before = is_known ? process->n_switches : 0;
	process->tid = tid;
	process->n_switches = n;
	process->looked_us = now;
	process->is_running = strstr(status, "\nState:\tR") != NULL;
	process->is_calm = lode_thread_status_number(status, "Threads", 10) == 1 ||
	                   (double)(n - before) * G_USEC_PER_SEC <=
	                           (double)SWITCHES_PER_SECOND * (double)MAX(now - since_us, 1);
	return true;
}

/* --- sessions --- */

static void nap(long us)
{
	const struct timespec time = {.tv_nsec = us * 1000};

	nanosleep(&time, NULL);
}

/* Until all places were hit as often as wanted, or do not seem to be any more while the thread
 * runs. False: it did not run long enough for that. */
static bool wait_for_hits(LodeProbeEvents *events)
{
	gint64 begin_us = now_us();
	long us = LOOK_US;

	/* Each look may take the thread's processor. */
	do {
		nap(us);
		us = MIN(2 * us, MOST_LOOK_US);
		if (!lode_probe_events_collect(events))
			return true;
		LodeProbeRunning running = lode_probe_events_running(events);
		if (running.idle_ns > NO_HIT_NS || running.armed_ns > ROUND_NS)
			return true;
	} while (now_us() - begin_us < MOST_ROUND_US);
	return false;
}

static LodeProbeLog *log_of(Process *process)
{
	if (process->log == NULL)
		process->log = lode_probe_log_new(process->pid);
	return process->log;
}

/* `times_ns`: of each hit; NULL: the window has none. */
static void keep_hits(Process *process, const LodeProbeEvents *events, const uint64_t *times_ns)
{
	for (guint i = 0; i < events->hits->len; i++) {
		const LodeProbeHit *hit = &g_array_index(events->hits, LodeProbeHit, i);
		LodeProbeStep step = {
			.address = hit->address,
			.time_ns = times_ns != NULL ? times_ns[i] : 0,
			.is_gap = true,
		};
		uint64_t target;
		memcpy(step.registers, hit->registers, sizeof(step.registers));
		bool is_known = lode_probe_places_take_hit(process->places, hit, &target);
		if (!lode_probe_log_add(process->log, &step))
			return;
		step.address = target;
		step.is_gap = false;
		if (is_known && !lode_probe_log_add(process->log, &step))
			return;
	}
	if (events->hits->len > 0)
		lode_probe_periods_take_stack(process->periods,
			&g_array_index(events->hits, LodeProbeHit, events->hits->len - 1));
}

static unsigned count_hits(const LodeProbeEvents *events, uint64_t address)
{
	unsigned n = 0;

	for (guint i = 0; i < events->hits->len; i++)
		n += g_array_index(events->hits, LodeProbeHit, i).address == address;
	return n;
}

/* What a round took that began then, in which code of this weight shares a line with a breakpoint.
 */
static void charge_round(LodeProbeRecorder *self, Process *process, const LodeProbeEvents *events,
	uint64_t begin_ns, double line_weight)
{
	uint64_t end_ns = lode_now_ns(), armed_ns = end_ns - begin_ns;
	uint64_t hits_ns = events->hits->len * self->hit_ns;
	uint64_t slowed_ns = (uint64_t)((double)armed_ns * SLOWDOWN * line_weight);

	/* The hits themselves are no time in which the program was slowed down. */
	slowed_ns = MIN(slowed_ns, armed_ns - MIN(hits_ns, armed_ns));
	lode_probe_log_charge(process->log, slowed_ns, hits_ns);
	self->spent_ns += slowed_ns + hits_ns;
}

static LodeWindowHead head_of(const Process *process, unsigned flags)
{
	return (LodeWindowHead){
		.tid = (uint32_t)process->tid,
		.flags = (uint8_t)(LODE_WINDOW_IS_PROBES | LODE_WINDOW_HAS_REGISTERS | flags),
		.begin_ns = lode_now_ns(),
	};
}

/* False: there is nothing to ask, or the kernel refuses. */
static bool hold_round(LodeProbeRecorder *self, Process *process, LodeProbeEvents *events)
{
	LodeProbeAim aims[LODE_PROBE_SLOTS];
	unsigned n = lode_probe_places_choose(process->places, aims, events->n_slots), n_armed = 0;
	double line_weight = 0;
	const LodeWindowHead head = head_of(process, 0);

	if (n == 0)
		return false;
	while (n_armed < n &&
		lode_probe_events_arm(events, n_armed, aims[n_armed].address, aims[n_armed].n))
		line_weight = MAX(line_weight, aims[n_armed++].line_weight);
	bool has_run = wait_for_hits(events);
	lode_probe_events_disarm(events);
	lode_probe_log_begin(log_of(process), &head);
	keep_hits(process, events, NULL);
	lode_probe_log_end(process->log, lode_now_ns(), LODE_WINDOW_END_LENGTH);
	for (unsigned i = 0; i < n_armed && has_run; i++)
		lode_probe_places_take_end(
			process->places, aims[i].address, count_hits(events, aims[i].address));
	charge_round(self, process, events, head.begin_ns, line_weight);
	return n_armed == n && events->hits->len > 0;
}

/* How long it takes from one execution of a place to the next. False: there is nothing to ask. */
static bool measure_period(LodeProbeRecorder *self, Process *process, LodeProbeEvents *events)
{
	const LodeWindowHead head = head_of(process, LODE_WINDOW_HAS_TIMES);
	LodeProbePair pair;

	if (!lode_probe_periods_choose(process->periods, &pair))
		return false;
	/* The second first, so that no turn lacks it. */
	bool is_armed = lode_probe_events_arm(events, 1, pair.second, pair.n) &&
	                lode_probe_events_arm(events, 0, pair.first, pair.n);
	bool has_run = is_armed && wait_for_hits(events);
	lode_probe_events_disarm(events);
	guint n = is_armed ? events->hits->len : 0;
	g_autofree uint64_t *times_ns = g_new(uint64_t, MAX(n, 1));
	if (n > 0 || has_run)
		lode_probe_periods_take(process->periods, &pair,
			(const LodeProbeHit *)(const void *)events->hits->data, n, times_ns);
	lode_probe_log_begin(log_of(process), &head);
	if (n > 0)
		keep_hits(process, events, times_ns);
	lode_probe_log_end(process->log, lode_now_ns(), LODE_WINDOW_END_LENGTH);
	charge_round(self, process, events, head.begin_ns,
		lode_probe_places_line_weight(process->places, pair.first));
	return is_armed;
}

static void ask_by_hits(LodeProbeRecorder *self, Process *process, pid_t tid)
{
	gint64 end_us = now_us() + SESSION_US;
	LodeProbeEvents events;

	if (lode_probe_events_open(&events, self->kernel, tid) != 0)
		return;
	bool is_left = hold_round(self, process, &events);
	for (unsigned i = 0; i < PERIODS && now_us() < end_us; i++)
		if (!measure_period(self, process, &events))
			break;
	for (unsigned i = 1; i < ROUNDS && is_left && now_us() < end_us; i++)
		is_left = hold_round(self, process, &events);
	lode_probe_events_close(&events);
	self->spent_ns += OPEN_NS;
	lode_probe_log_charge(log_of(process), 0, OPEN_NS);
}

/* `registers`: of a thread that is traced and stopped already; NULL: it is not. */
static LodeStepsOutcome take_steps(LodeProbeRecorder *self, Process *process, pid_t tid,
	const struct user_regs_struct *registers)
{
	/* Of 16 bursts, ten are short and reach many places, five see several outcomes in turn, and
	 * one is long and sees loops end. Attached processes get no long ones, as users may wait
	 * for them. */
	gint32 kind = g_random_int_range(0, self->child != 0 ? 16 : 15);
	gint32 n = kind < 10 ? SHORT_STEPS : kind < 15 ? SOME_STEPS : MANY_STEPS;
	LodeProbeSteps steps = {
		.pid = process->pid,
		.tid = tid,
		.child = self->child,
		.n = (unsigned)g_random_int_range(n, 2 * n),
	};
	LodeStepsOutcome outcome = registers != NULL
	                                   ? lode_probe_steps_run_in_stop(&steps, process->places,
						     log_of(process), registers)
	                                   : lode_probe_steps_run(
						     &steps, process->places, log_of(process));

	if (outcome == LODE_STEPS_LATE)
		g_array_append_val(self->late, steps);
	process->has_no_steps |= outcome == LODE_STEPS_TRAP || outcome == LODE_STEPS_REFUSED;
	lode_probe_log_charge(process->log, 0, steps.spent_ns);
	self->spent_ns += steps.spent_ns;
	self->steps_ns += steps.spent_ns;
	self->n_stops += steps.n_stops;
	return outcome;
}

static void hold_session(LodeProbeRecorder *self, Process *process)
{
	pid_t tid = lode_probe_places_thread(process->places);
	bool steps_lag = (double)self->steps_ns <= STEPS_SHARE * (double)self->spent_ns;

	if (tid == 0 || !look_at(self, process, tid) || !lode_probe_places_refresh(process->places))
		return;
	bool has_hits = self->hit_ns > 0 && process->is_calm;
	if (!process->has_no_steps && process->is_running && (!has_hits || steps_lag))
		take_steps(self, process, tid, NULL);
	else if (has_hits)
		ask_by_hits(self, process, tid);
	else
		return;
	/* Stops and looks make switches of their own. */
	look_at(self, process, tid);
}

bool lode_probe_recorder_let_go(LodeProbeRecorder *self)
{
	for (guint i = self->uses_stops ? 0 : self->late->len; i-- > 0;)
		if (lode_probe_steps_let_go(&g_array_index(self->late, LodeProbeSteps, i)))
			g_array_remove_index_fast(self->late, i);
	return self->uses_stops || self->late->len == 0;
}

/* --- the budget --- */

static uint64_t worked_ns(LodeProbeRecorder *self, Process *looked_at)
{
	uint64_t sum = self->ended_ns;
	GHashTableIter at;
	void *value;

	looked_at->cpu_ns = MAX(looked_at->cpu_ns, processor_time_ns(looked_at->pid));
	g_hash_table_iter_init(&at, self->processes);
	while (g_hash_table_iter_next(&at, NULL, &value))
		sum += ((const Process *)value)->cpu_ns;
	return sum;
}

static double allowed_ns(const LodeProbeRecorder *self, uint64_t worked)
{
	return MAX(self->share * (double)worked, MIN(SHORT_SHARE * (double)worked, SHORT_NS));
}

uint64_t lode_probe_recorder_stops(const LodeProbeRecorder *self)
{
	return self->n_stops;
}

uint64_t lode_probe_recorder_spent_ns(const LodeProbeRecorder *self)
{
	return self->spent_ns;
}

void lode_probe_recorder_rest(LodeProbeRecorder *self, bool is_resting)
{
	self->is_resting = is_resting;
}

gint64 lode_probe_recorder_due_us(const LodeProbeRecorder *self)
{
	return self->uses_stops ? G_MAXINT64 : self->due_us;
}

static void set_due(LodeProbeRecorder *self, gint64 gap_us)
{
	gap_us = CLAMP(gap_us, LEAST_GAP_US, MOST_GAP_US);
	self->due_us = now_us() + (gint64)((double)gap_us * g_random_double_range(0.5, 1.5));
}

/* Whether a session with a process is due, and may cost something. */
static bool has_room(LodeProbeRecorder *self, Process *process)
{
	if (self->is_over || now_us() < self->due_us)
		return false;
	if (self->n_samples < FEWEST_SAMPLES || process == NULL || self->is_resting) {
		set_due(self, LEAST_GAP_US);
		return false;
	}
	uint64_t worked = worked_ns(self, process);
	double room_ns = allowed_ns(self, worked) - (double)self->spent_ns;
	if (room_ns >= (double)OPEN_NS)
		return true;
	/* As long as it takes the program to earn it. */
	bool is_short = SHORT_SHARE * (double)worked < SHORT_NS;
	double rate = is_short ? MAX(self->share, SHORT_SHARE) : self->share;
	set_due(self, (gint64)((OPEN_NS - room_ns) / rate / 1000));
	return false;
}

void lode_probe_recorder_update(LodeProbeRecorder *self)
{
	Process *process = self->busiest;

	if (self->uses_stops || !lode_probe_recorder_let_go(self) || !has_room(self, process))
		return;
	uint64_t spent_ns = self->spent_ns;
	hold_session(self, process);
	/* Processes that worked lately are asked, in proportion to their work. */
	process->n_samples = 0;
	self->busiest = NULL;
	set_due(self, self->spent_ns > spent_ns ? LEAST_GAP_US : IDLE_GAP_US);
}

/* --- in stops of others --- */

static LodeProbeSteps *find_late(const LodeProbeRecorder *self, pid_t tid, guint *out_index)
{
	for (*out_index = 0; *out_index < self->late->len; (*out_index)++) {
		LodeProbeSteps *steps = &g_array_index(self->late, LodeProbeSteps, *out_index);
		if (steps->tid == tid)
			return steps;
	}
	return NULL;
}

static bool take_stop(
	void *user_data, pid_t pid, pid_t tid, const struct user_regs_struct *registers)
{
	LodeProbeRecorder *self = user_data;
	Process *process = g_hash_table_lookup(self->processes, GINT_TO_POINTER(pid));
	guint i;

	if (process == NULL || process->has_no_steps || !has_room(self, process) ||
		!lode_probe_places_refresh(process->places))
		return true;
	/* One of that number ended before it stopped. */
	if (find_late(self, tid, &i) != NULL)
		g_array_remove_index_fast(self->late, i);
	LodeStepsOutcome outcome = take_steps(self, process, tid, registers);
	set_due(self, LEAST_GAP_US);
	return outcome != LODE_STEPS_LATE && outcome != LODE_STEPS_ENDED;
}

static LodeLateStop take_late(void *user_data, pid_t tid, int signal)
{
	LodeProbeRecorder *self = user_data;
	guint i;
	LodeProbeSteps *steps = find_late(self, tid, &i);
	LodeLateStop late = steps != NULL ? lode_probe_steps_take_late(steps, signal)
	                                  : LODE_LATE_STOP_ANOTHER;

	if (steps != NULL && late != LODE_LATE_STOP_BEFORE)
		g_array_remove_index_fast(self->late, i);
	return late;
}

LodeStopUser lode_probe_recorder_use_stops(LodeProbeRecorder *self)
{
	self->uses_stops = true;
	return (LodeStopUser){.in_stop = take_stop, .take_late = take_late, .user_data = self};
}

void lode_probe_recorder_end(LodeProbeRecorder *self)
{
	GHashTableIter at;
	void *value;

	self->is_over = true;
	for (gint64 until_us = now_us() + END_MS * 1000;
		!lode_probe_recorder_let_go(self) && now_us() < until_us;)
		nap(LOOK_US);
	g_hash_table_iter_init(&at, self->processes);
	while (g_hash_table_iter_next(&at, NULL, &value))
		give_log(self, value);
}
