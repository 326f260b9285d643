// SPDX-License-Identifier: MIT
//
// Parts shared by several views: titles with their meaning, bars, messages, the footer.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Failure, file, type Head, type Profile, reload } from "./api";
import { count, eventTotal, share, shortOf, some } from "./format";
import type { Route } from "./state";

/** A title that shows its meaning under the pointer or when focused. */
export function Term({ name, text }: { name: string; text?: string | undefined }) {
	return text ? (
		<span class="term" title={text} tabIndex={0}>
			{name}
			<span class="hidden">: {text}</span>
		</span>
	) : (
		<span>{name}</span>
	);
}

/** A short name, with the whole one under the pointer. */
export function Name<T extends object>(props: { of: T; as: string & keyof T; none?: string; faint?: boolean; title?: string }) {
	const short = shortOf(props.of, props.as);
	const whole = props.of[props.as] as string | null | undefined;
	return (
		<bdi class={props.faint ? "faint" : undefined} title={props.title ?? (short !== whole ? (whole ?? undefined) : undefined)}>
			{short ?? props.none ?? "?"}
		</bdi>
	);
}

/** A bar from 0 to `most`, with its standard error as a line across its end. */
export function Bar({ value, error = 0, most }: { value: number; error?: number; most: number }) {
	const scale = (one: number) => Math.max(0, Math.min(100, (100 * one) / (most || 1)));
	const end = scale(value);
	return (
		<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
			<rect class="bar-value" x="0" y="1" width={end} height="10" />
			{error > 0 && (
				<line class="bar-error" x1={scale(value - error)} x2={scale(value + error)} y1="6" y2="6" />
			)}
		</svg>
	);
}

/** A bar from `low` to `high` of all, 0 to 1; a faint one from 0 where the lower end is not known. */
export function Range({ low, high }: { low: number | null; high: number }) {
	const scale = (one: number) => Math.max(0, Math.min(100, 100 * one));
	const begin = scale(low ?? 0);
	return (
		<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
			<rect class={low === null ? "bar-value up-to" : "bar-value"} x={begin} y="1" width={Math.max(2, scale(high) - begin)} height="10" />
		</svg>
	);
}

export function Problem({ failure, route }: { failure: Failure; route: Route }) {
	const canReload = failure.code === "replaced" || failure.code === "removed";
	/* A comparison needs two profiles. */
	const profiles = [route.params.get("profile") ?? "0", ...route.params.getAll("base")];
	const again = () => Promise.allSettled(profiles.map(reload)).finally(() => location.reload());
	return (
		<div class="problem" role="alert">
			<strong>{failure.message}</strong>
			{failure.code === "refused" && <p>Cookies must be allowed for this address.</p>}
			{failure.code === "gone" && <p>Start it again in the terminal, and open the address that it prints.</p>}
			{canReload && (
				<p>
					What is shown elsewhere is still the old file. <button onClick={again}>Read the new file</button>
				</p>
			)}
		</div>
	);
}

export function Empty({ children }: { children: ComponentChildren }) {
	return <p class="empty">{children}</p>;
}

export function Loading({ what }: { what: string }) {
	return (
		<p class="loading" role="status">
			{what}…
		</p>
	);
}

const frequencies: Record<string, string> = {
	exact: "executions were counted",
	sampled: "executions are estimated from branch stacks",
	inferred: "executions are inferred from samples: estimates",
	given: "executions are as they were given",
};

/** Where executions come from. */
function origin(one: Profile): string {
	const windows = one.frequency === "inferred" && one.windows ? some(one.windows, "window") : "";
	return windows ? `executions are inferred from samples, with ${windows}: estimates` : (frequencies[one.frequency] ?? one.frequency);
}

/** The description of the profile. */
export function Facts({ head }: { head: Head }) {
	const one = head.profile;
	const system = one.system_seconds ?? 0;
	const seconds = (one.user_seconds ?? 0) + system;
	/* As on the terminal's first screen; how executions were inferred is said below the page. */
	if (one.frequency === "inferred" && seconds > 0 && one.part === undefined)
		return (
			<p class="facts">
				<b class="program">{one.program ?? "?"}</b>
				<span>
					{seconds.toPrecision(3)} s of processor time, {share(system / seconds)} in the kernel
					{one.is_kernel_sampled ? ", sampled too" : ""}
				</span>
				<span>
					{some(one.instructions, "instruction")}, {some(one.functions, "function")}
				</span>
			</p>
		);
	return (
		<p class="facts">
			<b class="program">{one.program ?? "?"}</b>
			<span>{one.creator ?? "?"}</span>
			<span>{origin(one)}</span>
			<span>
				{eventTotal(one.weight, one.weight_event)}
				{one.frequency !== "inferred" && ` in ${count(one.executions)} executions`}
			</span>
			<span>
				{some(one.instructions, "instruction")}, {some(one.functions, "function")}
			</span>
		</p>
	);
}

