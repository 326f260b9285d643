// SPDX-License-Identifier: MIT
// After pieroxy/lz-string issue #97.
function isPalindrome(s) { return s.split('').reverse().join('') === s; }
function vowels(s) { return s.split('').filter(c => 'aeiou'.includes(c)).length; }
function shift(s) {
	return s.split('').map(c => String.fromCharCode((c.charCodeAt(0) - 96) % 26 + 97)).join('');
}
function rank(s) {
	let h = 0;
	for (let k = 0; k < 60; k++)
		for (let i = 0; i < s.length; i++)
			h = (Math.imul(h, 131) + s.charCodeAt(i) * k) | 0;
	return h & 63;
}
const words = [];
let x = 1;
for (let i = 0; i < 800; i++) {
	let w = '';
	for (let k = 0; k < 24; k++) {
		x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
		w += String.fromCharCode(97 + (x >>> 24) % 26);
	}
	words.push(w);
}
let sum = 0;
for (let round = 0; round < 350; round++)
	for (const w of words)
		sum = (sum + (isPalindrome(w) ? 100 : 0) + vowels(w) + shift(w).length + rank(w)) | 0;
console.log(sum);
