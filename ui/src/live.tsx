// SPDX-License-Identifier: MIT
//
// The live view of a recorded program: threads × addresses, the findings so far, the hottest ranges
// and functions, from a stream of pictures (server-sent events).
import { useEffect, useRef, useState } from "preact/hooks";
import { address, Failure, type LivePicture, reloadAll, type Served, setSampling } from "./api";
import { resolver } from "./colours";
import { amount, count, share, shortOf, some } from "./format";
import { Bar, Empty, Loading, Name, Problem, savePicture } from "./parts";
import { change, linkTo, type Route } from "./state";

const ROW = 18;

const CHARACTER = 7; /* pixels */
const LEVELS = 3; /* lines of names */

/**
 * Places names below a picture, each on the first line with room at the beginning of its stretch. Names that
 * do not fit are left out.
 */
function placeNames(names: { x: number; name: string }[], width: number) {
	const ends = new Array<number>(LEVELS).fill(0);
	return names.flatMap((one) => {
		const text = one.name.slice(one.name.lastIndexOf("/") + 1);
		const needs = Math.min(width, (text.length + 1) * CHARACTER);
		const left = Math.max(0, Math.min(one.x, width - needs));
		const level = ends.findIndex((end) => end <= left);
		if (level < 0) return [];
		ends[level] = left + needs;
		return [{ ...one, text, left, level }];
	});
}

/** The meanings of the names of memory without a file. */
const words: Record<string, string> = {
	"[heap]": "the heap of the C library that grows in place",
	"[anon]": "memory that the program asked the kernel for, without a file: large allocations, other threads' heaps",
	"[stack]": "the stack of the first thread",
};

function useStream(query: string, isPaused: boolean): { picture: LivePicture | null; failure: Failure | null } {
	const [picture, setPicture] = useState<LivePicture | null>(null);
	const [failure, setFailure] = useState<Failure | null>(null);
	const isOver = useRef(false);
	useEffect(() => {
		if (isPaused || isOver.current) return;
		const source = new EventSource(query);
		source.addEventListener("picture", (event) => {
			const next = JSON.parse((event as MessageEvent<string>).data) as LivePicture;
			isOver.current = next.is_over;
			if (next.is_over) source.close();
			setFailure(null);
			setPicture(next);
		});
		source.onerror = () => {
			if (source.readyState === EventSource.CLOSED && !isOver.current)
				setFailure(new Failure("gone", "lode no longer sends pictures: it has ended, or the connection is lost"));
		};
		return () => source.close();
	}, [query, isPaused]);
	return { picture, failure };
}

/** A thread by its name, which says more than its number. */
function threadTitle(thread: LivePicture["threads"][number]): string {
	return thread.name ? `${thread.name} ${thread.label}` : thread.label;
}

/** Without the rows of threads that have ended, unless the program has. */
function living(picture: LivePicture): LivePicture {
	const ended = new Set(picture.threads.filter((one) => one.has_ended).map((one) => one.label));
	return { ...picture, rows: picture.rows.filter((row) => row.thread === null || !ended.has(row.thread)) };
}

function Histogram({ picture }: { picture: LivePicture }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const [width, setWidth] = useState(700);
	const height = Math.max(1, picture.rows.length) * ROW;
	const columns = Math.max(1, picture.columns.length);
	useEffect(() => {
		const observer = new ResizeObserver(() => setWidth(Math.max(120, box.current?.clientWidth ?? 700)));
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		const element = canvas.current;
		const drawing = element?.getContext("2d");
		if (!element || !drawing || !box.current) return;
		const ratio = devicePixelRatio || 1;
		element.width = width * ratio;
		element.height = height * ratio;
		drawing.setTransform(ratio, 0, 0, ratio, 0, 0);
		const css = resolver(box.current);
		drawing.fillStyle = css("var(--plot)");
		drawing.fillRect(0, 0, width, height);
		const hot = css("var(--heat)");
		const step = width / columns;
		picture.rows.forEach((row, y) => {
			const most = row.thread === null ? Math.max(...row.columns, 0) : picture.hottest;
			row.columns.forEach((weight, x) => {
				if (!(weight > 0)) return;
				drawing.globalAlpha = 0.2 + 0.8 * Math.sqrt(Math.min(1, weight / (most || 1)));
				drawing.fillStyle = hot;
				drawing.fillRect(x * step, y * ROW + 1, Math.max(1, step), ROW - 2);
			});
		});
		drawing.globalAlpha = 1;
		drawing.strokeStyle = css("var(--faint)");
		drawing.beginPath();
		picture.columns.forEach((one, x) => {
			if (x === 0 || picture.columns[x - 1]![2] === one[2]) return;
			drawing.moveTo(Math.round(x * step) + 0.5, 0);
			drawing.lineTo(Math.round(x * step) + 0.5, height);
		});
		drawing.stroke();
	}, [picture, width]);
	/* Where each stretch of one mapping begins. */
	const names = placeNames(
		picture.columns.flatMap((one, x) =>
			x === 0 || picture.columns[x - 1]![2] !== one[2] ? [{ x: (x * width) / columns, name: picture.extents[one[2]] ?? "?" }] : [],
		),
		width,
	);
	return (
		<div class="live-grid">
			<div class="live-threads">
				{picture.rows.map((row) => {
					const thread = picture.threads.find((one) => one.label === row.thread);
					return (
						<span style={{ height: `${ROW}px` }} class={thread?.has_ended ? "faint" : ""}>
							{row.thread === null ? "all" : thread ? threadTitle(thread) : row.thread}
						</span>
					);
				})}
			</div>
			<div>
				<div class="picture-box" ref={box} style={{ height: `${height}px` }}>
					<canvas ref={canvas} role="img" style={{ width: `${width}px`, height: `${height}px` }}
						aria-label={`Accesses of ${some(picture.rows.length, "row")} of threads by ${some(picture.columns.length, "stretch")} of addresses`.replace("stretchs", "stretches")} />
				</div>
				<p class="axis faint live-names" style={{ height: `${1.2 * (1 + Math.max(0, ...names.map((one) => one.level)))}rem` }}>
					{names.map((one) => (
						<span style={{ left: `${one.left}px`, top: `${1.2 * one.level}rem` }} title={words[one.name] ? `${one.name}: ${words[one.name]}` : one.name}>
							<bdi>{one.text}</bdi>
						</span>
					))}
				</p>
			</div>
		</div>
	);
}

