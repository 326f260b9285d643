// SPDX-License-Identifier: MIT
//
// How fast the page of lode serve is in Chromium, on a run of more than 300,000 sequences, on a
// heat map of 10^7 boxes and on a flame graph of 100,000 stacks:
//
//   node bench/page.mjs LODE UI [FOLDER]
//
// LODE is the program, UI is ui/ with its node_modules. The profiles are made in FOLDER, where they
// are kept for the next time; without one, in a folder that is removed. Each action is done several
// times; the best, the median and the worst are printed, in milliseconds, from the event (a click, a key) to the first
// frame that shows its answer. Chromium draws in software here: with a graphics card frames take less.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [lode, ui] = [resolve(process.argv[2]), resolve(process.argv[3])];
const folder = process.argv[4] ? resolve(process.argv[4]) : mkdtempSync(join(tmpdir(), "page-bench-"));
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const { chromium: browsers } = createRequire(join(ui, "package.json"))("playwright-core");
const ROUNDS = 7;
const SAMPLES = 1500000;
const STACKS = 100000;

mkdirSync(folder, { recursive: true });
process.chdir(folder);
const run = (...words) => execFileSync(words[0], words.slice(1), { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });

// --- the profiles ---

let state = 12345;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;

/** 60 functions of 400 instructions, of which those of two kinds at once are slow. */
function makeSequences() {
	const lines = ["lode-flow 1", "event cycles"];
	for (let f = 0; f < 60; f++) {
		lines.push(`graph function_${f}`);
		const heat = 0.2 + random() ** 3;
		for (let v = 0; v < 400; v++) {
			const kinds = [];
			for (let kind = 0; kind < 10; kind++) if (random() < 0.3) kinds.push(`kind:${kind}`);
			const isSlow = (kinds.includes("kind:1") && kinds.includes("kind:2")) || (kinds.includes("kind:3") && kinds.includes("kind:4"));
			lines.push(`v ${v} ${((isSlow ? 4000 : 1000) * heat * (0.5 + random())).toFixed(1)} 1000 opcode:${Math.floor(random() * 8)} ${kinds.join(" ")}`);
			if (v < 399) lines.push(`e ${v} ${v + 1} 1000`);
		}
		lines.push("e 399 0 999");
	}
	writeFileSync("sequences.flow", lines.join("\n"));
	run(lode, "import", "sequences.flow", "-o", "new.lode");
	run(lode, "mine", "new.lode", "--min-support", "1%", "--iterations", "6");
	run("mv", "new.lode", "sequences.lode");
}

/** Samples of a program that are multiplied, over 64 MB and 20 s: no timer gives so many. */
function makeAddresses() {
	run(lode, "memory", "record", "-o", "new.lode", "--", "sh", "-c", "for i in $(seq 600000); do :; done");
	const columns = run("sqlite3", "new.lode", "SELECT group_concat(name) FROM pragma_table_info('memory_sample')").toString().trim().split(",");
	const values = {
		id: "n",
		time_ns: "first + n * 13333",
		/* Two arrays that are walked at different speeds, and some that is nowhere. */
		address: `0x10000000 + CASE n % 8 WHEN 7 THEN abs(random() % 67108864)
			WHEN 0 THEN (n * 3000) % 33554432 ELSE 33554432 + (n * 40) % 33554432 END`,
		access: "CASE n % 3 WHEN 0 THEN 'store' ELSE 'load' END",
		reason: "'none'",
		rule: "'hardware'",
	};
	run(
		"sqlite3",
		"new.lode",
		`CREATE TEMP TABLE model AS SELECT *, (SELECT min(time_ns) FROM memory_sample) AS first FROM memory_sample
			WHERE event IN (SELECT id FROM event WHERE name NOT LIKE '%fault%') LIMIT 1;
		DELETE FROM memory_sample;
		WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${SAMPLES})
		INSERT INTO memory_sample SELECT ${columns.map((name) => values[name] ?? name).join(", ")} FROM counted, model;`,
	);
	run("mv", "new.lode", "addresses.lode");
}

