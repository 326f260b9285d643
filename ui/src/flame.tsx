// SPDX-License-Identifier: MIT
//
// The flame graph: call stacks merged from either end, on a canvas that draws what is in sight.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, type Ask, file, type Flame, type FlameTree, useAnswer } from "./api";
import { resolver, useScheme } from "./colours";
import { deepest, firstFork, type FlameLayout, type FlameNode, heaviestPaths, isWhole, layOut } from "./flame_layout";
import { baseName, count, share, some } from "./format";
import { more, MoreOptions, WeightChoice } from "./options";
import { Empty, Export, Field, Filters, Footer, Loading, Problem, savePicture, useKeys } from "./parts";
import { change, linkTo, type Route, WEIGHT } from "./state";

const ROW = 19;
const LEAD = 2; /* rows in sight that lead to the root */
const FONT = '11px "DejaVu Sans Mono", ui-monospace, monospace';
const LEAST_LISTED = 0.005; /* of all weight, in the table */
const MAX_LISTED = 400;
const WHOLE = "0"; /* the number of the outermost node; without a number the first fork is shown */
const MAX_NAME = 300; /* characters of a name in a tip */

/** What is shown of a layout: everything below `root`, and the way to it. */
interface Sight {
	layout: FlameLayout;
	root: FlameNode;
	width: number;
}

function ways(node: FlameNode): FlameNode[] {
	const way = [node];
	for (let one = node.parent; one; one = one.parent) way.unshift(one);
	return way;
}

function boxOf({ root, width }: Sight, node: FlameNode): [number, number] {
	if (node.depth <= root.depth) return [0, width];
	const scale = width / (root.weight || 1);
	return [(node.start - root.start) * scale, node.weight * scale];
}

/** The nodes of a depth in sight, which above the root is its way. */
function rowOf({ layout, root }: Sight, depth: number, way: FlameNode[]): FlameNode[] {
	return depth <= root.depth ? way.slice(depth, depth + 1) : (layout.depths[depth] ?? []);
}

function nodeAt(sight: Sight, x: number, y: number): FlameNode | undefined {
	return rowOf(sight, Math.floor(y / ROW), ways(sight.root)).find((node) => {
		const [left, width] = boxOf(sight, node);
		return x >= left && x < left + width;
	});
}

function draw(canvas: HTMLCanvasElement, sight: Sight, top: number, height: number, selected: FlameNode | null, hasSearch: boolean): void {
	const drawing = canvas.getContext("2d")!;
	const ratio = devicePixelRatio || 1;
	const css = resolver(canvas.parentElement!);
	canvas.width = sight.width * ratio;
	canvas.height = height * ratio;
	drawing.scale(ratio, ratio);
	drawing.font = FONT;
	drawing.textBaseline = "middle";
	const character = drawing.measureText("0").width;
	const way = ways(sight.root);
	const shades = [...Array(10).keys()].map((one) => css(`color-mix(in oklab, var(--heat) ${one * 7}%, var(--flame))`));
	const [text, faint, raised, accent, page] = ["text", "faint", "raised", "accent", "page"].map((name) => css(`var(--${name})`)) as [string, string, string, string, string];
	const look = (node: FlameNode): [string, string] => {
		if (node.isMatched) return [accent, page];
		if (node.narrower || hasSearch || (node.depth < sight.root.depth)) return [raised, faint];
		return [shades[Math.min(9, Math.ceil(9 * Math.sqrt(node.self / (sight.layout.mostSelf || 1))))]!, text];
	};
	const last = Math.min(deepest(sight.root) + 1, Math.ceil((top + height) / ROW));
	for (let depth = Math.floor(top / ROW); depth < last; depth++) {
		const y = depth * ROW - top;
		let end = -1; /* of what is drawn in this row */
		for (const node of rowOf(sight, depth, way)) {
			const [left, width] = boxOf(sight, node);
			if (left + width <= 0) continue;
			if (left >= sight.width - 0.01) break;
			const [fill, ink] = look(node);
			/* Of boxes within one pixel, one is drawn, and those that are searched. */
			if (width < 1 && left < end && !node.isMatched) continue;
			const shown = Math.max(1, width > 3 ? width - 1 : width);
			end = left + shown;
			drawing.fillStyle = fill;
			drawing.fillRect(left, y, shown, ROW - 1);
			const room = Math.floor((shown - 6) / character);
			if (room >= 3) {
				drawing.fillStyle = ink;
				drawing.fillText(node.label.length > room ? `${node.label.slice(0, room - 1)}…` : node.label, left + 3, y + ROW / 2);
			}
		}
	}
	if (!selected) return;
	const [left, width] = boxOf(sight, selected);
	drawing.strokeStyle = accent;
	drawing.lineWidth = 2;
	drawing.strokeRect(left + 1, selected.depth * ROW - top + 1, Math.max(2, width - 3), ROW - 3);
}

