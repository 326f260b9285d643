// SPDX-License-Identifier: MIT
// After Hedgehog-Computing/math pull request #31.
const clone = o => ({ ...o, place: { ...o.place }, tags: o.tags.slice() });
const uses = [];
for (let n = 1; n <= 40; n++)
	uses.push(new Function('o', 'clone', `const c = clone(o); c.id += ${n}; return c.id + c.tags.length;`));
let sum = 0;
for (let round = 0; round < 24000; round++) {
	const o = { id: round, name: 'some name', place: { x: round, y: 2 }, tags: ['a', 'b', 'c'] };
	for (const use of uses)
		sum = (sum + use(o, clone)) | 0;
}
console.log(sum);