/** The findings of a fit of the samples so far, every few seconds. */
function FindingsSoFar({ findings }: { findings: LivePicture["findings"] }) {
	const rows = findings?.rows ?? [];
	const most = Math.max(...rows.map((one) => one.time + one.time_error), 0.01);
	return (
		<section class="live-findings">
			<h2>
				Findings{" "}
				{findings && <small class="faint">of the first {some(Math.round(findings.samples), "sample")}: {share(findings.explained)} of the time is explained</small>}
			</h2>
			{!findings && <Empty>They come some seconds after the first samples.</Empty>}
			{findings && rows.length === 0 && <Empty>No pattern and no place costs more than the rest, as far as so few samples can tell.</Empty>}
			{rows.length > 0 && (
				<table>
					<thead>
						<tr>
							<th scope="col">time</th>
							<th scope="col" class="number optional">places</th>
							<th scope="col" class="number optional">functions</th>
							<th scope="col">pattern, costliest in</th>
						</tr>
					</thead>
					<tbody>
						{rows.map((one) => (
							<tr>
								<td class="share">
									<Bar value={one.time} error={one.time_error} most={most} />
									<b>{share(one.time)}</b> <span class="faint">±{(100 * one.time_error).toFixed(1)}</span>
								</td>
								<td class="number optional">{count(one.places)}</td>
								<td class="number optional">{count(one.functions)}</td>
								<td>
									<bdi class="pattern" title={one.text}>{shortOf(one, "text")}</bdi> <Name of={one} as="function" none="" faint />
								</td>
							</tr>
						))}
					</tbody>
				</table>
			)}
		</section>
	);
}

