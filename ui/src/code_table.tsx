// SPDX-License-Identifier: MIT
//
// Code as a table: disassembly with its figures, beside its source lines.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CodeLine, CodePlace, Head, Source } from "./api";
import { baseName, count, eventValue, inlinedLine, LINE_NOT_KNOWN, place as placeOf, share } from "./format";
import { Name } from "./parts";

/** The event as charged to the instruction that waited, and as sampled, if the profile has both. */
export function weightEvents(head: Head): string[] {
	const event = head.profile.weight_event;
	if (!event) return [];
	const sampled = event.replace(/:cause$/, "");
	return sampled === event ? [event] : [event, sampled];
}

const where = (line: CodeLine) => (line.file && line.line > 0 ? `${line.file}:${line.line}` : "");

/** What the instructions of each source line cost together: "FILE:LINE" → weight. */
export function lineWeights(lines: CodeLine[], head: Head): Map<string, number> {
	const event = weightEvents(head)[0] ?? "";
	const sums = new Map<string, number>();
	for (const line of lines) sums.set(where(line), (sums.get(where(line)) ?? 0) + (line.events[event] ?? 0));
	sums.delete("");
	return sums;
}

/** Events other than the weight, of which each column is different: one may have two names. */
function otherEvents(lines: CodeLine[], events: string[], isLeftOut: (name: string) => boolean): string[] {
	const columns: ((line: CodeLine) => number)[] = [(line) => line.executions];
	for (const name of events) columns.push((line) => line.events[name] ?? 0);
	const isNew = (name: string) => {
		const values = (line: CodeLine) => line.events[name] ?? 0;
		if (columns.some((one) => lines.every((line) => one(line) === values(line)))) return false;
		columns.push(values);
		return true;
	};
	return [...new Set(lines.flatMap((one) => Object.keys(one.events)))].filter((name) => !isLeftOut(name) && isNew(name)).slice(0, 4);
}

/** The lines, or instead of some how many of them never ran; `kept`: an address that is shown all the same. */
function fold(lines: CodeLine[], kept: string | null | undefined): (CodeLine | number)[] {
	const hasRun = (line: CodeLine) => line.executions > 0 || Object.keys(line.events).length > 0 || line.address === kept;
	if (!lines.some(hasRun)) return lines;
	const shown: (CodeLine | number)[] = [];
	for (let i = 0; i < lines.length; ) {
		let end = i;
		while (end < lines.length && !hasRun(lines[end]!)) end++;
		if (end - i >= FOLDED) shown.push(end - i);
		else shown.push(...lines.slice(i, end));
		if (end < lines.length) shown.push(lines[end]!);
		i = end + 1;
	}
	return shown;
}
const FOLDED = 4; /* so many lines are worth a fold */

/** Where the code of an instruction was inlined from: its own line → … → the innermost, and the whole chain. */
function chainOf(line: CodeLine): [short: string, whole: string] {
	const chain = line.chain ?? [];
	if (chain.length === 0) return line.file === null ? [LINE_NOT_KNOWN, ""] : ["", ""];
	const own = line.file === null ? LINE_NOT_KNOWN : placeOf(line);
	return [[own, ...(chain.length > 2 ? ["…"] : []), ...chain.slice(1).slice(-1).map(inlinedLine)].join(" → "), chain.map(inlinedLine).join(" → ")];
}

function heat(value: number, most: number): string {
	if (!(value > 0) || !(most > 0)) return "";
	return `heat-${Math.min(9, Math.max(1, Math.ceil((9 * value) / most)))}`;
}

const MARKS = 3; /* of findings, beside an instruction */

/** The numbers of the findings that explain an instruction, those that explain most of it first. */
function Marks({ line }: { line: CodeLine }) {
	const all = [...line.findings].sort((a, b) => b.time - a.time);
	const words = (one: CodeLine["findings"][number]) => `${one.id} explains ${share(one.time)} of all weight here`;
	const rest = all.slice(MARKS);
	return (
		<>
			{all.slice(0, MARKS).map((one) => (
				<span class="mark" title={words(one)}>
					<span class="hidden">F</span>
					{one.id.slice(1)}
				</span>
			))}
			{rest.length > 0 && <span class="mark" title={rest.map(words).join("\n")}>+{rest.length}</span>}
		</>
	);
}

