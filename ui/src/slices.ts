// SPDX-License-Identifier: MIT
//
// What threads did over time: running, waiting for a processor, waiting by reason. As a picture each column of a
// thread's row has the shares of its time, the running part below.
import type { Threads } from "./api";

export type Thread = Threads["threads"][number];
export type Slice = Thread["slices"][number]; /* begin, length, kind, group, time, time on the critical path: µs */

/** Kinds of one colour, by what ends them. */
interface Family {
	name: string; /* of its colour, "--did-lock" */
	kinds: string[];
}
/* Told apart by all kinds of colour vision, in light and dark: the least distance is 12 in Oklab × 100. */
export const FAMILIES: Family[] = [
	{ name: "running", kinds: ["running"] },
	{ name: "processor", kinds: ["processor"] },
	{ name: "lock", kinds: ["lock"] },
	{ name: "thread", kinds: ["condition", "join", "child"] },
	{ name: "time", kinds: ["sleep", "poll"] },
	{ name: "disk", kinds: ["read", "write", "sync", "page"] },
	{ name: "peer", kinds: ["pipe", "socket"] },
	{ name: "other", kinds: ["stopped", "other", "unseen"] },
];
/** Waits for work, whatever for. */
export const IDLE = FAMILIES.length;
export const COLOURS = [...FAMILIES.map((one) => `var(--did-${one.name})`), "var(--did-idle)"];

export function familyOf(data: Threads, slice: Slice): number {
	if (slice[3] >= 0 && data.idle[slice[3]]) return IDLE;
	return FAMILIES.findIndex((one) => one.kinds.includes(data.kinds[slice[2]]!));
}

/** The part of a slice that lies in a column of `per` µs. */
const within = ([begin, length]: Slice, column: number, per: number) =>
	Math.max(0, Math.min(begin + length, (column + 1) * per) - Math.max(begin, column * per)) / length;

/** For each column of a row the µs of each family, and those on the critical path. */
export function columnsOf(data: Threads, thread: Thread, width: number): { did: Float64Array[]; path: Float64Array } {
	const per = (data.seconds * 1e6) / width;
	const did = COLOURS.map(() => new Float64Array(width));
	const path = new Float64Array(width);
	for (const slice of thread.slices) {
		const sums = did[familyOf(data, slice)];
		const last = Math.min(width - 1, Math.floor((slice[0] + slice[1]) / per));
		for (let column = Math.floor(slice[0] / per); column <= last; column++) {
			const part = within(slice, column, per);
			if (sums) sums[column]! += part * slice[4];
			path[column]! += part * slice[5];
		}
	}
	return { did, path };
}

/** The slice under a point, `up` of the row's height above its foot: that with most time of its colour there. */
export function sliceAt(data: Threads, thread: Thread, column: number, width: number, up: number): Slice | undefined {
	const per = (data.seconds * 1e6) / width;
	const here = thread.slices.filter((one) => within(one, column, per) > 0);
	const timeOf = (one: Slice) => within(one, column, per) * one[4];
	let foot = 0;
	for (let family = 0; family < COLOURS.length; family++) {
		const those = here.filter((one) => familyOf(data, one) === family);
		foot += those.reduce((sum, one) => sum + timeOf(one), 0) / per;
		if (those.length > 0 && up <= foot + 0.001) return those.sort((a, b) => timeOf(b) - timeOf(a))[0];
	}
	return undefined;
}

/** Draws a row of `width` by `height` pixels at `top`; gives its time on the critical path by column. */
export function drawRow(drawing: CanvasRenderingContext2D, data: Threads, thread: Thread, row: { top: number; width: number; height: number }, css: (colour: string) => string): Float64Array {
	const width = Math.floor(row.width);
	const per = (data.seconds * 1e6) / width;
	const { did, path } = columnsOf(data, thread, width);
	const foot = new Float64Array(width).fill(row.top + row.height);
	did.forEach((sums, family) => {
		drawing.fillStyle = css(COLOURS[family]!);
		sums.forEach((sum, column) => {
			if (!(sum > 0)) return;
			const tall = Math.min(foot[column]! - row.top, (row.height * sum) / per);
			foot[column]! -= tall;
			drawing.fillRect(column, foot[column]!, 1, tall);
		});
	});
	return path;
}

const LEAST_STAY = 4; /* pixels in a row: a line to it and back would hide what is below */

/** The critical path, as a line under the rows that have most of it, and between them where it stays for a while. */
export function drawPath(drawing: CanvasRenderingContext2D, paths: Float64Array[], foot: (row: number) => number, css: (colour: string) => string): void {
	const stays: { row: number; from: number; to: number }[] = [];
	for (let column = 0; column < (paths[0]?.length ?? 0); column++) {
		let most = -1;
		paths.forEach((one, row) => {
			if (one[column]! > 0 && (most < 0 || one[column]! > paths[most]![column]!)) most = row;
		});
		const last = stays[stays.length - 1];
		if (most >= 0 && last?.row === most && last.to === column) last.to++;
		else if (most >= 0) stays.push({ row: most, from: column, to: column + 1 });
	}
	const [along, across] = [new Path2D(), new Path2D()];
	stays.forEach((one, i) => {
		const last = stays[i - 1];
		along.moveTo(one.from, foot(one.row));
		along.lineTo(one.to, foot(one.row));
		if (last?.to !== one.from || Math.min(last.to - last.from, one.to - one.from) < LEAST_STAY) return;
		across.moveTo(one.from, foot(last.row));
		across.lineTo(one.from, foot(one.row));
	});
	for (const [path, colour, size] of [[across, "var(--page)", 3.5], [across, "var(--text)", 1.5], [along, "var(--text)", 2]] as const) {
		drawing.strokeStyle = css(colour);
		drawing.lineWidth = size;
		drawing.stroke(path);
	}
}
