// SPDX-License-Identifier: MIT
//
// Data addresses: heat maps of address × thread and address × time, groups of samples, and tables.
import { useRef } from "preact/hooks";
import { address, type Ask, type Heat, type Notes, type Served, useAnswer, useTable } from "./api";
import { count, share, some } from "./format";
import { HeatMaps } from "./heat";
import { HeatTiles, viewOf } from "./heat_tiles";
import { filterOf, LossText, lossesOf, MemoryFilters, NotesText } from "./memory_filter";
import { LayoutView, PlacementView, SharingView } from "./memory_tables";
import { MoreOptions, without } from "./options";
import { Empty, Export, Footer, Loading, Problem, useInSight, useLineKeys } from "./parts";
import { attributes, PivotTable } from "./pivot";
import { change, type Route } from "./state";

function HeatView({ route }: { route: Route }) {
	const get = (name: string) => route.params.get(name);
	const isMap = get("map") !== null;
	const from = isMap ? null : get("from");
	const to = isMap ? null : get("to");
	/* A range of time is an additional condition. */
	const conditions = [get("where") && `(${get("where")})`, from && to && `time >= ${from} && time <= ${to}`].filter(Boolean);
	const what: Ask = {
		...filterOf(route),
		where: conditions.join(" && "),
		granularity: get("granularity"),
	};
	const { data, error, isLoading } = useAnswer<Heat>("heat", what);
	const isZoomed = get("address") !== null || get("from") !== null || isMap;
	const canMap = isMap && data !== null && data.has_time && viewOf(route, data.end) !== null;
	return (
		<>
			<p class="tabs">
				{!isMap && <label>
					cells of{" "}
					<select
						value={get("granularity") ?? "page"}
						onChange={(event) => change(route, { granularity: (event.target as HTMLSelectElement).value })}
					>
						{["page", "line", "word", "64K", "2M"].map((one) => (
							<option value={one}>{one}</option>
						))}
					</select>
				</label>}{" "}
				<label>
					colours over time{" "}
					<select
						value={get("colours") ?? "access"}
						onChange={(event) => change(route, { colours: (event.target as HTMLSelectElement).value })}
					>
						<option value="access">loads and stores</option>
						<option value="thread">threads</option>
					</select>
				</label>{" "}
				{isZoomed && <button onClick={() => change(route, { map: null, address: null, from: null, to: null })}>Whole picture</button>}{" "}
				<Export json={address("heat", what)} />
			</p>
			{error && <Problem failure={error} route={route} />}
			{!data && isLoading && <Loading what="Counting accesses" />}
			{data && <LossText lines={lossesOf(data.notes)} />}
			{data && data.rows.length === 0 && (
				<Empty>No sample with a data address passes this filter. Take a filter away, or show the whole picture.</Empty>
			)}
			{data && canMap && <HeatTiles route={route} whole={data} />}
			{data && !canMap && data.rows.length > 0 && <HeatMaps data={data} route={route} isOld={isLoading} />}
			<Footer head={data}>
				{data && data.segments_left_out > 0 && (
					<p>
						{data.segments_left_out === 1 ? "1 stretch" : `${count(data.segments_left_out)} stretches`} of addresses with {share(data.weight_left_out / data.weight)} of
						the weight {data.segments_left_out === 1 ? "is" : "are"} left out.
					</p>
				)}
				{data && data.without_time > 0 && <p>{count(data.without_time)} samples have no time.</p>}
				{data && <NotesText notes={data.notes} />}
			</Footer>
		</>
	);
}

/** A view of lode memory as the table that --format csv has. */
function TableOf({ route, options, empty }: { route: Route; options: Ask; empty: string }) {
	const what: Ask = { ...options, ...filterOf(route) };
	const { data, error, isLoading } = useTable("memory", what);
	const { data: coverage } = useAnswer<{ notes: Notes }>("memory", { coverage: "1", ...filterOf(route) });
	if (error) return <Problem failure={error} route={route} />;
	if (!data) return isLoading ? <Loading what="Adding up samples" /> : null;
	const isNumber = data.titles.map((_, i) => data.rows.every((row) => /^-?[\d.]*(e[+-]?\d+)?$/.test(row[i] ?? "")));
	return (
		<>
			<p class="caption">
				{some(data.rows.length, "row")}
				{data.rows.length > MOST_ROWS && `, of which the first ${MOST_ROWS} are shown`}{" "}
				<Export csv={address("memory", { ...what, format: "csv" })} json={address("memory", what)} />
			</p>
			{coverage && <LossText lines={lossesOf(coverage.notes)} />}
			{data.rows.length === 0 ? (
				<Empty>{empty}</Empty>
			) : (
				<div class="scroll" tabIndex={0} role="region" aria-label="Table">
					<table class={`of-options${isLoading ? " old" : ""}`}>
						<thead>
							<tr>
								{data.titles.map((title, i) => (
									<th scope="col" class={isNumber[i] ? "number" : ""}>{title}</th>
								))}
							</tr>
						</thead>
						<tbody>
							{data.rows.slice(0, MOST_ROWS).map((row) => (
								<tr>
									{row.map((cell, i) => (
										<td class={isNumber[i] ? "number" : ""} title={cell.length > LONG_CELL ? cell : undefined}>
											<bdi>{isNumber[i] && cell !== "" ? numberOf(data.titles[i]!, cell) : cell}</bdi>
										</td>
									))}
								</tr>
							))}
						</tbody>
					</table>
				</div>
			)}
		</>
	);
}
const MOST_ROWS = 500;
const LONG_CELL = 30; /* characters; such a text may be cut */
/** Shares in percent; other numbers as they are, but for long fractions. */
function numberOf(title: string, cell: string): string {
	if (title.endsWith("share")) return share(Number(cell));
	return cell.includes(".") ? String(Number(Number(cell).toPrecision(6))) : cell;
}
const tableOf = (options: Ask, empty: string) => (props: { route: Route }) => <TableOf route={props.route} options={options} empty={empty} />;

