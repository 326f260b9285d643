// SPDX-License-Identifier: MIT
//
// Queries to lode serve. A query whose answer is not needed any more is cancelled, with its work on the
// server.
import { useEffect, useState } from "preact/hooks";
import type { CalledFunction, Caller, Cache, CodePlace, ComparedDiagnosis, ComparedRow, ComparedTotal, CurvePoint, Diagnosis, Finding, FunctionRow, LayoutRow, MissesRow, PivotRow, Sequence, SharedLine, TopFunction, Totals, Wait } from "./api_types";
import type {} from "./early";

export * from "./api_types";

export class Failure extends Error {
	constructor(
		readonly code: string,
		message: string,
	) {
		super(message);
	}
}

export type Ask = Record<string, string | string[] | number | null | undefined>;

/* The original of a name that parse() changed, to send it to the server. */
function original(text: string): string {
	return text.replace(/\\u\{([0-9a-f]{1,4})\}/g, (shown, code: string) => {
		const character = String.fromCharCode(parseInt(code, 16));
		return harmful.test(character) ? character : shown;
	});
}

export function address(query: string, ask: Ask): string {
	const params = new URLSearchParams();
	for (const [name, value] of Object.entries(ask))
		for (const one of Array.isArray(value) ? value : [value])
			if (one !== null && one !== undefined && one !== "") params.append(name, original(String(one)));
	return `/api/${query}?${params}`;
}

/* Control codes and marks of text direction, which would change the order of the text around them. */
const harmful = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/**
 * JSON in which such characters are shown, as lode's text views show them: \u{202e}. The server writes
 * them as escapes; here names of members are text from a profile, too.
 */
function parse(text: string): unknown {
	const shown = text.replace(/\\(?:u([0-9a-f]{4})|.)/gi, (escape, code?: string) =>
		code && harmful.test(String.fromCharCode(parseInt(code, 16))) ? `\\\\u{${code.replace(/^0+(?=.)/, "")}}` : escape,
	);
	return JSON.parse(shown);
}

// --- the page as one file (lode report --html), which contains the answers ---

/** The subject of a question: one answer is for all pages of a list, and any number of lines. */
function subject(address: string): string {
	const [query, rest = ""] = address.split("?", 2);
	const names = [...new URLSearchParams(rest)].filter(([name]) => !["profile", "run", "offset", "limit", "context", "top", "places", "around"].includes(name));
	return `${query}?${names.map((one) => one.join("=")).sort().join("&")}`;
}

interface File {
	answers: Map<string, unknown>;
	left_out: string;
	layout: string;
	licences: string;
}

function readFile(): File | null {
	const text = typeof document === "undefined" ? null : document.getElementById("answers")?.textContent;
	if (!text) return null;
	const { file, ...answers } = parse(text) as Record<string, unknown> & { file: Omit<File, "answers"> };
	return { ...file, answers: new Map(Object.entries(answers).map(([name, one]) => [subject(name), one])) };
}

/** Not null if the page is such a file. */
export const file = readFile();

function answerOf<T>(query: string, what: Ask): T {
	const known = file!.answers.get(subject(address(query, what)));
	if (known === undefined)
		throw new Failure("left-out", `This is not in the file. ${file!.left_out} lode serve shows everything.`);
	/* A page of a list; the file has only its first rows. */
	const list = known as Record<string, unknown> & { passed: number };
	const name = query === "functions" ? query : what.sequences ? "sequences" : null;
	if (name === null) return known as T;
	const rows = list[name] as unknown[];
	const first = Number(what.offset ?? 0);
	return { ...list, passed: rows.length, offset: first, [name]: rows.slice(first, first + Number(what.limit ?? rows.length)) } as T;
}

async function read<T>(response: Response): Promise<T> {
	let body: unknown;
	try {
		body = parse(await response.text());
	} catch {
		throw new Failure("garbled", `lode serve answered with status ${response.status} and no JSON`);
	}
	const error = (body as { error?: { code: string; message: string } }).error;
	if (error) throw new Failure(error.code, error.message);
	return body as T;
}

let asked = 0;

/** Counts the pending answers in an attribute of `body`, for tests and benchmarks that wait for the page. */
function countAsked(by: number): void {
	asked += by;
	document.body.dataset.asked = String(asked);
}

export async function ask<T>(query: string, what: Ask, signal?: AbortSignal): Promise<T> {
	countAsked(1);
	try {
		return file ? answerOf<T>(query, what) : await askServer<T>(query, what, signal);
	} finally {
		/* After the asker has drawn the answer. */
		setTimeout(() => countAsked(-1));
	}
}

