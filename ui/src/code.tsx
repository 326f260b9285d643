// SPDX-License-Identifier: MIT
//
// Code: the functions by weight; one of them as source beside disassembly, or as control flow graph.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Annotation, address, type Ask, type CodeLine, type FunctionRow, type Functions, type Head, useAnswer } from "./api";
import { Disassembly, SourceLines, usePointed } from "./code_table";
import { baseName, count, share, some } from "./format";
import { FlowGraph, Neighbours } from "./graph";
import { more, MoreOptions } from "./options";
import { Empty, Export, Field, Filters, Footer, Loading, Problem, useKeys, useNarrow } from "./parts";
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
	};
	const rows = useRows<Functions, FunctionRow>("functions", what, (answer) => answer.functions);
	const sort = get("sort") ?? "weight";
	const isReversed = get("reverse") === "1";
	const set = (name: string) => (value: string) => change(route, { [name]: value }, true);
	const move = (by: number) => setSelected((at) => Math.max(0, Math.min(rows.total - 1, at + by)));
	const onSort = (name: string, reversed: boolean) => change(route, { sort: name === "weight" ? null : name, reverse: reversed ? "1" : null });
	const open = (row: FunctionRow) => change(route, { function: String(row.number), at: null });
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
	return (
		<div class="function-list">
			<Filters set={["text", "image"].filter((name) => get(name)).length}>
				<Field id="search" label="function" value={get("text") ?? ""} placeholder="part of a name" wide onChange={set("text")} />
				<Field label="image" value={get("image") ?? ""} placeholder="libc" onChange={set("image")} />
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
							columns={isNarrow ? "4.5rem minmax(10rem, 1fr)" : "5rem 8.5rem 7rem minmax(14rem, 2fr) minmax(8rem, 1fr)"}
							onSelect={setSelected}
							onOpen={open}
							head={
								<>
									<SortTitle name="weight" title="weight" text="its share of all weight" sort={sort} isReversed={isReversed} onSort={onSort} />
									{!isNarrow && <SortTitle name="executions" title="executions" text="of its instructions" sort={sort} isReversed={isReversed} onSort={onSort} />}
									{!isNarrow && <SortTitle name="calls" title="calls" text="how often it was entered, as far as the recording knows" sort={sort} isReversed={isReversed} onSort={onSort} />}
									<SortTitle name="name" title="function" sort={sort} isReversed={isReversed} isText onSort={onSort} />
									{!isNarrow && <SortTitle name="image" title="image" sort={sort} isReversed={isReversed} isText onSort={onSort} />}
								</>
							}
							cells={(row) => (
								<>
									<span role="cell" class="number">{share(row.share)}</span>
									{!isNarrow && <span role="cell" class="number">{count(row.executions)}</span>}
									{!isNarrow && <span role="cell" class="number">{calls(row.calls, rows.first)}</span>}
									<span role="cell" class="ellipsis" title={row.name}>
										<a href={linkTo("code", route, { function: String(row.number) })} onClick={(event) => event.stopPropagation()}>
											<bdi>{row.name}</bdi>
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

function FunctionCode({ route }: { route: Route }) {
	const number = route.params.get("function")!;
	const at = route.params.get("at");
	const pane = route.params.get("pane") ?? "code";
	const what = { profile: route.params.get("profile"), run: route.params.get("run"), "function-number": number, ...more(route) };
	const { data, error, isLoading } = useAnswer<Annotation>("annotate", what);
	const [pointed, setPointed] = usePointed();
	const place = data?.places[0];
	const lines = useMemo<CodeLine[]>(() => place?.instructions ?? [], [place]);
	const keyOf = (line: CodeLine) => (line.file ? `${line.file}:${line.line}` : "");

	useEffect(() => {
		if (!place || pane !== "code") return;
		if (at) document.getElementById(`at-${at}`)?.scrollIntoView({ block: "center" });
	}, [place, at, pane]);
	useKeys({ g: () => change(route, { pane: pane === "graph" ? null : "graph" }) });

	if (error) return <Problem failure={error} route={route} />;
	if (!data || !place) return isLoading ? <Loading what="Reading the code" /> : null;
	const tab = (name: string, title: string) => (
		<button aria-pressed={pane === name} onClick={() => change(route, { pane: name === "code" ? null : name })}>
			{title}
		</button>
	);
	return (
		<div class="function">
			<p>
				<a href={linkTo("code", route)}>All functions</a>
			</p>
			<h2>
				<bdi>{place.function}</bdi>{" "}
				<span class="faint">
					<bdi title={place.image}>{baseName(place.image)}</bdi>
				</span>
			</h2>
			<p class="faint">
				{share(place.share)} of {data.profile.weight_event ?? "the weight"}
				{calls(place.executions, data) !== "–" && `, ${some(place.executions, "call")}`}
			</p>
			{data.findings && data.findings.length > 0 && (
				<ul class="explained">
					{data.findings.map((one) => (
						<li>
							<a href={linkTo("findings", route, { open: one.id })}>{one.id}</a>{" "}
							<bdi>{one.pattern}</bdi> explains {share(one.time)} here
						</li>
					))}
				</ul>
			)}
			<p class="tabs">
				{tab("code", "Code")} {tab("graph", "Control flow")} {tab("calls", "Callers and callees")}{" "}
				<Export csv={address("annotate", { ...what, format: "csv" })} json={address("annotate", what)} />
			</p>
			{pane === "code" && (
				<MoreOptions question="annotate" route={route} except={["run", "limit", "context", "finding", "sequence", "function", "function-number", "line"]} />
			)}
			{pane === "graph" && <FlowGraph route={route} number={number} lines={lines} onChoose={(block) => change(route, { at: block, pane: null })} />}
			{pane === "calls" && (
				<Neighbours route={route} link={(one) => linkTo("code", route, { function: String(one), pane: "calls" })} />
			)}
			{pane === "code" && (
				<div class={data.sources.some((one) => one.lines.length > 0) ? "side-by-side" : ""}>
					{data.sources.some((one) => one.lines.length > 0) && (
						<div class="scroll" tabIndex={0} role="region" aria-label="Source">
							{data.sources
								.filter((one) => one.lines.length > 0)
								.map((one) => (
									<SourceLines source={one} lines={lines} head={data} pointed={pointed} onPoint={setPointed} />
								))}
						</div>
					)}
					<Disassembly
						lines={lines}
						head={data}
						target={at}
						marked={(line) => pointed !== "" && keyOf(line) === pointed}
						onPoint={(line) => setPointed(keyOf(line))}
					/>
				</div>
			)}
			<Footer head={data}>
				{pane === "code" && !data.sources.some((one) => one.lines.length > 0) && (
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