/** 100,000 different stacks of 10 to 60 of 2,000 functions, which call eight others each, the first ones more often. */
function makeStacks() {
	run(lode, "run", "-g", "-o", "new.lode", "--", "sh", "-c", "for i in $(seq 600000); do :; done");
	const [event, thread] = run("sqlite3", "-separator", " ", "new.lode", "SELECT event, thread FROM stack_sample LIMIT 1").toString().trim().split(" ");
	const [rows, known, seen] = [{ frame: [], stack: [], stack_sample: [] }, new Map(), new Set()];
	for (let i = 0; i < 2000; i++) rows.frame.push(`(${i + 1}, 'function_${i}', '/lib/part_${i % 20}.so', ${i * 64}, NULL, 0, 0)`);
	while (rows.stack_sample.length < STACKS) {
		let [outer, caller] = ["NULL", 0];
		for (let depth = 10 + Math.floor(50 * random()), i = 0; i < depth; i++) {
			const callee = i === 0 ? 0 : (caller * 8 + 1 + Math.floor(8 * random() ** 6)) % 2000;
			const key = `${outer} ${callee}`;
			if (!known.has(key)) {
				known.set(key, rows.stack.length + 1);
				rows.stack.push(`(${known.get(key)}, ${callee + 1}, ${outer})`);
			}
			[outer, caller] = [known.get(key), callee];
		}
		if (seen.has(outer)) continue;
		seen.add(outer);
		const n = rows.stack_sample.length + 1;
		rows.stack_sample.push(`(${n}, ${n * 1000000}, ${thread}, ${event}, 100000, ${outer})`);
	}
	const statements = Object.entries(rows).flatMap(([table, all]) =>
		Array.from({ length: Math.ceil(all.length / 500) }, (_, i) => `INSERT INTO ${table} VALUES ${all.slice(500 * i, 500 * (i + 1)).join(",")};`));
	writeFileSync("stacks.sql", `BEGIN; DELETE FROM stack_sample; DELETE FROM stack; DELETE FROM frame;\n${statements.join("\n")}\nCOMMIT;`);
	run("sqlite3", "new.lode", ".read stacks.sql");
	rmSync("stacks.sql");
	run("mv", "new.lode", "stacks.lode");
}

if (!existsSync("sequences.lode")) makeSequences();
if (!existsSync("addresses.lode")) makeAddresses();
if (!existsSync("stacks.lode")) makeStacks();

// --- the server and the browser ---

async function serve(...words) {
	const child = spawn(lode, ["serve", ...words], { stdio: ["ignore", "pipe", "inherit"] });
	const link = await new Promise((done) => child.stdout.on("data", (data) => done(String(data).split("\n")[0])));
	return { child, link };
}
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const server = await serve("sequences.lode", "addresses.lode", "stacks.lode");
const browser = await browsers.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 850 } });
context.setDefaultTimeout(60000);
const page = await context.newPage();

function print(name, times, goal = "") {
	const [best, median, worst] = [0, 0.5, 1].map((at) => times.slice().sort((a, b) => a - b)[Math.round(at * (times.length - 1))].toFixed(0).padStart(7));
	console.log(`${name.padEnd(34)}${best}${median}${worst}  ${goal}`);
}

console.log(`sequences.lode ${megabytes(statSync("sequences.lode").size)}, addresses.lode ${megabytes(statSync("addresses.lode").size)} with ${SAMPLES} samples`);
console.log(`${"milliseconds".padEnd(34)}   best median  worst  goal`);

// --- the first view, as a browser that has never seen it opens it ---

await page.goto(server.link);
await page.waitForSelector(".findings .id");
const first = { shown: [], html: [], script: [], asked: [], answered: [] };
for (let i = 0; i < ROUNDS; i++) {
	const fresh = await context.newPage();
	await fresh.addInitScript(() => {
		const look = () => {
			if (document.querySelector(".findings .id")) requestAnimationFrame(() => setTimeout(() => (window.shownAt = performance.now())));
			else requestAnimationFrame(look);
		};
		requestAnimationFrame(look);
	});
	await fresh.goto(server.link.split("?")[0]);
	await fresh.waitForFunction(() => window.shownAt);
	const times = await fresh.evaluate(() => {
		const entries = performance.getEntriesByType("resource");
		const asked = entries.filter((one) => one.name.includes("/api/"));
		return {
			shown: window.shownAt,
			html: performance.getEntriesByType("navigation")[0].responseEnd,
			script: entries.find((one) => one.name.includes("app.js")).responseEnd,
			asked: Math.min(...asked.map((one) => one.startTime)),
			answered: Math.max(...asked.map((one) => one.responseEnd)),
		};
	});
	for (const name of Object.keys(first)) first[name].push(times[name]);
	await fresh.close();
}
print("first view", first.shown, "500");
const parts = { html: "the document is there", script: "the script is there", asked: "first question", answered: "last answer" };
for (const [name, words] of Object.entries(parts)) print(`  ${words}`, first[name]);

