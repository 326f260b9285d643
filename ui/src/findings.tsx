// SPDX-License-Identifier: MIT
//
// The first view: functions, diagnoses, and the findings: the patterns that explain the cost, the cost of an execution of each, and the places.
import { findings as words } from "words";
import { type Annotation, address, type Finding, type Findings, type Place, useAnswer } from "./api";
import { PlaceCode } from "./code_table";
import { Diagnoses, TopFunctions } from "./diagnoses";
import { PLACES_SHOWN } from "./places_shown";
import { amount, count, each, inlinedLine, place, share, some } from "./format";
import { Bar, Empty, Export, Facts, Footer, Loading, Name, Problem, Term, useLineKeys } from "./parts";
import { FlowAround } from "./graph";
import { more, MoreOptions, part, sampledEvents, WeightChoice } from "./options";
import { change, linkTo, type Route } from "./state";

const PLACES = 10;

const placeKey = (one: { function_number: number; address: string }) => `${one.function_number}:${one.address}`;

/** The function in full; of inlined code the lines down to it, each after its function. */
const wholeName = (one: Place) =>
	one.inlined.length > 0
		? one.inlined.map(inlinedLine).join(" → ")
		: one.function;

/** The places of a finding, the costliest first, with their code. */
function Places({ finding, route, all }: { finding: Finding; route: Route; all: Findings }) {
	const profile = route.params.get("profile");
	const run = route.params.get("run");
	const limit = Number(route.params.get("places") ?? PLACES);
	const flow = route.params.get("flow");
	const answer = useAnswer<Annotation>("annotate", {
		profile,
		run,
		finding: finding.id.slice(1),
		limit,
		context: 4,
		...part(route),
	});
	const kept = finding.kept;
	return (
		<section class="detail" aria-label={`Finding ${finding.id}`}>
			{finding.explanation && (
				<div class="explanation">
					<p>{finding.explanation}</p>
					{finding.remedy && <p>What people do: {finding.remedy}</p>}
					{finding.source && <p class="faint">Source: {finding.source}.</p>}
				</div>
			)}
			<p class="faint">
				{some(finding.places, "place")} in {some(finding.functions, "function")}, with the time that it explains.{" "}
				{Math.abs(finding.each_in_all - finding.each) > 0.25 * Math.abs(finding.each) &&
					`With the other findings at its places an execution costs ${each(
						finding.each_in_all,
						finding.each_is_least,
						all.base_each !== null,
						all.each_unit,
					)}.`}
			</p>
			{answer.error && <Problem failure={answer.error} route={route} />}
			{!answer.data && answer.isLoading && <Loading what="Reading the code" />}
			{answer.data?.places.map((one, i) => (
				<PlaceCode
					key={`${finding.id} ${one.function_number} ${one.address}`}
					place={one}
					sources={answer.data!.sources}
					head={answer.data!}
					title={`${i + 1}.`}
					level="h2"
					link={linkTo("code", route, { function: String(one.function_number), at: one.address })}
				>
					<p class="tabs">
						<button aria-pressed={flow === placeKey(one)} onClick={() => change(route, { flow: flow === placeKey(one) ? null : placeKey(one) }, true)}>
							Control flow around it
						</button>
					</p>
					{flow === placeKey(one) && (
						<FlowAround route={route} number={one.function_number} address={one.address}
							onChoose={(block) => (location.hash = linkTo("code", route, { function: String(one.function_number), at: block }))} />
					)}
				</PlaceCode>
			))}
			{answer.data && answer.data.places.length < kept && (
				<button onClick={() => change(route, { places: String(limit + 50) }, true)}>
					Show more of the {count(kept)} places that the profile has
				</button>
			)}
		</section>
	);
}

function Row(props: { finding: Finding; route: Route; all: Findings; most: number; isHot: boolean }) {
	const { finding, route, all, most, isHot } = props;
	const isOpen = route.params.get("open") === finding.id;
	const isCounted = all.base_each !== null;
	const first = finding.top[0];
	const columns = 3 + (isCounted ? 1 : 0) + (isHot ? 0 : 2);
	return (
		<>
			<tr class={isOpen ? "open" : ""}>
				<td class="share">
					<Bar value={finding.time} error={finding.time_error} most={most} />
					<b>{share(finding.time)}</b> <span class="faint">±{(100 * finding.time_error).toFixed(1)}</span>
				</td>
				<td class="number">{each(finding.each, finding.each_is_least, isCounted, all.each_unit)}</td>
				{isCounted && <td class="number optional">{share(finding.executed)}</td>}
				{!isHot && <td class="number optional">{count(finding.places)}</td>}
				{!isHot && <td class="number optional">{count(finding.functions)}</td>}
				<td class="what">
					<button
						class="open-row"
						aria-expanded={isOpen}
						data-finding={finding.id}
						onClick={() => change(route, { open: isOpen ? null : finding.id, places: null, flow: null })}
					>
						<span class="id">{finding.id}</span>{" "}
						{isHot && first && (
							<span class="where">
								<Name of={first} as="function" title={wholeName(first)} /> ({place(first)}){" "}
								{finding.places > 1 && `${share(first.time)} and ${some(finding.places - 1, "other")} `}
							</span>
						)}
						<bdi class="pattern">{finding.pattern}</bdi>
						{finding.ran_more_often_when_sampled && "; ran more often when it was sampled"}
					</button>
					{!isHot && !isOpen && (
						<span class="top">
							{finding.top.slice(0, PLACES_SHOWN).map((one) => (
								<a href={linkTo("code", route, { function: String(one.function_number), at: one.address })}>
									<Name of={one} as="function" title={wholeName(one)} /> ({place(one)}) {share(one.time)}
								</a>
							))}
						</span>
					)}
				</td>
			</tr>
			{isOpen && (
				<tr class="detail-row">
					<td colSpan={columns}>
						<Places finding={finding} route={route} all={all} />
					</td>
				</tr>
			)}
		</>
	);
}

