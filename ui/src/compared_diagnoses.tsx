// SPDX-License-Identifier: MIT
//
// The diagnoses of two profiles side by side, from lode diff: which are gone, new or changed, and what removing
// those of the base was to save, beside what was saved.
import type { ComparedDiagnosis, Comparisons } from "./api";
import { amount, baseName, percents, some } from "./format";
import { Name } from "./parts";
import { linkTo, type Route } from "./state";

/** An amount of seconds, or of the weight where the processor time is not known. */
function time(value: number, unit: string): string {
	if (unit !== "s") return `${amount(value)} ${unit}`;
	return value === 0 ? "0" : value >= 1 ? `${amount(value)} s` : `${amount(1000 * value)} ms`;
}

/** "in hash_step (table.c:41) and 39 more functions"; leads to the code of its costliest place. */
function Scope({ one, route, base }: { one: ComparedDiagnosis; route: Route; base: string }) {
	const isGone = one.match === "gone";
	const at = isGone ? one.base : one.new;
	const line = at.file !== null && at.line !== null ? `${baseName(at.file)}:${at.line}` : null;
	const where = (
		<>
			{at.function !== null && <Name of={at} as="function" />}
			{line !== null && (at.function !== null ? ` (${line})` : line)}
		</>
	);
	const link = at.function_number === null ? null : linkTo("code", route, { function: String(at.function_number), ...(at.address && { at: at.address }), ...(isGone && { profile: base }) });
	return (
		<>
			{at.function !== null && "in "}
			{link ? <a href={link}>{where}</a> : where}
			{at.object !== null && (
				<>
					{(at.function !== null || line !== null) && ", "}
					<bdi>{at.object}</bdi>
				</>
			)}
			{at.functions > 1 && ` and ${some(at.functions - 1, "more function")}`}
		</>
	);
}

function promised({ promised: saves, is_told: isTold, change_seconds: change }: ComparedDiagnosis): string {
	return saves.high !== null && isTold && change < 0 ? percents(saves.low, saves.high) : "";
}

function achieved({ achieved: value, change_seconds: change }: ComparedDiagnosis): string {
	return value === null || change >= 0 ? "" : value > 0 ? `${(100 * value).toFixed(0)} %` : "nothing";
}

/** Those that changed; with `isAll` those that did not, too. */
export function ComparedDiagnoses({ data, route, base, isAll }: { data: Comparisons["comparisons"][number]; route: Route; base: string; isAll: boolean }) {
	const shown = (data.diagnoses ?? []).filter((one) => one.is_told || isAll);
	if (shown.length === 0) return null;
	return (
		<section>
			<h2>Diagnoses</h2>
			<div class="scroll" tabIndex={0} role="region" aria-label="Changes of diagnoses">
				<table class="compared-diagnoses">
					<thead>
						<tr>
							<th scope="col" class="number">change</th>
							<th scope="col" class="number optional">before</th>
							<th scope="col" class="number optional">now</th>
							<th scope="col" class="number optional" title="of the processor time before: what removing it was to save">promised</th>
							<th scope="col" class="number optional" title="of the processor time before: what was saved">achieved</th>
							<th scope="col">diagnosis</th>
						</tr>
					</thead>
					<tbody>
						{shown.map((one) => (
							<tr>
								<td class={`number ${one.is_told ? (one.change_seconds > 0 ? "slower" : "faster") : "faint"}`}>
									{one.change_seconds < 0 ? "−" : "+"}
									{time(Math.abs(one.change_seconds), one.unit)} <small>{one.match === "new" || one.match === "gone" ? one.match : ""}</small>
								</td>
								<td class="number optional">{time(one.base.seconds, one.unit)}</td>
								<td class="number optional">{time(one.new.seconds, one.unit)}</td>
								<td class="number optional">{promised(one)}</td>
								<td class="number optional">{achieved(one)}</td>
								<td>
									{one.title}{" "}
									<span class="faint">
										<Scope one={one} route={route} base={base} />
									</span>
									{/* Where columns have no room. */}
									{achieved(one) && <small class="narrow faint">promised {promised(one) || "nothing"}, achieved {achieved(one)}</small>}
								</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
		</section>
	);
}
