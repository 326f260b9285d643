// SPDX-License-Identifier: MIT
//
// The options of a question that a view has no fields of its own for: the server lists them, from
// the table of which --help is made. They stand in the page's address as "o.NAME".
import { useState } from "preact/hooks";
import { type Ask, file, type Head, type Questions, useAnswer } from "./api";
import { Field, Problem } from "./parts";
import { type Change, change, PART, type Route, WEIGHT } from "./state";

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

/** What was given of those that choose a part of the recording, or its weight. */
export function part(route: Route): Ask {
	return Object.fromEntries(Object.entries(more(route)).filter(([name]) => [...PART, WEIGHT].includes(PREFIX + name)));
}

const CAUSE = ":cause"; /* ends the name of an event that is charged to what waited */
const sampled = (event: string) => (event.endsWith(CAUSE) ? event.slice(0, -CAUSE.length) : event);
const meanings: Record<string, string> = { latency: "by the clock", "cpu-clock": "processor time", "task-clock": "processor time" };

/** The events that can weigh, if there are several. */
export function sampledEvents(head: Head | null): string[] {
	const events = head?.profile.sampled_events ?? [];
	return file || events.length < 2 ? [] : events;
}

/** A choice of the event that weighs. */
export function WeightChoice({ head, route }: { head: Head & { events?: string[]; event?: string | null }; route: Route }) {
	/* A flame graph's are as sampled, and those of which there are stacks. */
	const among = sampledEvents(head).filter((one) => head.events?.includes(sampled(one)) ?? true);
	const chosen = (head.events ? among.find((one) => sampled(one) === head.event) : head.profile.weight_event) ?? "";
	const known = among.includes(chosen) ? among : [chosen, ...among];
	if (among.length < 2) return null;
	return (
		<label class="field weight-choice">
			<span>weight</span>
			<select value={chosen} onChange={(event) => change(route, { [WEIGHT]: (event.target as HTMLSelectElement).value })}>
				{known.map((one) => (
					<option value={one}>{meanings[sampled(one)] ? `${meanings[sampled(one)]} (${sampled(one)})` : sampled(one)}</option>
				))}
			</select>
		</label>
	);
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
