// SPDX-License-Identifier: MIT
//
// Rows of answers, made of the columns that lode declares (src/views/form/listing.h) by
// tests/house/page_types.c. Do not edit: `meson test page-types` says how it is made anew.
import type { InlinedLine } from "./api";
export interface Place {
	function: string;
	short_function?: string;
	function_number: number;
	image: string;
	file: string | null;
	line: number;
	inlined: InlinedLine[];
	address: string;
	time: number;
}
export interface Finding {
	id: string;
	kind: "pattern" | "place";
	time: number;
	time_error: number;
	each: number;
	each_error: number;
	each_is_least: boolean;
	each_in_all: number;
	each_ns: number | null;
	ran_more_often_when_sampled: boolean;
	executed: number | null;
	places: number;
	functions: number;
	spread: number;
	is_spread: boolean;
	kept: number;
	pattern: string;
	context: string[][];
	focus: string[];
	following: string[][];
	top: Place[];
	explanation: string | null;
	remedy: string | null;
	source: string | null;
}
export interface Diagnosis {
	id: string;
	cause: string;
	name: string;
	muted: boolean;
	title: string;
	scope: { kind: string; function: string | null; short_function?: string; file: string | null; line: number; inlined: InlinedLine[]; object: string | null; service: string | null; };
	time: number;
	time_error: number;
	saves: { low: number | null; high: number; };
	saves_clock: { low: number | null; high: number | null; };
	clock: number | null;
	evidence: { text: string; value: number | null; unit: string | null }[];
	ruled_out: string[];
	explanation: string | null;
	remedy: string | null;
	authors: string | null;
	source: string | null;
	findings: string[];
	places: number;
	functions: number;
	at: Place[];
}
export interface TopFunction {
	name: string;
	short_name?: string;
	image: string | null;
	number: number | null;
	self: number;
	inclusive: number | null;
	caller: string | null;
	short_caller?: string;
	file: string | null;
	line: number;
	more_callers: number;
}
export interface Sequence {
	id: number;
	sequence: string[][];
	weight?: number;
	frequency?: number;
	maximal?: number;
	differential?: number;
	count?: number;
	places?: number;
	functions?: number;
	executions?: number;
	events: Record<string, number>;
	baseline?: number;
}
export interface FunctionRow {
	number: number | null;
	name: string;
	short_name?: string;
	image: string;
	language?: string;
	function?: string;
	file?: string;
	line?: number;
	address: string | null;
	bytes: number | null;
	instructions: number;
	weight: number;
	share: number;
	inclusive: number | null;
	samples: number | null;
	executions: number;
	calls: number;
	events: Record<string, number>;
}
export interface CalledFunction {
	number: number | null;
	name: string;
	short_name?: string;
	image: string | null;
}
export interface Caller {
	number: number | null;
	name: string;
	short_name?: string;
	image: string | null;
	weight: number;
	samples: number | null;
	calls: number | null;
}
export interface Totals {
	samples: number;
	loads: number;
	stores: number;
	weight: number;
	share: number;
	mean_latency: number | null;
}
export interface PivotRow {
	level: number;
	kind: "value" | "others" | "none";
	keys: (string | number | null)[]; short_key?: string; others?: number;
	samples: number;
	loads: number;
	stores: number;
	weight: number;
	share: number;
	mean_latency: number | null;
}
export interface LayoutRow {
	kind: "line" | "member" | "hole" | "padding" | "no-member";
	name?: string; short_name?: string; type?: string; short_type?: string; is_beside_hottest?: boolean; wide_weight?: number; stride?: number; repeats?: number;
	offset?: number;
	size?: number;
	bit_offset?: number;
	bit_size?: number;
	first_line?: number;
	last_line?: number;
	samples: number;
	loads: number;
	stores: number;
	weight: number;
	share: number;
	mean_latency: number | null;
	levels: Record<string, number>;
}
export interface SharedLine {
	address: string;
	pid: number;
	sharing: string;
	threads: number;
	storing: number;
	cpus: number | null;
	samples: number;
	loads: number;
	stores: number;
	weight: number;
	share: number;
	mean_latency: number | null;
	share_error: number;
	turns: number | null;
	expected_turns: number | null;
	true_weight: number;
	false_weight: number;
	hitm: number | null;
	accesses: SharingAccess[];
}
export interface SharingAccess {
	offset: number;
	bytes: number;
	thread: string;
	tid: number | null;
	object: string | null;
	short_object?: string;
	mapping: string | null;
	function: string | null;
	short_function?: string;
	file: string | null;
	line: number | null;
	pc: string;
	samples: number;
	loads: number;
	stores: number;
	weight: number;
	share: number;
	mean_latency: number | null;
	true_weight: number;
	false_weight: number;
	hitm: number | null;
	due_to?: SharingStore[];
}
export interface SharingStore {
	offset: number;
	bytes: number;
	thread: string;
	tid: number | null;
	function: string | null;
	short_function?: string;
	file: string | null;
	line: number | null;
	pc: string;
	misses: number;
}
export interface CodePlace {
	function: string;
	short_function?: string;
	function_number: number;
	image: string;
	build_id: string | null;
	address: string;
	file: string | null;
	line: number;
	inlined: string | null; short_inlined?: string; chain?: InlinedLine[];
	executions: number;
	share: number;
	time?: number;
	instructions: CodeLine[];
}
export interface CodeLine {
	address: string;
	text: string;
	name: string | null;
	elements: number[]; findings: { id: string; time: number }[];
	matched: number | null;
	executions: number;
	file: string | null;
	line: number;
	inlined: string | null; short_inlined?: string; chain?: InlinedLine[]; attributes: string[]; events: Record<string, number>;
	memory?: (InstructionData & { objects: { name: string | null; short_name?: string; weight: number }[] }) | null;
	observed?: (Observed & { text: string; n_edges: number; edges: unknown[] }) | null; loop?: unknown;
}
export interface InstructionData {
	is_of_windows: boolean;
	samples: number;
	loads: number;
	stores: number;
	weight: number;
	share: number;
	unresolved_weight: number;
	first_address: string | null;
	last_address: string | null;
}
export interface Observed {
	steps: number;
	followed: number;
	is_observed: boolean;
	taken: number | null;
	taken_by_edges: number | null;
	outcomes: number;
	unforetold: number;
	denormals: number;
	accesses: number;
	repeated: number;
	strided: number;
	stride: number;
	lines: number;
	pages: number;
	line_bytes: string;
	split: number;
	stored: number;
	part_stored: number;
	store_steps: number;
	conflicting: number;
	underflows: number;
	split_pages: number;
	compared_calls: number;
	same_arguments: number;
	compared_results: number;
	same_results: number;
	page_changes: number;
	line_visits: number;
	line_used_bytes: number;
	loop_rounds: number;
	loop_exits: number;
	string_runs: number;
	string_rounds: number;
	hits: number;
	first_accesses: number;
	early_accesses: number;
}
export interface Cache {
	name: string;
	level: number;
	holds: string;
	is_tlb: boolean;
	is_shared: boolean;
	size_bytes: number;
	ways: number;
	line_bytes: number;
	replacement: string;
	accesses: { fetch: number; load: number; store: number; modify: number; };
	misses: { fetch: number; load: number; store: number; modify: number; };
	miss_ratio: number;
	miss_ratio_error: number | null;
	miss_ratio_low?: number;
	miss_ratio_high?: number;
	cold_misses?: number;
	misses_per_1000_instructions: number | null;
	classes?: { compulsory: number; capacity: number; conflict: number; true_sharing: number; false_sharing: number; };
	write_backs: number;
	invalidations: number;
	prefetches: number;
	useful_prefetches: number;
}
export interface CurvePoint {
	lines: number;
	bytes: number;
	misses: number;
	miss_ratio: number;
}
export interface MissesRow {
	name: string;
	short_name?: string;
	value: number;
	share: number;
	executions: number;
	loads: number;
	stores: number;
}
export interface ComparedTotal {
	name: string;
	unit: string;
	base: number | null;
	new: number | null;
	change: number | null;
	change_error: number | null;
	is_told: boolean;
}
export interface ComparedSide {
	time: number | null;
	time_error: number | null;
	is_inlined: boolean;
	executed: number | null;
	executed_error: number | null;
	each: number | null;
	each_error: number | null;
	function: string | null;
	short_function?: string;
	function_number: number | null;
	image: string | null;
	file: string | null;
	line: number | null;
	inlined: InlinedLine[];
	address: string | null;
}
export interface ComparedRow {
	kind: string;
	text: string;
	short_text?: string;
	was: string | null;
	short_was?: string;
	match: string;
	likeness: number | null;
	change: number | null;
	change_error: number | null;
	more_often: number | null;
	more_often_error: number | null;
	costs_more: number | null;
	costs_more_error: number | null;
	is_told: boolean;
	is_repeated: boolean;
	is_slower: boolean;
	base: ComparedSide;
	new: ComparedSide;
	is_unused: boolean;
}
export interface ComparedCause {
	name: string | null;
	seconds: number;
	seconds_error: number;
	function: string | null;
	short_function?: string;
	file: string | null;
	line: number | null;
	object: string | null;
	functions: number;
	function_number: number | null;
	address: string | null;
}
export interface ComparedDiagnosis {
	cause: string;
	title: string;
	scope: string;
	match: string;
	unit: string;
	change_seconds: number;
	change_error: number;
	promised: { low: number | null; high: number | null; };
	achieved: number | null;
	is_told: boolean;
	is_slower: boolean;
	base: ComparedCause;
	new: ComparedCause;
}
export interface Wait {
	reason: string;
	object: string;
	thread_names: string[];
	function: string | null;
	short_function?: string;
	function_number: number | null;
	file: string | null;
	line: number;
	holder: { function: string | null; short_function?: string; function_number: number | null; file: string | null; line: number; call: string | null; share: number } | null;
	seconds: number;
	count: number;
	longest: number;
	path_seconds: number;
	idle: boolean;
}