/** The samples missing in the figures above: nothing is dropped silently. */
export function Footer({ head, children }: { head: Head | null; children?: ComponentChildren }) {
	const rows = (head?.unresolved ?? []).filter((one) => one.share > 0 || one.count > 0 || one.samples > 0);
	const whole = rows.reduce((sum, one) => sum + one.share, 0);
	return (
		<footer class="quality">
			{children}
			{head && rows.length === 0 && head.unresolved && <p>Nothing is unresolved.</p>}
			{rows.length > 0 && (
				<details>
					<summary>Unresolved: {share(whole)} of the weight, by reason</summary>
					<ul>
						{rows.map((one) => (
							<li>
								{one.reason}: {share(one.share)}, {count(one.count)} executions
								{one.example && `, such as ${one.example}`}
							</li>
						))}
					</ul>
				</details>
			)}
			{head && head.profile.frequency !== "exact" && (
				<p>In this profile {origin(head.profile)}.</p>
			)}
			{head?.profile.is_kernel_sampled === false && (head.profile.system_seconds ?? 0) > 0 && (
				<p>
					{share(
						(head.profile.system_seconds ?? 0) /
							((head.profile.system_seconds ?? 0) + (head.profile.user_seconds ?? 0)),
					)}{" "}
					of the processor time was in the kernel, not sampled.
				</p>
			)}
			{head?.run?.is_complete === false && <p>The mining run stopped early: it is incomplete.</p>}
		</footer>
	);
}

/** The tables in view as text: a line for each row, tabs between the cells. */
function tablesAsText(): string {
	/* Words for screen readers only, which innerText would have. */
	document.body.classList.add("copying");
	const lines = [...document.querySelectorAll<HTMLElement>("main table, main [role=table]")].map((table) =>
		[...table.querySelectorAll<HTMLElement>("tr, [role=row]")]
			.filter((row) => row.closest("table, [role=table]") === table && row.offsetHeight > 0)
			.map((row) =>
				[...row.children]
					.filter((cell) => !cell.querySelector("table"))
					.map((cell) => (cell as HTMLElement).innerText.trim().replace(/\s+/g, " "))
					.join("\t"),
			)
			.filter(Boolean)
			.join("\n"),
	);
	document.body.classList.remove("copying");
	return `${lines.filter(Boolean).join("\n\n")}\n`;
}

/** Also where the browser gives no clipboard to a page, as over the network without a certificate. */
async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const field = document.createElement("textarea");
		field.value = text;
		document.body.append(field);
		field.select();
		const isDone = document.execCommand("copy");
		field.remove();
		return isDone;
	}
}

function CopyText() {
	const [said, setSaid] = useState("");
	const act = async () => {
		const text = tablesAsText();
		const rows = text.split("\n").filter(Boolean).length;
		setSaid((await copy(text)) ? `${some(rows, "line")} copied` : "the browser does not allow it");
	};
	return (
		<>
			<button class="link" onClick={() => void act()}>
				Copy as text
			</button>{" "}
			<span role="status">{said}</span>
		</>
	);
}

/** Links that save the data of the view, and a button that copies its tables. */
export function Export({ csv, json }: { csv?: string; json: string }) {
	return (
		<span class="export">
			{!file && (
				<>
					Save as{" "}
					{csv && (
						<a href={csv} download="lode.csv">
							CSV
						</a>
					)}{" "}
					<a href={json} download="lode.json">
						JSON
					</a>
					{csv && " · "}
				</>
			)}
			{csv && <CopyText />}
		</span>
	);
}

function download(content: Blob, name: string): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(content);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Saves the picture of a canvas, on the page's background. */
export function savePicture(canvas: HTMLCanvasElement, name: string): void {
	const whole = document.createElement("canvas");
	whole.width = canvas.width;
	whole.height = canvas.height;
	const drawing = whole.getContext("2d")!;
	drawing.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
	drawing.fillRect(0, 0, whole.width, whole.height);
	drawing.drawImage(canvas, 0, 0);
	whole.toBlob((content) => content && download(content, name));
}

const drawn = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "font-family", "font-size", "font-weight", "text-anchor", "opacity"];

