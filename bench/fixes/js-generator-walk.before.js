// SPDX-License-Identifier: MIT
// After dominikg/tsconfck pull request #84.
function build(depth) {
	const node = { type: depth & 1 ? 'a' : 'b', value: depth, children: [] };
	if (depth > 0)
		for (let i = 0; i < 3; i++)
			node.children.push(build(depth - 1));
	return node;
}
function* walk(node) {
	yield node;
	for (const child of node.children)
		yield* walk(child);
}
function total(root) {
	let sum = 0;
	for (const node of walk(root))
		if (node.type === 'a')
			sum += node.value;
	return sum;
}
const root = build(8);
let sum = 0;
for (let round = 0; round < 700; round++)
	sum += total(root);
console.log(sum);
