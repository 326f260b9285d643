// SPDX-License-Identifier: MIT
// After pieroxy/lz-string issue #97.
function isPalindrome(s) {
	for (let i = 0, k = s.length - 1; i < k; i++, k--)
		if (s.charCodeAt(i) !== s.charCodeAt(k))
			return false;
	return true;
}
function vowels(s) {
	let n = 0;
	for (let i = 0; i < s.length; i++) {
		const c = s.charCodeAt(i);
		n += c === 97 || c === 101 || c === 105 || c === 111 || c === 117 ? 1 : 0;
	}
	return n;
}
function shift(s) {
	let out = '';
	for (let i = 0; i < s.length; i++)
		out += String.fromCharCode((s.charCodeAt(i) - 96) % 26 + 97);
	return out;
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
