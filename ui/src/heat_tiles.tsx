// SPDX-License-Identifier: MIT
//
// Addresses over time, to scale, as a picture that is moved and zoomed:
//
//   view, in bytes and ns ──▶ tiles of a level (2^n bytes × 2^m ns) ──▶ the server counts each once
//                         ──▶ each frame is drawn from the tiles at hand
//
// Moving draws tiles at a different place, and requests those that come into view.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, type Ask, ask, type Heat, type Tile, useAnswer } from "./api";
import { resolver, threadHues, useScheme } from "./colours";
import { share } from "./format";
import { Tip } from "./heat_tip";
import { filterOf } from "./memory_filter";
import { savePicture, useNarrow } from "./parts";
import { change, type Route } from "./state";

export interface View {
	first: number; /* bytes, inclusive */
	last: number;
	from: number; /* ns since the first sample, or references */
	to: number;
}

const ROWS = 128;
const STEPS = 180; /* rows and columns of a tile, as in the server */
const MOST_TILES = 400; /* kept */
const MOST_ASKED = 3; /* at a time */
const LONGEST = 2 ** 47;

export const hex = (value: number) => `0x${Math.round(value).toString(16)}`;

interface Kept {
	tile: Tile | null; /* null: requested */
	canvas: HTMLCanvasElement | null;
	drawnFor: number; /* the greatest weight at that time */
	used: number;
}

interface Level {
	bytes: number;
	ns: number;
	rows: number;
}

function levelOf(view: View, width: number, height: number): Level {
	const power = (least: number) => 2 ** Math.max(0, Math.ceil(Math.log2(least)));
	const bytes = Math.max(8, power((ROWS * (view.last - view.first + 1)) / height));
	return { bytes, ns: Math.max(256, power((STEPS * (view.to - view.from + 1)) / width)), rows: Math.min(ROWS, bytes) };
}

function colourOf(css: string): [number, number, number] {
	const found = /(\d+)[, ]+(\d+)[, ]+(\d+)/.exec(css);
	return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : [128, 128, 128];
}

interface Palette {
	hues: [number, number, number][]; /* unknown, loads, stores, both, threads */
	plot: string;
	accent: string;
}

function paletteOf(element: Element): Palette {
	const css = resolver(element);
	const hues = ["var(--unknown)", "var(--load)", "var(--store)", "var(--both)", ...threadHues].map((one) => colourOf(css(one)));
	return { hues, plot: css("var(--plot)"), accent: css("var(--accent)") };
}

/** The tiles of one filter: received and requested ones, and a callback for a new one. */
class Tiles {
	kept = new Map<string, Kept>();
	most = new Map<string, number>(); /* of each level */
	private wanted: { key: string; what: Ask }[] = [];
	private asked = 0;
	private control = new AbortController();
	private clock = 0;
	constructor(
		private filter: Ask,
		private onTile: () => void,
	) {}

	static nameOf(level: Level): string {
		return `${level.bytes} ${level.ns}`;
	}

	get(level: Level, row: number, column: number): Kept | null {
		const key = `${Tiles.nameOf(level)} ${row} ${column}`;
		const found = this.kept.get(key);
		if (found) {
			found.used = ++this.clock;
			return found;
		}
		this.wanted = this.wanted.filter((one) => one.key !== key);
		this.wanted.push({
			key,
			what: {
				...this.filter,
				first: hex(row * level.bytes),
				last: hex((row + 1) * level.bytes - 1),
				rows: level.rows,
				from: column * level.ns,
				to: (column + 1) * level.ns - 1,
			},
		});
		return null;
	}

	/** Requests the tiles wanted since the last call, and no older ones. */
	load(level: Level): void {
		const name = Tiles.nameOf(level);
		this.wanted = this.wanted.filter((one) => one.key.startsWith(`${name} `) && !this.kept.has(one.key)).slice(-64);
		while (this.asked < MOST_ASKED && this.wanted.length > 0) {
			const { key, what } = this.wanted.pop()!;
			this.asked++;
			this.kept.set(key, { tile: null, canvas: null, drawnFor: 0, used: ++this.clock });
			ask<Tile>("heat", what, this.control.signal).then(
				(tile) => {
					this.kept.set(key, { tile, canvas: null, drawnFor: 0, used: ++this.clock });
					const most = tile.by_time.reduce((found, one) => Math.max(found, one[2]), 0);
					if (most > (this.most.get(name) ?? 0)) this.most.set(name, most);
					this.forget();
					this.asked--;
					this.onTile();
				},
				() => {
					this.kept.delete(key);
					this.asked--;
				},
			);
		}
	}

