// SPDX-License-Identifier: MIT
//
// Address traces replayed through caches, as in lode trace simulate: curves of misses by size, caches,
// misses over time, and misses by parts of the program.
import { useMemo } from "preact/hooks";
import { address, type Ask, type Cache, type Misses, type Served, type TraceResults, useAnswer } from "./api";
import { amount, count, share, some } from "./format";
import { more, MoreOptions, without } from "./options";
import { Bar, Empty, Export, Field, Filters, Footer, Loading, Name, Problem } from "./parts";
import { Plot } from "./plot";
import { change, linkTo, type Route } from "./state";

const STRETCHES = 60;

export function bytes(value: number): string {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	for (; value >= 1024 && i < units.length - 1; i++) value /= 1024;
	return `${amount(value).replace(/\.0+$/, "")} ${units[i]}`;
}

const sum = (kinds: Record<string, number>) => Object.values(kinds).reduce((all, one) => all + one, 0);
const percent = (value: number) => value === 0 ? "0 %" : `${(100 * value).toFixed(value < 0.01 ? 3 : value < 0.1 ? 2 : 1)} %`;

function Curves({ route }: { route: Route }) {
	const of = route.params.get("of") ?? "data";
	const line = route.params.get("line") ?? "64";
	const what: Ask = { trace: route.params.get("trace"), curve: of === "both" ? ["data", "instructions"] : [of], line, ...more(route) };
	const { data, error, isLoading } = useAnswer<TraceResults>("trace-simulate", what);
	const plotted = useMemo(() => {
		const curves = data?.curves ?? [];
		const x = [...new Set(curves.flatMap((one) => one.points.map((point) => point.bytes)))].filter((one) => one > 0).sort((a, b) => a - b);
		const lines = curves.map((curve) => {
			const known = new Map(curve.points.map((point) => [point.bytes, point.miss_ratio]));
			/* Beyond the largest size of a curve, its last miss ratio holds. */
			let last: number | null = null;
			return { name: `${curve.of}, lines of ${curve.line_bytes} bytes`, values: x.map((one) => (last = known.get(one) ?? last)) };
		});
		return { x, lines };
	}, [data]);
	const reuses = useMemo(() => {
		const curves = data?.curves ?? [];
		const x = [...new Set(curves.flatMap((one) => one.reuses.map((bin) => Math.max(1, bin.from))))].sort((a, b) => a - b);
		const lines = curves.map((curve) => {
			const known = new Map(curve.reuses.map((bin) => [Math.max(1, bin.from), bin.accesses / (curve.accesses || 1)]));
			return { name: curve.of, values: x.map((one) => known.get(one) ?? 0) };
		});
		return { x, lines };
	}, [data]);
	return (
		<>
			<p class="tabs">
				<label>
					curves of{" "}
					<select value={of} onChange={(event) => change(route, { of: (event.target as HTMLSelectElement).value })}>
						{["data", "instructions", "both", "all"].map((one) => (
							<option value={one}>{one === "both" ? "data, and instructions" : one === "all" ? "data and instructions together" : one}</option>
						))}
					</select>
				</label>{" "}
				<label>
					lines of{" "}
					<select value={line} onChange={(event) => change(route, { line: (event.target as HTMLSelectElement).value })}>
						{["32", "64", "128", "256", "4096"].map((one) => (
							<option value={one}>{one} bytes</option>
						))}
					</select>
				</label>{" "}
				<Export csv={address("trace-simulate", { ...what, format: "csv" })} json={address("trace-simulate", what)} />
			</p>
			{error && <Problem failure={error} route={route} />}
			{!data && isLoading && <Loading what="Replaying the trace" />}
			{data && plotted.x.length === 0 && <Empty>The trace has no accesses of this kind.</Empty>}
			{data && plotted.x.length > 0 && (
				<>
					<Plot title="Misses of fully associative LRU caches, by size" x={plotted.x} xTitle="size" xText={bytes} isLog2 lines={plotted.lines}
						yText={percent} isStepped />
					{reuses.x.length > 1 && (
						<Plot title="Reuses of a line, by the number of other lines used in between" x={reuses.x} xTitle="distance, from" xText={count} isLog2
							lines={reuses.lines} yText={percent} />
					)}
					<details>
						<summary>The same as a table</summary>
						<table>
							<thead>
								<tr>
									<th scope="col" class="number">size</th>
									{plotted.lines.map((one) => (
										<th scope="col" class="number">{one.name}</th>
									))}
								</tr>
							</thead>
							<tbody>
								{plotted.x.map((one, i) => (
									<tr>
										<td class="number">{bytes(one)}</td>
										{plotted.lines.map((line) => (
											<td class="number">{line.values[i] === null ? "–" : percent(line.values[i]!)}</td>
										))}
									</tr>
								))}
							</tbody>
						</table>
					</details>
				</>
			)}
			{data && <TraceFacts data={data} />}
		</>
	);
}

function TraceFacts({ data }: { data: TraceResults }) {
	return (
		<footer class="quality">
			<p>
				<bdi>{data.program ?? data.trace}</bdi>: {some(data.references, "reference")}, {some(data.instructions, "instruction")}.
				{data.damage && ` The file is damaged: ${data.damage}; this is of what is whole.`}
			</p>
		</footer>
	);
}