export function LiveView({ route, served }: { route: Route; served: Served }) {
	const get = (name: string) => route.params.get(name);
	const [isPaused, setPaused] = useState(false);
	const [showsEnded, setEnded] = useState(false);
	const query = address("live", { granularity: get("granularity"), measure: get("measure"), thread: get("thread") });
	const { picture, failure } = useStream(query, isPaused || served.live === null);
	const isOver = picture?.is_over ?? served.live?.is_over ?? false;
	const ended = picture?.threads.filter((one) => one.has_ended).length ?? 0;
	const hidesEnded = !showsEnded && !isOver;
	if (served.live === null)
		return (
			<Empty>
				Nothing is being recorded. <code>lode memory record --serve -- PROGRAM</code> shows a program while it runs.
			</Empty>
		);
	return (
		<>
			<p class="facts" role="status">
				<b class="program">
					<bdi>{served.live.program}</bdi>
				</b>
				{picture && (
					<>
						<span>{isOver ? "has ended" : picture.is_sampling ? "is being sampled" : "runs; sampling is stopped"}</span>
						<span>{amount(picture.seconds)} s</span>
						<span>
							{some(picture.samples, "sample")}
							{!isOver && `, ${count(picture.samples_per_second)} a second`}
						</span>
						{picture.lost > 0 && (
							<span>
								{share(picture.lost / picture.accesses)} of loads and stores without an address
								{picture.reason && `, most: ${picture.reason}`}
								{picture.lost_threads && `; of threads: ${picture.lost_threads}`}
							</span>
						)}
						{picture.dropped > 0 && <span>{count(picture.dropped)} records not shown here, but in the recording</span>}
					</>
				)}
			</p>
			<p class="tabs">
				<button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)} disabled={isOver}>
					{isPaused ? "Go on" : "Pause the picture"}
				</button>{" "}
				{picture && !isOver && (
					<button onClick={() => void setSampling(!picture.is_sampling)}>{picture.is_sampling ? "Stop sampling" : "Start sampling"}</button>
				)}{" "}
				<label>
					cells of{" "}
					<select value={get("granularity") ?? "page"} onChange={(event) => change(route, { granularity: (event.target as HTMLSelectElement).value })}>
						{["page", "line", "word", "64K", "2M"].map((one) => (
							<option value={one}>{one}</option>
						))}
					</select>
				</label>{" "}
				<label>
					by{" "}
					<select value={get("measure") ?? "weight"} onChange={(event) => change(route, { measure: (event.target as HTMLSelectElement).value })}>
						{["weight", "loads", "stores"].map((one) => (
							<option value={one}>{one}</option>
						))}
					</select>
				</label>{" "}
				<label>
					thread{" "}
					<select value={get("thread") ?? ""} onChange={(event) => change(route, { thread: (event.target as HTMLSelectElement).value })}>
						<option value="">all</option>
						{(picture?.threads ?? []).map((one) => (
							<option value={String(one.number)}>
								{threadTitle(one)}
							</option>
						))}
					</select>
				</label>{" "}
				{picture && <button class="quiet" onClick={() => savePicture(document.querySelector<HTMLCanvasElement>(".live-grid canvas")!, "lode-live.png")}>Save as PNG</button>}
			</p>
			{failure && <Problem failure={failure} route={route} />}
			{isOver && (served.profiles.length > 0 ? <AfterTheEnd route={route} /> : <OnlyRecorded />)}
			{!picture && !failure && <Loading what="Waiting for the first picture" />}
			{picture && picture.columns.length > 0 && <Histogram picture={hidesEnded ? living(picture) : picture} />}
			{picture && ended > 0 && !isOver && (
				<p>
					<label class="check">
						<input type="checkbox" checked={!hidesEnded} onChange={(event) => setEnded((event.target as HTMLInputElement).checked)} />
						also the {some(ended, "thread")} that {ended === 1 ? "has" : "have"} ended
					</label>
				</p>
			)}
			{picture && <FindingsSoFar findings={picture.findings} />}
			{picture && (
				<div class="two-tables">
					<section>
						<h2>Functions</h2>
						{picture.functions.length === 0 ? (
							<Empty>No sample yet.</Empty>
						) : (
							<table>
								<thead>
									<tr>
										<th scope="col">weight</th>
										<th scope="col">function</th>
									</tr>
								</thead>
								<tbody>
									{picture.functions.slice(0, 12).map((one) => (
										<tr>
											<td class="share">
												<Bar value={one.share} most={picture.functions[0]!.share} /> {share(one.share)}
											</td>
											<td>
												<Name of={one} as="name" none="(unknown code)" />
											</td>
										</tr>
									))}
								</tbody>
							</table>
						)}
					</section>
					{picture.ranges.length > 0 && (
						<section>
							<h2>Addresses</h2>
							<table>
								<thead>
									<tr>
										<th scope="col">{get("measure") ?? "weight"}</th>
										<th scope="col">from</th>
										<th scope="col" class="number optional">loads</th>
										<th scope="col" class="number optional">stores</th>
										<th scope="col" class="optional">threads</th>
										<th scope="col">object, function</th>
									</tr>
								</thead>
								<tbody>
									{picture.ranges.slice(0, 12).map((one) => (
										<tr>
											<td class="share">
												<Bar value={one.share} most={picture.ranges[0]!.share} /> {share(one.share)}
											</td>
											<td class="mono">{one.address}</td>
											<td class="number optional">{count(one.loads)}</td>
											<td class="number optional">{count(one.stores)}</td>
											<td class="optional">{one.threads.join(", ")}{one.has_more_threads ? " …" : ""}</td>
											<td>
												<Name of={one} as="object" />, <Name of={one} as="function" faint />
											</td>
										</tr>
									))}
								</tbody>
							</table>
						</section>
					)}
				</div>
			)}
			{picture?.is_stall_weighted && (
				<footer class="quality">
					<p>The weight is the time that was waited, not the number of accesses.</p>
				</footer>
			)}
		</>
	);
}

/** lode record makes no profile. */
function OnlyRecorded() {
	return (
		<p role="status">
			The program has ended; what was sampled is in the file that <code>lode record</code> named. <code>lode import FILE -o x.lode</code> makes a
			profile of it, which <code>lode serve x.lode</code> shows.
		</p>
	);
}

/** The profile is made when the program has ended. */
function AfterTheEnd({ route }: { route: Route }) {
	const [isThere, setThere] = useState(false);
	const [failure, setFailure] = useState<Failure | null>(null);
	useEffect(() => {
		const timer = setInterval(async () => {
			const served = await reloadAll().catch((error) => {
				if (error instanceof Failure) setFailure(error);
				clearInterval(timer);
				return null;
			});
			if (served?.profiles[0] && served.profiles[0].fault === null) {
				setThere(true);
				dispatchEvent(new Event("served"));
				clearInterval(timer);
			}
		}, 700);
		return () => clearInterval(timer);
	}, []);
	if (failure) return <Problem failure={failure} route={route} />;
	return isThere ? (
		<p role="status">
			The profile is there:{" "}
			<a href={linkTo("memory", route)}>memory</a>, <a href={linkTo("code", route)}>code</a>, <a href={linkTo("findings", route)}>findings</a>.
		</p>
	) : (
		<p role="status">The program has ended; the profile is being made.</p>
	);
}
