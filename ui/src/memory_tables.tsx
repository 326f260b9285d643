// SPDX-License-Identifier: MIT
//
// Data addresses as tables: types by their members, cache lines shared by threads, and the effect of a
// placement, as in lode memory --layout, --sharing and lode place.
import { address, type Ask, type Layouts, type Pivot, type Placement, type Sharing, useAnswer } from "./api";
import { baseName, count, share, shortOf, some } from "./format";
import { filterOf, LossText, lossesOf, NotesText } from "./memory_filter";
import { more } from "./options";
import { Bar, Empty, Export, Field, Filters, Footer, Loading, Name, Problem } from "./parts";
import { change, type Route } from "./state";

// --- types ---

export function LayoutView({ route }: { route: Route }) {
	const types = useAnswer<Pivot>("memory", { ...filterOf(route), sort: "weight", top: "50", by: "type" });
	const known = (types.data?.rows ?? []).filter((one) => one.kind === "value");
	const chosen = route.params.get("type") ?? (known[0] ? String(known[0].keys[0]) : null);
	const what: Ask = { ...filterOf(route), layout: chosen };
	const { data, error, isLoading } = useAnswer<Layouts>(chosen === null ? null : "memory", what);
	const problem = types.error ?? error;
	const most = Math.max(...known.map((one) => one.share), 0.001);
	if (problem) return <Problem failure={problem} route={route} />;
	if (!types.data) return <Loading what="Grouping samples by type" />;
	if (known.length === 0)
		return (
			<>
				<Empty>No access has a type: was the program compiled with -g?</Empty>
				<Footer head={types.data}>
					<NotesText notes={types.data.notes} />
				</Footer>
			</>
		);
	return (
		<>
			<div class="two-columns">
				<nav class="type-list" aria-label="Types">
					{known.map((one) => {
						const name = String(one.keys[0]);
						const short = one.short_key ?? name;
						return (
							<button aria-pressed={name === chosen} onClick={() => change(route, { type: name })}>
								<Bar value={one.share} most={most} /> <span class="number">{share(one.share)}</span> <bdi title={short !== name ? name : undefined}>{short}</bdi>
							</button>
						);
					})}
				</nav>
				<div>
					{!data && isLoading && <Loading what="Reading the type" />}
					{data?.layouts.map((layout) => (
						<section>
							<h2>
								<Name of={layout} as="type" />
							</h2>
							<p>
								{some(layout.size, "byte")}
								{layout.holes > 0 && `, ${layout.holes} of them in holes`}; {share(layout.share)} of the weight.{" "}
								{layout.untyped_share > 0 && `${share(layout.untyped_share)} is of no known type, some of which may be to this one. `}
								<Export csv={address("memory", { ...what, format: "csv" })} json={address("memory", what)} />
							</p>
							<div class="scroll" tabIndex={0} role="region" aria-label={`Members of ${shortOf(layout, "type")}`}>
								<table class="layout">
									<thead>
										<tr>
											<th scope="col" class="number">offset</th>
											<th scope="col" class="number">size</th>
											<th scope="col">member</th>
											<th scope="col">weight</th>
											<th scope="col" class="number optional">samples</th>
											<th scope="col" class="number optional">loads</th>
											<th scope="col" class="number optional">stores</th>
										</tr>
									</thead>
									<tbody>
										{layout.rows.map((row) => (
											<tr class={`layout-${row.kind}${row.name && row.name === layout.hottest ? " hottest" : ""}${row.is_beside_hottest ? " beside" : ""}`}>
												{row.kind !== "line" && (
													<>
														<td class="number">{row.kind === "no-member" ? "" : row.bit_size ? `${row.offset}:${row.bit_offset}` : row.offset}</td>
														<td class="number">{row.kind === "no-member" ? "" : row.bit_size ? `${row.bit_size} bits` : row.size}</td>
													</>
												)}
												<td colSpan={row.kind === "line" ? 3 : 1}>
													{row.kind === "line" && `cache line ${row.first_line} (bytes ${64 * (row.first_line ?? 0)}–${64 * (row.first_line ?? 0) + 63})`}
													{row.kind === "hole" && <span class="faint">(hole)</span>}
													{row.kind === "padding" && <span class="faint">(padding)</span>}
													{row.kind === "no-member" && <span class="faint">(no member)</span>}
													{row.name && (
														<>
															<Name of={row} as="name" /> <Name of={row} as="type" none="" faint />
															{row.name === layout.hottest && " · hottest"}
														</>
													)}
												</td>
												<td class="share">
													{row.kind === "member" && <Bar value={row.share} most={1} />} {row.samples > 0 || row.kind === "line" ? share(row.share) : "–"}
												</td>
												<td class="number optional">{count(row.samples)}</td>
												<td class="number optional">{count(row.loads)}</td>
												<td class="number optional">{count(row.stores)}</td>
											</tr>
										))}
									</tbody>
								</table>
							</div>
						</section>
					))}
				</div>
			</div>
			<Footer head={types.data}>
				<p>Lines are of 64 bytes, as in an object that begins at the start of one. Members that share a line with the hottest one are marked.</p>
				{data && <NotesText notes={data.notes} />}
			</Footer>
		</>
	);
}

