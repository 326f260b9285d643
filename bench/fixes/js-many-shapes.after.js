// SPDX-License-Identifier: MIT
const rows = [];
for (let i = 0; i < 2000; i++) {
	const row = {};
	row.only = i % 16;
	row.a = i & 7;
	row.b = i & 31;
	row.c = i * 3;
	rows.push(row);
}
const uses = [];
for (let n = 1; n <= 40; n++)
	uses.push(new Function('rows', `let s = ${n}; for (const r of rows) s = (s + r.a * ${n} + r.b + (r.c ^ s)) | 0; return s;`));
let sum = 0;
for (let round = 0; round < 1000; round++)
	for (const use of uses)
		sum = (sum + use(rows)) | 0;
console.log(sum);
