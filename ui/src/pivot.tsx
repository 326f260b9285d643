// SPDX-License-Identifier: MIT
//
// Samples in groups of groups, as lode memory --by: attributes are dragged to the rows and to the
// columns, and a group can become the filter for what is grouped next.
import { address, type Ask, type Pivot, useAnswer } from "./api";
import { count, share } from "./format";
import { filterOf, LossText, lossesOf, NotesText } from "./memory_filter";
import { Bar, Empty, Export, Footer, Loading, Problem } from "./parts";
import { change, type Route } from "./state";

export const attributes = [
	"object", "type", "member", "variable", "allocation", "mapping", "layer", "function", "place", "opcode", "image",
	"thread_label", "command", "cpu", "node", "page_node", "page", "cacheline", "event", "access", "rule", "reason",
	"level", "tlb", "address >> 20", "address % 64", "time / 1000000",
];
const LEVELS = 4; /* limit of the server, with the level of the columns */
const COLUMNS = 10; /* shown; the rest is one more column */
const ROWS = "50";

type PivotRow = Pivot["rows"][number];

/** Attributes that are grouped by a name that is unique. */
const groupedAs: Record<string, string> = { line: "place", thread: "thread_label" };

/** The condition for a group: `object == "int a[]"`. */
export function condition(by: string, key: string | number): string {
	const left = groupedAs[by] ?? (/^\w+$/.test(by) ? by : `(${by})`);
	const isNumber = typeof key === "number" || /^0x[0-9a-f]+$/.test(key);
	return `${left} == ${isNumber ? key : `"${key.replace(/[\\"]/g, "\\$&")}"`}`;
}

const wholeName = (row: PivotRow) => (row.short_key ? String(row.keys[row.keys.length - 1]) : undefined);
function nameOf(row: PivotRow): string {
	const key = row.short_key ?? row.keys[row.keys.length - 1];
	return row.kind === "others" ? `(${count(row.others)} others)` : row.kind === "none" ? "(none)" : String(key);
}

const noKey = "\u0000";
function keyOf(row: PivotRow): string {
	return row.kind === "value" ? String(row.keys[row.keys.length - 1]) : noKey;
}

interface Crossed {
	row: PivotRow;
	cells: (number | null)[] | null; /* shares by column; null: divided on a lower level, or not at all */
	rest: number;
}

/** The rows without those of the last level, which are the columns. */
function cross(rows: PivotRow[], columnLevel: number, heads: PivotRow[]): Crossed[] {
	const found: Crossed[] = [];
	let cells = new Map<string, number>();
	let isCut = false;
	const end = () => {
		const last = found[found.length - 1];
		if (!last || cells.size === 0) return;
		last.cells = heads.map((head) => cells.get(keyOf(head)) ?? (isCut ? null : 0));
		last.rest = Math.max(0, last.row.share - last.cells.reduce<number>((sum, one) => sum + (one ?? 0), 0));
	};
	for (const row of rows) {
		if (row.level === columnLevel) {
			if (row.kind === "others") isCut = true;
			else cells.set(keyOf(row), row.share);
			continue;
		}
		end();
		cells = new Map();
		isCut = false;
		found.push({ row, cells: null, rest: 0 });
	}
	end();
	return found;
}

/** A row of chips that attributes are dropped on. */
function Levels(props: { title: string; name: string; shown: string[]; most: number; onChange: (next: string[], from?: string) => void }) {
	const { shown, name } = props;
	const drop = (event: DragEvent, to: number) => {
		event.preventDefault();
		event.stopPropagation();
		const moved = event.dataTransfer?.getData("text/x-level") ?? "";
		const from = event.dataTransfer?.getData("text/x-from") ?? "";
		if (!moved) return;
		const next = shown.filter((one) => one !== moved);
		next.splice(Math.min(to, next.length), 0, moved);
		props.onChange(next, from === name ? undefined : from);
	};
	return (
		<div class="levels" role="group" aria-label={props.title} onDragOver={(event) => event.preventDefault()} onDrop={(event) => drop(event, shown.length)}>
			<span>{props.title}</span>
			{shown.map((one, i) => (
				<span
					class="chip"
					draggable
					onDragStart={(event) => {
						event.dataTransfer?.setData("text/x-level", one);
						event.dataTransfer?.setData("text/x-from", name);
					}}
					onDragOver={(event) => event.preventDefault()}
					onDrop={(event) => drop(event, i)}
				>
					<span class="mono">{one}</span>
					{i > 0 && (
						<button aria-label={`${one} further out`} onClick={() => {
							const next = [...shown];
							[next[i - 1], next[i]] = [next[i]!, next[i - 1]!];
							props.onChange(next);
						}}>
							←
						</button>
					)}
					<button aria-label={`Without ${one}`} onClick={() => props.onChange(shown.filter((_, n) => n !== i))}>
						×
					</button>
				</span>
			))}
			{shown.length < props.most && (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						const field = (event.target as HTMLFormElement).elements.namedItem(name) as HTMLInputElement;
						if (field.value.trim()) props.onChange([...shown, field.value.trim()]);
						field.value = "";
					}}
				>
					<input name={name} list="attributes" aria-label={`Group ${props.title} by`} placeholder="then by…" spellcheck={false} />
					<button type="submit">Add</button>
				</form>
			)}
		</div>
	);
}

