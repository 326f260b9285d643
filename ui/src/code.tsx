// SPDX-License-Identifier: MIT
//
// Code: the functions by weight; one of them as source beside disassembly, or as control flow graph.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Annotation, address, type Ask, type CodeLine, type Diagnosis, type Findings, type FunctionRow, type Functions, type Head, type Source, useAnswer } from "./api";
import { CallsOf } from "./calls";
import { Disassembly, fileWeight, lineWeights, SourceLines, usePointed, weightEvents } from "./code_table";
import { baseName, clause, count, percents, share, shortOf, some } from "./format";
import { FlowGraph } from "./graph";
import { more, MoreOptions, part, sampledEvents, WeightChoice } from "./options";
import { Empty, Export, Field, Filters, Footer, Loading, Name, Problem, useKeys, useNarrow } from "./parts";
import { PLACES_SHOWN } from "./places_shown";
import { Split } from "./splitter";
import { change, linkTo, type Route } from "./state";
import { SortTitle, useRows, VirtualTable } from "./virtual";

/** No number of calls may be known if calls are inferred from samples. */
function calls(n: number, head: Head | null): string {
	return n === 0 && head?.profile.frequency !== "exact" ? "–" : count(n);
}

function FunctionList({ route }: { route: Route }) {
	const get = (name: string) => route.params.get(name);
	const [selected, setSelected] = useState(-1);
	const what: Ask = {
		profile: get("profile"),
		sort: get("sort"),
		reverse: get("reverse"),
		text: get("text"),
		image: get("image"),
		...part(route),
	};
	const rows = useRows<Functions, FunctionRow>("functions", what, (answer) => answer.functions);
	const sort = get("sort") ?? "weight";
	const isReversed = get("reverse") === "1";
	const set = (name: string) => (value: string) => change(route, { [name]: value }, true);
	const move = (by: number) => setSelected((at) => Math.max(0, Math.min(rows.total - 1, at + by)));
	const onSort = (name: string, reversed: boolean) => change(route, { sort: name === "weight" ? null : name, reverse: reversed ? "1" : null });
	/* Of a function without code there are only stacks. */
	const target = (row: FunctionRow) =>
		row.number === null ? linkTo("flame", route, { text: row.name }) : linkTo("code", route, { function: String(row.number) });
	const open = (row: FunctionRow) => {
		if (row.number === null) location.hash = target(row);
		else change(route, { function: String(row.number), at: null });
	};
	useKeys(
		{
			j: () => move(1),
			ArrowDown: () => move(1),
			k: () => move(-1),
			ArrowUp: () => move(-1),
			Enter: () => {
				const row = rows.row(selected);
				if (row) open(row);
			},
		});
	const isNarrow = useNarrow();
	/* Only recordings of calls have it. */
	const hasInclusive = rows.first !== null && rows.first.inclusive_from != null;
	const inclusiveText = `its share with all that it calls, ${{ calls: "estimated from the number of calls", tops: "from the recorded tops of stacks, of libraries alone", stacks: "from the recorded call stacks" }[rows.first?.inclusive_from ?? "stacks"]}`;
	return (
		<div class="function-list">
			<Filters set={["text", "image"].filter((name) => get(name)).length}>
				<Field id="search" label="function" value={get("text") ?? ""} placeholder="part of a name" wide onChange={set("text")} />
				<Field label="image" value={get("image") ?? ""} placeholder="libc" onChange={set("image")} />
				{rows.first && <WeightChoice head={rows.first} route={route} />}
			</Filters>
			{rows.error && <Problem failure={rows.error} route={route} />}
			{rows.isLoading && !rows.first && <Loading what="Reading the functions" />}
			{!rows.error && rows.first && (
				<>
					<p class="caption" role="status">
						{some(rows.total, "function")}{" "}
						<Export csv={address("functions", { ...what, format: "csv" })} json={address("functions", what)} />
					</p>
					{rows.total === 0 ? (
						<Empty>No function has that in its name. Search for a shorter part of it.</Empty>
					) : (
						<VirtualTable
							label="Functions"
							total={rows.total}
							row={rows.row}
							see={rows.see}
							selected={selected}
							scrollKey={address("functions", what)}
							columns={`${isNarrow ? "5.2rem" : "5rem"}${hasInclusive ? " 5.5rem" : ""} ${isNarrow ? "minmax(8rem, 1fr)" : "8.5rem 7rem minmax(14rem, 2fr) minmax(8rem, 1fr)"}`}
							onSelect={setSelected}
							onOpen={open}
							head={
								<>
									<SortTitle name="weight" title="weight" text="its share of all weight" sort={sort} isReversed={isReversed} onSort={onSort} />
									{hasInclusive && <SortTitle name="inclusive" title="inclusive" text={inclusiveText} sort={sort} isReversed={isReversed} onSort={onSort} />}
									{!isNarrow && <SortTitle name="executions" title="executions" text="of its instructions" sort={sort} isReversed={isReversed} onSort={onSort} />}
									{!isNarrow && <SortTitle name="calls" title="calls" text="how often it was entered, as far as the recording knows" sort={sort} isReversed={isReversed} onSort={onSort} />}
									<SortTitle name="name" title="function" sort={sort} isReversed={isReversed} isText onSort={onSort} />
									{!isNarrow && <SortTitle name="image" title="image" sort={sort} isReversed={isReversed} isText onSort={onSort} />}
								</>
							}
							cells={(row) => (
								<>
									<span role="cell" class="number">{share(row.share)}</span>
									{hasInclusive && <span role="cell" class="number">{row.inclusive === null ? "–" : share(row.inclusive / (rows.first!.profile.weight || 1))}</span>}
									{!isNarrow && <span role="cell" class="number">{count(row.executions)}</span>}
									{!isNarrow && <span role="cell" class="number">{calls(row.calls, rows.first)}</span>}
									<span role="cell" class="ellipsis" title={row.name}>
										<a href={target(row)} onClick={(event) => event.stopPropagation()}>
											<bdi>{shortOf(row, "name")}</bdi>
										</a>
									</span>
									{!isNarrow && (
										<span role="cell" class="ellipsis faint" title={row.image}>
											<bdi>{baseName(row.image)}</bdi>
										</span>
									)}
								</>
							)}
						/>
					)}
				</>
			)}
			<Footer head={rows.first} />
		</div>
	);
}

