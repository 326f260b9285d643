// SPDX-License-Identifier: MIT
//
// Two profiles side by side, from lode diff: a scatter plot of the cost of each row in both, and a table
// with the causes of the changes.
import { useMemo, useRef, useState } from "preact/hooks";
import { address, type Ask, type Compared, type ComparedRow, type Comparisons, type Served, useAnswer } from "./api";
import { ComparedDiagnoses } from "./compared_diagnoses";
import { amount, baseName, count, share, shortOf, some } from "./format";
import { more, MoreOptions } from "./options";
import { Empty, Export, Field, Filters, Loading, Name, Problem, saveDrawing, useLineKeys } from "./parts";
import { change, linkTo, type Route } from "./state";

/* In the order of lode diff. */
const kinds = ["functions", "lines", "patterns", "places", "sequences"] as const;
type Kind = (typeof kinds)[number];

const units: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** Formats an amount of the weight: time with its unit, events by number. */
function weight(value: number | null, unit: string): string {
	if (value === null) return "–";
	if (value === 0) return "0";
	if (unit !== "ns") return amount(value);
	const [scale, name] = units.find(([least]) => Math.abs(value) >= least) ?? units[3]!;
	return `${value < 0 ? "−" : ""}${amount(Math.abs(value) / scale)} ${name}`;
}

function signed(value: number | null, unit: string): string {
	return value === null ? "–" : `${value > 0 ? "+" : ""}${weight(value, unit)}`;
}

/** "gone"; of a function whose file is in both: "unused now". */
function matchWords(row: ComparedRow): string {
	return !row.is_unused ? row.match : row.match === "gone" ? "unused now" : "unused before";
}

function percent(row: ComparedRow): string {
	const [old, now] = [row.base.time, row.new.time];
	if (!old || now === null) return row.match === "same" ? "" : matchWords(row);
	const part = now / old - 1;
	return `${part > 0 ? "+" : part < 0 ? "−" : ""}${Math.abs(100 * part).toFixed(1)} %`;
}

/** Seconds in both, and their ratio: "0.99 → 0.75 s, 0.76 ×". */
function both(before: number, now: number): string {
	const digits = Math.max(before, now) < 1 ? 3 : 2;
	return `${before.toFixed(digits)} → ${now.toFixed(digits)} s${before > 0 && now > 0 ? `, ${(now / before).toFixed(2)} ×` : ""}`;
}

/** What limits the comparison, and the times as the kernel accounts them. */
function Times({ base, new: now, differences, totals }: Comparisons["comparisons"][number]) {
	const [user, oldUser, system, oldSystem] = [now.user_seconds, base.user_seconds, now.system_seconds, base.system_seconds];
	const isKnown = user !== null && oldUser !== null && system !== null && oldSystem !== null;
	const faults = totals.find((one) => one.name === "page-faults" && one.is_told && Math.abs(Math.log((one.new ?? 0) / (one.base ?? 0))) > 0.2);
	if (!isKnown && !differences) return null;
	return (
		<p>
			{differences}{" "}
			{isKnown && (
				<>
					Processor time <b>{both(oldUser + oldSystem, user + system)}</b>: user {both(oldUser, user)}, kernel {both(oldSystem, system)}
					{base.wall_seconds !== null && now.wall_seconds !== null && `; wall ${both(base.wall_seconds, now.wall_seconds)}`}
					{faults && `; page faults ${count(faults.base)} → ${count(faults.new)}`}.
				</>
			)}
		</p>
	);
}

/** How much longer the machine took for the same work, as lode diff says it. */
function Speed({ speed, speed_error: error, speed_is_different: isDifferent }: Comparisons["comparisons"][number]) {
	if (speed === null && error > 0)
		return <p>The machine's speed was not measured beside both programs: changes within {(200 * error).toFixed(0)} % may be the machine's.</p>;
	if (speed === null || !isDifferent) return null;
	return (
		<p>
			The machine took {speed.toFixed(2)} ±{(speed * error).toFixed(2)} times as long for the same work, as measured beside both programs. Listed is what changed beside that.
		</p>
	);
}

