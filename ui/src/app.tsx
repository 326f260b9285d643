// SPDX-License-Identifier: MIT
//
// The page of lode serve.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { file, type Served, useAnswer } from "./api";
import { CodeView } from "./code";
import { applyColours } from "./colour_choice";
import { ColourSwitch } from "./colour_switch";
import { CompareView } from "./compare";
import { FindingsView } from "./findings";
import { FlameView } from "./flame";
import { LiveView } from "./live";
import { MemoryView } from "./memory";
import { Empty, Loading, Problem, useInSight, useKeys } from "./parts";
import { SequencesView } from "./sequences";
import { change, href, linkTo, PART_VIEWS, type Route, useRoute } from "./state";
import { Timeline } from "./timeline";
import { TracesView } from "./traces";
import { WaitsView } from "./waits";

interface View {
	name: string;
	title: string;
	View: (props: { route: Route; profile?: Served["profiles"][number] | undefined; served: Served }) => preact.ComponentChild;
	isThere?: (served: Served | null, profile: Served["profiles"][number] | undefined) => boolean; /* always, unless given */
}
const hasProfile = (served: Served | null) => served?.profiles.length !== 0;
/* In the order of their use. */
const allViews: View[] = [
	{ name: "findings", title: "Findings", View: FindingsView, isThere: hasProfile },
	{ name: "code", title: "Code", View: CodeView, isThere: hasProfile },
	{ name: "flame", title: "Flame graph", View: FlameView, isThere: hasProfile },
	{ name: "waits", title: "Waiting", View: WaitsView, isThere: (_, profile) => profile?.has_waits === true },
	{ name: "compare", title: "Compare", View: CompareView, isThere: (served) => (served?.profiles.length ?? 0) > 1 },
	{ name: "memory", title: "Memory", View: MemoryView, isThere: hasProfile },
	{ name: "traces", title: "Traces", View: TracesView, isThere: (served) => file === null && (served?.traces.length ?? 0) > 0 },
	{ name: "live", title: "Live", View: LiveView, isThere: (served) => served?.live != null },
	{ name: "sequences", title: "Sequences", View: SequencesView, isThere: hasProfile },
];

function Help({ views, onClose }: { views: View[]; onClose: () => void }) {
	const keys: [string, string][] = [
		[`1 … ${views.length}`, views.map((one) => one.title).join(", ")],
		["j k ↓ ↑", "next, previous line"],
		["Enter", "open the line"],
		["n p", "in a function, the next hottest instruction and back, by weight"],
		["g", "in a function, its control flow"],
		["← ↑ → ↓ Enter 0 i c", "in the flame graph: move, zoom, go back, invert, go to the code"],
		["/", "go to the search field"],
		["Esc", "leave a field, close this"],
		["?", "this list"],
	];
	useEffect(() => document.getElementById("close-help")?.focus(), []);
	return (
		<div class="help" role="dialog" aria-modal="true" aria-label="Keys">
			<h2>Keys</h2>
			<dl>
				{keys.map(([key, what]) => (
					<>
						<dt>
							<kbd>{key}</kbd>
						</dt>
						<dd>{what}</dd>
					</>
				))}
			</dl>
			<button id="close-help" onClick={onClose}>
				Close
			</button>
		</div>
	);
}

let licences = "";
function licencesOfFile(): string {
	licences ||= URL.createObjectURL(new Blob([file!.licences], { type: "text/plain" }));
	return licences;
}