function CodeLink({ node, route }: { node: FlameNode; route: Route }) {
	return node.code === null ? <bdi title={node.name}>{node.label}</bdi> : (
		<a href={linkTo("code", route, { function: String(node.code) })} title={node.name}>
			<bdi>{node.label}</bdi>
		</a>
	);
}

/** The shares of a node in words; `weight`: of all. */
function figures(node: FlameNode, weight: number): string {
	const own = node.narrower || !node.parent ? "" : `, ${share(node.self / (weight || 1))} its own`;
	return `${share(node.weight / (weight || 1))}${own}, ${some(node.samples, "sample")}`;
}

function Graph(props: { tree: FlameTree; sight: Omit<Sight, "width">; route: Route; onZoom: (node: FlameNode | null) => void }) {
	const { tree, route, onZoom } = props;
	const { layout, root } = props.sight;
	const box = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const [width, setWidth] = useState(600);
	const [height, setHeight] = useState(300);
	const [top, setTop] = useState(0);
	const [selected, setSelected] = useState<FlameNode | null>(null);
	const [tip, setTip] = useState<{ x: number; y: number; node: FlameNode } | null>(null);
	const scheme = useScheme();
	const sight: Sight = { layout, root, width };
	/* The same node of a newer answer, if that has it below the root. */
	const known = selected && layout.byNumber.get(selected.number);
	const here = selected && layout.nodes[selected.row] === selected ? selected : (known ?? null);
	const shown = here ?? root;
	const way = ways(root);
	const lead = Math.max(0, root.depth - LEAD);
	const rows = useMemo(() => deepest(root) + 1, [root]);

	/* Before the browser paints: a picture of the wrong size would be stretched. */
	useLayoutEffect(() => {
		const measure = () => {
			setWidth(Math.max(120, box.current?.clientWidth ?? 600));
			setHeight(box.current?.clientHeight ?? 300);
		};
		measure();
		const observer = new ResizeObserver(measure);
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	useLayoutEffect(() => {
		if (canvas.current) draw(canvas.current, sight, top, height, here, tree.matched !== null);
	}, [layout, root, width, height, top, here, scheme]);
	/* The root is in sight, below a few that lead to it. */
	useEffect(() => {
		if (box.current) box.current.scrollTop = lead * ROW;
		setTip(null);
	}, [root]);

	const select = (node: FlameNode | null | undefined) => {
		if (!node || !box.current) return;
		const [y, room] = [node.depth * ROW, box.current.clientHeight];
		if (y < box.current.scrollTop) box.current.scrollTop = y;
		else if (y + ROW > box.current.scrollTop + room) box.current.scrollTop = y + ROW - room;
		setSelected(node);
	};
	const beside = (by: number) => {
		const row = rowOf(sight, shown.depth, way);
		return row[row.indexOf(shown) + by];
	};
	const isInside = (node: FlameNode | undefined) => {
		if (!node) return false;
		const [left, wide] = boxOf(sight, node);
		return left + wide > 0.01 && left < width - 0.01;
	};
	const step = (by: number) => {
		const next = beside(by);
		if (isInside(next)) select(next);
	};
	const zoom = (node: FlameNode) => onZoom(node.narrower ? node.parent : node);
	useKeys({
		ArrowDown: () => select(shown.depth < root.depth ? way[shown.depth + 1] : shown.children[0]),
		ArrowUp: () => select(shown.parent),
		ArrowLeft: () => step(-1),
		ArrowRight: () => step(1),
		Enter: () => zoom(shown),
		c: () => {
			if (shown.code !== null) location.hash = linkTo("code", route, { function: String(shown.code) });
		},
	});
	const at = (event: PointerEvent | MouseEvent) => {
		const place = canvas.current!.getBoundingClientRect();
		const [x, y] = [event.clientX - place.left, event.clientY - place.top];
		return { x, y, node: nodeAt(sight, x, y + top) };
	};
	return (
		<>
			<p class="flame-about" role="status">
				<b>
					<CodeLink node={shown} route={route} />
				</b>{" "}
				{figures(shown, tree.weight)}
				{shown.image && (
					<span class="faint" title={shown.image}>
						{" "}
						<bdi>{baseName(shown.image)}</bdi>
					</span>
				)}
			</p>
			<div class="flame" ref={box} tabIndex={0} role="application" aria-label="Flame graph. Arrow keys go to the caller, to what it calls and to what is beside it; Enter zooms; 0 goes back."
				style={{ height: `${(rows - lead) * ROW}px` }} onScroll={() => setTop(box.current?.scrollTop ?? 0)}>
				<div style={{ height: `${rows * ROW}px` }}>
					<canvas
						ref={canvas}
						style={{ width: `${width}px`, height: `${height}px` }}
						onPointerMove={(event) => {
							const { x, y, node } = at(event);
							setTip(node ? { x, y, node } : null);
						}}
						onPointerLeave={() => setTip(null)}
						onClick={(event) => {
							const { node } = at(event);
							if (!node) return;
							select(node);
							zoom(node);
						}}
					/>
				</div>
			</div>
			{tip && (
				<div class="flame-tip">
					<div class="tip" role="tooltip" style={{ left: `${Math.max(0, Math.min(tip.x + 12, width - 220))}px`, top: `${tip.y - height + 14}px` }}>
						<bdi>{tip.node.name.length > MAX_NAME ? `${tip.node.name.slice(0, MAX_NAME)}…` : tip.node.name}</bdi>
						{`\n${figures(tip.node, tree.weight)}`}
						{tip.node.image && `\n${baseName(tip.node.image)}`}
					</div>
				</div>
			)}
			<p class="faint">
				{tree.inverted ? "The functions that ran, with their callers below" : "The outermost function on top, what it calls below"}; wider is more,
				stronger in colour is more of its own. A click or Enter zooms, 0 or Esc goes back; arrow keys move, <kbd>i</kbd> inverts, <kbd>c</kbd> leads to the code.{" "}
				<button class="quiet" onClick={() => savePicture(canvas.current!, "lode-flame.png")}>
					Save as PNG
				</button>
			</p>
		</>
	);
}

/** The same as a table, for those who do not see the picture. */
function Paths({ tree, root, route, onZoom }: { tree: FlameTree; root: FlameNode; route: Route; onZoom: (node: FlameNode) => void }) {
	const rows = useMemo(() => heaviestPaths(root, LEAST_LISTED * tree.weight, MAX_LISTED), [root]);
	return (
		<>
			<div class="scroll" tabIndex={0} role="region" aria-label="Paths">
				<table class="flame-table">
					<caption class="hidden">{tree.inverted ? "Functions, and below each its callers" : "Functions, and below each what it calls"}</caption>
					<thead>
						<tr>
							<th scope="col" class="number">weight</th>
							<th scope="col" class="number">its own</th>
							<th scope="col" class="number optional">samples</th>
							<th scope="col">function</th>
						</tr>
					</thead>
					<tbody>
						{rows.map((node) => (
							<tr key={node.row} class={node.isMatched ? "matched" : ""}>
								<td class="number">{share(node.weight / (tree.weight || 1))}</td>
								<td class="number">{node.narrower ? "" : share(node.self / (tree.weight || 1))}</td>
								<td class="number optional">{count(node.samples)}</td>
								<th scope="row" style={{ paddingLeft: `${0.4 + 0.7 * Math.min(30, node.depth - root.depth)}rem` }}>
									<span class="hidden">level {node.depth - root.depth + 1}: </span>
									<CodeLink node={node} route={route} />{" "}
									{node.children.length > 0 && node !== root && (
										<button class="quiet" aria-label={`Zoom to ${node.label}`} onClick={() => onZoom(node)}>
											zoom
										</button>
									)}
								</th>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			<p class="faint">
				{rows.length < MAX_LISTED
					? `Paths of at least ${share(LEAST_LISTED)} of the weight.`
					: `The first ${MAX_LISTED} paths of at least ${share(LEAST_LISTED)}; a zoom lists more.`}
			</p>
		</>
	);
}

function Tools({ tree, root, route, what }: { tree: FlameTree; root: FlameNode; route: Route; what: Ask }) {
	const get = (name: string) => route.params.get(name);
	const isTable = get("pane") === "table";
	const isByTime = get("order") === "time";
	const hasTimes = tree.nodes.first.some((one) => one > 0);
	const invert = () => change(route, { inverted: tree.inverted ? null : "1", zoom: null });
	useKeys({
		i: invert,
		0: () => change(route, { zoom: null }),
		Escape: () => change(route, { zoom: null }),
	});
	return (
		<>
			{!file && <Filters set={["text"].filter((name) => get(name)).length}>
				<Field id="search" label="function" value={get("text") ?? ""} placeholder="part of a name" wide onChange={(text) => change(route, { text }, true)} />
				<WeightChoice head={tree} route={route} />
			</Filters>}
			<p class="tabs">
				<button aria-pressed={tree.inverted} onClick={invert}>
					Inverted
				</button>{" "}
				<button aria-pressed={isTable} onClick={() => change(route, { pane: isTable ? null : "table" })}>
					As table
				</button>{" "}
				{hasTimes && !isTable && (
					<button aria-pressed={isByTime} title="from left to right in the order of the first samples" onClick={() => change(route, { order: isByTime ? null : "time" })}>
						By time
					</button>
				)}{" "}
				{root.depth > 0 && <button onClick={() => change(route, { zoom: WHOLE })}>Whole</button>}{" "}
				<Export json={address("flame", what)} />
			</p>
			<p class="caption" role="status">
				{some(tree.samples, "sample")} of {tree.event ?? "no event"}
				{tree.from === "tops" && ", each with the callers that the recorded top of its stack shows"}
				{tree.matched !== null && (
					<>
						; <b>{share(tree.matched)}</b> in stacks with ‘<bdi>{get("text")}</bdi>’
					</>
				)}
			</p>
		</>
	);
}

function FlameOf({ tree, deeper, route, what }: { tree: FlameTree; deeper: FlameTree | null; route: Route; what: Ask }) {
	const zoomed = route.params.get("zoom");
	const isByTime = route.params.get("order") === "time";
	const whole = useMemo(() => layOut(tree, isByTime), [tree, isByTime]);
	const detailed = useMemo(() => (deeper ? layOut(deeper, isByTime) : null), [deeper, isByTime]);
	const fork = useMemo(() => firstFork(whole), [whole]);
	const number = zoomed === null ? fork.number : Number(zoomed);
	const isDetailed = detailed?.nodes[deeper!.root]?.number === number;
	const layout = isDetailed ? detailed! : whole;
	const shown = isDetailed ? deeper! : tree;
	const root = layout.byNumber.get(number) ?? layout.nodes[0]!;
	const zoom = (node: FlameNode | null) => change(route, { zoom: node && node.number !== fork.number ? String(node.number) : null });
	return (
		<>
			<Tools tree={tree} root={root} route={route} what={what} />
			{tree.samples === 0 ? (
				<Empty>There are no samples in this part of the recording.</Empty>
			) : route.params.get("pane") === "table" ? (
				<Paths tree={shown} root={root} route={route} onZoom={zoom} />
			) : (
				<Graph tree={shown} sight={{ layout, root }} route={route} onZoom={zoom} />
			)}
			<MoreOptions question="flame" route={route} except={["inverted", "text", "root", "limit"]} />
			<Footer head={tree}>
				{tree.cut > 0 && <p>{share(tree.cut)} of the weight is in stacks with more frames than are shown.</p>}
				{tree.from === "tops" && <p>The recorded top of a stack ends at some caller, which is then outermost here: ‘lode run -g’ records whole stacks.</p>}
				{root.isPath || isWhole(root) ? null : <p>What is too narrow to be drawn is in the boxes called ‘narrower’; a zoom shows it.</p>}
			</Footer>
		</>
	);
}

export function FlameView({ route }: { route: Route }) {
	const get = (name: string) => route.params.get(name);
	const what: Ask = { profile: get("profile"), inverted: get("inverted"), text: get("text"), ...more(route) };
	const whole = useAnswer<Flame>("flame", what);
	/* The server has more below the zoomed node, if something was left out there. */
	const zoomed = get("zoom");
	const detail = useAnswer<Flame>(zoomed === null || zoomed === WHOLE || file ? null : "flame", { ...what, root: zoomed });
	if (whole.error)
		return (
			<>
				<Problem failure={whole.error} route={route} />
				{get(WEIGHT) && <button onClick={() => change(route, { [WEIGHT]: null })}>By the weight of the profile</button>}
			</>
		);
	if (!whole.data) return whole.isLoading ? <Loading what="Merging the call stacks" /> : null;
	if (whole.data.from === null)
		return (
			<>
				<Empty>{whole.data.advice}</Empty>
				<Footer head={whole.data} />
			</>
		);
	return (
		<>
			{detail.error && <Problem failure={detail.error} route={route} />}
			<FlameOf tree={whole.data} deeper={detail.data?.from ? detail.data : null} route={route} what={what} />
		</>
	);
}
