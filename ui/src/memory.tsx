// SPDX-License-Identifier: MIT
//
// Data addresses: heat maps of address × thread and address × time, and groups of samples.
import { address, type Ask, type Heat, type Notes, type Pivot, type Served, useAnswer } from "./api";
import { count, share } from "./format";
import { HeatMaps } from "./heat";
import { Bar, Empty, Export, Field, Footer, Loading, Problem } from "./parts";
import { change, type Route } from "./state";

const attributes = [
	"object", "type", "member", "variable", "allocation", "mapping", "layer", "function", "place", "opcode", "image",
	"thread_label", "command", "cpu", "node", "page_node", "page", "cacheline", "event", "access", "rule", "reason",
	"level", "tlb", "address >> 20", "address % 64", "time / 1000000",
];

/** The filters that both views have, as lode memory's options. */
function filterOf(route: Route): Ask {
	const get = (name: string) => route.params.get(name);
	return { profile: get("profile"), where: get("where"), address: get("address"), loads: get("loads"), stores: get("stores") };
}

function number(notes: Notes, name: string): number {
	const value = notes[name];
	return typeof value === "number" ? value : 0;
}

/** What stands below every view of data addresses. */
function NotesText({ notes }: { notes: Notes }) {
	const chosen = number(notes, "chosen");
	const recorded = number(notes, "recorded");
	const unresolved = number(notes, "unresolved");
	const reasons = Object.entries((notes.reasons ?? {}) as Record<string, number>).filter(([, n]) => n > 0);
	return (
		<>
			{chosen < recorded && (
				<p>
					{count(chosen)} of {count(recorded)} samples pass the filter.
				</p>
			)}
			{unresolved > 0 && (
				<details>
					<summary>
						{count(unresolved)} samples have no address: {share(number(notes, "unresolved_weight") / number(notes, "weight"))} of
						the weight, by reason
					</summary>
					<ul>
						{reasons.map(([reason, n]) => (
							<li>
								{reason}: {count(n)}
							</li>
						))}
					</ul>
				</details>
			)}
			{notes.is_stall_weighted === true && <p>The weight is the time that was waited, not the number of accesses.</p>}
		</>
	);
}