function CacheField({ route }: { route: Route }) {
	return (
		<Filters set={["cache", "classify"].filter((name) => route.params.get(name)).length}>
			<Field id="search" label="caches" value={route.params.getAll("cache").join(" ")} placeholder="host" wide
				hint="a preset (host, cachegrind, skylake-server, zen3, cortex-a72, apple-m1, also with parts: host,cores=4) or a description such as i1=32K:8:64,d1=8K..64K:8:64; several with a space between"
				onChange={(value) => change(route, { cache: value.split(/\s+/) }, true)} />
			<label class="check">
				<input type="checkbox" checked={route.params.get("classify") === "1"}
					onChange={(event) => change(route, { classify: (event.target as HTMLInputElement).checked ? "1" : null })} />
				classify misses
			</label>
		</Filters>
	);
}

function Caches({ route }: { route: Route }) {
	const caches = route.params.getAll("cache");
	const what: Ask = {
		trace: route.params.get("trace"),
		cache: caches,
		classify: route.params.get("classify"),
		"over-time": STRETCHES,
		...more(route),
	};
	const { data, error, isLoading } = useAnswer<TraceResults>("trace-simulate", what);
	const times = useMemo(() => {
		const all = data?.times ?? [];
		const x = all.map((one) => one.first_reference);
		const isMany = (data?.hierarchies.length ?? 0) > 1;
		const lines = (all[0]?.caches ?? []).slice(0, 24).map((one, i) => ({
			name: isMany ? `${one.hierarchy} ${one.name}` : one.name,
			values: all.map((time) => {
				const cache = time.caches[i]!;
				return cache.accesses > 0 ? cache.misses / cache.accesses : null;
			}),
		}));
		return { x, lines };
	}, [data]);
	const classes = Object.keys(data?.hierarchies[0]?.caches[0]?.classes ?? {}) as (keyof NonNullable<Cache["classes"]>)[];
	const most = Math.max(...(data?.hierarchies ?? []).flatMap((one) => one.caches.map((cache) => cache.miss_ratio)), 0.0001);
	return (
		<>
			<CacheField route={route} />
			{error && <Problem failure={error} route={route} />}
			{!data && isLoading && <Loading what="Simulating caches" />}
			{data && (
				<>
					<p class="caption">
						<Export csv={address("trace-simulate", { ...what, "over-time": null, format: "csv" })} json={address("trace-simulate", what)} />
					</p>
					<div class="scroll" tabIndex={0} role="region" aria-label="Caches">
						<table class={isLoading ? "old" : ""}>
							<thead>
								<tr>
									<th scope="col">miss ratio</th>
									<th scope="col">cache</th>
									<th scope="col" class="number">size</th>
									<th scope="col" class="number optional">ways</th>
									<th scope="col" class="number optional">accesses</th>
									<th scope="col" class="number">misses</th>
									<th scope="col" class="number optional">per 1,000 instructions</th>
									{classes.map((one) => (
										<th scope="col" class="number optional">{one.replaceAll("_", " ")}</th>
									))}
								</tr>
							</thead>
							<tbody>
								{data.hierarchies.flatMap((hierarchy, i) => [
									data.hierarchies.length > 1 && (
										<tr class="layout-line">
											<td colSpan={7 + classes.length}>
												{i + 1}: <bdi>{hierarchy.name}</bdi>
											</td>
										</tr>
									),
									...hierarchy.caches.map((cache) => (
										<tr>
											<td class="share">
												<Bar value={cache.miss_ratio} most={most} /> {percent(cache.miss_ratio)}
											</td>
											<td>
												{cache.name} <span class="faint">{cache.replacement}{cache.is_tlb ? ", TLB" : ""}</span>
											</td>
											<td class="number">{bytes(cache.size_bytes)}</td>
											<td class="number optional">{cache.ways}</td>
											<td class="number optional">{count(sum(cache.accesses))}</td>
											<td class="number">{count(sum(cache.misses))}</td>
											<td class="number optional">{amount(cache.misses_per_1000_instructions)}</td>
											{classes.map((one) => (
												<td class="number optional">{count(cache.classes?.[one])}</td>
											))}
										</tr>
									)),
								])}
							</tbody>
						</table>
					</div>
					{times.x.length > 1 && (
						<Plot title="Miss ratio over time" x={times.x} xTitle="reference" xText={count} lines={times.lines} yText={percent} isStepped />
					)}
					<TraceFacts data={data} />
				</>
			)}
		</>
	);
}

/** The misses that the rows do not show: beyond the number of rows, or in no group. */
function MissesLeft({ data }: { data: Misses }) {
	const more = data.groups - data.rows.length;
	const shown = data.rows.reduce((sum, one) => sum + one.value, 0);
	const unknown = data.total - data.grouped;
	const isOfData = data.by === "object" || data.by === "thread";
	return (
		<Footer head={null}>
			{more > 0 && (
				<p>
					{count(more)} more: {share((data.grouped - shown) / data.total)}
				</p>
			)}
			<p>
				{unknown > 0.5
					? `${isOfData ? "Without data, as fetches have none" : "Unresolved"}: ${share(unknown / data.total)} of all (${count(unknown)}).`
					: "Nothing is unresolved."}
			</p>
		</Footer>
	);
}