function SameCode({ same_code: same }: Comparisons["comparisons"][number]) {
	if (!same.is_told || same.factor === null) return null;
	return (
		<p>
			{count(same.functions)} functions with the same code take <b>{same.factor.toFixed(2)} ×</b> the time: what they work on changed, or how often they are called, not the code.
		</p>
	);
}

const SIZE = 420;
const EDGE = 66;

/** The cost of each row in the base (across) and in the new profile (up): above the line it is slower. */
function Scatter({ rows, what, unit, names, onChoose }: { rows: ComparedRow[]; what: Kind; unit: string; names: [string, string]; onChoose: (row: ComparedRow) => void }) {
	const svg = useRef<SVGSVGElement>(null);
	const shown = rows.slice(0, 500);
	const times = shown.flatMap((one) => [one.base.time ?? 0, one.new.time ?? 0]).filter((one) => one > 0);
	if (times.length === 0) return null;
	const most = Math.max(...times);
	const least = Math.max(Math.min(...times), most / 1e5);
	const span = Math.log10(most / least) || 1;
	/* A row without cost in one of them is at the edge. */
	const at = (value: number | null) => EDGE + 14 + ((SIZE - EDGE - 24) * Math.max(0, Math.log10(Math.max(value ?? 0, least) / least))) / span;
	const place = (value: number | null) => (value !== null && value > 0 ? at(value) : EDGE + 4);
	const marks: number[] = [];
	for (let power = Math.ceil(Math.log10(least)); power <= Math.log10(most); power++) marks.push(10 ** power);
	return (
		<figure class="scatter">
			<svg ref={svg} viewBox={`0 0 ${SIZE} ${SIZE}`} role="group" aria-label={`Scatter of ${shown.length} ${what}: what each costs in ${names[0]} and in ${names[1]}`}>
				<rect class="scatter-area" x={EDGE} y="10" width={SIZE - EDGE - 10} height={SIZE - EDGE - 10} />
				{marks.map((one) => (
					<>
						<line class="scatter-grid" x1={at(one)} x2={at(one)} y1="10" y2={SIZE - EDGE} />
						<line class="scatter-grid" y1={SIZE - at(one)} y2={SIZE - at(one)} x1={EDGE} x2={SIZE - 10} />
						<text class="scatter-mark" x={at(one)} y={SIZE - EDGE + 14} text-anchor={at(one) > SIZE - 30 ? "end" : "middle"}>{weight(one, unit)}</text>
						<text class="scatter-mark" x={EDGE - 4} y={SIZE - at(one) + 4} text-anchor="end">{weight(one, unit)}</text>
					</>
				))}
				<line class="scatter-equal" x1={EDGE} y1={SIZE - EDGE} x2={SIZE - 10} y2="10" />
				<text class="scatter-mark" x={SIZE / 2} y={SIZE - EDGE + 34} text-anchor="middle">{names[0]}</text>
				<text class="scatter-mark" x="11" y={SIZE / 2 - 20} text-anchor="middle" transform={`rotate(-90 11 ${SIZE / 2 - 20})`}>{names[1]}</text>
				{[...shown].reverse().map((row) => (
					<circle
						class={row.is_told ? ((row.change ?? 0) > 0 ? "slower" : "faster") : "untold"}
						cx={place(row.base.time)}
						cy={SIZE - place(row.new.time)}
						r={row.is_told ? 5 : 3}
						onClick={() => onChoose(row)}
					>
						<title>{`${shortOf(row, "text")}\n${weight(row.base.time, unit)} → ${weight(row.new.time, unit)}, ${percent(row)}`}</title>
					</circle>
				))}
			</svg>
			<figcaption class="legend">
				{what}: <i class="swatch slower" /> slower <i class="swatch faster" /> faster <i class="swatch untold" /> the samples cannot tell. Scales are logarithmic; at the
				edge: not in one of them.{" "}
				<button class="quiet" onClick={() => saveDrawing(svg.current!, "lode-compare.svg")}>Save as SVG</button>
			</figcaption>
		</figure>
	);
}

