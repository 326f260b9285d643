// SPDX-License-Identifier: MIT
//
// Where the nodes of a flame graph lie: as the server lists them, in columns, to rows of boxes.
//
//   depth 0   all
//   depth 1   main                     start of the root
//   depth 2   read        │ write      widest first; what was left out, then what is the node's own, last
import type { FlameTree } from "./api";

export interface FlameNode {
	row: number; /* in the answer */
	number: number; /* of the server's tree */
	name: string;
	label: string; /* the name, or a shorter one */
	image: string | null;
	code: number | null; /* the profile's number of the function */
	isMatched: boolean;
	weight: number;
	self: number;
	samples: number;
	narrower: number; /* nodes that it stands for; 0: it is one */
	first: number; /* time of its first sample, in seconds; −1: not known */
	isPath: boolean; /* above the root of the answer */
	start: number; /* in the unit of weight, from the left end of the whole */
	depth: number;
	parent: FlameNode | null;
	children: FlameNode[];
}

export interface FlameLayout {
	nodes: FlameNode[];
	depths: FlameNode[][]; /* by depth, each from left to right */
	byNumber: Map<number, FlameNode>;
	mostSelf: number;
}

function nameOf(tree: FlameTree, row: number): string {
	const { function: functions, parent, narrower } = tree.nodes;
	const one = tree.functions[functions[row]!];
	if (narrower[row]! > 0) return `${narrower[row]!.toLocaleString("en-US")} narrower`;
	if (parent[row]! < 0) return "all";
	if (!one) return "[unknown stack]";
	return one[0] ?? `[${one[1] ? one[1].slice(one[1].lastIndexOf("/") + 1) : "unknown"}]`;
}

/** Nodes beside each other: the heaviest first, or in the order of their first samples. */
export function layOut(tree: FlameTree, isByTime = false): FlameLayout {
	const { number, function: functions, parent, weight, self, samples, narrower, first } = tree.nodes;
	const nodes: FlameNode[] = [];
	const byNumber = new Map<number, FlameNode>();
	/* A row stands after its parent's. */
	for (let row = 0; row < number.length; row++) {
		const above = nodes[parent[row]!] ?? null;
		const [, image = null, code = null, isMatched = false, short = null] = tree.functions[functions[row]!] ?? [];
		const name = nameOf(tree, row);
		const node: FlameNode = {
			row, number: number[row]!, name, label: short ?? name, image, code, isMatched, weight: weight[row]!, self: self[row]!, samples: samples[row]!,
			narrower: narrower[row]!, first: first[row]!, isPath: row < tree.root, start: 0, depth: above ? above.depth + 1 : 0, parent: above, children: [],
		};
		nodes.push(node);
		above?.children.push(node);
		if (!node.narrower) byNumber.set(node.number, node);
	}
	const depths: FlameNode[][] = [];
	for (let level = nodes.slice(0, 1); level.length > 0; level = level.flatMap((one) => one.children)) {
		depths.push(level);
		for (const one of level) {
			one.children.sort((a, b) => Number(a.narrower > 0) - Number(b.narrower > 0) || (isByTime ? a.first - b.first : 0) || b.weight - a.weight || a.row - b.row);
			let start = one.start;
			for (const child of one.children) {
				child.start = start;
				start += child.weight;
			}
		}
	}
	return { nodes, depths, byNumber, mostSelf: nodes.reduce((most, one) => Math.max(most, one.narrower || one.isPath ? 0 : one.self), 0) };
}

/** Where the stacks begin to differ: the node below which no single one has all the weight but this share of the whole. */
const LEAST_BRANCH = 0.01;
export function firstFork(layout: FlameLayout): FlameNode {
	const whole = layout.nodes[0]!;
	const only = (node: FlameNode) => node.children.find((one) => !one.narrower && one.weight >= node.weight - LEAST_BRANCH * whole.weight);
	let fork = whole;
	for (let next = only(whole); next; next = only(next)) fork = next;
	/* One stack has nearly all: it is shown from its begin. */
	return fork.children.length > 0 ? fork : whole;
}

/** The depth of the innermost node at or below one. */
export function deepest(node: FlameNode): number {
	let depth = node.depth;
	const open = [node];
	for (let one = open.pop(); one; one = open.pop()) {
		depth = Math.max(depth, one.depth);
		open.push(...one.children);
	}
	return depth;
}

/** Whether all nodes below one are in the answer. */
export function isWhole(node: FlameNode): boolean {
	const open = [node];
	for (let one = open.pop(); one; one = open.pop()) {
		if (one.narrower || one.isPath) return false;
		open.push(...one.children);
	}
	return true;
}

/** The nodes from `root` on of at least this weight, each before those below it; at most `limit`. */
export function heaviestPaths(root: FlameNode, least: number, limit: number): FlameNode[] {
	const found: FlameNode[] = [];
	const open = [root];
	for (let one = open.pop(); one && found.length < limit; one = open.pop()) {
		found.push(one);
		for (let i = one.children.length; i-- > 0; ) if (one.children[i]!.weight >= least) open.push(one.children[i]!);
	}
	return found;
}
