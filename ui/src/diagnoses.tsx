// SPDX-License-Identifier: MIT
//
// The diagnoses: what costs time and why, what removing it would save, and what to do; and the functions that cost most.
import type { Diagnosis, Findings } from "./api";
import { baseName, clause, inlinedLine, percents, place, share, some } from "./format";
import { Bar, Name, Range } from "./parts";
import { change, linkTo, type Route } from "./state";

/** What is not diagnosed is said from this share on. */
const LEAST_REST = 0.02;

/** The functions that cost most, by family, as on the terminal's first screen, and what is to be known of them. */
export function TopFunctions({ data, route }: { data: Findings; route: Route }) {
	const rows = data.top_functions;
	const hasInclusive = rows.some((one) => one.inclusive !== null);
	if (rows.length === 0) return null;
	return (
		<section>
			<h2>Functions</h2>
			<table class="costs top-functions">
				<caption class="hidden">The functions that cost most</caption>
				<thead>
					<tr>
						<th scope="col">alone</th>
						{hasInclusive && (
							<th scope="col" class="number" title="with all that it calls">
								inclusive
							</th>
						)}
						<th scope="col">function</th>
					</tr>
				</thead>
				<tbody>
					{rows.map((one) => (
						<tr key={`${one.number} ${one.name}`}>
							<td class="share">
								<Bar value={one.self} most={Math.max(...rows.map((row) => row.self))} />
								<b>{share(one.self)}</b>
							</td>
							{hasInclusive && <td class="number">{one.inclusive === null ? "–" : share(one.inclusive)}</td>}
							<td class="what">
								{one.number === null ? (
									<Name of={one} as="name" />
								) : (
									<a href={linkTo("code", route, { function: String(one.number) })}>
										<Name of={one} as="name" />
									</a>
								)}
								{one.caller !== null && (
									<>
										{", from "}
										<Name of={one} as="caller" />
										{one.file !== null && ` at ${baseName(one.file)}:${one.line}`}
									</>
								)}
								{one.more_callers > 0 && ` +${one.more_callers}`}{" "}
								{one.image !== null && (
									<bdi class="faint optional" title={one.image}>
										{baseName(one.image)}
									</bdi>
								)}
							</td>
						</tr>
					))}
				</tbody>
			</table>
			{data.notes.map((one) => (
				<p class="faint">{one}</p>
			))}
		</section>
	);
}

/** "hash_step (table.c:41) and 39 more functions"; leads to the code of its costliest place. */
function Scope({ one, route }: { one: Diagnosis; route: Route }) {
	const { scope, at } = one;
	const lines = scope.inlined.length > 0 ? scope.inlined.map(inlinedLine).join(" → ") : undefined;
	const line = scope.file !== null && scope.line > 0 ? `${baseName(scope.file)}:${scope.line}` : null;
	const where = (
		<>
			{scope.function !== null && (lines ? <Name of={scope} as="function" title={lines} /> : <Name of={scope} as="function" />)}
			{line !== null && (scope.function !== null ? ` (${line})` : line)}
		</>
	);
	const hasWhere = scope.function !== null || line !== null;
	return (
		<>
			{hasWhere && at[0] ? <a href={linkTo("code", route, { function: String(at[0].function_number), at: at[0].address, diagnosis: one.id })}>{where}</a> : where}
			{scope.object !== null && (
				<>
					{hasWhere && ": "}
					<bdi>{scope.object}</bdi>
				</>
			)}
			{one.functions > 1 && ` and ${some(one.functions - 1, "more function")}`}
		</>
	);
}