function PivotTable({ route }: { route: Route }) {
	const levels = route.params.getAll("by").slice(0, 4);
	const shown = levels.length > 0 ? levels : ["object"];
	const sort = route.params.get("sort") ?? "weight";
	const what: Ask = {
		...filterOf(route),
		sort,
		top: route.params.get("top") ?? "50",
		...Object.fromEntries(shown.map((one, i) => [i === 0 ? "by" : `by${i + 1}`, one])),
	};
	const { data, error, isLoading } = useAnswer<Pivot>("pivot", what);
	const setLevels = (next: string[]) => change(route, { by: next });
	const drop = (event: DragEvent, to: number) => {
		event.preventDefault();
		const from = Number(event.dataTransfer?.getData("text/x-level"));
		const next = [...shown];
		const [moved] = next.splice(from, 1);
		if (moved) next.splice(to, 0, moved);
		setLevels(next);
	};
	const most = Math.max(...(data?.rows.filter((one) => one.level === 0).map((one) => one.share) ?? []), 0.001);
	const title = (name: string, text: string) => (
		<th scope="col" class={name === "key" ? "" : "number"} aria-sort={sort === name ? (name === "key" ? "ascending" : "descending") : "none"}>
			<button class="sort" onClick={() => change(route, { sort: name })}>
				{text}
				<span aria-hidden="true">{sort === name ? (name === "key" ? " ▲" : " ▼") : ""}</span>
			</button>
		</th>
	);
	return (
		<>
			<div class="levels" aria-label="Groups, from the outer to the inner">
				<span>grouped by</span>
				{shown.map((one, i) => (
					<span
						class="chip"
						draggable
						onDragStart={(event) => event.dataTransfer?.setData("text/x-level", String(i))}
						onDragOver={(event) => event.preventDefault()}
						onDrop={(event) => drop(event, i)}
					>
						<span class="mono">{one}</span>
						{i > 0 && (
							<button aria-label={`${one} further out`} onClick={() => {
								const next = [...shown];
								[next[i - 1], next[i]] = [next[i]!, next[i - 1]!];
								setLevels(next);
							}}>
								←
							</button>
						)}
						{shown.length > 1 && (
							<button aria-label={`Without ${one}`} onClick={() => setLevels(shown.filter((_, n) => n !== i))}>
								×
							</button>
						)}
					</span>
				))}
				{shown.length < 4 && (
					<form
						onSubmit={(event) => {
							event.preventDefault();
							const field = (event.target as HTMLFormElement).elements.namedItem("level") as HTMLInputElement;
							if (field.value.trim()) setLevels([...shown, field.value.trim()]);
							field.value = "";
						}}
					>
						<input name="level" list="attributes" aria-label="Group by" placeholder="then by…" spellcheck={false} />
						<button type="submit">Add</button>
					</form>
				)}
			</div>
			{error && <Problem failure={error} route={route} />}
			{!data && isLoading && <Loading what="Grouping samples" />}
			{data && (
				<>
					<p class="caption">
						<Export csv={address("pivot", { ...what, format: "csv" })} json={address("pivot", what)} />
					</p>
					{data.rows.length === 0 ? (
						<Empty>No sample passes this filter.</Empty>
					) : (
						<div class="scroll" tabIndex={0} role="region" aria-label="Groups">
							<table class="pivot">
								<thead>
									<tr>
										{title("weight", "weight")}
										{title("samples", "samples")}
										{title("loads", "loads")}
										{title("stores", "stores")}
										{title("key", data.by.join(", then "))}
									</tr>
								</thead>
								<tbody>
									{data.rows.map((row) => {
										const key = row.keys[row.keys.length - 1];
										const name =
											row.kind === "others" ? `(${count(row.others)} others)` : row.kind === "none" ? "(none)" : String(key);
										return (
											<tr class={`level-${row.level}`}>
												<td class="share">
													{row.level === 0 && <Bar value={row.share} most={most} />} {share(row.share)}
												</td>
												<td class="number">{count(row.samples)}</td>
												<td class="number">{count(row.loads)}</td>
												<td class="number">{count(row.stores)}</td>
												<td class={row.kind === "value" ? "key" : "key faint"}>
													<bdi>{name}</bdi>
												</td>
											</tr>
										);
									})}
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

function HeatView({ route }: { route: Route }) {
	const get = (name: string) => route.params.get(name);
	const from = get("from");
	const to = get("to");
	/* A stretch of time is one more condition. */
	const conditions = [get("where") && `(${get("where")})`, from && to && `time >= ${from} && time <= ${to}`].filter(Boolean);
	const what: Ask = {
		...filterOf(route),
		where: conditions.join(" && "),
		granularity: get("granularity"),
	};
	const { data, error, isLoading } = useAnswer<Heat>("heat", what);
	const isZoomed = get("address") !== null || from !== null;
	return (
		<>
			<p class="tabs">
				<label>
					cells of{" "}
					<select
						value={get("granularity") ?? "page"}
						onChange={(event) => change(route, { granularity: (event.target as HTMLSelectElement).value })}
					>
						{["page", "line", "word", "64K", "2M"].map((one) => (
							<option value={one}>{one}</option>
						))}
					</select>
				</label>{" "}
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
				{isZoomed && <button onClick={() => change(route, { address: null, from: null, to: null })}>Whole picture</button>}{" "}
				<Export json={address("heat", what)} />
			</p>
			{error && <Problem failure={error} route={route} />}
			{!data && isLoading && <Loading what="Counting accesses" />}
			{data && data.rows.length === 0 && (
				<Empty>No sample with a data address passes this filter. Take a filter away, or show the whole picture.</Empty>
			)}
			{data && data.rows.length > 0 && <HeatMaps data={data} route={route} isOld={isLoading} />}
			<Footer head={data}>
				{data && data.segments_left_out > 0 && (
					<p>
						{count(data.segments_left_out)} stretches of addresses with {share(data.weight_left_out / data.weight)} of
						the weight are left out.
					</p>
				)}
				{data && data.without_time > 0 && <p>{count(data.without_time)} samples have no time.</p>}
				{data && <NotesText notes={data.notes} />}
			</Footer>
		</>
	);
}

export function MemoryView({ route, profile }: { route: Route; profile?: Served["profiles"][number] | undefined }) {
	const get = (name: string) => route.params.get(name);
	const pane = get("pane") ?? "heat";
	if (profile && !profile.has_memory)
		return (
			<Empty>
				No data addresses were recorded in {profile.name}. <code>lode memory record -o x.lode -- PROGRAM</code> records
				them.
			</Empty>
		);
	const tab = (name: string, title: string) => (
		<button aria-pressed={pane === name} onClick={() => change(route, { pane: name === "heat" ? null : name, sort: null })}>
			{title}
		</button>
	);
	return (
		<>
			<p class="tabs">
				{tab("heat", "Addresses")} {tab("pivot", "Groups")}
			</p>
			<form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
				<Field id="search" label="where" value={get("where") ?? ""} placeholder={'function =~ "^parse" && is_store'} wide
					hint="only samples for which this expression is true (docs/expressions.md)"
					onChange={(value) => change(route, { where: value }, true)} />
				<Field label="address or object" value={get("address") ?? ""} placeholder="struct node"
					hint="only accesses to these addresses (MIN-MAX), or to this object, type or variable"
					onChange={(value) => change(route, { address: value }, true)} />
				{["loads", "stores"].map((name) => (
					<label class="check">
						<input type="checkbox" checked={get(name) === "1"}
							onChange={(event) => change(route, { [name]: (event.target as HTMLInputElement).checked ? "1" : null })} />
						only {name}
					</label>
				))}
			</form>
			<datalist id="attributes">
				{attributes.map((one) => (
					<option value={one} />
				))}
			</datalist>
			{pane === "pivot" ? <PivotTable route={route} /> : <HeatView route={route} />}
		</>
	);
}