function Table(props: { rows: Finding[]; route: Route; all: Findings; most: number; isHot: boolean }) {
	const isCounted = props.all.base_each !== null;
	const title = props.isHot ? "Hot places" : "Patterns";
	if (props.rows.length === 0) return null;
	return (
		<table class="findings">
			<caption class="hidden">{title}</caption>
			<thead>
				<tr>
					<th scope="col">
						<Term name={title} text={words[title]} />
					</th>
					<th scope="col" class="number">
						<Term name="each" text={words.each} />
					</th>
					{isCounted && (
						<th scope="col" class="number optional">
							<Term name="executed" text={words.executed} />
						</th>
					)}
					{!props.isHot && (
						<th scope="col" class="number optional">
							<Term name="places" text={words.places} />
						</th>
					)}
					{!props.isHot && (
						<th scope="col" class="number optional">
							<Term name="functions" text={words.functions} />
						</th>
					)}
					<th scope="col">
						<span class="hidden">What costs</span>
					</th>
				</tr>
			</thead>
			<tbody>
				{props.rows.map((one) => (
					<Row key={one.id} {...props} finding={one} />
				))}
			</tbody>
		</table>
	);
}

function Summary({ data }: { data: Findings }) {
	if (data.findings.length === 0)
		return (
			<Empty>
				{data.samples > 0
					? `No pattern and no place costs more than the rest, as far as ${count(data.samples)} samples can tell.`
					: "The profile has no weight, so that nothing can be said of costs."}
			</Empty>
		);
	if (data.base_each !== null)
		return (
			<p>
				What is below explains {share(data.explained)} of the{" "}
				{data.each_unit === "ns" ? "time" : data.profile.weight_event}. Where nothing below applies, an instruction
				costs {amount(data.base_each)} {data.each_unit}; ‘each’ is what comes on top.
			</p>
		);
	return (
		<p>
			What is below explains {share(data.explained)} of the time; ‘each’ is in multiples of the average instruction
			around it, as executions were not counted
			{data.in_single_blocks >= 0.05 &&
				` (${share(data.in_single_blocks)} is in blocks of one instruction, and taken as average)`}
			.
		</p>
	);
}

/* Options that make it a list of sequences, and those of the page. */
const findingsExcept = ["explain", "sort", "reverse", "all", "with", "without", "text", "size", "min-weight", "max-weight", "min-frequency", "max-frequency", "min-maximal", "max-maximal",
	"min-differential", "max-differential", "min-functions", "baseline", "percent-limit", "run", "sequences", "offset", "places"];

export function FindingsView({ route }: { route: Route }) {
	const what = { profile: route.params.get("profile"), run: route.params.get("run"), explain: "1", ...more(route) };
	const { data, error, isLoading } = useAnswer<Findings>("report", { ...what, places: PLACES_SHOWN });

	useLineKeys("[data-diagnosis], [data-finding]", true);

	if (error) return <Problem failure={error} route={route} />;
	if (!data) return isLoading ? <Loading what="Reading the findings" /> : null;
	/* A run of instruction sequences has no findings; the server then gives its sequences. */
	if (!data.findings) return <Empty>This run has no findings; its sequences are in the next view.</Empty>;
	/* The costliest finding is on top, of either kind. */
	const isHotFirst = data.findings[0]?.is_spread === false;
	const most = Math.max(...data.findings.map((one) => one.time + one.time_error), 0.01);
	return (
		<>
			<Facts head={data} />
			<WeightChoice head={data} route={route} />
			{data.programs !== null && <p class="facts">programs: {data.programs}</p>}
			<TopFunctions data={data} route={route} />
			<Diagnoses data={data} route={route} />
			{data.diagnoses.length > 0 && <h2>Findings</h2>}
			<Summary data={data} />
			{(isHotFirst ? [true, false] : [false, true]).map((isHot) => (
				<Table key={isHot} rows={data.findings.filter((one) => one.is_spread !== isHot)} route={route} all={data} most={most} isHot={isHot} />
			))}
			<MoreOptions question="report" route={route} except={sampledEvents(data).length > 0 ? [...findingsExcept, "weight"] : findingsExcept} />
			<Export csv={address("report", { ...what, format: "csv" })} json={address("report", what)} />
			<Footer head={data}>
				<p>
					The numbers after ± are standard errors: the findings rest on {count(data.samples)} samples.
				</p>
			</Footer>
		</>
	);
}