async function askServer<T>(query: string, what: Ask, signal?: AbortSignal): Promise<T> {
	let response: Response;
	try {
		const path = address(query, what);
		const early = window.early?.get(path);
		window.early?.delete(path);
		response = await (early ?? fetch(path, { signal: signal ?? null }));
	} catch (error) {
		if (signal?.aborted) throw error;
		throw new Failure("gone", "lode serve does not answer: it has ended, or the connection is lost");
	}
	return read<T>(response);
}

export async function reload(profile: string): Promise<void> {
	await read(await fetch(address("reload", { profile }), { method: "POST" }));
}

export function reloadAll(): Promise<Served> {
	return ask<Served>("profiles", {});
}

/** Starts or stops sampling of the recorded program. */
export async function setSampling(isOn: boolean): Promise<void> {
	await read(await fetch(address("sample", { on: isOn ? "1" : "0" }), { method: "POST" }));
}

/** A table as the server writes it for other programs: its titles, and its rows. */
export interface Table {
	titles: string[];
	rows: string[][];
}

/** CSV as of RFC 4180. */
export function parseCsv(text: string): string[][] {
	const rows: string[][] = [];
	let row: string[] = [];
	for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
		row.push(quoted !== undefined ? quoted.replace(/""/g, '"') : (plain ?? ""));
		if (end === ",") continue;
		if (row.length > 1 || row[0] !== "") rows.push(row);
		row = [];
		if (end === "") break;
	}
	return rows;
}

async function askTable(query: string, what: Ask, signal?: AbortSignal): Promise<Table> {
	if (file) throw new Failure("left-out", `This is not in the file. ${file.left_out} lode serve shows everything.`);
	countAsked(1);
	try {
		const response = await fetch(address(query, { ...what, format: "csv" }), { signal: signal ?? null });
		if (!response.ok) return await read<Table>(response);
		const [titles = [], ...rows] = parseCsv(await response.text());
		return { titles, rows };
	} finally {
		setTimeout(() => countAsked(-1));
	}
}

export interface Answer<T> {
	data: T | null; // the previous answer while the next one is pending
	error: Failure | null;
	isLoading: boolean;
}

/** The answer to a question; null: no question. */
export function useAnswer<T>(query: string | null, what: Ask): Answer<T> {
	return useAsked<T>(query, what, (name, signal) => ask<T>(name, what, signal));
}

/** The same as a table, which has any columns. */
export function useTable(query: string, what: Ask): Answer<Table> {
	return useAsked<Table>(query, what, (name, signal) => askTable(name, what, signal));
}

function useAsked<T>(query: string | null, what: Ask, asking: (query: string, signal: AbortSignal) => Promise<T>): Answer<T> {
	const [answer, setAnswer] = useState<Answer<T>>({ data: null, error: null, isLoading: true });
	const key = query === null ? "" : address(query, what);
	useEffect(() => {
		if (query === null) {
			setAnswer({ data: null, error: null, isLoading: false });
			return;
		}
		const control = new AbortController();
		setAnswer((before) => ({ ...before, isLoading: true }));
		asking(query, control.signal).then(
			(data) => setAnswer({ data, error: null, isLoading: false }),
			(error) => {
				if (control.signal.aborted) return;
				const failure = error instanceof Failure ? error : new Failure("failed", String(error));
				setAnswer({ data: null, error: failure, isLoading: false });
			},
		);
		return () => control.abort();
	}, [key]);
	return answer;
}

// --- the contents of answers: the fields that lode's verbs write with --format json ---

