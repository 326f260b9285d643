// SPDX-License-Identifier: MIT
//
// What threads waited for, where, how long, and what its holder did meanwhile: lode report --waits.
import { address, file, useAnswer, type Wait, type Waits } from "./api";
import { baseName, count, duration, share, some } from "./format";
import { more, MoreOptions } from "./options";
import { Bar, Empty, Export, Facts, Footer, Loading, Name, Problem, useLineKeys } from "./parts";
import { linkTo, type Route, WEIGHT } from "./state";

/** From this part on it is said how much of the waiting nobody looked at. */
const MUCH_UNSEEN = 0.01;
/** Below this share of a path it is probable. */
const SURE = 0.7;

type Place = Pick<Wait, "function" | "short_function" | "function_number" | "file" | "line">;

/** "post (ledger.c:50)"; leads to its code, or if that never ran, to the stacks that wait in it. */
export function WaitPlace({ of, route }: { of: Place; route: Route }) {
	if (of.function === null) return <span class="faint">not known</span>;
	const words = (
		<>
			<Name of={of} as="function" />
			{of.file !== null && of.line > 0 && ` (${baseName(of.file)}:${of.line})`}
		</>
	);
	if (of.function_number === null && file) return words;
	const to =
		of.function_number === null
			? linkTo("flame", route, { text: of.function, [WEIGHT]: "waiting" })
			: linkTo("code", route, { function: String(of.function_number), line: of.file && `${of.file}:${of.line}` });
	return <a href={to}>{words}</a>;
}

/** "91 % of it while its holder was in seal_account (ledger.c:41)" */
export function Holder({ of, route }: { of: NonNullable<Wait["holder"]>; route: Route }) {
	return (
		<>
			{(100 * of.share).toFixed(0)} % of it while its holder was{" "}
			{of.function !== null && (
				<>
					in <WaitPlace of={of} route={route} />
				</>
			)}
			{of.call !== null ? `${of.function !== null ? "," : ""} in the system call ${of.call}` : of.function === null && "running"}
		</>
	);
}

/** What is waited for: a file without its folders. */
export function waitObject(one: Wait): string {
	return one.object.startsWith("/") ? baseName(one.object) : one.object;
}

function Table({ rows, title, hasPath, most, route }: { rows: Wait[]; title: string; hasPath: boolean; most: number; route: Route }) {
	return (
		<table class="costs waits">
			<caption class="hidden">{title}</caption>
			<thead>
				<tr>
					<th scope="col" title="the time of all threads together">waited</th>
					<th scope="col" class="number optional">number</th>
					<th scope="col" class="number optional">mean</th>
					<th scope="col" class="number optional">longest</th>
					{hasPath && (
						<th scope="col" class="number optional" title="of the critical path, which the end of the program depends on">
							on the path
						</th>
					)}
					<th scope="col">for, and where</th>
				</tr>
			</thead>
			<tbody>
				{rows.map((one) => (
					<tr>
						<td class="share">
							<Bar value={one.seconds} most={most} />
							<b>{duration(one.seconds)}</b>
							{hasPath && one.path_seconds > 0 && <small class="narrow faint">path {duration(one.path_seconds)}</small>}
						</td>
						<td class="number optional">{count(Math.round(one.count))}</td>
						<td class="number optional">{one.count > 0 ? duration(one.seconds / one.count) : "–"}</td>
						<td class="number optional">{duration(one.longest)}</td>
						{hasPath && <td class="number optional">{one.path_seconds > 0 ? duration(one.path_seconds) : ""}</td>}
						<td class="what">
							<b>{one.reason}</b>{" "}
							{one.object !== one.reason && <bdi title={one.object}>{waitObject(one)}</bdi>}{" "}
							<span class="wait-place">
								<WaitPlace of={one} route={route} />
							</span>
							{one.thread_names.length > 0 && (
								<span class="faint wait-place" title={one.thread_names.join(", ")}>
									by <bdi>{one.thread_names[0]}</bdi>
									{one.thread_names.length > 1 && ` and ${some(one.thread_names.length - 1, "more name")}`}
								</span>
							)}
							{one.holder && (
								<p class="faint">
									<Holder of={one.holder} route={route} />
								</p>
							)}
						</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

function Summary({ data }: { data: Waits }) {
	return (
		<>
			{data.head && <p>{data.head}.</p>}
			<p>
				{data.head ? "Threads" : `${duration(data.clock_seconds)} by the clock; threads`} ran {duration(data.running_seconds)} and waited {duration(data.waiting_seconds)}
				{data.seen < 1 - MUCH_UNSEEN && `, for what is known of ${share(data.seen)}`}.
				{data.has_path &&
					` Of the critical path ${((100 * data.path_running_seconds!) / (data.clock_seconds || 1)).toFixed(0)} % ran, with ${data.path_threads!.toPrecision(2)} threads on average${data.path_sure! < SURE ? "; it is probable, not certain" : ""}.`}
			</p>
		</>
	);
}

export function WaitsView({ route }: { route: Route }) {
	/* Time weighs here, whatever does in the other views. */
	const { weight: _, ...chosen } = more(route);
	const what = { profile: route.params.get("profile"), ...chosen };
	const { data, error, isLoading } = useAnswer<Waits>("waits", what);

	useLineKeys(".waits a", true);
	if (error) return <Problem failure={error} route={route} />;
	if (!data) return isLoading ? <Loading what="Reading the waits" /> : null;
	const seen = data.waits.filter((one) => one.reason !== "unseen");
	const [idle, rows] = [seen.filter((one) => one.idle), seen.filter((one) => !one.idle)];
	const hasPath = data.has_path && rows.some((one) => one.path_seconds > 0);
	const most = Math.max(...seen.map((one) => one.seconds), 0);
	return (
		<>
			<Facts head={data} />
			<Summary data={data} />
			{rows.length === 0 ? <Empty>No thread waited for anything but work.</Empty> : <Table rows={rows} title="What threads waited for" hasPath={hasPath} most={most} route={route} />}
			{idle.length > 0 && (
				<details class="fold">
					<summary>Idle, waiting for work: {duration(idle.reduce((sum, one) => sum + one.seconds, 0))}</summary>
					<Table rows={idle} title="Idle waits" hasPath={false} most={most} route={route} />
				</details>
			)}
			<MoreOptions question="waits" route={route} except={["limit"]} />
			<Export csv={address("waits", { ...what, format: "csv" })} json={address("waits", what)} />
			<Footer head={data}>
				<p>Lengths are exact; reasons are a sample in proportion to time.</p>
			</Footer>
		</>
	);
}
