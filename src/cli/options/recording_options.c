/* SPDX-License-Identifier: MIT */
#include "cli/options/recording_options.h"

#include "caches/counted_caches.h"
#include "cli/options/call_graph_options.h"
#include "cli/options/window_options.h"
#include "cli/recording/wrapped_program.h"
#include "questions/parts/simulated_caches.h"
#include "views/form/display_text.h"

#define OPTIONS_OF_SAMPLING                                                                        \
	"once pid siblings duration kernel no-switches no-waits no-registers event call-chains "   \
	"call-graph frequency probes windows"

typedef LodeRecordingOptions Options;

const LodeParameter lode_recording_rows[] = {
	{"count", LODE_FLAG(Options, is_counted), .excludes = "once pid duration kernel",
		.summary = "run a second time, in qemu: count every execution"},
	{"exact", LODE_FLAG(Options, is_exact), .excludes = "count " OPTIONS_OF_SAMPLING,
		.summary = "run once, in qemu: count every execution, and estimate the time"},
	{"once", LODE_FLAG(Options, is_once), .is_rare = true,
		.summary = "run once, at full speed, sampled: the default"},
	{"trace", LODE_FLAG(Options, is_trace), .excludes = "count exact fast " OPTIONS_OF_SAMPLING,
		.summary = "run once, in qemu: trace every access to memory, and simulate caches"},
	{"simulate", LODE_TEXT(Options, simulate), .value = "CACHES", .needs = "trace count exact",
		.excludes = "fast", .is_rare = true,
		.summary = "with --trace, --count or --exact: simulate these caches: a "
			   "description such as i1=32K:8:64,d1=32K:8:64,l2=1M:16:64, or a preset "
			   "(default: this machine's); counting simulates a first level for code "
			   "and for data and the last level, LRU"},
	{"branches", LODE_WORD(Options, recording.branches), .value = "tage|callgrind",
		.read = lode_branch_model_from_text, .given = offsetof(Options, has_branches),
		.needs = "trace count exact", .excludes = "fast", .is_rare = true,
		.summary = "with --trace, --count or --exact: predict branches as processors of "
			   "today do or as callgrind does (default: tage with --trace, else "
			   "callgrind)"},
	{"allocations", LODE_FLAG(Options, recording.has_allocations), .is_rare = true,
		.summary = "with --trace: record what the program allocates, and where, so that "
			   "misses have the names of allocation sites"},
	{"fast", LODE_FLAG(Options, recording.is_fast), .needs = "count exact", .is_rare = true,
		.summary = "with --count or --exact: do not simulate caches and branch "
			   "prediction"},
	{"no-follow", LODE_FLAG(Options, recording.is_alone), .excludes = "only pid",
		.is_rare = true,
		.summary = "the program alone, not the programs and processes that it starts"},
	{"only", LODE_TEXTS(Options, recording.only), .value = "GLOB", .excludes = "pid",
		.is_rare = true,
		.summary = "only programs with such a name, such as 'cc1*' (with a slash: such a "
			   "path); may be repeated"},
	{"pid", 'p', LODE_COUNT(Options, recording.pid), .least = 1, .most = G_MAXINT32,
		.value = "PID",
		.summary = "sample this process until it ends, until Ctrl-C, or for as long as "
			   "PROGRAM runs, which is not sampled: -p 4711 -- sleep 10"},
	LODE_SIBLINGS_ROW(Options, recording.has_siblings),
	{"duration", LODE_SECONDS(Options, recording.duration_ms), .value = "SECONDS",
		.summary =
			"sample for this long, then end the program (a process of --pid goes on)"},
	{"kernel", LODE_FLAG(Options, recording.has_kernel),
		.summary = "sample the kernel's code too, where that is allowed"},
	{"no-switches", LODE_FLAG(Options, recording.has_no_switches), .is_rare = true,
		.summary = "do not record context switches, for a program that makes a hundred "
			   "thousand a second: no latency, no times of threads"},
	{"no-waits", LODE_FLAG(Options, recording.has_no_waits), .is_rare = true,
		.summary = "do not look at threads that wait: no causes of waiting"},
	{"each-wait", LODE_FLAG(Options, recording.has_each_wait), .is_rare = true,
		.excludes = "no-waits no-switches",
		.summary = "let the kernel tell the place of each wait, and who ended it, where it "
			   "may (root, CAP_PERFMON; tracefs); a switch then costs twice as much"},
	{"native", LODE_FLAG(Options, recording.has_no_scripts), .is_rare = true,
		.summary = "show the interpreter's own functions, not those of the script that it "
			   "runs"},
	{"no-registers", LODE_FLAG(Options, recording.has_no_registers), .is_rare = true,
		.summary = "record neither registers nor the top of the stack with samples, nor "
			   "page faults: smaller recordings, without data addresses and callers"},
	{"event", 'e', LODE_TEXTS(Options, recording.events), .value = "EVENT", .is_rare = true,
		.summary = "what to sample, as for lode record; may be repeated"},
	LODE_CALL_GRAPH_ROWS(Options, recording.has_call_chains, call_graph, "sample",
		"'lode export' has formats that show them"),
	{"frequency", 'F', LODE_COUNT(Options, recording.frequency), .least = 1,
		.most = G_MAXUINT32, .value = "HZ",
		.summary =
			"samples per second (default: 10000, or what takes 3.6 % of the program's "
			"time on this machine)"},
	LODE_PROBES_ROW(Options, probes,
		LODE_PROBES_OF_RUN "; with --windows, --no-registers or --count: off"),
	LODE_WINDOWS_ROW(Options, windows),
	{"output", 'o', LODE_OUTPUT(Options, output, PROFILE), .value = "FILE",
		.summary = "the profile to write; an existing one is renamed to FILE.old (default: "
			   "PROGRAM.lode, of a script SCRIPT.lode)"},
	{"report", LODE_OUTPUT(Options, report, OTHER), .value = "FILE", .is_rare = true,
		.summary = "write the report to this file (default: standard output if that is a "
			   "terminal, else standard error)"},
	{"keep-recording", LODE_FILE(Options, keep_recording), .value = "DIR", .is_rare = true,
		.summary = "record into this directory and keep the recordings there"},
	{"debuginfod", LODE_FLAG(Options, allow_debuginfod),
		.summary = "fetch missing debug information from the servers in DEBUGINFOD_URLS"},
	{NULL},
};