/* Options that say which view it is, and those that have fields above it. */
const views = ["first-touch", "by", "by2", "by3", "by4", "sharing", "allocations", "callers", "layout", "coverage", "by-thread", "together"];
const filters = ["where", "address", "event", "loads", "stores"];
const but = (...names: string[]) => [...filters, ...views.filter((one) => !names.includes(one))];

const panes: { name: string; title: string; View: (props: { route: Route }) => preact.ComponentChild; hasFilters: boolean; question: string; except: string[] }[] = [
	{ name: "heat", title: "Addresses", View: HeatView, hasFilters: true, question: "heat", except: [...filters, "granularity", "first", "last", "rows", "from", "to"] },
	{ name: "pivot", title: "Groups", View: PivotTable, hasFilters: true, question: "memory", except: [...but(), "sort", "top", "granularity"] },
	{ name: "layout", title: "Types", View: LayoutView, hasFilters: true, question: "memory", except: [...but(), "sort", "top", "granularity"] },
	{ name: "sharing", title: "Sharing", View: SharingView, hasFilters: true, question: "memory", except: [...but(), "sort", "top"] },
	{
		name: "histogram",
		title: "Histogram",
		View: tableOf({}, "No sample with a data address passes this filter."),
		hasFilters: true,
		question: "memory",
		except: but("by-thread", "together"),
	},
	{
		name: "first-touch",
		title: "First touch",
		View: tableOf({ "first-touch": "1" }, "No page was touched by another thread than the one that uses it."),
		hasFilters: true,
		question: "memory",
		except: but(),
	},
	{
		name: "allocations",
		title: "Allocations",
		View: tableOf({ allocations: "1" }, "No allocations were recorded."),
		hasFilters: true,
		question: "memory",
		except: [...but("callers"), "granularity"],
	},
	{
		name: "callers",
		title: "Callers",
		View: tableOf({ callers: "3" }, "No calls were recorded."),
		hasFilters: true,
		question: "memory",
		except: [...but(), "granularity"],
	},
	{
		name: "coverage",
		title: "Coverage",
		View: tableOf({ coverage: "1" }, "There are no samples."),
		hasFilters: true,
		question: "memory",
		except: [...but(), "granularity", "sort", "top"],
	},
	{ name: "placement", title: "Placement", View: PlacementView, hasFilters: false, question: "place", except: ["topology", "policy", "threads-per-memory"] },
];

export function MemoryView({ route, profile }: { route: Route; profile?: Served["profiles"][number] | undefined }) {
	const name = route.params.get("pane") ?? "heat";
	const shown = panes.find((one) => one.name === name);
	const tabs = useRef<HTMLParagraphElement>(null);
	useInSight(tabs, "[aria-pressed=true]", [shown]);
	useLineKeys(".segment, .pivot .only, .type-list button, .sharing .open-row");
	if (profile && !profile.has_memory)
		return (
			<Empty>
				No data addresses were recorded in {profile.name}. <code>lode memory record -o x.lode -- PROGRAM</code> records
				them.
			</Empty>
		);
	return (
		<>
			<p class="tabs" ref={tabs}>
				{panes.map((one) => (
					<>
						<button aria-pressed={one === shown} onClick={() => change(route, { pane: one.name === "heat" ? null : one.name, sort: null, ...without(route) })}>
							{one.title}
						</button>{" "}
					</>
				))}
			</p>
			{shown?.hasFilters && <MemoryFilters route={route} events={profile?.events ?? []} />}
			{shown && <MoreOptions key={shown.name} question={shown.question} route={route} except={shown.except} />}
			<datalist id="attributes">
				{attributes.map((one) => (
					<option value={one} />
				))}
			</datalist>
			{shown ? <shown.View route={route} /> : <Empty>There is no view ‘{name}’ of memory.</Empty>}
		</>
	);
}
