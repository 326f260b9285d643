// SPDX-License-Identifier: MIT
//
// The control flow graph of a function: blocks shaded by weight, edges with their counts.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Annotation, type CodeLine, file, type Graph, type GraphEdge, useAnswer } from "./api";
import { count, share, shortOf } from "./format";
import type { LayoutAnswer, LayoutRequest } from "./layout";
import { part } from "./options";
import { Empty, Loading, Name, Problem, saveDrawing } from "./parts";
import { change, type Route } from "./state";

const LINES = 8; /* of code in a block */
const LINE_HEIGHT = 13;
const CHARACTER = 6.1;
const LABEL_CHARACTER = 5.9;
const LABEL_HEIGHT = 14;
const LEAST_TEXT = 9; /* pixels; smaller, a block has its share alone */
const TEXT = 10; /* of code, as in the style sheet */
const LEAST_SHARE = 0.0005; /* of all weight: less is no percentage */
const STEPS_AROUND = 2; /* edges from a place to the farthest block shown */

interface Block {
	index: number;
	lines: string[];
	width: number;
	height: number;
}

let worker: Worker | null = null;
let lastId = 0;

function useLayout(request: Omit<LayoutRequest, "id"> | null): LayoutAnswer | null {
	const [answer, setAnswer] = useState<{ layout: LayoutAnswer; request: typeof request } | null>(null);
	useEffect(() => {
		if (!request) return;
		worker ??= new Worker(file ? URL.createObjectURL(new Blob([file.layout], { type: "text/javascript" })) : "/layout.js");
		const id = ++lastId;
		let isDone = false;
		const receive = (event: MessageEvent<LayoutAnswer>) => {
			if (event.data.id !== id) return;
			isDone = true;
			setAnswer({ layout: event.data, request });
		};
		worker.addEventListener("message", receive);
		worker.postMessage({ id, nodes: request.nodes, edges: request.edges });
		return () => {
			worker?.removeEventListener("message", receive);
			/* An unneeded layout would delay the next one. */
			if (!isDone) {
				worker?.terminate();
				worker = null;
			}
		};
	}, [request]);
	/* That of the graph before would place the blocks of this one. */
	return answer?.request === request ? (answer?.layout ?? null) : null;
}

/** "1,476 · 0.2 %" of what goes on from its block; observed in windows: their share. */
function labelOf(edge: GraphEdge, all: number): string {
	const observed = edge.is_observed ? `, ${share((edge.steps ?? 0) / edge.followed!)}` : "";
	return `${count(edge.count)}${observed || (all > edge.count && all > 0 ? ` · ${share(edge.count / all)}` : "")}`;
}

function titleOf(block: Graph["blocks"][number]): string {
	const parts = [block.address.replace(/^0x/, ""), share(block.share), count(block.executions)];
	return parts.join(" · ") + (block.is_loop_head ? " ↻" : "");
}

/** The blocks that were executed, or all if none was. */
function blocksOf(graph: Graph, lines: CodeLine[]): Block[] {
	const ran = graph.blocks.some((one) => one.executions > 0);
	return graph.blocks.flatMap((block, index) => {
		if (ran && !(block.executions > 0)) return [];
		const first = BigInt(block.address);
		const end = BigInt(block.end);
		const own = lines.filter((one) => BigInt(one.address) >= first && BigInt(one.address) < end).map((one) => one.text);
		const shown = own.length > LINES ? [...own.slice(0, LINES - 2), `… ${own.length - LINES + 1} more`, own[own.length - 1]!] : own;
		const cut = shown.map((text) => (text.length > 44 ? `${text.slice(0, 43)}…` : text));
		const title = titleOf(block);
		const width = Math.max(150, ...[title, ...cut].map((text) => text.length * CHARACTER + 18));
		return [{ index, lines: cut, width, height: 24 + cut.length * LINE_HEIGHT }];
	});
}

function blockAt(graph: Graph, address: string): number {
	const place = BigInt(address);
	return graph.blocks.findIndex((one) => place >= BigInt(one.address) && place < BigInt(one.end));
}

/** The blocks at most STEPS_AROUND edges before or after that of a place. */
function blocksAround(graph: Graph, address: string): Set<number> {
	const found = new Set([blockAt(graph, address)]);
	for (let i = 0; i < STEPS_AROUND; i++)
		for (const one of [...found])
			for (const edge of graph.edges)
				if (edge.count > 0 && (edge.source === one || edge.target === one)) found.add(edge.source).add(edge.target);
	return found;
}

/** The control flow around a place. */
export function FlowAround({ route, number, address, onChoose }: { route: Route; number: number; address: string; onChoose: (block: string) => void }) {
	const { data, error } = useAnswer<Annotation>("annotate", { profile: route.params.get("profile"), run: route.params.get("run"), "function-number": number, ...part(route) });
	if (error) return <Problem failure={error} route={route} />;
	if (!data) return <Loading what="Reading the code" />;
	return <FlowGraph route={route} number={String(number)} lines={data.places[0]?.instructions ?? none} around={address} onChoose={onChoose} />;
}
const none: CodeLine[] = [];