function App() {
	const route = useRoute();
	const [hasHelp, setHelp] = useState(false);
	/* The list of served files changes when the recorded program has ended. */
	const [again, setAgain] = useState(0);
	useEffect(() => {
		const ask = () => setAgain((n) => n + 1);
		addEventListener("served", ask);
		return () => removeEventListener("served", ask);
	}, []);
	const served = useAnswer<Served>("profiles", { again: again || null });
	const number = Number(route.params.get("profile") ?? 0);
	const profile = served.data?.profiles.find((one) => one.number === number);
	const views = allViews.filter((one) => one.isThere?.(served.data, profile) ?? true);
	/* There may be no profile: while a program is recorded, or if only a trace is served. */
	const isBegin = !location.hash.replace(/^#\/?/, "");
	const isLive = served.data?.live != null && isBegin;
	const shown =
		views.find((one) => one.name === "live" && isLive) ?? views.find((one) => one.name === route.view) ?? (isBegin ? views[0] : undefined);

	useKeys(
		{
			...Object.fromEntries(views.map((one, i) => [String(i + 1), () => (location.hash = linkTo(one.name, route))])),
			"/": () => {
				const field = document.getElementById("search");
				field?.closest("details")?.setAttribute("open", "");
				field?.focus();
			},
			"?": () => setHelp(true),
			Escape: () => setHelp(false),
		});
	const nav = useRef<HTMLElement>(null);
	useInSight(nav, "[aria-current]", [shown, views.length]);
	useEffect(() => {
		document.title = `${shown?.title ?? "lode"} · ${profile?.name ?? "lode"}`;
	}, [shown, profile]);

	return (
		<>
			<a class="skip" href="#main" onClick={(event) => {
				event.preventDefault();
				document.getElementById("main")?.focus();
			}}>
				Skip to the content
			</a>
			<header class="top-bar">
				<a class="name" href={linkTo("findings", route)}>
					lode
				</a>
				<nav aria-label="Views" ref={nav}>
					{views.map((one) => (
						<a href={linkTo(one.name, route)} aria-current={one === shown ? "page" : undefined}>
							{one.title}
						</a>
					))}
				</nav>
				<span class="choices">
					{served.data && served.data.profiles.length > 1 && (
						<select
							aria-label="Profile"
							value={String(number)}
							onChange={(event) =>
								(location.hash = href(route.view, new URLSearchParams(), {
									profile: (event.target as HTMLSelectElement).value,
								}))
							}
						>
							{served.data.profiles.map((one) => (
								<option value={String(one.number)}>{one.name}</option>
							))}
						</select>
					)}
					{profile && served.data?.profiles.length === 1 && <bdi class="profile-name">{profile?.name}</bdi>}
					{profile && profile.runs.length > 1 && (
						<select
							aria-label="Mining run"
							value={route.params.get("run") ?? profile.runs[profile.runs.length - 1]}
							onChange={(event) => change(route, { run: (event.target as HTMLSelectElement).value })}
						>
							{profile.runs.map((one) => (
								<option value={one}>run {one}</option>
							))}
						</select>
					)}
					<ColourSwitch />
					<button class="quiet" aria-label="Keys" title="Keys (?)" onClick={() => setHelp(true)}>
						?
					</button>
				</span>
			</header>
			<main id="main" tabIndex={-1}>
				<h1 class="hidden">{shown?.title ?? "lode"}</h1>
				{served.error && <Problem failure={served.error} route={route} />}
				{!served.data && served.isLoading && <Loading what="Asking lode serve" />}
				{served.data && shown && PART_VIEWS.includes(shown.name) && <Timeline key={`timeline ${number}`} route={route} />}
				{served.data && shown && <shown.View key={`${shown.name} ${number}`} route={route} profile={profile} served={served.data} />}
				{!shown && <Empty>There is no view ‘{route.view}’.</Empty>}
			</main>
			<footer class="page-foot">
				lode {served.data?.version} ·{" "}
				<a href={file ? licencesOfFile() : "/licences.txt"} download={file ? "licences.txt" : undefined}>
					licences of what this page is made of
				</a>
				{file && <span> · {file.left_out} lode serve shows everything.</span>}
			</footer>
			{hasHelp && <Help views={views} onClose={() => setHelp(false)} />}
		</>
	);
}

applyColours();
/* The token is used up: it is removed from the address, where it could be read, copied or bookmarked. */
if (location.search) history.replaceState(null, "", location.pathname + location.hash);
render(<App />, document.getElementById("app")!);