	private forget(): void {
		if (this.kept.size <= MOST_TILES) return;
		const oldest = [...this.kept].sort((a, b) => a[1].used - b[1].used).slice(0, MOST_TILES / 4);
		for (const [key, one] of oldest) if (one.tile) this.kept.delete(key);
	}

	end(): void {
		this.control.abort();
	}
}

/** Paints one pixel for each box. */
function paint(kept: Kept, rows: number, most: number, hues: [number, number, number][], coloursThreads: boolean): void {
	const canvas = kept.canvas ?? document.createElement("canvas");
	canvas.width = STEPS;
	canvas.height = rows;
	const drawing = canvas.getContext("2d")!;
	const image = drawing.createImageData(STEPS, rows);
	for (const [step, row, weight, kinds, column] of kept.tile!.by_time) {
		const hue = coloursThreads ? hues[4 + (column % threadHues.length)]! : (hues[kinds & 3] ?? hues[0]!);
		const at = 4 * ((rows - 1 - row) * STEPS + step);
		image.data.set(hue, at);
		image.data[at + 3] = Math.round(255 * (0.25 + 0.75 * Math.sqrt(Math.min(1, weight / most))));
	}
	drawing.putImageData(image, 0, 0);
	kept.canvas = canvas;
	kept.drawnFor = most;
}

interface Label {
	name: string;
	short: string;
	y: number;
	share: number;
}

/** The names of the objects in view, the heaviest if not all fit. */
function labelsOf(tiles: (Tile | null)[], view: View, height: number): Label[] {
	const found = new Map<string, { first: number; last: number; weight: number; short: string }>();
	let whole = 0;
	for (const tile of tiles) {
		for (const [name, first, last, weight, short] of tile?.names ?? []) {
			const [low, high] = [Math.max(Number(first), view.first), Math.min(Number(last), view.last)];
			if (low > high) continue;
			whole += weight;
			const known = found.get(name);
			if (known) Object.assign(known, { first: Math.min(known.first, low), last: Math.max(known.last, high), weight: known.weight + weight });
			else found.set(name, { first: low, last: high, weight, short });
		}
	}
	const labels: Label[] = [];
	for (const [name, one] of [...found].sort((a, b) => b[1].weight - a[1].weight)) {
		const middle = (one.first + one.last + 1) / 2;
		const y = height * (1 - (middle - view.first) / (view.last - view.first + 1));
		if (labels.every((other) => Math.abs(other.y - y) >= 16)) labels.push({ name, short: one.short, y, share: one.weight / (whole || 1) });
		if (labels.length >= height / 16) break;
	}
	return labels;
}

function clamp(view: View, end: number): View {
	const span = Math.min(LONGEST, Math.max(15, Math.round(view.last - view.first)));
	const time = Math.min(2 * end, Math.max(255, Math.round(view.to - view.from)));
	const first = Math.max(0, Math.round(view.first));
	const from = Math.max(0, Math.min(Math.round(view.from), Math.max(0, end - time / 4)));
	return { first, last: first + span, from, to: from + time };
}

export function viewOf(route: Route, end: number): View | null {
	const found = /^(0x[0-9a-f]+)-(0x[0-9a-f]+)$/.exec(route.params.get("map") ?? "");
	if (!found) return null;
	const from = Number(route.params.get("from") ?? 0);
	const to = Number(route.params.get("to") ?? end);
	const view = { first: Number(found[1]), last: Number(found[2]), from, to };
	return view.first < view.last && from < to ? clamp(view, end) : null;
}

const placeOf = (params: (string | null)[]) => params.join(" ");

