// SPDX-License-Identifier: MIT
const uses = [];
for (let n = 1; n <= 40; n++)
	uses.push(new Function('v', `let s = ${n}; for (let i = 0; i < 2000; i++) s = (s + v[i] * ${n}) | 0; return s;`));
const v = new Array(2000).fill(0);
for (let i = 0; i < 2000; i++)
	v[i] = i & 15;
let sum = 0;
for (let round = 0; round < 1000; round++)
	for (const use of uses)
		sum = (sum + use(v)) | 0;
console.log(sum);