// --- sequences ---

/** From an act in the page to the frame in which `isDone` holds; both are text of functions. */
const timed = (act, isDone) =>
	page.evaluate(
		([act, isDone]) =>
			new Promise((done) => {
				const [todo, check] = [new Function(`return (${act})`)(), new Function(`return (${isDone})`)()];
				const start = performance.now();
				const before = document.querySelector(".virtual-body")?.innerText;
				todo();
				const look = () => (check(before) ? setTimeout(() => done(performance.now() - start)) : requestAnimationFrame(look));
				requestAnimationFrame(look);
			}),
		[String(act), String(isDone)],
	);
const hasOtherRows = (before) => {
	const rows = document.querySelectorAll(".virtual-body .virtual-row");
	const text = document.querySelector(".virtual-body")?.innerText;
	return rows.length > 0 && !rows[0].innerText.startsWith("…") && text !== before && !document.querySelector(".old, .loading");
};
/* All of them, not only those that are no part of another. */
await page.evaluate(() => void (location.hash = "#/sequences?all=1"));
await page.waitForFunction(() => document.querySelector(".virtual-body .pattern"));
console.log(`\n${(await page.innerText(".caption")).split("\n")[0]}`);
const serverTime = async (query) => {
	const times = [];
	for (let i = 0; i < ROUNDS; i++)
		times.push(await page.evaluate(async (path) => {
			const start = performance.now();
			await (await fetch(path)).text();
			return performance.now() - start;
		}, query(i)));
	return times;
};
const clickSort = (name) => timed(`() => document.querySelector('[data-sort="${name}"]').click()`, hasOtherRows);
const columns = { weight: [], frequency: [], places: [] };
for (let i = 0; i < ROUNDS; i++) for (const name of Object.keys(columns)) columns[name].push(await clickSort(name));
for (const [name, times] of Object.entries(columns)) print(`sort by ${name}`, times, "200");
print("  of it the server's, an order", await serverTime((i) => `/api/report?all=1&limit=100&sort=weight&size=1-${100 + i}`));
print("  of it the server's, known", await serverTime(() => "/api/report?all=1&limit=100&sort=weight"));
const type = (id, value) =>
	timed(`() => { const field = document.getElementById("${id}"); field.value = "${value}"; field.dispatchEvent(new Event("input", { bubbles: true })); field.dispatchEvent(new Event("change", { bubbles: true })); }`, hasOtherRows);
for (const [name, id, words] of [["filter by attribute", "with", ["kind:1", "kind:2", "kind:3", "kind:4", "kind:5"]], ["filter by text", "search", ["kind:6", "kind:7", "opcode:1", "opcode:2", "kind:3"]]]) {
	const times = [];
	for (const word of words) times.push(await type(id, word));
	await type(id, "");
	print(name, times, "200");
}
const jumps = [];
for (let i = 0; i < ROUNDS; i++)
	jumps.push(await timed(`() => { const list = document.querySelector(".virtual-scroll"); list.scrollTop = list.scrollHeight * ${(i + 1) / (ROUNDS + 1)}; }`, hasOtherRows));
print("scroll to rows never seen", jumps, "200");

/** Milliseconds between frames while `step` is called once for each. */
const frames = (step, n) =>
	page.evaluate(
		([step, n]) =>
			new Promise((done) => {
				const [act, times] = [new Function(`return (${step})`)(), []];
				let last = performance.now();
				const next = (i) => {
					const now = performance.now();
					times.push(now - last);
					last = now;
					act(i);
					if (i < n) requestAnimationFrame(() => next(i + 1));
					else done(times.slice(2));
				};
				requestAnimationFrame(() => next(0));
			}),
		[String(step), n],
	);
