// SPDX-License-Identifier: MIT
//
// The mined sequences of a run: the server sorts, filters and pages them.
import { useState } from "preact/hooks";
import { sequences as words } from "words";
import { type Annotation, address, type Ask, type Sequence, type Sequences, useAnswer } from "./api";
import { PlaceCode } from "./code_table";
import { count, eventValue, points, ratio, sequence as textOf, share, some } from "./format";
import { more, MoreOptions } from "./options";
import { Empty, Export, Facts, Field, Filters, Footer, Loading, Problem, useKeys, useNarrow } from "./parts";
import { change, linkTo, type Route } from "./state";
import { SortTitle, useRows, VirtualTable } from "./virtual";

const filters = ["min-weight", "max-weight", "min-frequency", "max-frequency", "min-functions"];
const sizes = ["least", "most"];
/* Options that the view has fields for, and those of its pages. */
const except = ["explain", "sort", "reverse", "all", "limit", "with", "without", "text", "size", "min-weight", "max-frequency", "min-functions", "baseline", "run", "sequences", "offset", "places"];

interface Column {
	name: string; /* name for the server's sorting; "": not sortable */
	title: string;
	value: (row: Sequence, isRelative: boolean) => string;
	width: string;
}

const support = (value: number | undefined, isRelative: boolean) =>
	value === undefined ? "–" : isRelative ? points(value) : share(value);

const graphColumns: Column[] = [
	{ name: "weight", title: "weight", value: (row, is) => support(row.weight, is), width: "5.5rem" },
	{ name: "frequency", title: "frequency", value: (row, is) => support(row.frequency, is), width: "5.5rem" },
	{
		name: "excess",
		title: "excess",
		value: (row, is) => support((row.weight ?? 0) - (row.frequency ?? 0), is),
		width: "5.5rem",
	},
	{ name: "places", title: "places", value: (row) => count(row.places), width: "4.5rem" },
	{ name: "functions", title: "functions", value: (row) => count(row.functions), width: "5rem" },
	{ name: "executions", title: "executions", value: (row) => count(row.executions), width: "8.5rem" },
	{ name: "", title: "cost", value: (row) => ratio((row.weight ?? 0) / (row.frequency ?? 0)), width: "4rem" },
];
const extraColumns: Record<string, Column> = {
	maximal: { name: "maximal", title: "maximal", value: (row, is) => support(row.maximal, is), width: "5.5rem" },
	differential: {
		name: "differential",
		title: "differential",
		value: (row, is) => support(row.differential, is),
		width: "6rem",
	},
};
const countColumn: Column = { name: "count", title: "count", value: (row) => count(row.count), width: "9rem" };

function eventColumn(name: string, isTotal: boolean): Column {
	return {
		name: `event:${name}`,
		title: name,
		value: (row, is) => (isTotal ? eventValue(row.events[name], name) : support(row.events[name], is)),
		width: "8rem",
	};
}

/** The events, but those whose values are the same as of one before: D1mr and l1d-miss may be. */
function differentEvents(rows: Sequence[]): string[] {
	const all = Object.keys(rows[0]?.events ?? {});
	return all.filter((name, i) => !all.slice(0, i).some((other) => rows.every((row) => row.events[other] === row.events[name])));
}

function SequenceDetail({ row, route, onClose }: { row: number; route: Route; onClose: () => void }) {
	const answer = useAnswer<Annotation & { sequence: string[][] }>("annotate", {
		profile: route.params.get("profile"),
		run: route.params.get("run"),
		sequence: row,
		limit: 10,
		context: 3,
	});
	return (
		<section class="detail drawer" aria-label={`Sequence ${row}`}>
			<div class="drawer-head">
				<h2>
					Sequence {row} <bdi class="pattern">{answer.data && textOf(answer.data.sequence)}</bdi>
				</h2>
				<span>
					<button onClick={() => change(route, { baseline: String(row) })}>Use as baseline</button>{" "}
					<button onClick={onClose}>Close</button>
				</span>
			</div>
			{answer.error && <Problem failure={answer.error} route={route} />}
			{!answer.data && answer.isLoading && <Loading what="Finding its places" />}
			{answer.data?.places.map((one, i) => (
				<PlaceCode
					key={`${one.function_number} ${one.address} ${i}`}
					place={one}
					sources={answer.data!.sources}
					head={answer.data!}
					title={`${i + 1}.`}
					level="h3"
					link={linkTo("code", route, { function: String(one.function_number), at: one.address })}
				/>
			))}
			{answer.data?.places.length === 10 && <p class="faint">The ten costliest places are shown.</p>}
		</section>
	);
}

