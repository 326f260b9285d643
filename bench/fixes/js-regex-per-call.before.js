// SPDX-License-Identifier: MIT
const checks = [];
for (let n = 1; n <= 40; n++)
	checks.push(new Function('name', `
		return new RegExp('^[a-z]+-[0-9]+$').test(name) ? ${n} : 1;`));
const names = ['alpha-12', 'beta-', 'gamma-7345', 'Delta-1'];
let sum = 0;
for (let round = 0; round < 180000; round++) {
	const name = names[round & 3];
	for (const check of checks)
		sum += check(name);
}
console.log(sum);