const LEAST_EXPLAINED = 0.005; /* findings that explain less of all weight are not named */

/** Brings a row into the middle of the box that it scrolls in, without moving the page. */
function centre(row: Element | null | undefined): void {
	const box = row?.closest(".scroll");
	if (!row || !box) return;
	const [inner, outer] = [row.getBoundingClientRect(), box.getBoundingClientRect()];
	box.scrollTop += inner.top + inner.height / 2 - outer.top - box.clientHeight / 2;
}

/** The diagnosis that led here: what costs, at which line, and what to do. */
function Diagnosed({ one, line, sources, route }: { one: Diagnosis; line: CodeLine | undefined; sources: Source[]; route: Route }) {
	const text = line && sources.find((source) => source.file === line.file)?.lines.find(([number]) => number === line.line)?.[1];
	return (
		<section class="diagnosed" aria-label={`Diagnosis ${one.id}`}>
			<p>
				<a href={linkTo("findings", route, { open: one.id })}>{one.id}</a> <bdi class="pattern">{one.title}</bdi>{" "}
				<span class="faint">saves {percents(one.saves.low, one.saves.high)}</span>
			</p>
			{line?.file && (
				<p>
					<span class="faint">
						{baseName(line.file)}:{line.line}
					</span>{" "}
					<bdi class="mono">{text?.trim()}</bdi>
				</p>
			)}
			{one.remedy && <p>→ {clause(one.remedy)}</p>}
		</section>
	);
}

/** The source, if there is any, beside the instructions. */
function Beside({ source, part, onPart, children }: { source: ComponentChildren; part: number; onPart: (part: number) => void; children: ComponentChildren }) {
	if (!source) return <div>{children}</div>;
	return (
		<Split part={part} label="Width of the source" onPart={onPart}>
			{[source, children]}
		</Split>
	);
}

const SOURCE_PART = 40; /* per cent of the width */