export function SequencesView({ route }: { route: Route }) {
	const get = (name: string) => route.params.get(name);
	const [selected, setSelected] = useState(-1);
	const what: Ask = {
		profile: get("profile"),
		run: get("run"),
		sequences: "1",
		sort: get("sort"),
		reverse: get("reverse"),
		all: get("all"),
		text: get("text"),
		with: get("with"),
		without: get("without"),
		baseline: get("baseline"),
		size: get("least") || get("most") ? `${get("least") ?? ""}-${get("most") ?? ""}` : null,
		...Object.fromEntries(filters.map((name) => [name, get(name)])),
		...more(route),
	};
	const rows = useRows<Sequences, Sequence>("report", what, (answer) => answer.sequences);
	const isInstructions = rows.first?.run?.is_instruction_mode ?? false;
	const events = differentEvents(rows.first?.sequences ?? []);
	const chosen = (get("columns") ?? "").split(",").filter(Boolean);
	const usual = isInstructions ? "count" : "excess";
	const sort = get("sort") ?? usual;
	const onSort = (name: string, reversed: boolean) => change(route, { sort: name === usual ? null : name, reverse: reversed ? "1" : null });
	const isReversed = get("reverse") === "1";
	const isRelative = get("baseline") !== null;
	const open = Number(get("open") ?? 0);

	const wanted = new Set(chosen);
	if (sort.startsWith("event:") || sort in extraColumns) wanted.add(sort);
	const columns = [
		...(isInstructions ? [countColumn] : graphColumns),
		...Object.values(extraColumns).filter((one) => wanted.has(one.name)),
		...events.filter((name) => wanted.has(`event:${name}`)).map((name) => eventColumn(name, isInstructions)),
	];
	const set = (name: string) => (value: string) => change(route, { [name]: value, open: null }, true);
	const move = (by: number) => setSelected((at) => Math.max(0, Math.min(rows.total - 1, at + by)));

	useKeys(
		{
			j: () => move(1),
			ArrowDown: () => move(1),
			k: () => move(-1),
			ArrowUp: () => move(-1),
			PageDown: () => move(20),
			PageUp: () => move(-20),
			Home: () => setSelected(0),
			End: () => setSelected(rows.total - 1),
			Enter: () => {
				const row = rows.row(selected);
				if (row) change(route, { open: String(row.id) });
			},
		});

	const isNarrow = useNarrow();
	const visible = isNarrow ? columns.filter((one) => one.name === (columns.some((each) => each.name === sort) ? sort : "weight")) : columns;
	return (
		<>
			{rows.first && <Facts head={rows.first} />}
			<Filters set={["text", "with", "without", "all", "columns", "baseline", ...sizes, ...filters].filter((name) => get(name)).length}>
				<Field id="search" label="text" value={get("text") ?? ""} placeholder="load mul"
					hint="only sequences that have each of these words in the name of an attribute" onChange={set("text")} />
				<Field id="with" label="with" value={get("with") ?? ""} placeholder="load ev:*" wide
					hint="only sequences with an attribute that matches each of these globs" onChange={set("with")} />
				<Field label="without" value={get("without") ?? ""} placeholder="branch" wide
					hint="only sequences without any attribute that matches one of these globs" onChange={set("without")} />
				{!isInstructions && (
					<Field label="weight from" value={get("min-weight") ?? ""} placeholder="2%" hint={words.weight ?? ""} onChange={set("min-weight")} />
				)}
				{!isInstructions && (
					<Field label="frequency up to" value={get("max-frequency") ?? ""} placeholder="100%" hint={words.frequency ?? ""} onChange={set("max-frequency")} />
				)}
				<Field label="attributes from" value={get("least") ?? ""} placeholder="1" hint="only sequences of at least so many attributes" onChange={set("least")} />
				<Field label="to" value={get("most") ?? ""} placeholder="any" hint="only sequences of at most so many attributes" onChange={set("most")} />
				{!isInstructions && (
					<Field label="functions from" value={get("min-functions") ?? ""} placeholder="1" hint="only sequences that so many functions have" onChange={set("min-functions")} />
				)}
				{!isInstructions && (
					<label class="check" title="also those that a longer one repeats with the same supports">
						<input type="checkbox" checked={get("all") === "1"}
							onChange={(event) => change(route, { all: (event.target as HTMLInputElement).checked ? "1" : null })} />
						also those that are not closed
					</label>
				)}
				{events.length > 0 && (
					<details class="columns">
						<summary>Columns</summary>
						<div>
							{[...(isInstructions ? [] : Object.keys(extraColumns)), ...events.map((name) => `event:${name}`)].map((name) => (
								<label class="check">
									<input type="checkbox" checked={wanted.has(name)}
										onChange={(event) => {
											const next = new Set(chosen);
											if ((event.target as HTMLInputElement).checked) next.add(name);
											else next.delete(name);
											change(route, { columns: [...next].join(",") }, true);
										}} />
									{name.replace(/^event:/, "")}
								</label>
							))}
						</div>
					</details>
				)}
				{isRelative && (
					<span class="chip">
						less those of sequence {get("baseline")}{" "}
						<button aria-label="Without baseline" onClick={() => change(route, { baseline: null })}>
							×
						</button>
					</span>
				)}
			</Filters>
			<MoreOptions question="report" route={route} except={except} />
			{rows.error && <Problem failure={rows.error} route={route} />}
			{rows.isLoading && !rows.first && <Loading what="Mining and listing sequences" />}
			{!rows.error && rows.first && (
				<>
					<p class="caption" role="status">
						{rows.isLoading ? "Sorting…" : some(rows.total, "sequence")}
						{rows.first.run && ` of the ${count(rows.first.run.sequences)} in run ‘${rows.first.run.name}’`}
						{rows.first.run?.min_support !== undefined && ` with a support of at least ${(100 * rows.first.run.min_support).toPrecision(2)} %`}
						{isRelative && "; supports are differences, in percentage points"}{" "}
						<Export csv={address("report", { ...what, format: "csv" })} json={address("report", what)} />
					</p>
					{rows.total === 0 && !rows.isLoading ? (
						<Empty>No sequence passes these filters. Take one away, or mine with a lower --min-support.</Empty>
					) : (
						<VirtualTable
							label="Sequences"
							total={rows.total}
							row={rows.row}
							see={rows.see}
							selected={selected}
							scrollKey={address("report", what)}
							columns={`${visible.map((one) => one.width).join(" ")} ${isNarrow ? "3.4rem" : "4.5rem"} minmax(${isNarrow ? 8 : 16}rem, 1fr)`}
							onSelect={setSelected}
							onOpen={(row) => change(route, { open: String(row.id) })}
							head={
								<>
									{visible.map((one) =>
										one.name ? (
											<SortTitle name={one.name} title={one.title} text={words[one.title]} sort={sort} isReversed={isReversed} onSort={onSort} />
										) : (
											<span role="columnheader" class="number" title={words[one.title]}>
												{one.title}
											</span>
										),
									)}
									<span role="columnheader" class="number" title={words.id}>id</span>
									<SortTitle name="sequence" title="sequence" sort={sort} isReversed={isReversed} isText onSort={onSort} />
								</>
							}
							cells={(row) => (
								<>
									{visible.map((one) => (
										<span role="cell" class="number">
											{one.value(row, isRelative)}
										</span>
									))}
									<span role="cell" class="number faint">{row.id}</span>
									<span role="cell" class="pattern ellipsis" title={textOf(row.sequence)}>
										<bdi>{textOf(row.sequence)}</bdi>
									</span>
								</>
							)}
						/>
					)}
				</>
			)}
			{open > 0 && !rows.error && <SequenceDetail row={open} route={route} onClose={() => change(route, { open: null })} />}
			<Footer head={rows.first} />
		</>
	);
}
