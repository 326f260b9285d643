// SPDX-License-Identifier: MIT
//
// The options of a question that a view has no fields of its own for: the server lists them, from
// the table of which --help is made. They stand in the page's address as "o.NAME".
import { useState } from "preact/hooks";
import { type Ask, file, type Questions, useAnswer } from "./api";
import { Field, Problem } from "./parts";
import { type Change, change, PART, type Route } from "./state";

const PREFIX = "o.";
/** Between the values of an option that may be repeated. */
const BETWEEN = ";";

/** What was given of them. */
export function more(route: Route): Ask {
	const asked: Ask = {};
	for (const [name, value] of route.params)
		if (name.startsWith(PREFIX)) asked[name.slice(PREFIX.length)] = value.split(BETWEEN).map((one) => one.trim()).filter(Boolean);
	return asked;
}

/** What was given of those that choose a part of the recording. */
export function part(route: Route): Ask {
	return Object.fromEntries(Object.entries(more(route)).filter(([name]) => PART.includes(PREFIX + name)));
}

/** Takes all of them away, for another question. */
export function without(route: Route): Change {
	return Object.fromEntries([...route.params.keys()].filter((name) => name.startsWith(PREFIX)).map((name) => [name, null]));
}

/** Fields for the options of a question, but for those that its view sets itself. */
export function MoreOptions({ question, route, except }: { question: string; route: Route; except: string[] }) {
	const given = Object.keys(more(route)).length;
	const [isOpen, setOpen] = useState(given > 0);
	const { data, error } = useAnswer<Questions>(isOpen && !file ? "questions" : null, {});
	const known = data?.questions.find((one) => one.name === question)?.parameters ?? [];
	const set = (name: string) => (value: string | null) => change(route, { [PREFIX + name]: value }, true);
	const valueOf = (name: string) => route.params.get(PREFIX + name) ?? "";
	/* A file has no answers but those inside. */
	if (file) return null;
	return (
		<details class="more" open={isOpen} onToggle={(event) => setOpen((event.target as HTMLDetailsElement).open)}>
			<summary>More options{given > 0 && `, ${given} set`}</summary>
			{error && <Problem failure={error} route={route} />}
			<div class="filters">
				{known
					.filter((one) => !except.includes(one.name) && one.name !== "format")
					.map((one) =>
						one.kind === "flag" ? (
							<label class="check" title={one.summary}>
								<input type="checkbox" checked={valueOf(one.name) === "1"}
									onChange={(event) => set(one.name)((event.target as HTMLInputElement).checked ? "1" : null)} />
								{one.name}
							</label>
						) : one.kind === "word" ? (
							<label class="field" title={one.summary}>
								<span>{one.name}</span>
								<select value={valueOf(one.name)} onChange={(event) => set(one.name)((event.target as HTMLSelectElement).value)}>
									<option value="">default</option>
									{one.words.map((word) => (
										<option value={word}>{word}</option>
									))}
								</select>
							</label>
						) : (
							<Field label={one.name} value={valueOf(one.name)} placeholder={one.value ?? ""}
								hint={one.kind === "texts" ? `${one.summary} (here with ${BETWEEN} between)` : one.summary} onChange={set(one.name)} />
						),
					)}
			</div>
		</details>
	);
}