/** How many columns find no room in a box, which it may be given later; `changes`: what else makes it wider. */
function useDropped(most: number, changes: unknown[]) {
	const box = useRef<HTMLDivElement>(null);
	const [dropped, setDropped] = useState(0);
	const width = useRef(0);
	useEffect(() => {
		const observer = new ResizeObserver(() => {
			const now = box.current?.clientWidth ?? 0;
			if (now !== width.current) setDropped(0);
			width.current = now;
		});
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	useLayoutEffect(() => setDropped(0), changes);
	useLayoutEffect(() => {
		const here = box.current;
		if (here && here.clientWidth > 0 && here.scrollWidth > here.clientWidth + 1 && dropped < most) setDropped(dropped + 1);
	});
	return { box, dropped };
}

/** A name that may go on in the next line at a colon. */
function Breakable({ name }: { name: string }) {
	return (
		<>
			{name.split(":").map((part, i) => (
				<>
					{i > 0 && <wbr />}
					<span class="nowrap">
						{i > 0 && ":"}
						{part}
					</span>
				</>
			))}
		</>
	);
}

const elementClass = (line: CodeLine) => (line.elements.length > 0 ? `element element-${(line.elements[0]! - 1) % 4}` : "");

export function Disassembly(props: {
	lines: CodeLine[];
	head: Head;
	marked?: (line: CodeLine) => boolean;
	onPoint?: (line: CodeLine) => void;
	interleaved?: Source[];
	label?: string; /* where there are several */
	target?: string | null; /* the target address of a link */
	most?: number; /* of the colour scale, where it is shared */
	onUnfold?: () => void; /* given: what never ran is folded */
}) {
	const { lines, head } = props;
	const events = weightEvents(head);
	const total = head.profile.weight;
	/* Events that can be chosen to weigh instead take no room from the code. */
	const isChoice = (name: string) => (head.profile.sampled_events ?? []).some((one) => one === name || one === `${name}:cause`);
	const others = otherEvents(lines, events, isChoice);
	const most = props.most ?? Math.max(...lines.map((one) => one.events[events[0] ?? ""] ?? 0), 0);
	const shown = props.onUnfold ? fold(lines, props.target) : lines;
	const hasMarks = lines.some((one) => one.elements.length > 0 || one.findings.length > 0);
	const hasData = lines.some((one) => one.memory);
	const hasObserved = lines.some((one) => one.observed?.text && one.observed.is_observed);
	/* Without any line nothing is said of each. */
	const hasChains = lines.some((one) => one.chain) || (lines.some((one) => one.file !== null) && lines.some((one) => one.file === null));
	const columns = 4 + (hasChains ? 1 : 0) + events.length + others.length + (hasMarks ? 1 : 0) + (hasData ? 1 : 0) + (hasObserved ? 1 : 0);
	const text = (file: string, line: number) =>
		props.interleaved?.find((one) => one.file === file)?.lines.find(([number]) => number === line)?.[1];
	/* In the order in which they give up their room. */
	const droppable = [events.slice(1), hasChains ? ["inlined"] : [], ["address"], others, ["executions"]];
	const { box, dropped } = useDropped(droppable.length, [lines, head]);
	const lost = droppable.slice(0, dropped).flat();
	let last = "";
	let lastChain = "";
	return (
		<div class="scroll" tabIndex={0} role="region" aria-label={props.label ?? "Disassembly"} ref={box}>
			<table class="code" data-dropped={dropped}>
				<thead>
					<tr>
						{hasMarks && <th scope="col" class="marks" title="the findings that explain its cost, by number">F<span class="hidden">indings and elements</span></th>}
						<th scope="col" class="number optional drop-5" title="how often the instruction ran">executions</th>
						{events.map((name, i) => (
							<th
								scope="col"
								class={i === 0 ? "number" : "number optional drop-1"}
								title={`${name}: ${i === 0 ? "its share of all weight, at the instruction that waited" : "the weight where it was sampled"}`}
							>
								<Breakable name={name} />
							</th>
						))}
						{others.map((name) => (
							<th scope="col" class="number optional drop-4"><Breakable name={name} /></th>
						))}
						<th scope="col" class="optional drop-3">address</th>
						<th scope="col">code</th>
						{hasObserved && <th scope="col" class="optional" title="what windows of the run that were executed step by step saw of it">windows</th>}
						{hasChains && <th scope="col" class="optional drop-2" title="where the code was inlined from: the function's own line first">inlined</th>}
						{hasData && (
							<th
								scope="col"
								title={
									lines.some((one) => one.memory?.is_of_windows)
										? "its share of the function's accesses in windows, and what they are to"
										: "its share of the function's samples of loads and stores, and what they are to"
								}
							>
								data
							</th>
						)}
					</tr>
				</thead>
				<tbody>
					{shown.map((line) => {
						if (typeof line === "number")
							return (
								<tr class="unrun">
									<td colSpan={columns}>
										<button onClick={props.onUnfold}>⋮ {count(line)} never ran</button>
									</td>
								</tr>
							);
						const own = where(line);
						const isNew = props.interleaved && own !== "" && own !== last;
						if (own !== "") last = own;
						const value = line.events[events[0] ?? ""] ?? 0;
						const [chain, whole] = chainOf(line);
						const isSameChain = whole !== "" && whole === lastChain;
						lastChain = whole;
						return (
							<>
								{isNew && (
									<tr class="source-line">
										<td colSpan={columns}>
											<span class="faint">{placeOf(line)}</span>{" "}
											<bdi class="mono">{text(line.file!, line.line) ?? ""}</bdi>
										</td>
									</tr>
								)}
								<tr
									id={`at-${line.address}`}
									class={`${elementClass(line)} ${props.marked?.(line) ? "marked" : ""} ${line.address === props.target ? "target" : ""} ${line.executions > 0 ? "" : "never"}`}
									onPointerEnter={props.onPoint && (() => props.onPoint!(line))}
								>
									{hasMarks && (
										<td class="marks">
											{line.elements.length > 0 && <b>▶{line.elements.join(" ")}</b>}{" "}
											<Marks line={line} />
										</td>
									)}
									<td class="number optional drop-5">{line.executions > 0 ? count(line.executions) : ""}</td>
									{events.map((name, i) => (
										<td class={`number ${i === 0 ? heat(value, most) : "optional drop-1"}`}>
											{(line.events[name] ?? 0) > 0 ? (total > 0 ? `${((100 * line.events[name]!) / total).toFixed(2)} %` : count(line.events[name])) : ""}
										</td>
									))}
									{others.map((name) => (
										<td class="number optional drop-4">{line.events[name] ? eventValue(line.events[name], name, events) : ""}</td>
									))}
									<td class="mono faint optional drop-3">{line.address.replace(/^0x/, "")}</td>
									<td class="mono text">{line.text}</td>
									{hasObserved && (
										<td class="faint optional observed" title={line.observed?.text}>
											{line.observed?.text}
										</td>
									)}
									{hasChains && (
										<td class="chain faint optional drop-2" title={whole || undefined}>
											{isSameChain ? "″" : <bdi>{chain}</bdi>}
										</td>
									)}
									{hasData && (
										<td class="data">
											{line.memory && (
												<>
													{share(line.memory.share)} {line.memory.objects[0] && <Name of={line.memory.objects[0]} as="name" none="" />}
													{line.memory.objects.length > 1 && ` and ${line.memory.objects.length - 1} more`}
												</>
											)}
										</td>
									)}
								</tr>
							</>
						);
					})}
				</tbody>
			</table>
			{lost.length > 0 && <p class="faint lost-columns">No room for: {lost.join(", ")}.</p>}
		</div>
	);
}

/** One place of a finding or a sequence; `level`: that of its heading. */
export function PlaceCode(props: {
	place: CodePlace;
	sources: Source[];
	head: Head;
	title: string;
	level: "h2" | "h3";
	link: string;
	children?: ComponentChildren;
}) {
	const { place, head, level: Heading } = props;
	return (
		<article class="place">
			<Heading>
				{props.title}{" "}
				<a href={props.link}>
					<Name of={place} as="function" />
				</a>{" "}
				<span class="faint">
					{placeOf(place)} · <bdi title={place.image}>{baseName(place.image)}</bdi>
				</span>
			</Heading>
			<p class="faint">
				{place.time !== undefined && place.time !== null && `${share(place.time)} of the time is explained here; `}
				{share(place.share)} of {head.profile.weight_event ?? "the weight"}, {count(place.executions)} executions
			</p>
			<Disassembly label={`Disassembly ${props.title}`} lines={place.instructions} head={head} interleaved={props.sources} />
			{props.children}
		</article>
	);
}

/** Source lines with the weight of their instructions; `most`: of the colour scale. */
export function SourceLines(props: {
	source: Source;
	weights: Map<string, number>;
	most: number;
	total: number;
	pointed: string;
	diagnosed: string; /* the line of a diagnosis; "": none */
	onPoint: (key: string) => void;
}) {
	const { source, weights, total } = props;
	const percent = (value: number) => (value > 0 && total > 0 ? `${((100 * value) / total).toFixed(2)} %` : "");
	let previous = 0;
	return (
		<table class="code source">
			<caption>
				<bdi>{source.file}</bdi> {percent(fileWeight(source, weights))}
			</caption>
			<thead class="hidden-row">
				<tr>
					<th scope="col">weight</th>
					<th scope="col">line</th>
					<th scope="col">source</th>
				</tr>
			</thead>
			<tbody>
				{source.lines.map(([number, text]) => {
					const key = `${source.file}:${number}`;
					const value = weights.get(key) ?? 0;
					const isGap = previous !== 0 && number !== previous + 1;
					previous = number;
					return (
						<tr
							class={`${props.pointed === key ? "marked" : ""} ${isGap ? "gap" : ""} ${props.diagnosed === key ? "diagnosed-line" : ""}`}
							data-line={key}
							onPointerEnter={() => props.onPoint(key)}
						>
							<td class={`number ${heat(value, props.most)}`}>{percent(value)}</td>
							<td class="number faint">{number}</td>
							<td class="mono text">{text}</td>
						</tr>
					);
				})}
			</tbody>
		</table>
	);
}

export function fileWeight(source: Source, weights: Map<string, number>): number {
	return source.lines.reduce((sum, [number]) => sum + (weights.get(`${source.file}:${number}`) ?? 0), 0);
}

export function usePointed(): [string, (key: string) => void] {
	return useState("");
}