const printFrames = (name, times) => {
	const sorted = times.slice().sort((a, b) => a - b);
	const mean = times.reduce((sum, one) => sum + one, 0) / times.length;
	print(name, times, "17");
	console.log(`  ${(1000 / mean).toFixed(0)} frames a second, ${sorted.filter((one) => one > 25).length} of ${times.length} later than 25 ms`);
};
printFrames("a frame while scrolling", await frames("(i) => { document.querySelector('.virtual-scroll').scrollTop = 200000 + i * 200; }", 180));

const memory = async () => {
	const session = await context.newCDPSession(page);
	await session.send("HeapProfiler.collectGarbage");
	const { usedSize } = await session.send("Runtime.getHeapUsage");
	const status = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
	const of = (name) => 1024 * Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]);
	console.log(`memory: page's heap ${megabytes(usedSize)}, lode serve ${megabytes(of("VmRSS"))}, at most ${megabytes(of("VmHWM"))}`);
};
await memory();

// --- a heat map ---

console.log("");
const map = "0x10000000-0x13ffffff";
print("heat map, the server's", await serverTime((i) => `/api/heat?profile=1&pc=0x0-${(0xffffffffffff0000n + BigInt(i)).toString(16).replace(/^/, "0x")}`));
await page.evaluate((to) => void (location.hash = `#/memory?profile=1&map=${to}&from=0&to=20000000000`), map);
await page.waitForSelector(".tiles canvas");
await page.waitForTimeout(3000);
/* So near that the whole picture has 10^7 boxes and more: 4096 addresses by 2560 steps of time. */
await page.evaluate(() => void (location.hash = "#/memory?profile=1&map=0x11000000-0x11700000&from=4000000000&to=9000000000"));
await page.waitForTimeout(4000);
const drag = `(i) => {
	const canvas = document.querySelector(".tiles canvas"), at = canvas.getBoundingClientRect();
	const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, bubbles: true, clientX: at.left + x, clientY: at.top + y }));
	canvas.setPointerCapture = canvas.releasePointerCapture = () => {};
	if (i === 0) send("pointerdown", 600, 250);
	send("pointermove", 600 - i * 4, 250 + 60 * Math.sin(i / 20));
	if (i === 240) send("pointerup", 600 - i * 4, 250);
}`;
printFrames("a frame while a map is moved", await frames(drag, 240));
printFrames("the same way, tiles known", await frames(drag.replaceAll("- i * 4", "+ i * 4 - 400"), 240));
await memory();

// --- a flame graph ---

console.log("");
print("flame graph, the server's first", [(await serverTime(() => "/api/flame?profile=2"))[0]], "1000");
print("  with another limit", await serverTime((i) => `/api/flame?profile=2&limit=${5000 - i}`), "1000");
print("  inverted, first", [(await serverTime(() => "/api/flame?profile=2&inverted=1"))[0]], "1000");
print("  searched", await serverTime((i) => `/api/flame?profile=2&text=function_${i}`));
await page.evaluate(() => void (location.hash = "#/flame?profile=2"));
await page.waitForSelector(".flame canvas");
await page.waitForTimeout(1000);
const { nodes } = await page.evaluate(async () => (await fetch("/api/flame?profile=2")).json());
const wide = nodes.number.filter((_, row) => nodes.narrower[row] === 0).slice(0, 30);
const zooms = [];
for (const number of wide) {
	zooms.push(await timed(`() => { location.hash = "#/flame?profile=2&zoom=${number}"; }`, () => document.body.dataset.shown === location.hash));
	await page.waitForTimeout(150);
}
print("a zoom, to the first frame", zooms, "100");
printFrames("a frame during zooms", await frames(`(i) => { if (i % 6 === 0) location.hash = "#/flame?profile=2&zoom=${wide[5]}".replace(/\\d+$/, ${JSON.stringify(wide)}[i / 6 % ${wide.length}]); }`, 180));
printFrames("a frame while the keys move", await frames("(i) => dispatchEvent(new KeyboardEvent('keydown', { key: ['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowUp'][i % 5] }))", 120));
await memory();

await browser.close();
server.child.kill("SIGINT");
if (!process.argv[4]) rmSync(folder, { recursive: true });
process.exit(0);