export function HeatTiles({ route, whole }: { route: Route; whole: Heat }) {
	const isNarrow = useNarrow();
	const height = isNarrow ? 300 : 440;
	const end = Math.max(256, Math.ceil(whole.end) + 1);
	const given = viewOf(route, end)!;
	const view = useRef(given);
	/* The view in the page's address. If the picture was moved or zoomed since the address was written, it stays. */
	const inAddress = placeOf(["map", "from", "to"].map((one) => route.params.get(one)));
	const written = useRef(inAddress);
	const box = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const [width, setWidth] = useState(600);
	const [, redraw] = useState(0);
	const [tip, setTip] = useState<{ box: View; x: number; y: number; rank: number; weight: number } | null>(null);
	const drag = useRef<{ x: number; y: number; view: View; isBox: boolean; x1: number; y1: number } | null>(null);
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
	const frame = useRef(0);
	const palette = useRef<Palette | null>(null);
	const scheme = useScheme();
	const coloursThreads = route.params.get("colours") === "thread";
	const filter = { ...filterOf(route), map: null };
	const key = address("heat", filter);
	const tiles = useMemo(() => new Tiles(filter, () => schedule()), [key]);
	const shown = useRef<(Tile | null)[]>([]);
	const current = useRef({ tiles, width, coloursThreads });
	current.current = { tiles, width, coloursThreads };

	const draw = () => {
		frame.current = 0;
		const element = canvas.current;
		const drawing = element?.getContext("2d");
		if (!element || !drawing || !box.current) return;
		const now = view.current;
		const here = current.current;
		const ratio = devicePixelRatio || 1;
		if (element.width !== Math.round(here.width * ratio) || element.height !== Math.round(height * ratio)) {
			element.width = Math.round(here.width * ratio);
			element.height = Math.round(height * ratio);
		}
		drawing.setTransform(ratio, 0, 0, ratio, 0, 0);
		drawing.imageSmoothingEnabled = false;
		/* Reading a style in each frame would cause a layout in each. */
		palette.current ??= paletteOf(box.current);
		const { hues, plot, accent } = palette.current;
		drawing.fillStyle = plot;
		drawing.fillRect(0, 0, here.width, height);
		const level = levelOf(now, here.width, height);
		const most = here.tiles.most.get(Tiles.nameOf(level)) ?? 1;
		const [perByte, perNs] = [height / (now.last - now.first + 1), here.width / (now.to - now.from + 1)];
		shown.current = [];
		/* The tiles around the view are wanted first, because the last wanted are requested first. */
		const rows = [Math.floor(now.first / level.bytes), Math.floor(now.last / level.bytes)] as const;
		const columns = [Math.floor(now.from / level.ns), Math.floor(now.to / level.ns)] as const;
		for (const margin of [1, 0])
			for (let row = Math.max(0, rows[0] - margin); row <= rows[1] + margin; row++)
				for (let column = Math.max(0, columns[0] - margin); column <= columns[1] + margin; column++) {
					const kept = here.tiles.get(level, row, column);
					if (margin === 1 || !kept?.tile) continue;
					shown.current.push(kept.tile);
					if (!kept.canvas || kept.drawnFor < most / 1.2) paint(kept, level.rows, most, hues, here.coloursThreads);
					const x = (column * level.ns - now.from) * perNs;
					const y = height - ((row + 1) * level.bytes - now.first) * perByte;
					drawing.drawImage(kept.canvas!, x, y, level.ns * perNs, level.bytes * perByte);
				}
		here.tiles.load(level);
		const dragged = drag.current;
		if (dragged?.isBox) {
			drawing.strokeStyle = accent;
			drawing.strokeRect(Math.min(dragged.x, dragged.x1), Math.min(dragged.y, dragged.y1), Math.abs(dragged.x1 - dragged.x), Math.abs(dragged.y1 - dragged.y));
		}
		if (!dragged) redraw((n) => n + 1);
	};
	const schedule = () => {
		frame.current ||= requestAnimationFrame(draw);
	};
	const commit = (replace: boolean) => {
		const now = view.current;
		const place = { map: `${hex(now.first)}-${hex(now.last)}`, from: String(now.from), to: String(now.to) };
		written.current = placeOf(Object.values(place));
		change(route, place, replace);
	};
	const commitSoon = () => {
		clearTimeout(timer.current);
		timer.current = setTimeout(() => commit(true), 300);
	};
	const show = (next: View) => {
		view.current = clamp(next, end);
		setTip(null);
		schedule();
	};

	useEffect(() => {
		if (written.current === inAddress) return;
		written.current = inAddress;
		view.current = given;
		schedule();
	}, [inAddress]);
	useEffect(() => {
		palette.current = null;
		for (const one of tiles.kept.values()) one.canvas = null;
		schedule();
	}, [tiles, width, coloursThreads, scheme]);
	useEffect(() => () => tiles.end(), [tiles]);
	useEffect(() => {
		const observer = new ResizeObserver(() => setWidth(Math.max(120, box.current?.clientWidth ?? 600)));
		if (box.current) observer.observe(box.current);
		return () => {
			observer.disconnect();
			clearTimeout(timer.current);
			cancelAnimationFrame(frame.current);
		};
	}, []);

	const at = (event: PointerEvent | WheelEvent) => {
		const place = canvas.current!.getBoundingClientRect();
		return { x: event.clientX - place.left, y: event.clientY - place.top };
	};
	const move = (from: View, x: number, y: number): View => {
		const dt = (x / width) * (from.to - from.from);
		const da = (y / height) * (from.last - from.first);
		return { first: from.first + da, last: from.last + da, from: from.from - dt, to: from.to - dt };
	};
	const zoom = (factor: number, x: number, y: number, ofTime: boolean, ofAddresses: boolean) => {
		const now = view.current;
		const t = now.from + (x / width) * (now.to - now.from);
		const a = now.last - (y / height) * (now.last - now.first);
		const f = (middle: number, one: number, is: boolean) => (is ? middle + (one - middle) * factor : one);
		show({ first: f(a, now.first, ofAddresses), last: f(a, now.last, ofAddresses), from: f(t, now.from, ofTime), to: f(t, now.to, ofTime) });
		commitSoon();
	};
	const rest = (x: number, y: number) => {
		const now = view.current;
		const level = levelOf(now, width, height);
		const t = now.from + (x / width) * (now.to - now.from + 1);
		const a = now.last - (y / height) * (now.last - now.first + 1);
		const [row, column] = [Math.floor(a / level.bytes), Math.floor(t / level.ns)];
		const tile = tiles.kept.get(`${Tiles.nameOf(level)} ${row} ${column}`)?.tile;
		const [rowBytes, stepNs] = [level.bytes / level.rows, level.ns / STEPS];
		const [inRow, inStep] = [Math.floor((a - row * level.bytes) / rowBytes), Math.floor((t - column * level.ns) / stepNs)];
		const cell = tile?.by_time.find((one) => one[0] === inStep && one[1] === inRow);
		if (!cell) return;
		let rank = 1;
		for (const one of shown.current) for (const other of one?.by_time ?? []) if (other[2] > cell[2]) rank++;
		const first = row * level.bytes + inRow * rowBytes;
		const from = column * level.ns + inStep * stepNs;
		setTip({ box: { first, last: first + rowBytes - 1, from, to: from + stepNs }, x, y, rank, weight: cell[2] });
	};
	const keys: Record<string, () => void> = {
		ArrowLeft: () => show(move(view.current, width / 8, 0)),
		ArrowRight: () => show(move(view.current, -width / 8, 0)),
		ArrowUp: () => show(move(view.current, 0, height / 8)),
		ArrowDown: () => show(move(view.current, 0, -height / 8)),
		"+": () => zoom(0.5, width / 2, height / 2, true, true),
		"=": () => zoom(0.5, width / 2, height / 2, true, true),
		"-": () => zoom(2, width / 2, height / 2, true, true),
	};

	const now = view.current;
	const labels = labelsOf(shown.current, now, height);
	const unit = whole.time_factor;
	const byThread = useAnswer<Tile>("heat", { ...filter, first: hex(given.first), last: hex(given.last), rows: ROWS, from: given.from, to: given.to });
	return (
		<figure class="heat">
			<p class="faint">
				<span class="mono">
					{hex(now.first)}–{hex(now.last)}
				</span>
				, {whole.time_title ?? "time"}: {(now.from * unit).toPrecision(5)}–{(now.to * unit).toPrecision(5)}. Drag to move, Shift and drag
				to choose a part, wheel to zoom (Ctrl: time only, Shift: addresses only); arrow keys, + and −.{" "}
				<button class="quiet" onClick={() => savePicture(canvas.current!, "lode-addresses.png")}>Save as PNG</button>
			</p>
			<div class="heat-grid" style={isNarrow ? {} : { gridTemplateColumns: "210px minmax(6rem, 1fr) 4fr" }}>
				{!isNarrow && (
					<div class="segments" style={{ height: `${height}px` }}>
						{labels.map((one) => (
							<span class="tile-label" style={{ top: `${Math.max(0, Math.min(height - 16, one.y - 8))}px` }} title={`${one.name} ${share(one.share)}`}>
								<bdi>{one.short}</bdi> <small>{share(one.share)}</small>
							</span>
						))}
					</div>
				)}
				{!isNarrow && <ThreadBars tile={byThread.data} height={height} />}
				<div
					class="picture-box tiles"
					ref={box}
					tabIndex={0}
					role="group"
					aria-label="Addresses over time. Arrow keys move, plus and minus zoom."
					style={{ height: `${height}px` }}
					onKeyDown={(event) => {
						const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
						if (!act) return;
						event.preventDefault();
						event.stopPropagation();
						act();
						commitSoon();
					}}
				>
					<canvas
						ref={canvas}
						role="img"
						aria-label={`Addresses over time: ${labels.slice(0, 5).map((one) => one.short).join(", ")}`}
						style={{ width: `${width}px`, height: `${height}px` }}
						onWheel={(event) => {
							event.preventDefault();
							const { x, y } = at(event);
							zoom(Math.exp(Math.max(-1, Math.min(1, (event.deltaY || event.deltaX) / 400))), x, y, !event.shiftKey, !event.ctrlKey);
						}}
						onPointerDown={(event) => {
							const { x, y } = at(event);
							canvas.current?.setPointerCapture(event.pointerId);
							drag.current = { x, y, view: view.current, isBox: event.shiftKey, x1: x, y1: y };
							setTip(null);
						}}
						onPointerMove={(event) => {
							const { x, y } = at(event);
							clearTimeout(timer.current);
							const dragged = drag.current;
							if (!dragged) {
								setTip(null);
								timer.current = setTimeout(() => rest(x, y), 150);
								return;
							}
							Object.assign(dragged, { x1: x, y1: y });
							if (!dragged.isBox) view.current = clamp(move(dragged.view, x - dragged.x, y - dragged.y), end);
							schedule();
						}}
						onPointerUp={(event) => {
							const dragged = drag.current;
							drag.current = null;
							canvas.current?.releasePointerCapture(event.pointerId);
							if (!dragged) return;
							const { view: from, x, y, x1, y1 } = dragged;
							if (dragged.isBox && Math.abs(x1 - x) > 6 && Math.abs(y1 - y) > 6) {
								const time = (px: number) => from.from + (px / width) * (from.to - from.from);
								const place = (px: number) => from.last - (px / height) * (from.last - from.first);
								view.current = clamp({ first: place(Math.max(y, y1)), last: place(Math.min(y, y1)), from: time(Math.min(x, x1)), to: time(Math.max(x, x1)) }, end);
							}
							schedule();
							if (x !== x1 || y !== y1) commit(false);
						}}
						onPointerLeave={() => {
							clearTimeout(timer.current);
							setTip(null);
						}}
					/>
					{tip && (
						<Tip route={route} rank={tip.rank} x={tip.x} y={tip.y} width={width}
							conditions={[`address in ${hex(tip.box.first)}..${hex(tip.box.last)}`, `time in ${Math.floor(tip.box.from)}..${Math.floor(tip.box.to)}`]}>
							{hex(tip.box.first)}–{hex(tip.box.last)}
							{`\n${share(tip.weight / (whole.weight || 1))} of the weight`}
						</Tip>
					)}
				</div>
			</div>
			<p class="axis faint" style={isNarrow ? {} : { marginLeft: "calc(210px + 20%)" }}>
				{[0, 0.5, 1].map((part) => (
					<span style={{ left: `${100 * part}%` }}>{Number(((now.from + part * (now.to - now.from)) * unit).toPrecision(4))}</span>
				))}
			</p>
			{isNarrow && labels.length > 0 && <p class="faint">{labels.slice(0, 6).map((one) => `${one.short} ${share(one.share)}`).join(", ")}</p>}
			<figcaption class="legend">
				{coloursThreads ? (
					<span>a colour for each thread</span>
				) : (
					<>
						<i class="swatch load" /> loads <i class="swatch store" /> stores <i class="swatch both" /> both
					</>
				)}
				; stronger is more. To scale: nothing is cut out.
			</figcaption>
		</figure>
	);
}

