// SPDX-License-Identifier: MIT
//
// Common parts of the views of data addresses: the filters, and the notes below.
import type { Ask, Notes } from "./api";
import { count, share } from "./format";
import { Field, Filters } from "./parts";
import { more } from "./options";
import { change, type Route } from "./state";

/** The filters that all views have, as lode memory's options. */
export function filterOf(route: Route): Ask {
	const get = (name: string) => route.params.get(name);
	return {
		profile: get("profile"),
		where: get("where"),
		address: get("address"),
		event: get("event"),
		loads: get("loads"),
		stores: get("stores"),
		...more(route),
	};
}

export function MemoryFilters({ route, events }: { route: Route; events: string[] }) {
	const get = (name: string) => route.params.get(name);
	return (
		<Filters set={["where", "address", "event", "loads", "stores"].filter((name) => get(name)).length}>
			<Field id="search" label="where" value={get("where") ?? ""} placeholder={'function =~ "^parse" && is_store'} wide
				hint="only samples for which this expression is true (docs/reference/expressions.md)"
				onChange={(value) => change(route, { where: value }, true)} />
			<Field label="address or object" value={get("address") ?? ""} placeholder="struct node" wide
				hint="only accesses to these addresses (MIN-MAX), or to this object, type or variable"
				onChange={(value) => change(route, { address: value }, true)} />
			{events.length > 1 && (
				<label class="field">
					<span>event</span>
					<select value={get("event") ?? ""} onChange={(event) => change(route, { event: (event.target as HTMLSelectElement).value })}>
						<option value="">as lode memory chooses</option>
						{events.map((one) => (
							<option value={one}>{one}</option>
						))}
					</select>
				</label>
			)}
			{["loads", "stores"].map((name) => (
				<label class="check">
					<input type="checkbox" checked={get(name) === "1"}
						onChange={(event) => change(route, { [name]: (event.target as HTMLInputElement).checked ? "1" : null })} />
					only {name}
				</label>
			))}
		</Filters>
	);
}

function number(notes: Notes, name: string): number {
	const value = notes[name];
	return typeof value === "number" ? value : 0;
}

/** Sentences on the loads and stores that have no address, above each view that rests on addresses. */
export function LossText({ lines }: { lines: string[] }) {
	return (
		<>
			{lines.map((one) => (
				<p>{one}</p>
			))}
		</>
	);
}

export function lossesOf(notes: Notes): string[] {
	return (notes.losses as { lines: string[] } | undefined)?.lines ?? [];
}

/** The notes below every view of data addresses. */
export function NotesText({ notes }: { notes: Notes }) {
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
