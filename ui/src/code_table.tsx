// SPDX-License-Identifier: MIT
//
// Code as a table: disassembly with its figures, beside its source lines.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CodeLine, CodePlace, Head, Source } from "./api";
import { baseName, count, place as placeOf, share } from "./format";

/** The event as charged to the instruction that waited, and as sampled, if the profile has both. */
export function weightEvents(head: Head): string[] {
	const event = head.profile.weight_event;
	if (!event) return [];
	const sampled = event.replace(/:cause$/, "");
	return sampled === event ? [event] : [event, sampled];
}

function heat(value: number, most: number): string {
	if (!(value > 0) || !(most > 0)) return "";
	return `heat-${Math.min(9, Math.max(1, Math.ceil((9 * value) / most)))}`;
}

const elementClass = (line: CodeLine) => (line.elements.length > 0 ? `element element-${(line.elements[0]! - 1) % 4}` : "");

export function Disassembly(props: {
	lines: CodeLine[];
	head: Head;
	marked?: (line: CodeLine) => boolean;
	onPoint?: (line: CodeLine) => void;
	interleaved?: Source[];
	target?: string | null; /* the target address of a link */
}) {
	const { lines, head } = props;
	const events = weightEvents(head);
	const total = head.profile.weight;
	const others = [...new Set(lines.flatMap((one) => Object.keys(one.events)))]
		/* An event that counts instructions is the same as the column of executions. */
		.filter((name) => !events.includes(name) && lines.some((one) => (one.events[name] ?? 0) !== one.executions))
		.slice(0, 4);
	const most = Math.max(...lines.map((one) => one.events[events[0] ?? ""] ?? 0), 0);
	const hasMarks = lines.some((one) => one.elements.length > 0 || one.findings.length > 0);
	const hasData = lines.some((one) => one.memory);
	const columns = 4 + events.length + others.length + (hasMarks ? 1 : 0) + (hasData ? 1 : 0);
	const text = (file: string, line: number) =>
		props.interleaved?.find((one) => one.file === file)?.lines.find(([number]) => number === line)?.[1];
	let last = "";
	return (
		<div class="scroll" tabIndex={0} role="region" aria-label="Disassembly">
			<table class="code">
				<thead>
					<tr>
						{hasMarks && <th scope="col"><span class="hidden">Findings and elements</span></th>}
						<th scope="col" class="number" title="how often the instruction ran">executions</th>
						{events.map((name, i) => (
							<th
								scope="col"
								class="number"
								title={i === 0 ? "its share of all weight, at the instruction that waited" : "the weight where it was sampled"}
							>
								{name}
							</th>
						))}
						{others.map((name) => (
							<th scope="col" class="number">{name}</th>
						))}
						<th scope="col">address</th>
						<th scope="col">code</th>
						{hasData && <th scope="col">data</th>}
					</tr>
				</thead>
				<tbody>
					{lines.map((line) => {
						const where = line.file && line.line > 0 ? `${line.file}:${line.line}` : "";
						const isNew = props.interleaved && where !== "" && where !== last;
						if (where !== "") last = where;
						const value = line.events[events[0] ?? ""] ?? 0;
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
											{line.findings.map((one) => (
												<span title={`${one.id} explains ${share(one.time)} of all weight here`}>{one.id} </span>
											))}
										</td>
									)}
									<td class="number">{line.executions > 0 ? count(line.executions) : ""}</td>
									{events.map((name, i) => (
										<td class={`number ${i === 0 ? heat(value, most) : ""}`}>
											{(line.events[name] ?? 0) > 0 ? (total > 0 ? `${((100 * line.events[name]!) / total).toFixed(2)} %` : count(line.events[name])) : ""}
										</td>
									))}
									{others.map((name) => (
										<td class="number">{line.events[name] ? count(line.events[name]) : ""}</td>
									))}
									<td class="mono faint">{line.address.replace(/^0x/, "")}</td>
									<td class="mono text">{line.text}</td>
									{hasData && (
										<td class="data">
											{line.memory && (
												<>
													{share(line.memory.share)} <bdi>{line.memory.objects[0]?.name ?? ""}</bdi>
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
					<bdi>{place.function}</bdi>
				</a>{" "}
				<span class="faint">
					{placeOf(place)} · <bdi title={place.image}>{baseName(place.image)}</bdi>
				</span>
			</Heading>
			<p class="faint">
				{place.time !== undefined && place.time !== null && `${share(place.time)} of the time is explained here; `}
				{share(place.share)} of {head.profile.weight_event ?? "the weight"}, {count(place.executions)} executions
			</p>
			<Disassembly lines={place.instructions} head={head} interleaved={props.sources} />
			{props.children}
		</article>
	);
}

/** Source lines with the weight of their instructions. */
export function SourceLines(props: {
	source: Source;
	lines: CodeLine[];
	head: Head;
	pointed: string;
	onPoint: (key: string) => void;
}) {
	const event = weightEvents(props.head)[0] ?? "";
	const total = props.head.profile.weight;
	const sums = new Map<number, number>();
	for (const line of props.lines)
		if (line.file === props.source.file) sums.set(line.line, (sums.get(line.line) ?? 0) + (line.events[event] ?? 0));
	const most = Math.max(...sums.values(), 0);
	let previous = 0;
	return (
		<table class="code source">
			<caption>
				<bdi>{props.source.file}</bdi>
			</caption>
			<thead class="hidden-row">
				<tr>
					<th scope="col">weight</th>
					<th scope="col">line</th>
					<th scope="col">source</th>
				</tr>
			</thead>
			<tbody>
				{props.source.lines.map(([number, text]) => {
					const value = sums.get(number) ?? 0;
					const key = `${props.source.file}:${number}`;
					const isGap = previous !== 0 && number !== previous + 1;
					previous = number;
					return (
						<tr
							class={`${props.pointed === key ? "marked" : ""} ${isGap ? "gap" : ""}`}
							onPointerEnter={() => props.onPoint(key)}
						>
							<td class={`number ${heat(value, most)}`}>
								{value > 0 && total > 0 ? `${((100 * value) / total).toFixed(2)} %` : ""}
							</td>
							<td class="number faint">{number}</td>
							<td class="mono text">{text}</td>
						</tr>
					);
				})}
			</tbody>
		</table>
	);
}

export function usePointed(): [string, (key: string) => void] {
	return useState("");
}
