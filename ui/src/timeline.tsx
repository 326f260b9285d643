// SPDX-License-Identifier: MIT
//
// The threads over time, above the views of a part of the recording: what each did, or where that is not known, its
// weight. A range that is dragged, or a thread, becomes the options --time and --thread of their questions.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { file, type Threads, useAnswer, type Waits } from "./api";
import { resolver, useScheme } from "./colours";
import { amount, count, duration, share, some } from "./format";
import { useNarrow } from "./parts";
import { drawPath, drawRow, FAMILIES, familyOf, IDLE, type Slice, sliceAt, type Thread } from "./slices";
import { change, type Change, PART, type Route } from "./state";
import { Holder, waitObject, WaitPlace } from "./waits";

const BINS = 200;
const ROW = 20;
const THREADS = 6; /* shown at first */
const LEAST_DRAG = 4; /* pixels */

type Range = [number, number]; /* seconds */

/** "1.5..2.25", "1500ms..", as --time takes them; null: not such a text. */
export function readRange(text: string | null, end: number): Range | null {
	const found = /^(?:([\d.]+)(ms|s)?)?\.\.(?:([\d.]+)(ms|s)?)?$/.exec(text ?? "");
	if (!found) return null;
	const seconds = (value: string | undefined, unit: string | undefined, otherwise: number) => (value === undefined ? otherwise : Number(value) / (unit === "ms" ? 1000 : 1));
	return [seconds(found[1], found[2], 0), seconds(found[3], found[4], end)];
}

/** Seconds with as many digits as a pixel of the picture is worth. */
function written(seconds: number, whole: number): string {
	return seconds.toFixed(Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(whole || 1)))));
}