function FunctionCode({ route }: { route: Route }) {
	const number = route.params.get("function")!;
	const at = route.params.get("at");
	const pane = route.params.get("pane") ?? "code";
	const isWhole = route.params.get("whole") === "1";
	const what = { profile: route.params.get("profile"), run: route.params.get("run"), "function-number": number, ...more(route) };
	const { data, error, isLoading } = useAnswer<Annotation>("annotate", what);
	const [pointed, setPointed] = usePointed();
	const from = route.params.get("diagnosis");
	const report = useAnswer<Findings>(from === null ? null : "report", { profile: what.profile, run: what.run, explain: "1", ...more(route), places: PLACES_SHOWN });
	const diagnosis = report.data?.diagnoses.find((one) => one.id === from);
	const place = data?.places[0];
	const lines = useMemo<CodeLine[]>(() => place?.instructions ?? [], [place]);
	const keyOf = (line: CodeLine | undefined) => (line?.file ? `${line.file}:${line.line}` : "");
	const weights = useMemo(() => (data ? lineWeights(lines, data) : new Map<string, number>()), [data, lines]);
	const event = (data && weightEvents(data)[0]) ?? "";
	const weightOf = (line: CodeLine) => line.events[event] ?? 0;
	const hot = useMemo(() => lines.filter((one) => weightOf(one) > 0).sort((a, b) => weightOf(b) - weightOf(a)), [lines, event]);
	const sources = useMemo(
		() => (data?.sources ?? []).filter((one) => one.lines.length > 0).sort((a, b) => fileWeight(b, weights) - fileWeight(a, weights)),
		[data, weights],
	);
	/* A line of source may lead here, too: "FILE:LINE". */
	const lineAsked = route.params.get("line");
	const target = at ?? (lineAsked && lines.find((one) => keyOf(one) === lineAsked)?.address) ?? hot[0]?.address ?? null;
	const rank = hot.findIndex((one) => one.address === target);
	/* One scale for the instructions and the lines shown, which cost as much as theirs together. */
	const most = Math.max(...(sources.length > 0 ? weights.values() : []), ...hot.slice(0, 1).map(weightOf), 0);

	useEffect(() => {
		if (!place || pane !== "code" || !target) return;
		const line = lines.find((one) => one.address === target);
		setPointed(keyOf(line));
		centre(document.getElementById(`at-${target}`));
		centre([...document.querySelectorAll(".source tr")].find((one) => (one as HTMLElement).dataset.line === keyOf(line)));
	}, [place, target, pane]);
	const step = (by: number) => {
		const next = hot[Math.max(0, Math.min(hot.length - 1, rank + by))];
		if (next) change(route, { at: next.address, pane: null }, true);
	};
	useKeys({ g: () => change(route, { pane: pane === "graph" ? null : "graph" }), n: () => step(1), p: () => step(-1) });

	if (error) return <Problem failure={error} route={route} />;
	if (!data || !place) return isLoading ? <Loading what="Reading the code" /> : null;
	const tab = (name: string, title: string) => (
		<button aria-pressed={pane === name} onClick={() => change(route, { pane: name === "code" ? null : name })}>
			{title}
		</button>
	);
	const costliest = diagnosis?.at.find((one) => String(one.function_number) === number);
	const diagnosed = costliest && lines.find((one) => one.address === costliest.address);
	const explained = (data.findings ?? []).filter((one) => one.time >= LEAST_EXPLAINED);
	return (
		<div class="function">
			<h2>
				<a class="back" href={linkTo("code", route)} title="All functions" aria-label="All functions">
					‹
				</a>{" "}
				<Name of={place} as="function" />{" "}
				<span class="faint">
					<bdi title={place.image}>{baseName(place.image)}</bdi> · {share(place.share)} of {data.profile.weight_event ?? "the weight"}
					{calls(place.executions, data) !== "–" && `, ${some(place.executions, "call")}`}
				</span>
			</h2>
			{explained.length > 0 && (
				<p class="explained">
					{explained.map((one) => (
						<span>
							<a href={linkTo("findings", route, { open: one.id })}>{one.id}</a> {share(one.time)} <bdi>{one.pattern}</bdi>
						</span>
					))}
				</p>
			)}
			<div class="function-tools">
				<p class="tabs">
					{tab("code", "Code")} {tab("graph", "Control flow")} {tab("calls", "Callers and callees")}{" "}
					<Export csv={address("annotate", { ...what, format: "csv" })} json={address("annotate", what)} />
				</p>
				<WeightChoice head={data} route={route} />
				{pane === "code" && hot.length > 0 && (
					<p class="steps">
						<button aria-label="Hotter instruction (p)" title="hotter (p)" disabled={rank === 0} onClick={() => step(-1)}>
							‹
						</button>{" "}
						<span role="status">
							{rank < 0
								? "no weight here"
								: `${rank === 0 ? "hottest" : `${count(rank + 1)}.`} of ${count(hot.length)}: ${share(weightOf(hot[rank]!) / data.profile.weight)}`}
						</span>{" "}
						<button aria-label="Next hottest instruction (n)" title="next hottest (n)" disabled={rank === hot.length - 1} onClick={() => step(1)}>
							›
						</button>
					</p>
				)}
			</div>
			{pane === "code" && diagnosis && <Diagnosed one={diagnosis} line={diagnosed} sources={sources} route={route} />}
			{pane === "graph" && <FlowGraph route={route} number={number} lines={lines} onChoose={(block) => change(route, { at: block, pane: null, around: null })} />}
			{pane === "calls" && <CallsOf route={route} />}
			{pane === "code" && (
				<Beside
					part={Number(route.params.get("split") ?? SOURCE_PART)}
					onPart={(part) => change(route, { split: part === SOURCE_PART ? null : String(part) }, true)}
					source={
						sources.length > 0 && (
							<div class="scroll" tabIndex={0} role="region" aria-label="Source">
								{sources.map((one) => (
									<SourceLines source={one} weights={weights} most={most} total={data.profile.weight} pointed={pointed} diagnosed={keyOf(diagnosed)} onPoint={setPointed} />
								))}
							</div>
						)
					}
				>
					<Disassembly
						lines={lines}
						head={data}
						target={target}
						most={most}
						marked={(line) => pointed !== "" && keyOf(line) === pointed}
						onPoint={(line) => setPointed(keyOf(line))}
						{...(isWhole ? {} : { onUnfold: () => change(route, { whole: "1", at: target }, true) })}
					/>
				</Beside>
			)}
			{pane === "code" && (
				<MoreOptions question="annotate" route={route} except={["run", "limit", "context", "finding", "sequence", "function", "function-number", "line", ...(sampledEvents(data).length > 0 ? ["weight"] : [])]} />
			)}
			<Footer head={data}>
				{pane === "code" && sources.length === 0 && (
					<p>
						No source is shown: the code has no line information, or its source files are not on this machine under
						the names that it was compiled with.
					</p>
				)}
			</Footer>
		</div>
	);
}

export function CodeView({ route }: { route: Route }) {
	return route.params.get("function") === null ? <FunctionList route={route} /> : <FunctionCode route={route} />;
}
