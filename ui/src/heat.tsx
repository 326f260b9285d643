// SPDX-License-Identifier: MIT
//
// Two pictures that share their axis of addresses, as in lode memory --plot: threads, and time.
// Dragging over a picture zooms in: the server then counts the samples of that part anew.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { file, type Heat } from "./api";
import { resolver, threadHues, useScheme } from "./colours";
import { count, share } from "./format";
import { Tip } from "./heat_tip";
import { savePicture, useNarrow } from "./parts";
import { condition } from "./pivot";
import { change, type Route } from "./state";

const ROW = 3; /* pixels */
const GAP = 10; /* between stretches of addresses */
const NAME = 20; /* of a name above its stretch, where there is no room beside it */
const LABELS = 210;

interface Axis {
	height: number;
	top: number[]; /* y of each row, from the top: row 0 is the lowest address */
	tall: number[]; /* height of each row */
	rowAt: (y: number) => number;
}

function axisOf(data: Heat, isNarrow: boolean): Axis {
	const rowHeight = Math.max(ROW, Math.min(14, Math.floor((isNarrow ? 280 : 420) / Math.max(1, data.rows.length))));
	const top: number[] = new Array(data.rows.length).fill(0);
	const tall: number[] = new Array(data.rows.length).fill(ROW);
	const gap = isNarrow ? GAP + NAME : GAP;
	let y = isNarrow ? NAME : 0;
	for (const segment of [...data.segments].sort((a, b) => b.first_row - a.first_row)) {
		/* Names are on two lines. */
		const height = Math.max(segment.rows * rowHeight, 30);
		for (let i = 0; i < segment.rows; i++) {
			const row = segment.first_row + segment.rows - 1 - i;
			top[row] = y + (i * height) / segment.rows;
			tall[row] = height / segment.rows;
		}
		y += height + gap;
	}
	return {
		height: isNarrow ? y - NAME : y,
		top,
		tall,
		rowAt: (at) => {
			let found = 0;
			let best = Infinity;
			top.forEach((one, row) => {
				const distance = at >= one ? at - one : Infinity;
				if (distance < best) [best, found] = [distance, row];
			});
			return found;
		},
	};
}

interface Cell {
	column: number;
	row: number;
	weight: number;
	colour: string;
	title: string;
	conditions: string[]; /* the filter of its samples */
}

/** From faint to full with the square root of the weight, so that small weights are visible. */
function mix(hue: string, weight: number, most: number): string {
	const part = Math.round(18 + 82 * Math.sqrt(weight / (most || 1)));
	return `color-mix(in oklab, ${hue} ${part}%, var(--page))`;
}

