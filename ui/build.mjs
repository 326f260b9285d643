// SPDX-License-Identifier: MIT
//
// Bundles the page:  node build.mjs OUT DEPFILE
//
// OUT gets index.html, early.js (its first questions), app.js, layout.js (the worker that lays out
// graphs), app.css, and licences.txt, the licences of all packages that are in the bundle.
import { build } from "esbuild";
import { readFileSync, writeFileSync, copyFileSync, existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
// Ninja knows files as they are named here, before the folder changes.
const [outName, depfile] = process.argv.slice(2);
const out = resolve(outName);
const depfilePath = depfile && resolve(depfile);
process.chdir(here);

// What columns mean, in the words of the manual: title → text, of each of its two lists.
function columnWords(page) {
	const lists = page.split(/^\.Bl .*$/m).slice(1, 3);
	return lists.map((list) => {
		const words = {};
		for (const item of list.split(/^\.El$/m)[0].split(/^\.It /m).slice(1)) {
			const [titles, ...lines] = item.trim().split("\n");
			const text = lines.map((line) => line.replace(/^\.[A-Z][a-z] (\S+?)( \d)?$/, "$1")).join(" ");
			for (const title of titles.split(", ")) words[title] = text;
		}
		return words;
	});
}
const words = {
	name: "words",
	setup(bundler) {
		const manual = resolve("../man/lode-report.1");
		bundler.onResolve({ filter: /^words$/ }, () => ({ path: manual, namespace: "words" }));
		bundler.onLoad({ filter: /./, namespace: "words" }, ({ path }) => {
			const [findings, sequences] = columnWords(readFileSync(path, "utf8"));
			const contents = `export const findings = ${JSON.stringify(findings)};
				export const sequences = ${JSON.stringify(sequences)};`;
			return { contents, loader: "js" };
		});
	},
};

const result = await build({
	plugins: [words],
	absWorkingDir: here,
	entryPoints: { early: "src/early.ts", app: "src/app.tsx", layout: "src/layout.ts", style: "src/style.css" },
	outdir: out,
	bundle: true,
	minify: true,
	format: "iife",
	target: ["es2020"],
	jsx: "automatic",
	jsxImportSource: "preact",
	legalComments: "none",
	charset: "utf8",
	metafile: true,
	write: false,
	logLevel: "warning",
});
for (const file of result.outputFiles) {
	const name = relative(out, file.path).replace("style.css", "app.css");
	writeFileSync(join(out, name), file.contents);
}
copyFileSync("src/index.html", join(out, "index.html"));

// The packages whose files are in the bundle, with the text of their licence.
const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
	const found = /(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
	if (found) packages.add(found[1]);
}
const parts = [...packages].sort().map((path) => {
	const about = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
	const licence = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
	const text = licence ? readFileSync(join(path, licence), "utf8").trim() : "";
	return `${about.name} ${about.version} (${about.license})\n\n${text}\n`;
});
const own = readFileSync("../LICENSE", "utf8").trim();
writeFileSync(
	join(out, "licences.txt"),
	[`lode\n\n${own}\n`, ...parts].join("\n----------------------------------------\n\n"),
);

if (depfile) {
	const inputs = Object.keys(result.metafile.inputs).filter((name) => existsSync(name));
	const target = join(outName, "index.html");
	const list = [...inputs.map((name) => resolve(name)), resolve("src/index.html"), resolve("../LICENSE"), resolve("../man/lode-report.1")];
	writeFileSync(depfilePath, `${target}: ${list.map((name) => name.replaceAll(" ", "\\ ")).join(" ")}\n`);
}