export function FlowGraph(props: { route: Route; number: string; lines: CodeLine[]; around?: string; onChoose: (block: string) => void }) {
	const { route, lines, around } = props;
	/* Of a large function the server gives a part: around this place, or around a block that was chosen. */
	const centre = around ?? route.params.get("around");
	const answer = useAnswer<Graph>("graph", { profile: route.params.get("profile"), "function-number": props.number, around: centre, ...part(route) });
	const graph = answer.data;
	const place = useMemo(() => (graph && around ? blockAt(graph, around) : -1), [graph, around]);
	const [scale, setScale] = useState(1);
	const box = useRef<HTMLDivElement>(null);
	const blocks = useMemo(() => {
		const all = graph ? blocksOf(graph, lines) : [];
		if (!graph || !around || place < 0) return all;
		const near = blocksAround(graph, around);
		return all.filter((one) => near.has(one.index));
	}, [graph, lines, around, place]);
	const request = useMemo(() => {
		if (!graph || blocks.length === 0) return null;
		const position = new Map(blocks.map((one, i) => [one.index, i]));
		const shown = graph.edges.filter((one) => position.has(one.source) && position.has(one.target));
		/* What went on from each block, of which an edge has a share. */
		const from = new Map<number, number>();
		for (const one of graph.edges) from.set(one.source, (from.get(one.source) ?? 0) + one.count);
		const labels = shown.map((one) => labelOf(one, from.get(one.source) ?? 0));
		return {
			nodes: blocks.map(({ width, height }) => ({ width, height })),
			edges: shown.map((one, i): LayoutRequest["edges"][number] => [
				position.get(one.source)!,
				position.get(one.target)!,
				{ width: labels[i]!.length * LABEL_CHARACTER + 6, height: LABEL_HEIGHT },
			]),
			shown,
			labels,
		};
	}, [graph, blocks]);
	const placed = useLayout(request);

	/* As large as fits and legible, with the place, or the costliest block, in view. */
	useEffect(() => {
		const here = box.current;
		if (!here || !placed || placed.error || !graph) return;
		const fitting = Math.max(LEAST_TEXT / TEXT, Math.min(1, here.clientWidth / placed.width));
		const hottest = blocks.reduce(
			(best, one, i) => (graph.blocks[one.index]!.share > graph.blocks[blocks[best]!.index]!.share ? i : best),
			0,
		);
		const own = blocks.findIndex((one) => one.index === (place >= 0 ? place : centre ? graph.centre : -1));
		const at = placed.nodes[own >= 0 ? own : hottest];
		setScale(fitting);
		requestAnimationFrame(() => {
			here.scrollLeft = (at?.x ?? 0) * fitting - here.clientWidth / 2;
			here.scrollTop = (at?.y ?? 0) * fitting - here.clientHeight / 2;
		});
	}, [placed]);

	if (answer.error) return <Problem failure={answer.error} route={route} />;
	if (!graph) return <Loading what="Reading the control flow" />;
	if (blocks.length === 0) return <Empty>No basic blocks are known of this function.</Empty>;
	if (!placed || !request) return <Loading what="Laying out the graph" />;
	if (placed.error || placed.nodes.length !== blocks.length)
		return <Empty>The graph could not be laid out{placed.error && `: ${placed.error}`}.</Empty>;
	const most = Math.max(...graph.blocks.map((one) => one.share), 0);
	const mostEdge = Math.max(...request.shown.map((one) => one.count), 1);
	const width = placed.width;
	const isLegible = TEXT * scale >= LEAST_TEXT;
	const isPart = graph.centre !== undefined && !around;
	const strength = (edge: { count: number }) => 0.6 + 2.4 * Math.sqrt(edge.count / mostEdge);
	return (
		<figure class="graph">
			<div class="graph-tools">
				<button onClick={() => setScale((one) => Math.min(2, one * 1.25))}>Larger</button>{" "}
				<button onClick={() => setScale((one) => Math.max(0.2, one / 1.25))}>Smaller</button>{" "}
				<button
					onClick={() => setScale(Math.min(1, (box.current?.clientWidth ?? 600) / width))}
				>
					Fit
				</button>{" "}
				<button onClick={() => saveDrawing(box.current!.querySelector("svg")!, "lode-graph.svg")}>Save as SVG</button>{" "}
				{isPart && (
					<span role="status">
						{count(blocks.length)} of the {count(graph.n_blocks_that_ran)} blocks that ran, around {centre ? centre.replace(/^0x/, "") : "the costliest"}
					</span>
				)}{" "}
				{isPart && centre && <button onClick={() => change(route, { around: null })}>Around the costliest</button>}
			</div>
			<div class="graph-scroll" ref={box} tabIndex={0} role="region" aria-label="Control flow graph">
				<svg
					width={width * scale}
					height={placed.height * scale}
					viewBox={`0 0 ${width} ${placed.height}`}
					role="group"
					aria-label={`${blocks.length} blocks and ${request.shown.length} edges of ${shortOf(graph, "function")}`}
				>
					<defs>
						<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
							<path d="M0 0 L8 4 L0 8 z" class="arrow" />
						</marker>
					</defs>
					{request.shown.map((edge, i) => {
						const points = placed.edges[i]?.points ?? [];
						return (
							<g class={`edge edge-${edge.kind}`}>
								<polyline
									points={points.map((one) => `${one.x},${one.y}`).join(" ")}
									stroke-width={strength(edge)}
									marker-end="url(#arrow)"
								>
									<title>{aboutEdge(edge)}</title>
								</polyline>
							</g>
						);
					})}
					{blocks.map((block, i) => {
						const at = placed.nodes[i]!;
						const about = graph.blocks[block.index]!;
						const shade = most > 0 && about.share > 0 ? Math.max(1, Math.ceil((9 * about.share) / most)) : 0;
						const go = () => props.onChoose(about.address);
						return (
							<g
								class={`block heat-${shade}${block.index === place ? " place-block" : ""}`}
								transform={`translate(${at.x - block.width / 2} ${at.y - block.height / 2})`}
								tabindex={0}
								role="link"
								onClick={go}
								onKeyDown={(event) => event.key === "Enter" && go()}
							>
								<rect width={block.width} height={block.height} rx="3" />
								{isLegible ? (
									<>
										<text x="8" y="15" class="block-title">
											{titleOf(about)}
										</text>
										{block.lines.map((line, n) => (
											<text x="8" y={29 + n * LINE_HEIGHT} class="block-code">
												{line}
											</text>
										))}
									</>
								) : (
									<>
										<title>{titleOf(about)}</title>
										{about.share >= LEAST_SHARE && (
											<text class="block-share" x={block.width / 2} y={block.height / 2} text-anchor="middle" dominant-baseline="central" style={{ fontSize: `${LEAST_TEXT / scale}px` }}>
												{share(about.share)}
											</text>
										)}
									</>
								)}
							</g>
						);
					})}
					{isPart && !file &&
						blocks.map((block, i) => {
							const at = placed.nodes[i]!;
							const { address, edges_left_out: n } = graph.blocks[block.index]!;
							const go = () => change(route, { around: address });
							return (
								n > 0 &&
								block.index !== graph.centre && (
									<g class="block-more" tabindex={0} role="button" aria-label={`+${n}: show what is around ${address}`}
										transform={`translate(${at.x + block.width / 2 - 30} ${at.y + block.height / 2 - 9})`}
										onClick={go} onKeyDown={(event) => event.key === "Enter" && go()}>
										<rect width="38" height="17" rx="8" />
										<text x="19" y="12" text-anchor="middle">+{n}</text>
									</g>
								)
							);
						})}
					{isLegible &&
						request.labels.map((label, i) => {
							const at = placed.edges[i]?.label;
							return (
								at && (
									<g>
										<rect class="label-back" x={at.x - request.edges[i]![2].width / 2} y={at.y - LABEL_HEIGHT / 2} width={request.edges[i]![2].width} height={LABEL_HEIGHT} />
										<text class="edge-count" x={at.x} y={at.y} text-anchor="middle" dominant-baseline="central">
											{label}
										</text>
									</g>
								)
							);
						})}
				</svg>
			</div>
			<figcaption class="faint">
				{place >= 0 ? "The blocks around this place" : "Blocks that ran"}, darker with more weight; lines are as wide as they were often taken. A block
				leads to its code
				{request.shown.some((one) => one.is_observed) && "; shares of edges were observed in windows of the run"}
				{isPart && !file && "; + shows what is around it: so many of its edges lead to blocks that are not drawn"}.
			</figcaption>
		</figure>
	);
}