const kindHues: Record<number, string> = { 1: "var(--load)", 2: "var(--store)", 3: "var(--both)" };
function Picture(props: {
	title: string;
	cells: Cell[];
	columns: number;
	axis: Axis;
	data: Heat;
	route: Route;
	onZoom: (columns: [number, number], rows: [number, number]) => void;
	names: ComponentChildren; /* of the stretches, over the picture */
	marks: [number, string][]; /* column → its text */
}) {
	const { cells, columns, axis, data } = props;
	const canvas = useRef<HTMLCanvasElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const [width, setWidth] = useState(300);
	const [tip, setTip] = useState<{ x: number; y: number; cell: Cell } | null>(null);
	const [drag, setDrag] = useState<{ x0: number; y0: number; x1: number; y1: number } | null>(null);
	const scheme = useScheme();
	const byPlace = useMemo(() => new Map(cells.map((one) => [one.row * columns + one.column, one])), [cells, columns]);

	useEffect(() => {
		const observer = new ResizeObserver(() => setWidth(Math.max(60, box.current?.clientWidth ?? 300)));
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		const element = canvas.current;
		const drawing = element?.getContext("2d");
		if (!element || !drawing || !box.current) return;
		const ratio = devicePixelRatio || 1;
		element.width = width * ratio;
		element.height = axis.height * ratio;
		drawing.scale(ratio, ratio);
		const colourOf = resolver(box.current);
		drawing.fillStyle = colourOf("var(--plot)");
		for (const segment of data.segments) {
			const y = axis.top[segment.first_row + segment.rows - 1] ?? 0;
			drawing.fillRect(0, y, width, axis.tall[segment.first_row]! * segment.rows);
		}
		for (const cell of cells) {
			const y = axis.top[cell.row] ?? 0;
			const height = axis.tall[cell.row] ?? ROW;
			const x = (cell.column * width) / columns;
			drawing.fillStyle = colourOf(cell.colour);
			drawing.fillRect(x, y, Math.max(1.5, width / columns), height);
		}
	}, [cells, columns, axis, width, scheme]);

	const place = (event: PointerEvent) => {
		const at = canvas.current!.getBoundingClientRect();
		return { x: event.clientX - at.left, y: event.clientY - at.top };
	};
	const columnAt = (x: number) => Math.max(0, Math.min(columns - 1, Math.floor((x / width) * columns)));
	const move = (event: PointerEvent) => {
		const { x, y } = place(event);
		if (drag) setDrag({ ...drag, x1: x, y1: y });
		const cell = byPlace.get(axis.rowAt(y) * columns + columnAt(x));
		setTip(cell ? { x, y, cell } : null);
	};
	const end = (event: PointerEvent) => {
		if (drag && Math.abs(drag.x1 - drag.x0) + Math.abs(drag.y1 - drag.y0) > 8) {
			const rows = [axis.rowAt(drag.y0), axis.rowAt(drag.y1)].sort((a, b) => a - b) as [number, number];
			const found = [columnAt(drag.x0), columnAt(drag.x1)].sort((a, b) => a - b) as [number, number];
			props.onZoom(found, rows);
		}
		setDrag(null);
		canvas.current?.releasePointerCapture(event.pointerId);
	};
	return (
		<div class="picture">
			<h2>
				{props.title}{" "}
				<button class="quiet" onClick={() => savePicture(canvas.current!, "lode-memory.png")} aria-label={`Save ‘${props.title}’ as PNG`}>
					PNG
				</button>
			</h2>
			<div class="picture-box" ref={box} style={{ height: `${axis.height}px` }}>
				<canvas
					ref={canvas}
					role="img"
					aria-label={`${props.title}: ${count(cells.length)} cells with accesses`}
					style={{ width: `${width}px`, height: `${axis.height}px` }}
					onPointerMove={move}
					onPointerLeave={() => setTip(null)}
					onPointerDown={(event) => {
						const { x, y } = place(event);
						canvas.current?.setPointerCapture(event.pointerId);
						setDrag({ x0: x, y0: y, x1: x, y1: y });
					}}
					onPointerUp={end}
				/>
				{props.names}
				{drag && (
					<div
						class="drag"
						style={{
							left: `${Math.min(drag.x0, drag.x1)}px`,
							top: `${Math.min(drag.y0, drag.y1)}px`,
							width: `${Math.abs(drag.x1 - drag.x0)}px`,
							height: `${Math.abs(drag.y1 - drag.y0)}px`,
						}}
					/>
				)}
				{tip && !drag && (
					<Tip route={props.route} conditions={tip.cell.conditions} rank={1 + cells.filter((one) => one.weight > tip.cell.weight).length}
						x={tip.x} y={tip.y} width={width}>
						{tip.cell.title}
					</Tip>
				)}
			</div>
			<p class="axis faint">
				{props.marks.map(([column, text]) => (
					<span style={{ left: `${(100 * column) / columns}%` }}>{text}</span>
				))}
			</p>
		</div>
	);
}

function segmentOf(data: Heat, row: number) {
	return data.segments.find((one) => row >= one.first_row && row < one.first_row + one.rows);
}

