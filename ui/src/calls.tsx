// SPDX-License-Identifier: MIT
//
// The callers and callees of a function, with the weight that came through their calls.
import { type Calls, useAnswer } from "./api";
import { baseName, count, share } from "./format";
import { Neighbours } from "./graph";
import { part } from "./options";
import { Loading, Name, Problem } from "./parts";
import { linkTo, type Route } from "./state";

const SHOWN = 50;

function Costs(props: { title: string; what: string; rows: Calls["callers"]; hasSamples: boolean; link: (number: number) => string }) {
	const { title, rows, hasSamples, link } = props;
	const hasCounts = rows.some((one) => one.calls !== null && one.calls > 0);
	return (
		<section>
			<h3>
				{title} <span class="faint">{count(rows.length)}</span>
			</h3>
			{rows.length === 0 ? (
				<p class="faint">None were recorded.</p>
			) : (
				<table class="neighbours-table">
					<caption class="hidden">{title}</caption>
					<thead>
						<tr>
							<th scope="col" class="number" title={props.what}>weight</th>
							{hasSamples && <th scope="col" class="number">samples</th>}
							{hasCounts && <th scope="col" class="number optional" title="how often it was called, as far as the recording knows">calls</th>}
							<th scope="col">function</th>
						</tr>
					</thead>
					<tbody>
						{rows.slice(0, SHOWN).map((one) => (
							<tr>
								<td class="number">{share(one.weight)}</td>
								{hasSamples && <td class="number">{count(one.samples)}</td>}
								{hasCounts && <td class="number optional">{count(one.calls || null)}</td>}
								<td>
									{one.number === null ? (
										<Name of={one} as="name" none="[unknown]" />
									) : (
										<a href={link(one.number)}>
											<Name of={one} as="name" />
										</a>
									)}{" "}
									{one.image && <bdi class="faint" title={one.image}>{baseName(one.image)}</bdi>}
								</td>
							</tr>
						))}
					</tbody>
				</table>
			)}
			{rows.length > SHOWN && <p class="faint">The {SHOWN} with most weight are shown.</p>}
		</section>
	);
}

const sources = {
	stacks: "From the recorded call stacks.",
	tops: "From the recorded tops of stacks: what functions of libraries cost, and who calls them.",
	calls: "Estimated: the cost of a function is divided among its callers by how often they call it.",
};

export function CallsOf({ route }: { route: Route }) {
	const get = (name: string) => route.params.get(name);
	const { data, error } = useAnswer<Calls>("calls", { profile: get("profile"), function: get("function"), ...part(route) });
	const link = (number: number) => linkTo("code", route, { function: String(number), pane: "calls" });
	if (error) return <Problem failure={error} route={route} />;
	if (!data) return <Loading what="Reading the calls" />;
	if (data.from === null)
		return (
			<>
				<p class="faint">
					No calls were recorded, which ‘lode run -g’ does, and ‘--call-graph dwarf’ for programs without frame pointers. What follows is inferred from the
					samples.
				</p>
				<Neighbours route={route} link={link} />
			</>
		);
	return (
		<>
			<p class="faint">
				{data.inclusive !== null && `${share(data.inclusive)} with all that it calls, `}
				{share(data.weight)} its own. {sources[data.from]}
				{data.stacks_are_short && " Most stacks end in the function itself: the program has no frame pointers, and ‘--call-graph dwarf’ would record more."}
			</p>
			<div class="neighbours">
				<Costs title="Callers" what="the share of all weight that came through it" rows={data.callers} hasSamples={data.from !== "calls"} link={link} />
				<Costs title="Callees" what="the share of all weight that went into it from here" rows={data.callees} hasSamples={data.from !== "calls"} link={link} />
			</div>
		</>
	);
}