function Side(props: { row: ComparedRow; unit: string; isCounted: boolean; hasEach: boolean; side: "base" | "new" }) {
	const { unit, isCounted } = props;
	const { time, each } = props.row[props.side];
	return (
		<>
			<td class="number optional">{weight(time, unit)}</td>
			{props.hasEach && <td class="number optional">{each === null ? "–" : isCounted ? `${amount(each)} ${unit}` : `${amount(each)}×`}</td>}
		</>
	);
}

const MOST_ROWS = 300; /* of a kind */

/** What is known of a kind: its rows that cost something, and how many of those have no change that the samples can tell. */
interface KindRows {
	kind: Kind;
	compared: Compared;
	costly: ComparedRow[];
	told: number;
	untold: number;
}

function kindRows(kind: Kind, compared: Compared): KindRows {
	/* Rows without cost in both were only executed: they are left out. */
	const costly = compared.rows.filter((one) => one.base.time || one.new.time);
	const told = costly.filter((one) => one.is_told).length;
	return { kind, compared, costly, told, untold: compared.compared - (compared.rows.length - costly.length) - told };
}

function Row({ row, one, kind, data, route, base, isOpen, hasParts, hasEach }: {
	row: ComparedRow;
	one: KindRows;
	kind: Kind | null;
	data: Comparisons["comparisons"][number];
	route: Route;
	base: string;
	isOpen: boolean;
	hasParts: boolean;
	hasEach: boolean;
}) {
	const link =
		row.new.function_number !== null
			? linkTo("code", route, { function: String(row.new.function_number), ...(row.new.address ? { at: row.new.address } : {}) })
			: row.base.function_number !== null
				? linkTo("code", route, { profile: base, function: String(row.base.function_number) })
				: null;
	return (
		<tr class={isOpen ? "open" : ""} data-row={row.text}>
			<td class={`number ${row.is_told ? ((row.change ?? 0) > 0 ? "slower" : "faster") : "faint"}`}>
				{signed(row.change, data.unit)} <small>{percent(row)}</small>
			</td>
			<td class="number faint optional">{weight(row.change_error, data.unit)}</td>
			{hasParts && <td class="number optional">{signed(row.more_often, data.unit)}</td>}
			{hasParts && <td class="number optional">{signed(row.costs_more, data.unit)}</td>}
			<Side row={row} unit={data.unit} isCounted={data.is_counted} hasEach={hasEach} side="base" />
			<Side row={row} unit={data.unit} isCounted={data.is_counted} hasEach={hasEach} side="new" />
			{kind === null && <td class="faint nowrap">{one.kind.slice(0, -1)}</td>}
			<td>
				{link ? (
					<a href={link}>
						<Name of={row} as="text" />
					</a>
				) : (
					<Name of={row} as="text" />
				)}{" "}
				{row.was && <span class="faint">was <Name of={row} as="was" /></span>} {row.match !== "same" && !row.was && <span class="faint">{matchWords(row)}</span>}{" "}
				{row.new.file && one.kind !== "lines" && (
					<bdi class="faint">
						{baseName(row.new.file)}:{row.new.line}
					</bdi>
				)}
			</td>
		</tr>
	);
}