function MissesBy({ route }: { route: Route }) {
	const by = route.params.get("by") ?? "object";
	const caches = route.params.getAll("cache");
	const what: Ask = {
		trace: route.params.get("trace"),
		cache: caches.slice(0, 1),
		by,
		event: route.params.get("event"),
		top: route.params.get("top") ?? "50",
		...more(route),
	};
	const { data, error, isLoading } = useAnswer<Misses>("trace-simulate", what);
	const most = Math.max(...(data?.rows ?? []).map((one) => one.share), 0.001);
	return (
		<>
			<CacheField route={route} />
			<p class="tabs">
				<label>
					misses by{" "}
					<select value={by} onChange={(event) => change(route, { by: (event.target as HTMLSelectElement).value })}>
						{["object", "function", "line", "instruction", "thread"].map((one) => (
							<option value={one}>{one}</option>
						))}
					</select>
				</label>{" "}
				<Field label="event" value={route.params.get("event") ?? ""} placeholder={data?.event ?? "ll-miss"}
					hint="one of the simulated events; unless given, the one that costs most" onChange={(value) => change(route, { event: value }, true)} />
			</p>
			{error && <Problem failure={error} route={route} />}
			{!data && isLoading && <Loading what="Simulating caches, and reading the program" />}
			{data && (
				<>
					<p class="caption">
						{count(data.total)} {data.event} by {data.by}{" "}
						<Export csv={address("trace-simulate", { ...what, format: "csv" })} json={address("trace-simulate", what)} />
					</p>
					{data.rows.length === 0 ? (
						<Empty>There are no {data.event}.</Empty>
					) : (
						<div class="scroll" tabIndex={0} role="region" aria-label="Misses">
							<table>
								<thead>
									<tr>
										<th scope="col">share</th>
										<th scope="col" class="number">{data.event}</th>
										{data.by === "object" && <th scope="col" class="number optional">loads</th>}
										{data.by === "object" && <th scope="col" class="number optional">stores</th>}
										<th scope="col">{data.by}</th>
									</tr>
								</thead>
								<tbody>
									{data.rows.map((one) => (
										<tr>
											<td class="share">
												<Bar value={one.share} most={most} /> {share(one.share)}
											</td>
											<td class="number">{count(one.value)}</td>
											{data.by === "object" && <td class="number optional">{count(one.loads)}</td>}
											{data.by === "object" && <td class="number optional">{count(one.stores)}</td>}
											<td>
												<Name of={one} as="name" />
											</td>
										</tr>
									))}
								</tbody>
							</table>
						</div>
					)}
					{data.total > 0 && <MissesLeft data={data} />}
				</>
			)}
		</>
	);
}

const panes = [
	{ name: "curves", title: "Curves", View: Curves, except: ["curve", "line", "cache", "classify"] },
	{ name: "caches", title: "Caches", View: Caches, except: ["curve", "line", "cache", "classify"] },
	{ name: "misses", title: "Misses by place", View: MissesBy, except: ["curve", "line", "cache"] },
];

/** Links to the simulated misses of a profile, in the view of memory. */
function InProfile({ route, events }: { route: Route; events: string[] }) {
	return (
		<p>
			This profile has simulated misses, which the view of memory groups:{" "}
			{events.map((one) => (
				<>
					<a href={linkTo("memory", route, { pane: "pivot", event: one, by: ["object"] })}>{one}</a>{" "}
				</>
			))}
		</p>
	);
}

export function TracesView({ route, profile, served }: { route: Route; profile?: Served["profiles"][number] | undefined; served: Served }) {
	const name = route.params.get("pane") ?? "curves";
	const shown = panes.find((one) => one.name === name);
	const events = (profile?.events ?? []).filter((one) => one.endsWith("-miss"));
	const traces = served.traces;
	return (
		<>
			<p class="tabs">
				{traces.length > 1 && (
					<select aria-label="Trace" value={route.params.get("trace") ?? "0"}
						onChange={(event) => change(route, { trace: (event.target as HTMLSelectElement).value })}>
						{traces.map((one) => (
							<option value={String(one.number)}>{one.name}</option>
						))}
					</select>
				)}{" "}
				{traces.length === 1 && <bdi class="faint">{traces[0]!.name}</bdi>}{" "}
				{panes.map((one) => (
					<>
						<button aria-pressed={one === shown} onClick={() => change(route, { pane: one.name === "curves" ? null : one.name, ...without(route) })}>
							{one.title}
						</button>{" "}
					</>
				))}
			</p>
			{events.length > 0 && <InProfile route={route} events={events} />}
			{shown && <MoreOptions key={shown.name} question="trace simulate" route={route} except={[...shown.except, "by", "event", "top", "sharing", "branches", "over-time", "every", "length"]} />}
			{shown ? <shown.View route={route} /> : <Empty>There is no view ‘{name}’ of traces.</Empty>}
		</>
	);
}
