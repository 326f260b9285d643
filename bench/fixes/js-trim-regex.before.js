// SPDX-License-Identifier: MIT
// After sindresorhus/trim-right pull request #3; ajaxorg/ace pull request #4620.
const trimRight = s => s.replace(/\s+$/, '');
const trimSlashes = s => s.replace(/\/+$/, '');
function clean(lines) { return lines.map(trimRight); }
function path(parts) { return parts.map(trimSlashes).length; }
function indent(line) {
	let n = 0, h = 1;
	for (let i = 0; i < line.length; i++) {
		const c = line.charCodeAt(i);
		n += c === 32 ? 1 : 0;
		for (let k = 0; k < 9; k++)
			h = (Math.imul(h, 17) + c + k) | 0;
	}
	return n + (h & 15);
}
const lines = [], parts = [];
for (let i = 0; i < 400; i++) {
	lines.push('key' + i + ' '.repeat(30 + i % 20) + 'value ' + i * 31 + ' and the rest of it ' + ' '.repeat(i % 3));
	parts.push('/usr//share//doc///package-' + i + '//');
}
let sum = 0;
for (let round = 0; round < 1500; round++) {
	for (const line of clean(lines))
		sum += indent(line);
	sum += path(parts);
}
console.log(sum);