bool lode_recording_options_complete(LodeRecordingOptions *self, char **arguments, GError **error)
{
	LodeProgramRecordingOptions *recording = &self->recording;

	if (recording->pid == 0 && arguments[0] == NULL)
		return lode_parameter_refuse(error,
			"PROGRAM is missing: lode run -- PROGRAM ARGUMENT…, or lode run -p "
			"PID");
	if (recording->has_allocations && !self->is_trace)
		return lode_parameter_refuse(error,
			"--allocations goes with --trace; 'lode memory record --allocations' "
			"samples");
	recording->kind = self->is_trace     ? LODE_RECORDING_TRACE
	                  : self->is_exact   ? LODE_RECORDING_COUNTS
	                  : self->is_counted ? LODE_RECORDING_BOTH
	                                     : LODE_RECORDING_SAMPLES;
	if (!self->has_branches)
		recording->branches = self->is_trace ? LODE_BRANCHES_TAGE : LODE_BRANCHES_CALLGRIND;
	recording->argv = (const char *const *)arguments;
	recording->notes = lode_wrapped_program_notes("run");
	bool has_probes = !recording->has_no_registers && self->windows == NULL &&
	                  recording->kind == LODE_RECORDING_SAMPLES;
	return lode_call_graph_read(self->call_graph, &recording->has_call_chains,
		       &recording->user_stack_bytes, error) &&
	       lode_window_options_read(
		       self->windows, recording->pid, &recording->windows, error) &&
	       lode_probe_options_read(self->probes, has_probes ? LODE_PROBES_OF_RUN : "off",
		       &recording->probes, error);
}

bool lode_recording_options_read_caches(
	LodeRecordingOptions *self, LodeHierarchy **out_caches, GError **error)
{
	bool is_trace = self->recording.kind == LODE_RECORDING_TRACE;
	g_autoptr(LodeHierarchy) caches = NULL;
	g_autofree char *note = NULL;
	LodeCountedCaches counted;

	if (!is_trace && self->simulate == NULL)
		return true;
	caches = self->simulate != NULL
	                 ? lode_simulated_caches_read("--simulate", self->simulate, error)
	                 : lode_simulated_caches_default("--simulate", &note, error);
	if (note != NULL)
		lode_display_line(stderr, "lode run: %s", note);
	if (caches == NULL)
		return false;
	/* Checked before the program runs, not after it. */
	if (!is_trace && !lode_counted_caches_init(&counted, caches, error)) {
		g_prefix_error(error, "--simulate: ");
		return false;
	}
	self->recording.caches = caches;
	*out_caches = g_steal_pointer(&caches);
	return true;
}