// --- sharing ---

const kinds: Record<string, string> = {
	false: "false: threads use different bytes",
	true: "true: threads use the same bytes",
	mixed: "mixed: both",
};

const STORES_SHOWN = 3; /* of an access; exported files have all stores */

/** The stores that took a line away from an access, those with most misses first. */
function DueTo({ stores }: { stores: NonNullable<Sharing["lines"][number]["accesses"][number]["due_to"]> }) {
	return (
		<>
			{stores.slice(0, STORES_SHOWN).map((one) => (
				<div class="due-to">
					{count(one.misses)}: thread {one.thread}, <Code of={one} />, bytes {one.offset}–{one.offset + one.bytes - 1}
				</div>
			))}
			{stores.length > STORES_SHOWN && <div class="faint">and {count(stores.length - STORES_SHOWN)} more</div>}
		</>
	);
}

function Code({ of }: { of: { function: string | null; file: string | null; line: number | null; pc: string } }) {
	return (
		<>
			<Name of={of} as="function" /> <bdi class="faint">{of.file ? `${baseName(of.file)}:${of.line}` : of.pc}</bdi>
		</>
	);
}

export function SharingView({ route }: { route: Route }) {
	const what: Ask = { ...filterOf(route), sharing: "1", top: route.params.get("top") ?? "50" };
	const { data, error, isLoading } = useAnswer<Sharing>("memory", what);
	const open = route.params.get("line");
	if (error) return <Problem failure={error} route={route} />;
	if (!data) return isLoading ? <Loading what="Looking for shared lines" /> : null;
	const most = Math.max(...data.lines.map((one) => one.share), 0.001);
	return (
		<>
			<LossText lines={data.is_of_misses ? [] : lossesOf(data.notes)} />
			{data.lines.length === 0 ? (
				<Empty>
					No cache line is used by two threads of which one stores, as far as {count(data.total.samples)} samples can tell.
				</Empty>
			) : (
				<>
					<p class="caption">
						{some(data.n_lines, "cache line")} that threads share, with {share(data.shared.share)} of the{" "}
						{data.is_of_misses ? "misses" : "weight"}{" "}
						<Export csv={address("memory", { ...what, format: "csv" })} json={address("memory", what)} />
					</p>
					<div class="scroll" tabIndex={0} role="region" aria-label="Shared cache lines">
						<table class="sharing">
							<thead>
								<tr>
									<th scope="col">{data.is_of_misses ? "misses" : "weight"}</th>
									<th scope="col">line</th>
									<th scope="col">sharing</th>
									<th scope="col" class="number">threads</th>
									<th scope="col" class="number optional">that store</th>
									<th scope="col" class="number optional">loads</th>
									<th scope="col" class="number optional">stores</th>
									<th scope="col">object</th>
								</tr>
							</thead>
							<tbody>
								{data.lines.map((line) => {
									const key = `${line.pid} ${line.address}`;
									const objects = [...new Set(line.accesses.map((one) => shortOf(one, "object") ?? one.mapping ?? "?"))];
									return (
										<>
											<tr class={open === key ? "open" : ""}>
												<td class="share">
													<Bar value={line.share} error={line.share_error} most={most} /> {share(line.share)}
												</td>
												<td>
													<button class="open-row mono" aria-expanded={open === key} onClick={() => change(route, { line: open === key ? null : key })}>
														{line.address}
													</button>
												</td>
												<td title={kinds[line.sharing]}>{line.sharing}</td>
												<td class="number">{line.threads}</td>
												<td class="number optional">{line.storing}</td>
												<td class="number optional">{count(line.loads)}</td>
												<td class="number optional">{count(line.stores)}</td>
												<td>
													<bdi>{objects.slice(0, 2).join(", ")}</bdi>
													{objects.length > 2 && ` and ${objects.length - 2} more`}
												</td>
											</tr>
											{open === key && (
												<tr class="detail-row">
													<td colSpan={8}>
														<table class="accesses">
															<thead>
																<tr>
																	<th scope="col" class="number">bytes</th>
																	<th scope="col">thread</th>
																	<th scope="col" class="number">{data.is_of_misses ? "misses" : "weight"}</th>
																	<th scope="col" class="number">loads</th>
																	<th scope="col" class="number">stores</th>
																	<th scope="col">object</th>
																	<th scope="col">where</th>
																	{data.is_of_misses && <th scope="col" title="the stores that took the line away, by their number of misses">due to</th>}
																</tr>
															</thead>
															<tbody>
																{line.accesses.map((one) => (
																	<tr>
																		<td class="number mono">{one.offset}–{one.offset + one.bytes - 1}</td>
																		<td>{one.thread}</td>
																		<td class="number">{share(one.share)}</td>
																		<td class="number">{count(one.loads)}</td>
																		<td class="number">{count(one.stores)}</td>
																		<td>
																			<Name of={one} as="object" none={one.mapping ?? "?"} />
																		</td>
																		<td>
																			<Code of={one} />
																		</td>
																		{data.is_of_misses && (
																			<td>
																				<DueTo stores={one.due_to ?? []} />
																			</td>
																		)}
																	</tr>
																))}
															</tbody>
														</table>
													</td>
												</tr>
											)}
										</>
									);
								})}
							</tbody>
						</table>
					</div>
				</>
			)}
			<Footer head={data}>
				{data.n_consecutive > 0 && (
					<p>
						{some(data.n_consecutive, "line")} with {share(data.consecutive.share)} of the weight are left out: threads used them one
						after the other.
					</p>
				)}
				<NotesText notes={data.notes} />
			</Footer>
		</>
	);
}