/** The rows of all kinds, or of one, in the order of lode diff. */
function Rows({ kinds: known, kind, data, route, base, chosen }: { kinds: KindRows[]; kind: Kind | null; data: Comparisons["comparisons"][number]; route: Route; base: string; chosen: string | null }) {
	const isAll = route.params.get("all") === "1";
	const shown = known.map((one) => ({ ...one, rows: one.costly.filter((row) => isAll || (row.is_told && !row.is_repeated) || row.text === chosen).slice(0, MOST_ROWS) }));
	const rows = shown.flatMap((one) => one.rows);
	const hasParts = rows.some((one) => one.more_often !== null);
	const hasEach = rows.some((one) => one.base.each !== null || one.new.each !== null);
	const untold = known.reduce((sum, one) => sum + one.untold, 0);
	const rest = known
		.filter((one) => one.untold > 0 && !isAll)
		.map((one) => `${some(one.untold, `${one.told > 0 ? "more " : ""}${one.kind.slice(0, -1)}`)} (${one.compared.deviations.toFixed(1)} standard errors)`);
	return (
		<>
			{rows.length > 0 && (
				<div class="scroll" tabIndex={0} role="region" aria-label={`Changes of ${kind ?? "all kinds"}`}>
					<table class="compared">
						<thead>
							<tr>
								<th scope="col" class="number">change</th>
								<th scope="col" class="number optional">±</th>
								{hasParts && <th scope="col" class="number optional">more often</th>}
								{hasParts && <th scope="col" class="number optional">costs more</th>}
								<th scope="col" class="number optional">before</th>
								{hasEach && <th scope="col" class="number optional">each</th>}
								<th scope="col" class="number optional">now</th>
								{hasEach && <th scope="col" class="number optional">each</th>}
								{kind === null && <th scope="col">kind</th>}
								<th scope="col">{kind === null ? "what changed" : kind.slice(0, -1)}</th>
							</tr>
						</thead>
						<tbody>
							{shown.map((one) =>
								one.rows.map((row) => (
									<Row {...{ row, one, kind, data, route, base, hasParts, hasEach }} isOpen={row.text === chosen} />
								)),
							)}
						</tbody>
					</table>
				</div>
			)}
			{rest.length > 0 && <p class="faint">No change that the samples can tell: {rest.join(", ")}.</p>}
			{untold > 0 && (
				<p>
					<label class="check">
						<input type="checkbox" checked={isAll} onChange={(event) => change(route, { all: (event.target as HTMLInputElement).checked ? "1" : null })} />
						also the {count(untold)} whose change the samples cannot tell
					</label>
				</p>
			)}
		</>
	);
}

/** What a profile is compared with unless chosen: the nearest before it, else after it, of the same command; else any. */
function baseFor(number: number, all: Served["profiles"]): string | null {
	const program = all.find((one) => one.number === number)?.program;
	const others = all.filter((one) => one.number !== number);
	const same = others.filter((one) => one.program === program);
	const chosen = same.filter((one) => one.number < number).pop() ?? same[0] ?? others[0];
	return chosen ? String(chosen.number) : null;
}