/** The accesses of each thread to the range in view, by row. */
function ThreadBars({ tile, height }: { tile: Tile | null; height: number }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	useEffect(() => {
		const element = canvas.current;
		const drawing = element?.getContext("2d");
		if (!element || !drawing || !tile) return;
		const columns = Math.max(1, Math.ceil(tile.threads.length / tile.threads_per_column));
		const rows = Math.max(1, tile.rows.length);
		element.width = columns;
		element.height = rows;
		const css = resolver(element.parentElement!);
		const hues = ["var(--unknown)", "var(--load)", "var(--store)", "var(--both)"].map((one) => colourOf(css(one)));
		const most = tile.by_thread.reduce((found, [, , load, store, unknown]) => Math.max(found, load + store + unknown), 0) || 1;
		const image = drawing.createImageData(columns, rows);
		for (const [column, row, load, store, unknown] of tile.by_thread) {
			const at = 4 * ((rows - 1 - row) * columns + column);
			image.data.set(hues[(load > 0 ? 1 : 0) | (store > 0 ? 2 : 0)]!, at);
			image.data[at + 3] = Math.round(255 * (0.25 + 0.75 * Math.sqrt((load + store + unknown) / most)));
		}
		drawing.putImageData(image, 0, 0);
	}, [tile]);
	return (
		<div class="picture-box" style={{ height: `${height}px` }}>
			<canvas ref={canvas} class="pixels" role="img" aria-label={`The same by thread: ${tile?.threads.length ?? 0} threads`}
				title={tile?.threads.slice(0, 16).join("\n")} style={{ width: "100%", height: `${height}px` }} />
		</div>
	);
}