/** Saves a drawing with the styles of the style sheets included. */
export function saveDrawing(svg: SVGSVGElement, name: string): void {
	const copy = svg.cloneNode(true) as SVGSVGElement;
	const from = [svg, ...svg.querySelectorAll<SVGElement>("*")];
	[copy, ...copy.querySelectorAll<SVGElement>("*")].forEach((one, i) => {
		const style = getComputedStyle(from[i]!);
		for (const property of drawn) one.setAttribute(property, style.getPropertyValue(property));
		one.removeAttribute("class");
	});
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	download(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), name);
}

/** Keys that act everywhere except in a field. */
export function useKeys(keys: Record<string, (event: KeyboardEvent) => void>): void {
	/* The keys of the last render: the next key may come before an effect runs. */
	const latest = useRef(keys);
	latest.current = keys;
	useEffect(() => {
		const pressed = (event: KeyboardEvent) => {
			const at = event.target as HTMLElement;
			const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName);
			if (event.ctrlKey || event.metaKey || event.altKey) return;
			if (isField && event.key === "Escape") at.blur();
			if (isField) return;
			const act = latest.current[event.key];
			/* Enter on a link or a button belongs to that. */
			if (!act || (event.key === "Enter" && at.closest("a, button, summary, [role=link]"))) return;
			event.preventDefault();
			act(event);
		};
		addEventListener("keydown", pressed);
		return () => removeEventListener("keydown", pressed);
	}, []);
}

/** j and k move from line to line of a view, by the element that opens each. */
export function useLineKeys(selector: string, hasArrows = false): void {
	const step = (by: number) => {
		const lines = [...document.querySelectorAll<HTMLElement>(selector)];
		const at = lines.indexOf(document.activeElement as HTMLElement);
		lines[at < 0 ? 0 : Math.max(0, Math.min(lines.length - 1, at + by))]?.focus();
	};
	const arrows = { ArrowDown: () => step(1), ArrowUp: () => step(-1) };
	useKeys({ j: () => step(1), k: () => step(-1), ...(hasArrows ? arrows : {}) });
}

/** Moves a row of choices sideways, where it is wider than the screen, until the chosen one is in sight. */
export function useInSight(row: { current: HTMLElement | null }, chosen: string, changes: unknown[]): void {
	useEffect(() => {
		const [box, one] = [row.current, row.current?.querySelector<HTMLElement>(chosen)];
		if (box && one) box.scrollLeft += one.getBoundingClientRect().left - box.getBoundingClientRect().left - (box.clientWidth - one.offsetWidth) / 2;
	}, changes);
}

/** Whether the page is as narrow as a phone's. */
export function useNarrow(): boolean {
	const [isNarrow, setNarrow] = useState(innerWidth < 700);
	useEffect(() => {
		const measure = () => setNarrow(innerWidth < 700);
		addEventListener("resize", measure);
		return () => removeEventListener("resize", measure);
	}, []);
	return isNarrow;
}

/** The fields of a view; on a narrow screen folded under a line with the number of set fields. */
export function Filters({ set, children }: { set: number; children: ComponentChildren }) {
	const form = (
		<form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
			{children}
		</form>
	);
	if (!useNarrow()) return form;
	return (
		<details class="fold">
			<summary>Filters{set > 0 && `, ${set} set`}</summary>
			{form}
		</details>
	);
}

/** A field that reports its text a moment after the last key. */
export function Field(props: {
	label: string;
	value: string;
	placeholder?: string;
	hint?: string;
	list?: string;
	wide?: boolean;
	id?: string;
	onChange: (value: string) => void;
}) {
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
	const latest = useRef(props.onChange);
	latest.current = props.onChange;
	/* What was typed since the text was last reported; a text from elsewhere, as by the back button, replaces it. */
	const [typed, setTyped] = useState<string | null>(null);
	const reported = useRef(props.value);
	const shown = typed !== null && props.value === reported.current ? typed : props.value;
	const type = (event: Event) => {
		const value = (event.target as HTMLInputElement).value;
		if (props.value !== reported.current) reported.current = props.value;
		setTyped(value);
		clearTimeout(timer.current);
		timer.current = setTimeout(() => {
			reported.current = value.trim();
			latest.current(value.trim());
		}, 60);
	};
	return (
		<label class={props.wide ? "field wide" : "field"} title={props.hint}>
			<span>{props.label}</span>
			<input
				id={props.id}
				type="search"
				value={shown}
				placeholder={props.placeholder}
				list={props.list}
				spellcheck={false}
				autocomplete="off"
				onInput={type}
			/>
		</label>
	);
}