export function CompareView({ route, served }: { route: Route; served: Served }) {
	const get = (name: string) => route.params.get(name);
	const number = Number(get("profile") ?? 0);
	const base = get("base") ?? baseFor(number, served.profiles);
	/* Null: all kinds that need no mining. */
	const kind: Kind | null = kinds.find((one) => one === get("kind")) ?? null;
	const [chosen, setChosen] = useState<string | null>(null);
	useLineKeys(".compared tbody a");
	const what: Ask = {
		profile: number,
		base,
		by: kind === "sequences" ? "sequences" : `${kind === null ? "diagnoses," : ""}patterns,functions,lines`,
		normalise: get("normalise"),
		functions: get("functions"),
		limit: 1000,
		...more(route),
	};
	const { data, error, isLoading } = useAnswer<Comparisons>(base === null ? null : "diff", what);
	const one = data?.comparisons[0];
	const known = useMemo(
		() => kinds.flatMap((each) => (one?.[each] && (kind === null || kind === each) ? [kindRows(each, one[each]!)] : [])),
		[one, kind],
	);
	/* Of all kinds the first with a change is drawn: each has all of the time. */
	const drawn = known.find((each) => each.told > 0) ?? known.find((each) => each.costly.length > 0);
	if (base === null)
		return (
			<Empty>
				Only one profile is served. <code>lode serve before.lode after.lode</code> compares two.
			</Empty>
		);
	const nameOf = (profile: string) => served.profiles.find((each) => String(each.number) === profile)?.name ?? "?";
	return (
		<>
			<Filters set={["functions", "normalise"].filter((name) => get(name)).length}>
				<label class="field">
					<span>compared with (before)</span>
					<select value={base} onChange={(event) => change(route, { base: (event.target as HTMLSelectElement).value })}>
						{served.profiles.map((each) => (
							<option value={String(each.number)}>{each.name}</option>
						))}
					</select>
				</label>
				<Field id="search" label="functions" value={get("functions") ?? ""} placeholder="^parse" hint="only functions whose name matches this pattern"
					onChange={(value) => change(route, { functions: value }, true)} />
				<Field label="divide by" value={get("normalise") ?? ""} placeholder="none" hint="none, executions, or the calls of a function (its name)"
					onChange={(value) => change(route, { normalise: value }, true)} />
			</Filters>
			<MoreOptions question="diff" route={route} except={["by", "normalise", "functions", "limit"]} />
			<p class="tabs">
				{[null, ...kinds].map((each) => {
					const told = each && one?.[each] ? one[each]!.rows.filter((row) => row.is_told && !row.is_repeated).length : 0;
					return (
						<>
							<button aria-pressed={each === kind} onClick={() => change(route, { kind: each })}>
								{each ?? "all"}
								{told > 0 && ` ${count(told)}`}
							</button>{" "}
						</>
					);
				})}
				<Export csv={address("diff", { ...what, format: "csv" })} json={address("diff", what)} />
			</p>
			{error && <Problem failure={error} route={route} />}
			{!data && isLoading && <Loading what="Comparing the profiles" />}
			{one && (
				<>
					<Times {...one} />
					<p>
						<bdi>{nameOf(base)}</bdi>: {weight(one.base.total, one.unit)}, now <bdi>{nameOf(String(number))}</bdi>: {weight(one.new.total, one.unit)}:{" "}
						<b>{signed(one.change, one.unit)}</b> ±{weight(one.change_error, one.unit)}
						{one.base.total > 0 && ` (${one.change > 0 ? "+" : one.change < 0 ? "−" : ""}${share(Math.abs(one.change) / one.base.total)})`}
						{one.normalised_by !== "none" && `, divided by ${one.work_function ? `calls of ${one.work_function}` : one.normalised_by}`}.
						{one.left_out.length > 0 && ` Not compared by ${one.left_out.join(", ")}, which only one of them has.`}
					</p>
					<Speed {...one} />
					{one.same_code.is_most && <SameCode {...one} />}
					{kind === null && <ComparedDiagnoses data={one} route={route} base={base} isAll={get("all") === "1"} />}
					{!one.same_code.is_most && <SameCode {...one} />}
					{known.length > 0 ? (
						<div class="compare-grid">
							{drawn && (
								<Scatter rows={drawn.costly} what={drawn.kind} unit={one.unit} names={[`before: ${nameOf(base)}`, `now: ${nameOf(String(number))}`]} onChoose={(row) => {
									setChosen(row.text);
									setTimeout(() => document.querySelector("tr.open[data-row]")?.scrollIntoView({ block: "nearest" }));
								}} />
							)}
							<div>
								<Rows kinds={known} kind={kind} data={one} route={route} base={base} chosen={chosen} />
							</div>
						</div>
					) : isLoading ? (
						<Loading what={`Comparing ${kind ?? "all"}`} />
					) : (
						<Empty>Nothing of this kind is in both profiles.</Empty>
					)}
					<footer class="quality">
						<p>
							A change is listed that exceeds {Math.max(...known.map((each) => each.compared.deviations), 0).toFixed(1)} standard errors, as so many rows are compared. It is divided into what
							is due to being executed more often and to each execution costing more
							{!one.is_counted && "; executions were not counted in both, so that ‘each’ is in multiples of the average instruction around it"}.
						</p>
					</footer>
				</>
			)}
		</>
	);
}