// --- placement ---

export function PlacementView({ route }: { route: Route }) {
	const get = (name: string) => route.params.get(name);
	const what: Ask = {
		profile: get("profile"),
		event: get("event"),
		policy: get("policy"),
		topology: get("machine"),
		"threads-per-memory": get("threads"),
		...more(route),
	};
	const { data, error, isLoading } = useAnswer<Placement>("place", what);
	return (
		<>
			<Filters set={["machine", "threads", "policy"].filter((name) => get(name)).length}>
				<Field id="search" label="machine" value={get("machine") ?? ""} placeholder="numa:4 core:8 pu:1" wide
					hint="plan for this machine, in place of the one that lode serve runs on" onChange={(value) => change(route, { machine: value }, true)} />
				<Field label="threads per memory" value={get("threads") ?? ""} placeholder="2"
					hint="at most so many threads on each memory; on a machine with one memory also how many memories to plan for"
					onChange={(value) => change(route, { threads: value }, true)} />
				<label class="field">
					<span>policy</span>
					<select value={get("policy") ?? "majority"} onChange={(event) => change(route, { policy: (event.target as HTMLSelectElement).value })}>
						{["majority", "first-touch", "round-robin", "interleave"].map((one) => (
							<option value={one}>{one}</option>
						))}
					</select>
				</label>
			</Filters>
			{error && <Problem failure={error} route={route} />}
			{!data && isLoading && <Loading what="Planning" />}
			{data && (
				<>
					<p>
						{data.topology}: {some(data.threads, "thread")} of process {data.process} on {some(data.memories.length, "memory").replace("memorys", "memories")}, by{" "}
						{some(data.samples, "sample")} of {data.event}.{" "}
						<Export csv={address("place", { ...what, format: "csv" })} json={address("place", what)} />
					</p>
					<LossText lines={data.losses} />
					<div class="scroll" tabIndex={0} role="region" aria-label="Policies">
					<table class="placement">
						<caption>Accesses that become local</caption>
						<thead>
							<tr>
								<th scope="col">local</th>
								<th scope="col">policy</th>
								{data.lost > 0 && <th scope="col" class="number">of all accesses</th>}
								<th scope="col" class="number optional">distance</th>
								<th scope="col" class="optional">what it does</th>
							</tr>
						</thead>
						<tbody>
							{data.policies.map((one) => (
								<tr class={one.is_chosen ? "chosen" : ""}>
									<td class="share">
										<Bar value={one.share} most={1} /> {share(one.share)}
									</td>
									<td>
										{one.policy}
										{one.is_chosen && " (after)"}
										{one.policy === "first-touch" && !one.is_chosen && " (before)"}
									</td>
									{data.lost > 0 && (
										<td class="number">
											{share(one.share_at_least)} to {share(one.share_at_most)}
										</td>
									)}
									<td class="number optional">{one.distance === null ? "–" : one.distance.toFixed(2)}</td>
									<td class="optional faint">{one.meaning}</td>
								</tr>
							))}
						</tbody>
					</table>
					</div>
					<div class="scroll" tabIndex={0} role="region" aria-label="Memories">
					<table class="placement">
						<caption>What each memory gets</caption>
						<thead>
							<tr>
								<th scope="col">accesses by its threads</th>
								<th scope="col" class="number">memory</th>
								<th scope="col" class="number">pages</th>
								<th scope="col">threads</th>
							</tr>
						</thead>
						<tbody>
							{data.memories.map((one) => (
								<tr>
									<td class="share">
										<Bar value={one.share} most={1} /> {share(one.share)}
									</td>
									<td class="number">{one.memory}</td>
									<td class="number">{count(one.pages)}</td>
									<td>{one.threads.join(", ")}</td>
								</tr>
							))}
						</tbody>
					</table>
					</div>
					<Footer head={null}>
						{data.notes.map((one) => (
							<p>{one}</p>
						))}
						<p>
							<code>lode place x.lode -o x.place</code> writes the placement, and <code>lode place apply x.place -- PROGRAM</code> runs a
							program with it.
						</p>
					</Footer>
				</>
			)}
		</>
	);
}