export interface Profile {
	program: string | null;
	creator: string | null;
	part?: string;
	frequency: "exact" | "sampled" | "inferred" | "given";
	weight_event: string | null;
	sampled_events?: string[]; /* those that can be the weight, if there are several */
	weight: number;
	executions: number;
	windows?: number; /* of the run that were executed step by step */
	window_steps?: number;
	user_seconds?: number;
	system_seconds?: number;
	is_kernel_sampled?: boolean;
	functions: number;
	instructions: number;
}
export interface Unresolved {
	reason: string;
	example: string | null;
	count: number;
	share: number;
	places: number;
	samples: number;
}
export interface Head {
	profile: Profile;
	unresolved?: Unresolved[];
	run?: { name: string; is_complete: boolean; is_instruction_mode: boolean; sequences: number; min_support?: number };
}
export interface Served {
	version: string;
	/** program: its command, as it was recorded */
	profiles: { number: number; name: string; program: string | null; fault: string | null; has_memory: boolean; has_waits: boolean; events: string[]; runs: string[] }[];
	traces: { number: number; name: string }[];
	live: { program: string; is_over: boolean } | null;
}
export interface Questions {
	questions: {
		name: string;
		parameters: { name: string; group: string; kind: "flag" | "text" | "texts" | "word"; value: string | null; words: string[]; summary: string }[];
	}[];
}
/** A line of inlined code, with the function that has it. */
export interface InlinedLine {
	function: string;
	short_function?: string;
	file: string | null;
	line: number;
}
export interface Findings extends Head {
	each_unit: string;
	base_each: number | null;
	explained: number;
	in_single_blocks: number;
	samples: number;
	diagnoses: Diagnosis[];
	/** None are made of so few samples. */
	too_short: boolean;
	foreign: number; // of the time: inside programs of the system, whose causes are set aside
	foreigners: string | null; // their names
	/** "cc1 61.2 %, as 20.1 %"; null: one program. */
	programs: string | null;
	top_functions: TopFunction[];
	notes: string[];
	not_diagnosed: number;
	findings: Finding[];
}
export interface Sequences extends Head {
	passed: number;
	offset: number;
	sequences: Sequence[];
}
export interface Functions extends Head {
	inclusive_from: "stacks" | "calls" | "tops" | null;
	passed: number;
	offset: number;
	functions: FunctionRow[];
}
export interface Source {
	file: string;
	lines: [number, string][];
}
export interface Annotation extends Head {
	sources: Source[];
	places: CodePlace[];
	findings?: { id: string; pattern: string; time: number }[];
}
export interface GraphEdge {
	source: number;
	target: number;
	kind: string;
	count: number;
	/** In windows: steps by it, of all that followed its instruction. */
	steps?: number;
	followed?: number;
	is_observed?: boolean;
}
export interface Graph extends Head {
	function: string;
	calls: number;
	n_blocks_that_ran: number;
	centre?: number; /* only the blocks around this one are there */
	blocks: { address: string; end: string; executions: number; weight: number; share: number; loop_depth: number; is_loop_head: boolean; edges_left_out: number }[];
	edges: GraphEdge[];
	n_callers: number;
	callers: { number: number; name: string; count: number }[];
	n_callees: number;
	callees: { number: number; name: string; count: number }[];
}
export interface Calls {
	function: CalledFunction;
	from: "stacks" | "calls" | "tops" | null;
	stacks_are_short: boolean; /* most are of one function */
	weight: number;
	inclusive: number | null;
	callers: Caller[];
	callees: Caller[];
}
export interface Waits extends Head {
	clock_seconds: number;
	running_seconds: number;
	waiting_seconds: number;
	seen: number; /* share of the waiting */
	exact: number; /* share of it, but for processors: each wait is known by itself */
	head: string | null; /* where the time by the clock went; null: it is not waiting */
	has_path: boolean;
	path_running_seconds?: number;
	path_sure?: number;
	path_threads?: number;
	waits: Wait[];
}
export interface Threads {
	seconds: number;
	bins: number;
	event: string | null;
	/** How many processors were busy in each bin; null: samples do not stand for time. */
	busy: number[] | null;
	has_path: boolean;
	kinds: string[]; /* what slices are of: reasons of waits, and "running" */
	idle: boolean[]; /* of each group of waits, in the order of the waits' rows */
	/**
	 * The heaviest first; command: of several processes; from: seconds to its begin, or first sample; values: shares of all weight, none of those without; slices: begin, length, number
	 * of kind, group of waits or −1, time, and time on the critical path, in µs.
	 */
	threads: {
		pid: number;
		tid: number;
		name: string | null;
		command: string | null;
		samples: number;
		weight: number;
		from: number;
		values: number[];
		slices: [number, number, number, number, number, number][];
	}[];
	threads_left_out: number;
}
interface FlameNone extends Head {
	from: null;
	advice: string;
}
export interface FlameTree extends Head {
	from: "stacks" | "tops";
	advice: null;
	event: string | null;
	events: string[];
	inverted: boolean;
	weight: number;
	samples: number;
	cut: number; /* the share of stacks that are too long for the tree */
	tree_nodes: number;
	root: number; /* row of the node that was asked for; those before it are the path to it */
	matched: number | null;
	/** name, image, number in the profile, whether it has the text, a shorter name */
	functions: [string | null, string | null, number | null, boolean, string | null][];
	/** columns of equal length */
	/** first: when its first sample was taken, in seconds from the first of all; −1: not known */
	nodes: Record<"number" | "function" | "parent" | "weight" | "self" | "samples" | "narrower" | "first", number[]>;
}
export type Flame = FlameNone | FlameTree;
export interface Pivot extends Head {
	by: string[];
	notes: Notes;
	total: Totals;
	rows: PivotRow[];
}
export type Notes = Record<string, unknown>;
export interface Heat extends Head {
	notes: Notes;
	granularity: number;
	samples: number;
	weight: number;
	segments_left_out: number;
	weight_left_out: number;
	segments: { name: string; first: string; last: string; first_row: number; rows: number; weight: number; objects: string[]; short_objects: string[] }[];
	rows: [string, string][];
	threads_per_column: number;
	threads: string[];
	thread_labels: string[];
	by_thread: [number, number, number, number, number][];
	has_time: boolean;
	steps: number;
	begin: number;
	end: number;
	time_title: string | null;
	time_factor: number;
	without_time: number;
	by_time: [number, number, number, number, number][];
}
export interface Tile {
	names: [string, string, string, number, string][]; /* with the short name at the end */
	rows: [string, string][];
	threads: string[];
	threads_per_column: number;
	by_thread: [number, number, number, number, number][];
	by_time: [number, number, number, number, number][];
	steps: number;
	weight: number;
}
export interface Layouts extends Head {
	notes: Notes;
	layouts: (Totals & {
		type: string;
		size: number;
		holes: number;
		hottest: string | null;
		untyped_share: number;
		rows: LayoutRow[];
	})[];
}
export interface Sharing extends Head {
	notes: Notes;
	is_of_misses: boolean;
	n_lines: number;
	n_consecutive: number;
	total: Totals;
	shared: Totals;
	consecutive: Totals;
	lines: SharedLine[];
}
export interface Placement {
	process: number;
	event: string;
	samples: number;
	topology: string;
	threads: number;
	memories: { memory: number; pages: number; share: number; threads: number[] }[];
	lost: number;
	policies: {
		policy: string;
		meaning: string;
		is_chosen: boolean;
		share: number;
		share_at_least: number; /* of all loads and stores, also those without an address */
		share_at_most: number;
		distance: number | null;
	}[];
	losses: string[];
	notes: string[];
}
export interface TraceResults {
	trace: string;
	program: string | null;
	references: number;
	instructions: number;
	damage: string | null;
	hierarchies: { name: string; text: string; caches: Cache[] }[];
	curves: {
		of: string;
		line_bytes: number;
		accesses: number;
		points: CurvePoint[];
		reuses: { from: number; to: number; accesses: number }[];
	}[];
	times?: { first_reference: number; caches: { hierarchy: number; name: string; accesses: number; misses: number }[] }[];
}
export interface Misses {
	event: string;
	by: string;
	total: number;
	grouped: number;
	groups: number;
	rows: MissesRow[];
}
export interface LivePicture {
	program: string;
	is_over: boolean;
	seconds: number;
	samples: number;
	samples_per_second: number;
	accesses: number; /* samples of loads and stores */
	lost: number; /* of these, without an address */
	lost_threads: string | null; /* that lost much more than others */
	reason: string | null;
	dropped: number;
	is_sampling: boolean;
	is_stall_weighted: boolean;
	hottest: number;
	extents: (string | null)[];
	columns: [string, string, number][];
	threads: { number: number; label: string; name: string | null; tid: number; samples: number; accesses: number; lost: number; has_ended: boolean }[];
	rows: { thread: string | null; sum: number; columns: number[] }[];
	ranges: {
		address: string;
		share: number;
		loads: number;
		stores: number;
		threads: string[];
		has_more_threads: boolean;
		object: string | null;
		function: string | null;
	}[];
	functions: { name: string | null; share: number }[];
	/** The findings of the samples up to some seconds ago; null: none yet. */
	findings: {
		samples: number;
		explained: number;
		rows: {
			text: string;
			is_spread: boolean;
			time: number;
			time_error: number;
			places: number;
			functions: number;
			function: string | null;
		}[];
	} | null;
}
export interface Compared {
	compared: number;
	deviations: number;
	rows: ComparedRow[];
}
/** Times are null where they are not known. */
export interface ComparedProfile {
	total: number;
	user_seconds: number | null;
	system_seconds: number | null;
	wall_seconds: number | null;
}
/** Of several profiles; `speed` is null where it was not measured beside both, `diagnoses` are there of whole programs alone. */
export interface Comparisons {
	comparisons: ({
		base: ComparedProfile;
		new: ComparedProfile;
		differences: string;
		speed: number | null;
		speed_error: number;
		speed_is_different: boolean;
		totals: ComparedTotal[];
		same_code: { functions: number; factor: number | null; is_told: boolean; is_most: boolean };
		diagnoses?: ComparedDiagnosis[];
		unit: string;
		is_counted: boolean;
		normalised_by: string;
		work_function: string | null;
		change: number;
		change_error: number;
		left_out: string[];
	} & Partial<Record<"patterns" | "places" | "functions" | "lines" | "sequences", Compared>>)[];
}