/** "taken: 1,200; observed in windows: 412 of 1,000, 41.2 %" */
function aboutEdge(edge: GraphEdge): string {
	const { steps = 0, followed = 0 } = edge;
	const observed = followed > 0 ? `; ${edge.is_observed ? "observed" : "seen"} in windows: ${count(steps)} of ${count(followed)}, ${share(steps / followed)}` : "";
	return `${edge.kind}: ${count(edge.count)}${observed}`;
}

/** The callers and callees of a function. */
export function Neighbours({ route, link }: { route: Route; link: (number: number) => string }) {
	const { data } = useAnswer<Graph>("graph", {
		profile: route.params.get("profile"),
		"function-number": route.params.get("function"),
		...part(route),
	});
	if (!data) return null;
	const list = (title: string, all: number, rows: { number: number; name: string; count: number }[]) => (
		<section>
			<h3>
				{title} <span class="faint">{count(all)}</span>
			</h3>
			{rows.length === 0 ? (
				<p class="faint">None were recorded.</p>
			) : (
				<ul>
					{rows.slice(0, 20).map((one) => (
						<li>
							<a href={link(one.number)}>
								<Name of={one} as="name" />
							</a>{" "}
							<span class="faint">{count(one.count)} ×</span>
						</li>
					))}
				</ul>
			)}
			{all > 20 && <p class="faint">The twenty most frequent are shown.</p>}
		</section>
	);
	return (
		<div class="neighbours">
			{list("Callers", data.n_callers, data.callers)}
			{list("Callees", data.n_callees, data.callees)}
		</div>
	);
}
