// SPDX-License-Identifier: MIT
//
// Lays out a control flow graph, in a worker of its own, so that the page stays responsive.
// Layers and crossings as by Gansner et al., "A Technique for Drawing Directed Graphs", 1993: dagre.
import { graphlib, layout } from "@dagrejs/dagre";

export interface LayoutRequest {
	id: number;
	nodes: { width: number; height: number }[];
	/** from, to, and the size of a label beside the edge */
	edges: [number, number, { width: number; height: number }][];
}
export interface LayoutAnswer {
	id: number;
	width: number;
	height: number;
	nodes: { x: number; y: number }[];
	edges: { points: { x: number; y: number }[]; label: { x: number; y: number } }[];
	error?: string;
}

onmessage = (event: MessageEvent<LayoutRequest>) => {
	const { id, nodes, edges } = event.data;
	try {
		const graph = new graphlib.Graph({ multigraph: true });
		graph.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 32, marginx: 12, marginy: 12 });
		graph.setDefaultEdgeLabel(() => ({}));
		nodes.forEach((node, i) => graph.setNode(String(i), { ...node }));
		/* Labels have room of their own, so that none lies over another or a block. */
		edges.forEach(([source, target, label], i) => graph.setEdge(String(source), String(target), { ...label, labelpos: "c" }, String(i)));
		layout(graph);
		const whole = graph.graph() as { width?: number; height?: number };
		const answer: LayoutAnswer = {
			id,
			width: whole.width ?? 0,
			height: whole.height ?? 0,
			nodes: nodes.map((_, i) => {
				const { x, y } = graph.node(String(i)) as { x: number; y: number };
				return { x, y };
			}),
			edges: edges.map(([source, target], i) => {
				const { points = [], x = 0, y = 0 } = graph.edge(String(source), String(target), String(i)) as { points?: { x: number; y: number }[]; x?: number; y?: number };
				return { points: points.map((one) => ({ x: one.x, y: one.y })), label: { x, y } };
			}),
		};
		postMessage(answer);
	} catch (error) {
		postMessage({ id, width: 0, height: 0, nodes: [], edges: [], error: String(error) });
	}
};
