// SPDX-License-Identifier: MIT
//
// The weight of each thread over time, above the views of a part of the recording: a range that is
// dragged, or a thread, becomes the options --time and --thread of their questions.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { file, type Threads, useAnswer } from "./api";
import { resolver, useScheme } from "./colours";
import { amount, count, share, some } from "./format";
import { useNarrow } from "./parts";
import { change, type Change, PART, type Route } from "./state";

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

/** A row for the busy processors, and the rows of the threads, as bars of their shares. */
function Bars({ threads, busy, range, seconds, onRange }: { threads: Threads["threads"]; busy: number[] | null; range: Range | null; seconds: number; onRange: (range: Range) => void }) {
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
		const drawRow = (values: number[], row: number, most: number, colour: string) => {
			drawing.fillStyle = css("var(--plot)");
			drawing.fillRect(0, row * ROW, width, ROW - 2);
			drawing.fillStyle = css(colour);
			values.forEach((value, i) => {
				const tall = value > 0 ? Math.max(1, ((ROW - 2) * value) / most) : 0;
				const step = width / values.length;
				drawing.fillRect(i * step, (row + 1) * ROW - 2 - tall, Math.max(1, step - 0.5), tall);
			});
		};
		if (busy) drawRow(busy, 0, Math.max(...busy, 1), "var(--unknown)");
		threads.forEach((thread, row) => drawRow(thread.values, row + rows - threads.length, most, "var(--bar)"));
	}, [threads, busy, width, height, scheme]);
	const x = (event: PointerEvent) => Math.max(0, Math.min(width, event.clientX - canvas.current!.getBoundingClientRect().left));
	const scale = width / (seconds || 1);
	const shown = drag ?? range?.map((one) => Math.max(0, Math.min(width, one * scale)));
	return (
		<div class="timeline-bars" ref={box} style={{ height: `${height}px` }}>
			<canvas
				ref={canvas}
				role="img"
				aria-label={`${busy ? "Busy processors, and the" : "The"} weight of ${some(threads.length, "thread")} over ${written(seconds, seconds)} seconds`}
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

export function Timeline({ route }: { route: Route }) {
	const { data } = useAnswer<Threads>(file ? null : "timeline", { profile: route.params.get("profile"), bins: BINS });
	const [hasAll, setAll] = useState(false);
	/* The code of a function comes first in its view. */
	const isFolded = useNarrow() || route.params.has("function");
	if (!data || !(data.seconds > 0) || data.threads.length === 0) return null;
	const range = readRange(route.params.get("o.time"), data.seconds);
	/* The heaviest, in the order in which they began. */
	const threads = (hasAll ? [...data.threads] : data.threads.slice(0, THREADS)).sort((a, b) => a.from - b.from);
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
							title={`${one.name ?? "?"} ${one.tid}: ${share(one.weight)}, ${some(one.samples, "sample")}`}
							onClick={() => set({ "o.thread": route.params.get("o.thread") === String(one.tid) ? null : String(one.tid) })}>
							<bdi class="ellipsis">{one.name ?? one.tid}</bdi> <span class="faint">{share(one.weight)}</span>
						</button>
					))}
				</div>
				<Bars threads={threads} busy={data.busy} range={range} seconds={data.seconds} onRange={setRange} />
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
			<div class="timeline-fields">
				{end("from", 0)} {end("to", 1)} s <span class="faint">Drag to choose a part of the time; a name chooses its thread.</span>
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