function Detail({ one, route }: { one: Diagnosis; route: Route }) {
	/* The finding is below. */
	const goTo = (id: string) => () => setTimeout(() => document.querySelector<HTMLElement>(`[data-finding="${id}"]`)?.focus());
	return (
		<section class="detail" aria-label={`Diagnosis ${one.id}`}>
			<div class="explanation">
				{one.explanation && <p>{one.explanation}</p>}
				{one.remedy && (
					<p>
						{one.authors ? `What its authors could do in ${one.authors}: ` : "What people do: "}
						{one.remedy}
					</p>
				)}
				{one.source && <p class="faint">Source: {one.source}.</p>}
			</div>
			<h3>Evidence</h3>
			<ul>
				{one.evidence.map((line) => (
					<li>{line.text}</li>
				))}
			</ul>
			{one.ruled_out.length > 0 && (
				<>
					<h3>Ruled out</h3>
					<ul>
						{one.ruled_out.map((text) => (
							<li>{text}</li>
						))}
					</ul>
				</>
			)}
			{one.findings.length > 0 && (
				<p>
					Findings:{" "}
					{one.findings.map((id, i) => (
						<>
							{i > 0 && ", "}
							<a href={linkTo("findings", route, { open: id })} onClick={goTo(id)}>
								{id}
							</a>
						</>
					))}
				</p>
			)}
			{one.at.length > 0 && (
				<>
					<h3>
						Places{" "}
						<span class="faint">
							{one.at.length < one.places && `${one.at.length} of `}
							{/* Of a service the lines of the calls are counted. */}
							{one.at.length <= one.places && `${some(one.places, "place")} in `}
							{some(one.functions, "function")}
						</span>
					</h3>
					<ol class="diagnosis-places">
						{one.at.map((at) => (
							<li>
								<span class="number">{share(at.time)}</span>{" "}
								<a href={linkTo("code", route, { function: String(at.function_number), at: at.address, diagnosis: one.id })}>
									<Name of={at} as="function" /> ({place(at)})
								</a>
							</li>
						))}
					</ol>
				</>
			)}
			<p class="faint">
				Name: <bdi>{one.name}</bdi>
			</p>
		</section>
	);
}

function Row({ one, route }: { one: Diagnosis; route: Route }) {
	const isOpen = route.params.get("open") === one.id;
	const isWait = one.scope.kind === "wait";
	const saves = isWait ? { low: one.saves_clock.low, high: one.saves_clock.high ?? 0 } : one.saves;
	return (
		<>
			<tr class={isOpen ? "open" : ""}>
				<td class="share">
					<Range low={saves.low} high={saves.high} />
					<b>{saves.high > 0 ? percents(saves.low, saves.high) : ""}</b>
					{isWait && <span class="faint"> by the clock</span>}
				</td>
				<td class="number optional">
					{isWait ? (
						<span title="of the time that all threads ran and waited">{share(one.clock ?? 0)}</span>
					) : (
						<>
							{share(one.time)} <span class="faint">±{(100 * one.time_error).toFixed(1)}</span>
						</>
					)}
				</td>
				<td class="what">
					<button
						class="open-row"
						aria-expanded={isOpen}
						data-diagnosis={one.id}
						onClick={() => change(route, { open: isOpen ? null : one.id, places: null, flow: null })}
					>
						<span class="id">{one.id}</span> <bdi class="pattern">{one.title}</bdi>
					</button>
					<div class="diagnosis-lines">
						<p>
							<Scope one={one} route={route} />
						</p>
						{!isOpen && one.evidence[0] && <p class="faint">{one.evidence[0].text}</p>}
						{!isOpen && one.remedy && (
							<p>
								→ {one.authors && `for the authors of ${one.authors}: `}
								{clause(one.remedy)}
							</p>
						)}
					</div>
				</td>
			</tr>
			{isOpen && (
				<tr class="detail-row">
					<td colSpan={3}>
						<Detail one={one} route={route} />
					</td>
				</tr>
			)}
		</>
	);
}

export function Diagnoses({ data, route }: { data: Findings; route: Route }) {
	if (data.too_short && data.diagnoses.length === 0) return <p>Too few samples to tell what costs: let the program run longer, or repeat it.</p>;
	if (data.diagnoses.length === 0) return null;
	return (
		<section>
			<h2>Diagnoses</h2>
			<table class="costs diagnoses">
				<caption class="hidden">What costs time, and why</caption>
				<thead>
					<tr>
						<th scope="col" title="of all processor time, in 8 of 10 comparable cases">
							saves
						</th>
						<th scope="col" class="number optional" title="of all processor time, at its places">
							time
						</th>
						<th scope="col">
							<span class="hidden">Cause</span>
						</th>
					</tr>
				</thead>
				<tbody>
					{data.diagnoses.map((one) => (
						<Row key={one.id} one={one} route={route} />
					))}
				</tbody>
			</table>
			{data.foreigners !== null && <p>{share(data.foreign)} of the time is inside programs of the system ({data.foreigners}): what only their authors could change is left out.</p>}
			{data.not_diagnosed >= LEAST_REST && !data.too_short && <p>No diagnosis covers {share(data.not_diagnosed)} of the time.</p>}
		</section>
	);
}