export function PivotTable({ route }: { route: Route }) {
	const column = route.params.get("column");
	const most = LEVELS - (column ? 1 : 0);
	const levels = route.params.getAll("by").slice(0, most);
	const shown = levels.length > 0 ? levels : ["object"];
	const sort = route.params.get("sort") ?? "weight";
	const asked = column ? [...shown, column] : shown;
	const what: Ask = {
		...filterOf(route),
		sort,
		top: route.params.get("top") ?? ROWS,
		...Object.fromEntries(asked.map((one, i) => [i === 0 ? "by" : `by${i + 1}`, one])),
	};
	const { data, error, isLoading } = useAnswer<Pivot>("memory", what);
	const columns = useAnswer<Pivot>(column ? "memory" : null, { ...filterOf(route), sort: "weight", top: String(COLUMNS), by: column });
	const heads = column && columns.data ? columns.data.rows.filter((one) => one.kind !== "others") : [];
	const isCrossed = column !== null && data !== null && data.by.length === asked.length && columns.data !== null;
	const rows: Crossed[] = !data ? [] : isCrossed ? cross(data.rows, shown.length, heads) : data.rows.map((row) => ({ row, cells: null, rest: 0 }));
	const highest = Math.max(...rows.filter((one) => one.row.level === 0).map((one) => one.row.share), 0.001);
	const hottest = Math.max(...rows.flatMap((one) => one.cells ?? []).map((one) => one ?? 0), 0.001);
	const hasRest = rows.some((one) => one.rest > 1e-9);
	const only = (row: PivotRow) => {
		const conditions = row.keys.map((key, i) => (key === null ? "" : condition(data!.by[i]!, key))).filter(Boolean);
		const where = route.params.get("where");
		change(route, { where: [where ? `(${where})` : "", ...conditions].filter(Boolean).join(" && ") });
	};
	const title = (name: string, text: string) => (
		<th scope="col" class={name === "key" ? "" : name === "weight" ? "number" : "number optional"} aria-sort={sort === name ? (name === "key" ? "ascending" : "descending") : "none"}>
			<button class="sort" onClick={() => change(route, { sort: name })}>
				{text}
				<span aria-hidden="true">{sort === name ? (name === "key" ? " ▲" : " ▼") : ""}</span>
			</button>
		</th>
	);
	return (
		<>
			<Levels title="rows" name="level" shown={shown} most={most}
				onChange={(next, from) => change(route, { by: next, ...(from === "column" ? { column: null } : {}) })} />
			<Levels title="columns" name="column" shown={column ? [column] : []} most={shown.length < LEVELS ? 1 : 0}
				onChange={(next, from) => {
					const chosen = next.find((one) => one !== column) ?? next[0] ?? null;
					change(route, { column: chosen, ...(from === "level" ? { by: shown.filter((one) => one !== chosen) } : {}) });
				}} />
			<details class="palette">
				<summary>attributes to drag to rows or columns</summary>
				<p class="levels">
					{attributes.map((one) => (
						<span class="chip mono" draggable onDragStart={(event) => event.dataTransfer?.setData("text/x-level", one)}>
							{one}
						</span>
					))}
				</p>
			</details>
			{error && <Problem failure={error} route={route} />}
			{columns.error && !error && <Problem failure={columns.error} route={route} />}
			{!data && isLoading && <Loading what="Grouping samples" />}
			{data && (
				<>
					<p class="caption">
						<Export csv={address("memory", { ...what, format: "csv" })} json={address("memory", what)} />
					</p>
					<LossText lines={lossesOf(data.notes)} />
					{rows.length === 0 ? (
						<Empty>No sample passes this filter.</Empty>
					) : (
						<div class="scroll" tabIndex={0} role="region" aria-label="Groups">
							<table class={isCrossed ? "pivot crossed" : "pivot"}>
								<thead>
									<tr>
										{title("weight", "weight")}
										{!isCrossed && title("samples", "samples")}
										{!isCrossed && title("loads", "loads")}
										{!isCrossed && title("stores", "stores")}
										{title("key", (isCrossed ? shown : data.by).join(", then "))}
										{isCrossed && heads.map((one) => (
											<th scope="col" class="number crossed-head" title={`${column}: ${nameOf(one)}, ${share(one.share)}`}>
												<bdi>{nameOf(one)}</bdi>
											</th>
										))}
										{isCrossed && hasRest && <th scope="col" class="number">others</th>}
									</tr>
								</thead>
								<tbody>
									{rows.map(({ row, cells, rest }) => (
										<tr class={`level-${row.level}`}>
											<td class="share">
												{row.level === 0 && <Bar value={row.share} most={highest} />} {share(row.share)}
											</td>
											{!isCrossed && <td class="number optional">{count(row.samples)}</td>}
											{!isCrossed && <td class="number optional">{count(row.loads)}</td>}
											{!isCrossed && <td class="number optional">{count(row.stores)}</td>}
											<td class={row.kind === "value" ? "key" : "key faint"}>
												<bdi title={wholeName(row)}>{nameOf(row)}</bdi>
												{row.kind === "value" && (
													<button class="only" title="Filter: only these" aria-label={`Only ${nameOf(row)}`} onClick={() => only(row)}>
														only
													</button>
												)}
											</td>
											{isCrossed && heads.map((head, i) => (
												<td class={`number heat-${Math.ceil((8 * Math.sqrt((cells?.[i] ?? 0) / hottest)))}`} title={nameOf(head)}>
													{!cells ? "" : cells[i] === null ? "<" : cells[i] === 0 ? "·" : share(cells[i])}
												</td>
											))}
											{isCrossed && hasRest && <td class="number">{cells ? (rest > 1e-9 ? share(rest) : "·") : ""}</td>}
										</tr>
									))}
								</tbody>
							</table>
						</div>
					)}
				</>
			)}
			<Footer head={data}>{data && <NotesText notes={data.notes} />}</Footer>
		</>
	);
}