export function HeatMaps({ data, route, isOld }: { data: Heat; route: Route; isOld: boolean }) {
	const isNarrow = useNarrow();
	const axis = useMemo(() => axisOf(data, isNarrow), [data, isNarrow]);
	const coloursThreads = route.params.get("colours") === "thread";
	const columns = Math.ceil(data.threads.length / data.threads_per_column);
	const where = (row: number) => {
		const segment = segmentOf(data, row);
		return `${data.rows[row]![0]}–${data.rows[row]![1]}, ${segment?.name ?? ""}`;
	};
	const inRow = (row: number) => `address in ${data.rows[row]![0]}..${data.rows[row]![1]}`;
	const span = (data.end - data.begin + 1) / data.steps;
	const fromStep = (step: number) => Math.floor(data.begin + step * span);
	const threadName = (column: number) => {
		const first = data.threads[column * data.threads_per_column] ?? "?";
		return data.threads_per_column > 1 ? `${first} and ${data.threads_per_column - 1} more` : first;
	};
	const threads = useMemo<Cell[]>(() => {
		const most = Math.max(...data.by_thread.map(([, , load, store, unknown]) => load + store + unknown), 0);
		return data.by_thread.map(([column, row, load, store, unknown]) => {
			const kinds = (load > 0 ? 1 : 0) | (store > 0 ? 2 : 0);
			const weight = load + store + unknown;
			return {
				column,
				row,
				weight,
				colour: mix(kindHues[kinds] ?? "var(--unknown)", weight, most),
				title: `${threadName(column)}: ${share(load / data.weight)} loads, ${share(store / data.weight)} stores at ${where(row)}`,
				conditions: [
					inRow(row),
					`(${data.thread_labels
						.slice(column * data.threads_per_column, (column + 1) * data.threads_per_column)
						.map((one) => condition("thread_label", one))
						.join(" || ")})`,
				],
			};
		});
	}, [data]);
	const times = useMemo<Cell[]>(() => {
		const most = Math.max(...data.by_time.map(([, , weight]) => weight), 0);
		return data.by_time.map(([step, row, weight, kinds, thread]) => ({
			column: step,
			row,
			weight,
			colour: mix(
				coloursThreads ? threadHues[thread % threadHues.length]! : (kindHues[kinds & 3] ?? "var(--unknown)"),
				weight,
				most,
			),
			title: `${share(weight / data.weight)}, most by ${threadName(thread)}, at ${where(row)}`,
			conditions: [inRow(row), `time in ${fromStep(step)}..${fromStep(step + 1) - 1}`],
		}));
	}, [data, coloursThreads]);

	/* A part within one stretch of addresses is shown to scale; between several stretches, empty ranges stay cut out. */
	const zoom = (steps: [number, number] | null, [low, high]: [number, number]) => {
		const first = data.rows[low]![0];
		const last = data.rows[high]![1];
		const from = steps ? String(fromStep(steps[0])) : route.params.get("from");
		const to = steps ? String(Math.ceil(data.begin + (steps[1] + 1) * span)) : route.params.get("to");
		const isOne = file === null && data.has_time && segmentOf(data, low) === segmentOf(data, high);
		change(route, { [isOne ? "map" : "address"]: `${first}-${last}`, from, to });
	};
	const length = (data.end - data.begin) * data.time_factor;
	const names = data.segments.map((one) => (
		<button
			class="segment"
			style={{ top: `${axis.top[one.first_row + one.rows - 1]! - (isNarrow ? NAME : 0)}px` }}
			title={`${one.first}–${one.last}\n${one.objects.join("\n")}`}
			onClick={() => change(route, { [data.has_time && file === null ? "map" : "address"]: `${one.first}-${one.last}` })}
		>
			<bdi>{one.name}</bdi> {share(one.weight / data.weight)}
			<small>
				<bdi>{one.short_objects[0] ?? one.first}</bdi>
			</small>
		</button>
	));
	const marks = [0, 0.25, 0.5, 0.75, 1].map((part): [number, string] => [
		part * data.steps,
		(length * part).toFixed(length < 10 ? 1 : 0),
	]);
	return (
		<figure class={isOld ? "heat old" : "heat"}>
			<div class="heat-grid" style={isNarrow ? {} : { gridTemplateColumns: `${LABELS}px minmax(6rem, 1fr) 3fr` }}>
				{!isNarrow && (
					<div class="segments" style={{ height: `${axis.height}px` }}>
						{names}
					</div>
				)}
				<Picture title="by thread" cells={threads} columns={Math.max(1, columns)} axis={axis} data={data} route={route}
					names={isNarrow && names} marks={columns <= 8 ? data.threads.slice(0, 8).map((_, i) => [i, String(i)]) : [[0, "0"], [columns - 1, String(columns - 1)]]}
					onZoom={(_, rows) => zoom(null, rows)} />
				{data.has_time ? (
					<Picture title={data.time_title ?? "over time"} cells={times} columns={data.steps} axis={axis} data={data} route={route} names={isNarrow && names} marks={marks}
						onZoom={(steps, rows) => zoom(steps, rows)} />
				) : (
					<p class="empty">The samples have no time.</p>
				)}
			</div>
			<figcaption class="legend">
				{coloursThreads ? (
					<span>over time: a colour for each thread</span>
				) : (
					<>
						<i class="swatch load" /> loads <i class="swatch store" /> stores <i class="swatch both" /> both
					</>
				)}
				; darker is more. {count(data.samples)} samples. Drag over a picture, or choose a name, to zoom in.
			</figcaption>
			<details>
				<summary>The same as a table</summary>
				<table>
					<thead>
						<tr>
							<th scope="col" class="number">weight</th>
							<th scope="col">addresses</th>
							<th scope="col">mapping</th>
							<th scope="col">objects</th>
						</tr>
					</thead>
					<tbody>
						{[...data.segments].sort((a, b) => b.weight - a.weight).map((one) => (
							<tr>
								<td class="number">{share(one.weight / data.weight)}</td>
								<td class="mono">{one.first}–{one.last}</td>
								<td><bdi>{one.name}</bdi></td>
								<td><bdi title={one.objects.slice(0, 3).join("\n")}>{one.short_objects.slice(0, 3).join(", ")}</bdi></td>
							</tr>
						))}
					</tbody>
				</table>
			</details>
		</figure>
	);
}
