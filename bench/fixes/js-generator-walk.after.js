// SPDX-License-Identifier: MIT
function build(depth) {
	const node = { type: depth & 1 ? 'a' : 'b', value: depth, children: [] };
	if (depth > 0)
		for (let i = 0; i < 3; i++)
			node.children.push(build(depth - 1));
	return node;
}
function walk(node, visit) {
	visit(node);
	for (let i = 0; i < node.children.length; i++)
		walk(node.children[i], visit);
}
function total(root) {
	let sum = 0;
	walk(root, node => {
		if (node.type === 'a')
			sum += node.value;
	});
	return sum;
}
const root = build(8);
let sum = 0;
for (let round = 0; round < 700; round++)
	sum += total(root);
console.log(sum);