/** A process by its command, without the folder of its program; another thread by its name. */
const labelOf = (thread: { name: string | null; command: string | null; tid: number }) => thread.command?.replace(/^\S*\//, "") || thread.name || String(thread.tid);

/** A row for the busy processors, and the rows of the threads: what they did, or bars of their shares. */
function Bars({ data, threads, range, onRange, onPick }: { data: Threads; threads: Thread[]; range: Range | null; onRange: (range: Range) => void; onPick: (thread: Thread, slice: Slice) => void }) {
	const { busy, seconds } = data;
	const box = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const [width, setWidth] = useState(600);
	const [drag, setDrag] = useState<Range | null>(null); /* pixels */
	const scheme = useScheme();
	const rows = (busy ? 1 : 0) + threads.length;
	const height = rows * ROW;
	useLayoutEffect(() => {
		const measure = () => setWidth(Math.max(60, box.current?.clientWidth ?? 600));
		measure();
		const observer = new ResizeObserver(measure);
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	useLayoutEffect(() => {
		const element = canvas.current!;
		const drawing = element.getContext("2d")!;
		const ratio = devicePixelRatio || 1;
		const css = resolver(box.current!);
		element.width = width * ratio;
		element.height = height * ratio;
		drawing.scale(ratio, ratio);
		const most = Math.max(...threads.flatMap((one) => one.values), 0) || 1;
		const drawBars = (values: number[], row: number, most: number, colour: string) => {
			drawing.fillStyle = css("var(--plot)");
			drawing.fillRect(0, row * ROW, width, ROW - 2);
			drawing.fillStyle = css(colour);
			values.forEach((value, i) => {
				const tall = value > 0 ? Math.max(1, ((ROW - 2) * value) / most) : 0;
				const step = width / values.length;
				drawing.fillRect(i * step, (row + 1) * ROW - 2 - tall, Math.max(1, step - 0.5), tall);
			});
		};
		if (busy) drawBars(busy, 0, Math.max(...busy, 1), "var(--unknown)");
		const top = (row: number) => (row + rows - threads.length) * ROW;
		const paths = threads.map((thread, row) => {
			if (thread.slices.length === 0) drawBars(thread.values, row + rows - threads.length, most, "var(--bar)");
			else drawBars([], row + rows - threads.length, most, "var(--bar)");
			return drawRow(drawing, data, thread, { top: top(row), width, height: ROW - 2 }, css);
		});
		if (data.has_path) drawPath(drawing, paths, (row) => top(row) + ROW - 1, css);
	}, [data, threads, busy, width, height, scheme]);
	const x = (event: PointerEvent) => Math.max(0, Math.min(width, event.clientX - canvas.current!.getBoundingClientRect().left));
	const scale = width / (seconds || 1);
	/* A click on a stretch. */
	const pick = (event: PointerEvent) => {
		const y = (event.clientY - canvas.current!.getBoundingClientRect().top) / ROW;
		const thread = threads[Math.floor(y) - (rows - threads.length)];
		const slice = thread && sliceAt(data, thread, Math.min(width - 1, Math.floor(x(event))), width, 1 - (y % 1) * (ROW / (ROW - 2)));
		if (slice) onPick(thread, slice);
	};
	const shown = drag ?? range?.map((one) => Math.max(0, Math.min(width, one * scale)));
	return (
		<div class="timeline-bars" ref={box} style={{ height: `${height}px` }}>
			<canvas
				ref={canvas}
				role="img"
				aria-label={`${busy ? "Busy processors, and " : ""}${threads.some((one) => one.slices.length > 0) ? "what they did, of" : "the weight of"} ${some(threads.length, "thread")} over ${written(seconds, seconds)} seconds`}
				style={{ width: `${width}px`, height: `${height}px` }}
				onPointerDown={(event) => {
					canvas.current!.setPointerCapture(event.pointerId);
					setDrag([x(event), x(event)]);
				}}
				onPointerMove={(event) => drag && setDrag([drag[0], x(event)])}
				onPointerCancel={() => setDrag(null)}
				onPointerUp={(event) => {
					canvas.current!.releasePointerCapture(event.pointerId);
					const ends = drag ? [drag[0], x(event)].sort((a, b) => a - b) : [0, 0];
					setDrag(null);
					if (ends[1]! - ends[0]! >= LEAST_DRAG) onRange([ends[0]! / scale, ends[1]! / scale]);
					else pick(event);
				}}
			/>
			{shown && (
				<>
					<div class="timeline-out" style={{ left: 0, width: `${Math.min(shown[0]!, shown[1]!)}px` }} />
					<div class="timeline-out" style={{ left: `${Math.max(shown[0]!, shown[1]!)}px`, right: 0 }} />
				</>
			)}
		</div>
	);
}

/** What of the recording is shown, with a way back. */
function Chosen({ route, data, set }: { route: Route; data: Threads; set: (part: Change) => void }) {
	const text = (name: string, value: string) => {
		if (name === "o.time") return `only ${value} s`;
		const known = name === "o.thread" && data.threads.find((one) => String(one.tid) === value);
		return `only ${name.slice(2)} ${(known && known.name) || ""} ${value}`;
	};
	const chosen = PART.flatMap((name): [string, string][] => (route.params.get(name) ? [[name, text(name, route.params.get(name)!)]] : []));
	return (
		<>
			{chosen.map(([name, words]) => (
				<button class="chip" aria-label={`${words}: show all`} onClick={() => set({ [name]: null })}>
					<bdi>{words}</bdi> ×
				</button>
			))}
		</>
	);
}

/** What the colours mean, of those that are there. */
function Legend({ data, threads }: { data: Threads; threads: Thread[] }) {
	const slices = threads.flatMap((one) => one.slices);
	if (slices.length === 0) return null;
	const there = new Set(slices.filter((one) => familyOf(data, one) !== IDLE).map((one) => data.kinds[one[2]]!));
	const words = (kind: string) => ({ processor: "waits for a processor", other: "other waits", unseen: "not looked at" })[kind] ?? kind;
	return (
		<ul class="did" aria-label="Colours">
			{FAMILIES.map((one) => ({ name: one.name, kinds: one.kinds.filter((kind) => there.has(kind)) }))
				.filter((one) => one.kinds.length > 0)
				.map((one) => (
					<li>
						<i class={`swatch did-${one.name}`} /> {one.kinds.map(words).join(", ")}
					</li>
				))}
			{slices.some((one) => familyOf(data, one) === IDLE) && (
				<li>
					<i class="swatch did-idle" /> idle
				</li>
			)}
			{data.has_path && (
				<li>
					<i class="path-line" /> critical path
				</li>
			)}
		</ul>
	);
}

/** The name of a slice in the address; its numbers are those of the profile. */
const slotOf = (thread: Thread, slice: Slice) => [thread.pid, thread.tid, ...slice.slice(0, 4)].join(".");

const WHOLE = 0.99; /* times are rounded */

/** What is known of a stretch that was clicked on. */
function Stretch({ thread, slice, data, route, set }: { thread: Thread; slice: Slice; data: Threads; route: Route; set: (part: Change) => void }) {
	const [begin, length, kind, group, time, path] = slice;
	const isRunning = data.kinds[kind] === "running";
	const isPart = time < WHOLE * length;
	const waits = useAnswer<Waits>(isRunning ? null : "waits", { profile: route.params.get("profile") });
	const rows = waits.data?.waits;
	/* Which waits for a processor a thread has at which place is known in sum alone. */
	const row = rows && (group >= 0 ? rows[group] : data.kinds[kind] === "processor" ? rows.find((one) => one.reason === "processor") : undefined);
	const close = () => change(route, { stretch: null });
	return (
		<section class="stretch" role="status" aria-label="Stretch of time">
			<b>{isRunning ? "running" : data.kinds[kind] === "unseen" ? "waiting, not looked at" : (row?.reason ?? data.kinds[kind])}</b>
			{row && row.object !== row.reason && (
				<>
					{" "}
					<bdi title={row.object}>{waitObject(row)}</bdi>
				</>
			)}
			{row && (
				<>
					{" "}
					{group < 0 && "mostly "}in <WaitPlace of={row} route={route} />
				</>
			)}
			, {isPart && `${duration(time / 1e6)} of `}
			{duration(length / 1e6)} from {written(begin / 1e6, data.seconds)} s on, {thread.command ? "process" : "thread"} <bdi>{thread.command ?? thread.name ?? "?"}</bdi> {thread.tid}
			{path > 0 && `; ${path < WHOLE * time ? `${duration(path / 1e6)} of it ` : ""}on the critical path`}
			{row?.holder && (
				<>
					. <Holder of={row.holder} route={route} />
				</>
			)}
			.{" "}
			<button onClick={() => set({ "o.time": `${written(begin / 1e6, data.seconds)}..${written((begin + length) / 1e6, data.seconds)}`, "o.thread": String(thread.tid), stretch: null })}>Only this</button>{" "}
			<button aria-label="Close" onClick={close}>
				×
			</button>
		</section>
	);
}

export function Timeline({ route }: { route: Route }) {
	const { data } = useAnswer<Threads>(file ? null : "timeline", { profile: route.params.get("profile"), bins: BINS });
	const [hasAll, setAll] = useState(false);
	/* The code of a function comes first in its view. */
	const isFolded = useNarrow() || route.params.has("function");
	if (!data || !(data.seconds > 0) || data.threads.length === 0) return null;
	const range = readRange(route.params.get("o.time"), data.seconds);
	/* Those of the critical path, and the heaviest, in the order in which they began. */
	const onPath = new Map(data.has_path ? data.threads.map((one) => [one, one.slices.reduce((sum, slice) => sum + slice[5], 0)]) : []);
	const ranked = [...data.threads].sort((a, b) => (onPath.get(b) ?? 0) - (onPath.get(a) ?? 0));
	const threads = ranked.slice(0, hasAll ? undefined : THREADS).sort((a, b) => a.from - b.from);
	const picked = data.threads.flatMap((thread) => thread.slices.filter((slice) => slotOf(thread, slice) === route.params.get("stretch")).map((slice) => ({ thread, slice })))[0];
	const more = data.threads.length - threads.length;
	/* The numbers of findings and of nodes are those of the part. */
	const set = (part: Change) => change(route, { zoom: null, open: null, places: null, flow: null, ...part });
	const write = (one: number) => written(one, data.seconds);
	const setRange = ([from, to]: Range) => {
		const [first, last] = [Math.max(0, Math.min(from, to)), Math.min(data.seconds, Math.max(from, to))];
		if (last > first) set({ "o.time": `${write(first)}..${write(last)}` });
	};
	const end = (name: string, at: 0 | 1) => (
		<label>
			{name}{" "}
			<input type="number" min={0} max={data.seconds} step="any" value={range ? write(range[at]) : ""} placeholder={write(at * data.seconds)}
				onChange={(event) => {
					const value = parseFloat((event.target as HTMLInputElement).value);
					const next: Range = range ? [...range] : [0, data.seconds];
					next[at] = Number.isNaN(value) ? at * data.seconds : value;
					setRange(next);
				}} />
		</label>
	);
	const picture = (
		<>
			<div class="timeline-rows">
				<div>
					{data.busy && (
						<p class="timeline-busy" style={{ height: `${ROW}px` }} title={`how many processors the recorded program kept busy: on average, and at most ${amount(Math.max(...data.busy))}`}>
							<span class="ellipsis">busy processors</span> <span class="faint">{amount(data.busy.reduce((sum, one) => sum + one, 0) / data.busy.length)}</span>
						</p>
					)}
					{threads.map((one) => (
						<button class="timeline-thread" style={{ height: `${ROW}px` }} aria-pressed={route.params.get("o.thread") === String(one.tid)}
							title={`${one.command ?? one.name ?? "?"} ${one.tid}: ${share(one.weight)}, ${some(one.samples, "sample")}`}
							onClick={() => set({ "o.thread": route.params.get("o.thread") === String(one.tid) ? null : String(one.tid) })}>
							<bdi class="ellipsis">{labelOf(one)}</bdi> <span class="faint">{share(one.weight)}</span>
						</button>
					))}
				</div>
				<Bars data={data} threads={threads} range={range} onRange={setRange} onPick={(thread, slice) => change(route, { stretch: slotOf(thread, slice) })} />
				<p class="faint">{(more > 0 || data.threads_left_out > 0) && (more > 0 ? (
					<button class="quiet" onClick={() => setAll(true)}>{count(more + data.threads_left_out)} more</button>
				) : (
					`${count(data.threads_left_out)} more`
				))}</p>
				<p class="axis faint">
					{[0, 0.5, 1].map((part) => (
						<span style={{ left: `${100 * part}%` }}>{write(part * data.seconds)}{part === 1 && " s"}</span>
					))}
				</p>
			</div>
			<Legend data={data} threads={threads} />
			{picked && <Stretch {...picked} data={data} route={route} set={set} />}
			<div class="timeline-fields">
				{end("from", 0)} {end("to", 1)} s <span class="faint">Drag to choose a part of the time; a name chooses its thread{threads.some((one) => one.slices.length > 0) && "; a click tells what was waited for"}.</span>
			</div>
		</>
	);
	return (
		<section class="timeline" aria-label="Timeline">
			{isFolded ? (
				<details class="fold">
					<summary>Time and threads</summary>
					{picture}
				</details>
			) : (
				picture
			)}
			<Chosen route={route} data={data} set={set} />
		</section>
	);
}
