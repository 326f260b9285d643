// SPDX-License-Identifier: MIT
//
// The page of lode serve in Chromium: each view, by mouse, keyboard and address; dark, narrow; what
// axe-core has against it; and a profile that tries to be markup. Prints TAP.
//
//   node tests/e2e/page.mjs LODE UI CC [SCREENSHOTS]
//
// UI is ui/, with its node_modules; CC compiles the program that is recorded. With SCREENSHOTS, a
// folder, pictures of each view are left there to be looked at.
import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const [lode, ui, cc] = [resolve(process.argv[2]), resolve(process.argv[3]), process.argv[4].split(" ")];
const pictures = process.argv[5] && resolve(process.argv[5]);
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

function skip(reason) {
	console.log(`1..0 # SKIP ${reason}`);
	process.exit(0);
}
if (!chromium) skip("chromium is not installed (scripts/setup.sh --test)");
if (!existsSync(join(ui, "node_modules/playwright-core")) || !existsSync(join(ui, "node_modules/axe-core")))
	skip("ui/node_modules lacks playwright-core or axe-core (scripts/setup.sh --test)");
const require = createRequire(join(ui, "package.json"));
const playwright = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const work = mkdtempSync(join(tmpdir(), "page-"));
process.chdir(work);
if (pictures) mkdirSync(pictures, { recursive: true });

let number = 0;
async function check(name, body) {
	number++;
	let faults = [];
	const expect = (what, found, wanted) => {
		if (JSON.stringify(found) !== JSON.stringify(wanted))
			faults.push(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
	};
	try {
		await body(expect);
	} catch (error) {
		faults.push(...String(error).split("\n").slice(0, 8));
	}
	console.log(`${faults.length ? "not " : ""}ok ${number} - ${name}`);
	for (const one of faults) console.log(`# ${one}`);
}

// --- a program whose costs are known, and a profile of it that tries to be markup ---

writeFileSync(
	"prog.c",
	`#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
struct node { struct node *next; long value; };
enum { NODES = 1 << 15 };
static struct node nodes[NODES], *others; /* far from each other: two stretches of addresses */
static int numbers[1 << 14];
/* By its own processor time, so that a busy machine takes no samples away. */
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline)) long walk_nodes(struct node *node)
{
	long sum = 0;
	for (; node != 0; node = node->next)
		sum += node->value;
	return sum;
}
__attribute__((noinline)) long divide_numbers(int by)
{
	long sum = 0;
	for (int i = 0; i < 1 << 14; i++)
		if (numbers[i] % 3 == 0)
			sum += numbers[i] / by;
		else
			numbers[i]++;
	return sum;
}
static double seconds = 0.35;
static void *run(void *data);
/* A thread that ends while others go on. */
static void run_briefly(void)
{
	pthread_t thread;
	seconds = 0.2;
	pthread_create(&thread, 0, run, nodes);
	pthread_join(thread, 0);
}
static void *run(void *data)
{
	long sum = 0;
	for (double end = now() + seconds; now() < end && access("stop", F_OK) != 0;)
		sum += data ? walk_nodes(nodes) : walk_nodes(others) + divide_numbers(7);
	return (void *)sum;
}
static void link_nodes(struct node *list)
{
	for (int i = 0; i < NODES; i++)
		list[i].next = &list[(i + 7919) & (NODES - 1)];
	list[NODES - 7919].next = 0;
}
int main(int n, char **words)
{
	pthread_t thread;
	link_nodes(nodes);
	link_nodes(others = calloc(NODES, sizeof(struct node)));
	if (n > 1 && words[1][0] == 'l')
		run_briefly();
	if (n > 1)
		seconds = words[1][0] == 's' ? 0.01 : 300;
	for (int i = 0; i < 1 << 14; i++)
		numbers[i] = rand();
	pthread_create(&thread, 0, run, nodes);
	run(0);
	return pthread_join(thread, 0);
}
`,
);
const run = (...words) => execFileSync(words[0], words.slice(1), { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
const json = (...words) => JSON.parse(run(lode, ...words, "--format", "json"));
run(...cc, "-g", "-O1", "-o", "prog", "prog.c", "-lpthread");
run(lode, "memory", "record", "-o", "x.lode", "--", "./prog");
run(lode, "memory", "record", "-o", "again.lode", "--", "./prog");

const evil = `<script>window.hostile=1</script><img src=x onerror="window.hostile=1">\u202e\u2066"'&amp;`;
run("cp", "x.lode", "evil.lode");
const quoted = `'${evil.replaceAll("'", "''")}'`;
const columns = {
	function: ["name"], image: ["path"], string: ["text"], mapping: ["name"], data_type: ["name"], data_member: ["name", "type_name"],
	data_object: ["name", "variable", "mapping"], thread: ["name"], unresolved: ["reason", "example"], event: ["name", "description"],
};
run(
	"sqlite3",
	"evil.lode",
	[
		...Object.entries(columns).flatMap(([table, names]) => names.map((name) => `UPDATE ${table} SET ${name} = ${quoted} || ${name};`)),
		/* Inside their namespaces, where all stay in order. */
		`UPDATE attribute SET name = substr(name, 1, instr(name, ':')) || ${quoted} || substr(name, instr(name, ':') + 1);`,
		`UPDATE meta SET value = ${quoted} WHERE key IN ('program', 'creator');`,
		`INSERT INTO unresolved SELECT 1 + count(*), ${quoted}, ${quoted}, 5, 5, 5, 5 FROM unresolved;`,
	].join("\n"),
);
run(lode, "mine", "x.lode", "--min-support", "0.1", "--iterations", "3");
run(lode, "mine", "evil.lode", "--min-support", "0.1", "--iterations", "2", "--name", evil);

/* Two threads that count in one line of the cache. */
writeFileSync(
	"share.c",
	`#include <pthread.h>
#include <time.h>
struct counters { long hits, misses; };
static struct counters together __attribute__((aligned(64)));
/* By its own processor time, so that a busy machine takes no samples away; atomic, so that additions
 * are waited for also while the other thread does not run. */
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
#define COUNT(name, place) static void *name(void *data) { \
	for (double end = now() + 0.4; now() < end;) for (int i = 0; i < 100000; i++) __atomic_fetch_add(&place, 1, __ATOMIC_RELAXED); return data; }
COUNT(hit, together.hits)
COUNT(miss, together.misses)
int main(void)
{
	pthread_t one, other;
	pthread_create(&one, 0, hit, 0);
	pthread_create(&other, 0, miss, 0);
	pthread_join(one, 0);
	return pthread_join(other, 0);
}
`,
);
run(...cc, "-g", "-O1", "-o", "share", "share.c", "-lpthread");
run(lode, "memory", "record", "-F", "2000", "-o", "share.lode", "--", "./share");

/* Calls of known depths, by frame pointers; and the same with names that try to be markup. */
writeFileSync(
	"calls.c",
	`#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline)) long inner(long n) { long sum = 0; for (volatile long i = 0; i < n; i++) sum += i; return sum; }
/* Enough of their own that each has samples. */
__attribute__((noinline)) long deeper(int depth) { for (volatile int i = 0; i < 1500; i++); return depth > 0 ? deeper(depth - 1) + 1 : inner(30000) + 1; }
__attribute__((noinline)) long beside(void) { for (volatile int i = 0; i < 3000; i++); return inner(10000) + 2; }
int main(void)
{
	long sum = 0;
	for (double end = now() + 0.4; now() < end;)
		sum += deeper(3) + beside();
	return (int)(sum & 1);
}
`,
);
run(...cc, "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", "calls", "calls.c");
run(lode, "run", "-F", "10000", "-g", "-o", "calls.lode", "--", "./calls");
/* By default the top of each stack is recorded. */
run(lode, "run", "-F", "10000", "-o", "tops.lode", "--", "./calls");
run("cp", "calls.lode", "wicked.lode");
run("sqlite3", "wicked.lode", `UPDATE frame SET function = ${quoted} || function, image = ${quoted} || image; UPDATE function SET name = ${quoted} || name; UPDATE stack_thread SET name = ${quoted};
	UPDATE frame SET function = function || hex(zeroblob(5000000)) WHERE function LIKE '%inner';`);

/* Threads of which one runs after the other. */
writeFileSync(
	"workers.c",
	`#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline)) long work_even(long n) { long sum = 0; for (volatile long i = 0; i < n; i++) sum += i; return sum; }
__attribute__((noinline)) long work_odd(long n) { long sum = 0; for (volatile long i = 0; i < n; i++) sum -= i; return sum; }
static void *run(void *data)
{
	char name[16];
	long sum = 0, number = (long)data;
	snprintf(name, sizeof(name), "<b>worker-%ld", number);
	pthread_setname_np(pthread_self(), name);
	for (double end = now() + 0.05; now() < end;)
		sum += number % 2 ? work_odd(20000) : work_even(20000);
	return (void *)sum;
}
int main(void)
{
	for (long i = 0; i < 8; i++) {
		pthread_t thread;
		pthread_create(&thread, 0, run, (void *)i);
		pthread_join(thread, 0);
	}
	return 0;
}
`,
);
run(...cc, "-g", "-O1", "-fno-omit-frame-pointer", "-o", "workers", "workers.c", "-lpthread");
run(lode, "run", "-F", "10000", "-g", "-o", "workers.lode", "--", "./workers");

/* Names of templates and inlined code; two threads that run at the same time. */
writeFileSync(
	"names.cpp",
	`#include <map>
#include <string>
#include <thread>
#include <time.h>
static double now() { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline)) long lookups(std::map<std::string, long> const &all, std::string const &name)
{
	long sum = 0;
	for (int i = 0; i < 1000; i++) sum += all.find(name)->second;
	return sum;
}
static void run(std::map<std::string, long> const &all)
{
	volatile long sum = 0;
	for (double end = now() + 0.3; now() < end;) sum = sum + lookups(all, "7");
}
int main()
{
	std::map<std::string, long> all;
	for (int i = 0; i < 1000; i++) all[std::to_string(i)] = i;
	std::thread other(run, std::cref(all));
	run(all);
	other.join();
}
`,
);
run(...cc, "-g", "-O2", "-fno-omit-frame-pointer", "-o", "names", "names.cpp", "-lstdc++", "-lpthread");
run(lode, "run", "-F", "10000", "-g", "-o", "names.lode", "--", "./names");

/* Two threads that wait for a lock, whose holder sleeps; and the same with names that try to be markup. */
const WAITING = 17, EVIL_WAITING = 18;
writeFileSync(
	"waiting.c",
	`#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t counted_lock = PTHREAD_MUTEX_INITIALIZER;
static long counted;
__attribute__((noinline)) static void count_slowly(void)
{
	pthread_mutex_lock(&counted_lock);
	for (volatile int i = 0; i < 1000000; i++);
	counted++;
	usleep(10000);
	pthread_mutex_unlock(&counted_lock);
}
static void *run(void *data)
{
	for (int i = 0; i < 30; i++) { count_slowly(); usleep(100); }
	return data;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, 0);
	for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
	return counted != 60;
}
`,
);
run(...cc, "-g", "-O1", "-o", "waiting", "waiting.c", "-lpthread");
run(lode, "run", "-o", "waiting.lode", "--", "./waiting");
run("cp", "waiting.lode", "evil-waiting.lode");
run("sqlite3", "evil-waiting.lode", `UPDATE wait SET object = ${quoted} || object, call = ${quoted} || call, thread_name = ${quoted}, holder_call = ${quoted};
	UPDATE frame SET function = ${quoted} || function; UPDATE function SET name = ${quoted} || name; UPDATE thread_time SET name = ${quoted}`);

/* Three threads in turn, of which two store to bytes of their own, and one loads those of one. */
const turns = Array.from({ length: 300 }, (_, i) => i % 3).map((one) => `fetch,${0x1000 + 16 * one},4,${one}\n${one === 2 ? "load" : "store"},${0x8000 + (one === 1 ? 8 : 0)},8,${one}\n`);
writeFileSync("turns.csv", `kind,address,size,thread\n${turns.join("")}`);
run(lode, "trace", "pack", "turns.csv", "-o", "turns.rps");
run(lode, "import", "turns.rps", "--simulate", "d1=1K:2:64,cores=3", "--classify", "-o", "turns.lode");

run(lode, "trace", "record", "-o", "x.rps", "--", "./prog", "short");

/* An event of two names; two profiles of which one costs more in one place; a graph that is too large to be drawn. */
const pairs = readFileSync(new URL("../data/flow/pairs.flow", import.meta.url), "utf8").replace(/^x (\w+) l1d-miss (\d+)$/gm, "$&\nx $1 D1mr $2");
writeFileSync("pairs.flow", pairs);
writeFileSync("slower.flow", pairs.replace("v load 600 100", "v load 90600 100"));
const BLOCKS = 400, HOTTEST = 200;
const chain = Array.from({ length: BLOCKS }, (_, i) => `v b${i} ${i === HOTTEST ? 90000 : 1000} 100 op:mov`);
const jumps = chain.flatMap((_, i) => [1, 5].filter((by) => i + by < BLOCKS).map((by) => `e b${i} b${i + by} 50`));
const cold = [["first", 9], ["one", 0], ["hot", 99], ...Array.from({ length: 6 }, (_, i) => [`cold${i}`, 0]), ["last", 9]];
writeFileSync("large.flow", ["lode-flow 1", "event cycles", "graph large", ...chain, ...jumps, "graph cold", ...cold.map(([name, n]) => `v ${name} ${n} ${n} op:mov`),
	"e first hot 9", "e hot hot 90", "e hot last 9", ""].join("\n"));
/* Divisions in 12 functions, and one that holds on atomic operations. */
const CAUSES = 13, EVIL_CAUSES = 14;
const costly = (name, cost, what) => [`graph ${name}`, "v begin 1000 1000 op:mov", `v costly ${cost} 1000 ${what}`, "v add 1000 1000 op:add kind:alu", "v end 1000 1000 op:ret",
	"e begin costly 1000", "e costly add 1000", "e add costly 900", "e add end 100"];
writeFileSync("causes.flow", ["lode-flow 1", "event cycles", ...Array.from({ length: 12 }, (_, i) => costly(`divide${i}`, 40000, "op:idiv kind:div")).flat(),
	...costly("count", 90000, "op:lock_add kind:atomic kind:load kind:store"), ""].join("\n"));
/* The same without the divisions; of both the processor time is known. */
writeFileSync("mended.flow", readFileSync("causes.flow", "utf8").replaceAll("costly 40000 1000 op:idiv kind:div", "costly 1000 1000 op:and kind:alu"));
for (const name of ["pairs", "slower", "large", "causes", "mended"]) run(lode, "import", `${name}.flow`, "-o", `${name}.lode`);
for (const [name, time] of [["causes", 6], ["mended", 1.4]]) run("sqlite3", `${name}.lode`, `INSERT OR REPLACE INTO meta VALUES ('user_seconds', ${time}), ('system_seconds', 0)`);
run("cp", "causes.lode", "evil-causes.lode");
run("sqlite3", "evil-causes.lode", `UPDATE function SET name = ${quoted} || name`);
const PAIRS = 7, SLOWER = 8, LARGE = 9, NAMES = 11, WINDOWS = 12, MENDED = 15, TOPS = 16;

/* A branch that windows saw 100 times, and saw go on in 60 of them. */
run("cp", "x.lode", "windows.lode");
const otherFacts = Number(run("sqlite3", "windows.lode", "SELECT count(*) - 5 FROM pragma_table_info('window_instruction')"));
run("sqlite3", "windows.lode", `CREATE TEMP TABLE branch AS SELECT i.id, i.function FROM instruction i JOIN function f ON f.id = i.function
	JOIN instruction_attribute a ON a.instruction = i.id WHERE f.name = 'divide_numbers' AND a.name = 'kind:branch' AND i.next_count > 0 ORDER BY i.count DESC LIMIT 1;
	INSERT INTO window_recording VALUES (1, 1240, 86300, 0, 0, 0, 0.01, 0);
	INSERT INTO window_edge SELECT id, id + 1, 60, 5 FROM branch;
	INSERT INTO window_edge SELECT b.id, min(i.id), 40, 5 FROM branch b JOIN instruction i ON i.function = b.function;
	INSERT INTO window_instruction SELECT 1, id, 110, 100, 25${", 0".repeat(otherFacts)} FROM branch`);

async function serve(...words) {
	const child = spawn(lode, ["serve", ...words], { stdio: ["ignore", "pipe", "pipe"] });
	let said = "";
	child.stderr.on("data", (data) => (said += data));
	const link = await new Promise((done, fail) => {
		let text = "";
		child.stdout.on("data", (data) => {
			text += data;
			if (text.includes("\n")) done(text.split("\n")[0]);
		});
		child.on("exit", () => fail(new Error(`lode serve ended: ${said}`)));
	});
	return { child, link, base: link.split("?")[0] };
}

const server = await serve("x.lode", "evil.lode", "again.lode", "share.lode", "turns.lode", "calls.lode", "wicked.lode", "pairs.lode", "slower.lode", "large.lode", "workers.lode", "names.lode", "windows.lode", "causes.lode", "evil-causes.lode", "mended.lode", "tops.lode", "waiting.lode", "evil-waiting.lode", "x.rps");
const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 850 } });
context.setDefaultTimeout(60000); /* a busy machine */
const complaints = [];
function listen(page) {
	page.on("pageerror", (error) => complaints.push(`error in the page: ${error.message}`));
	page.on("console", (message) => {
		if (message.type() === "error" && !/status of (4|5)\d\d|ERR_CONNECTION/.test(message.text())) complaints.push(message.text());
	});
	return page;
}
const page = listen(await context.newPage());
/* Until the page shows its address, with all answers: what they make it draw may ask for more. */
const settle = (of = page) =>
	of.evaluate(async () => {
		const isShown = () => document.body.dataset.shown === location.hash && document.body.dataset.asked === "0";
		const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		const end = Date.now() + 60000; /* a busy machine */
		for (let frames = 0; frames < 3; frames = isShown() ? frames + 1 : 0) {
			if (Date.now() > end) throw new Error(`${location.hash}: shown is ${document.body.dataset.shown}, ${document.body.dataset.asked} answers are to come`);
			await frame();
		}
	});
const at = async (hash, of = page) => {
	await of.evaluate((to) => void (location.hash = to), hash);
	await settle(of);
};
const texts = (selector) => page.locator(selector).allInnerTexts();
const hash = () => page.evaluate(() => location.hash);
/* What is hidden for the eye must not make the page longer than what is seen. */
const blank = (of = page) => of.evaluate(() => Math.max(0, document.documentElement.scrollHeight - Math.max(document.body.offsetHeight, innerHeight)));
const picture = async (name) => pictures && page.screenshot({ path: join(pictures, `${name}.png`) });
/* For what is drawn in its own time. */
const until = async (what, isSo, minutes = 1) => {
	for (const end = Date.now() + 60000 * minutes; !(await isSo()); ) {
		if (Date.now() > end) throw new Error(`${what}: still not so after ${minutes} min`);
		await page.waitForTimeout(50);
	}
};
const rowsOf = async () => {
	await settle();
	return page.$$eval(".virtual-body .virtual-row", (rows) => rows.map((row) => [...row.children].map((cell) => cell.innerText)));
};

await page.goto(server.link);
await page.waitForSelector(".findings");

/* All rules, or these. */
const faultsOfAxe = async (of = page, rules = null) => {
	if (!(await of.evaluate(() => "axe" in window))) await of.evaluate(axe);
	const { violations } = await of.evaluate((only) => window.axe.run(document, { resultTypes: ["violations"], ...(only && { runOnly: only }) }), rules);
	return violations
		.filter((one) => ["serious", "critical"].includes(one.impact) || one.id === "heading-order")
		.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)} ${one.nodes[0].failureSummary?.split("\n")[1] ?? ""}`);
};

/** The frames of each stack, the outermost first, and its weight. */
const foldedStacks = (profile) =>
	run(lode, "export", profile, "--format", "folded").toString().trim().split("\n").map((line) => {
		const [, stack, weight] = /^(.*) (\d+)$/.exec(line);
		return [stack.split(";").slice(1), Number(weight)];
	});

await check("the token leaves the address, and the cookie cannot be read", async (expect) => {
	expect("address", await page.evaluate(() => location.search), "");
	expect("cookie", await page.evaluate(() => document.cookie), "");
	const licences = await page.evaluate(async () => (await fetch("/licences.txt")).text());
	expect("licences", ["preact", "dagre", "MIT"].every((one) => licences.includes(one)), true);
});

await check("views are in the order of their use, and those that have nothing are not there", async (expect) => {
	expect("with a trace", await texts("nav a"), ["Findings", "Code", "Flame graph", "Compare", "Memory", "Traces", "Sequences"]);
	const alone = await serve("calls.lode");
	const other = listen(await context.newPage());
	await other.goto(alone.link);
	await other.waitForSelector(".findings");
	const waits = (await other.evaluate(async () => (await (await fetch("/api/profiles")).json()).profiles[0].has_waits)) ? ["Waiting"] : [];
	expect("one profile alone", await other.locator("nav a").allInnerTexts(), ["Findings", "Code", "Flame graph", ...waits, "Memory", "Sequences"]);
	/* What stands in an empty field is not taken for a value. */
	const style = await other.locator("input[placeholder]").first().evaluate((one) => [getComputedStyle(one, "::placeholder").fontStyle, getComputedStyle(one).fontStyle]);
	expect("placeholders", style, ["italic", "normal"]);
	await other.close();
	alone.child.kill("SIGINT");
});

await check("a link that is refused says what to do, and the page's requests get JSON", async (expect) => {
	const stranger = await browser.newContext();
	const other = await stranger.newPage();
	const answer = await other.goto(`${server.base}?token=0123`);
	expect("status", answer.status(), 403);
	expect("what", await other.innerText("h1"), "This link does not open the page");
	expect("what to do", /open it here/.test(await other.innerText("main")) && /token is wrong/.test(await other.innerText("main")), true);
	expect("axe", await faultsOfAxe(other), []);
	const api = await other.evaluate(async () => {
		const response = await fetch("/api/report");
		return [response.status, response.headers.get("content-type"), (await response.json()).error.code];
	});
	expect("a request of the page", api, [403, "application/json; charset=utf-8", "refused"]);
	await stranger.close();
});

await check("the first view asks each of its questions once, and others not its", async (expect) => {
	const questions = async (hash, selector) => {
		const other = listen(await context.newPage());
		const asked = [];
		other.on("request", (request) => /[/]api[/]/.test(request.url()) && asked.push(request.url().replace(/.*[/]api[/]/, "")));
		await other.goto(`${server.base}${hash}`);
		await other.waitForSelector(selector);
		await other.close();
		return asked;
	};
	expect("no view", (await questions("", ".findings .id")).sort(), ["profiles?", "report?explain=1&places=2", "timeline?bins=200"]);
	expect("findings of a profile", (await questions("#/findings?profile=1", ".findings .id")).sort(), ["profiles?", "report?profile=1&explain=1&places=2", "timeline?profile=1&bins=200"]);
	expect("code", (await questions("#/code", ".virtual-row a")).filter((one) => /report/.test(one)), []);
});

await check("functions and diagnoses are those of lode report, and open by mouse, keys and address", async (expect) => {
	const known = json("report", "causes.lode").diagnoses;
	await at(`#/findings?profile=${CAUSES}`);
	await page.waitForSelector(".diagnoses .id");
	await settle();
	const { top_functions: functions } = json("report", "causes.lode");
	expect("functions", await texts(".top-functions .what a"), functions.map((one) => one.name));
	expect("ids", await texts(".diagnoses .id"), known.map((one) => one.id));
	expect("causes", known.map((one) => one.cause).sort(), ["atomic", "division"]);
	expect("titles", await texts(".diagnoses .pattern"), known.map((one) => one.title));
	const percent = (one) => (100 * one).toFixed(0);
	expect("saves", await texts(".diagnoses .share b"), known.map(({ saves }) => (saves.low === null ? `up to ${percent(saves.high)} %` : `${percent(saves.low)}–${percent(saves.high)} %`)));
	const spread = known.find((one) => one.cause === "division");
	const row = page.locator(`.diagnoses tr:has([data-diagnosis="${spread.id}"])`);
	expect("scope", (await row.innerText()).includes("divide0 and 11 more functions"), true);
	expect("evidence", (await row.innerText()).includes(spread.evidence[0].text), true);
	expect("remedy", (await row.innerText()).trim().endsWith("→ Divide by constants (the compiler multiplies instead)"), true);
	const rest = 1 - known.reduce((sum, one) => sum + one.time, 0);
	expect("not covered", await texts(".diagnoses ~ p"), [`No diagnosis covers ${(100 * rest).toFixed(1)} % of the time.`]);
	await page.keyboard.press("j");
	expect("the first line", await page.evaluate(() => document.activeElement.dataset.diagnosis), "D1");
	await page.click(`[data-diagnosis="${spread.id}"]`);
	await page.waitForSelector(".diagnoses .detail");
	expect("hash", await hash(), `#/findings?profile=${CAUSES}&open=${spread.id}`);
	const detail = await page.innerText(".diagnoses .detail");
	for (const text of [spread.explanation, spread.remedy, spread.source, spread.name, ...spread.evidence.map((one) => one.text), ...spread.ruled_out])
		expect(text, detail.includes(text), true);
	expect("places", (await texts(".diagnosis-places a")).length, 10);
	expect("of", detail.includes("10 of 12 places in 12 functions"), true);
	expect("axe", await faultsOfAxe(), []);
	await picture("diagnoses");
	expect("its findings", await texts(".diagnoses .detail p > a"), spread.findings);
	await page.click(`.diagnoses .detail a:text-is("${spread.findings[0]}")`);
	await page.waitForSelector(".findings .detail");
	expect("open", await hash(), `#/findings?profile=${CAUSES}&open=${spread.findings[0]}`);
	await until("in sight", () => page.evaluate((id) => document.activeElement.dataset.finding === id, spread.findings[0]));
	await page.goBack();
	await page.locator(".diagnosis-places a").first().click();
	await page.waitForFunction(() => /#[/]code.*function=\d+&at=0x/.test(location.hash));
	await page.waitForSelector("table.code");
	/* What led here stands above the code. */
	await page.waitForSelector(".diagnosed");
	expect("its diagnosis", (await page.innerText(".diagnosed")).startsWith(`${spread.id} ${spread.title}`), true);
	await at("#/findings");
	await page.waitForSelector(".findings .id");
});

await check("findings are those of lode report, and open by mouse and address", async (expect) => {
	const known = json("report", "x.lode").findings;
	expect("ids", (await texts(".findings .id")).sort(), known.map((one) => one.id).sort());
	expect("patterns", (await texts(".findings .pattern")).sort(), known.map((one) => one.pattern).sort());
	const report = run(lode, "report", "x.lode", "--findings", "--limit", "100").toString();
	const { user_seconds: user, system_seconds: system } = json("info", "x.lode").profile;
	expect("seconds", (await page.innerText(".facts")).includes(`${(user + system).toPrecision(3)} s of processor time`), true);
	const each = [...report.matchAll(/^ *[0-9.]+ % ±[0-9.]+ +((?:≥ )?\+?[0-9.,]+ [^ ]+) .*?(F[0-9]+) /gm)];
	expect("each", (await texts(".findings tr:has(.id)")).map((row) => row.match(/((?:≥ )?\+?[0-9.,]+ [^\s%]+)[^]*?(F[0-9]+)/)?.slice(1, 3).join(" ")).sort(), each.map((one) => one.slice(1, 3).join(" ")).sort());
	await page.click('[data-finding="F1"]');
	await page.waitForSelector(".detail .code");
	expect("hash", await hash(), "#/findings?open=F1");
	const first = known[0].top[0];
	expect("place", (await texts(".place h2 a"))[0], first.function);
	expect("source", (await texts(".source-line")).some((one) => /sum \+=|% 3|\+\+|node/.test(one)), true);
	expect("mark", (await page.locator(".detail .marks b").count()) > 0, true);
	await picture("findings");
	await page.click('button:text("Control flow around it")');
	await page.waitForSelector(".graph .place-block");
	expect("shown in its block", (await texts(".graph .place-block text")).length > 1, true);
	expect("state", /flow=\d+%3A0x/.test(await hash()), true);
	await picture("findings-flow");
	await page.locator(".graph .place-block").press("Enter");
	await page.waitForFunction(() => /#[/]code.*function=\d+&at=0x/.test(location.hash));
	await page.goBack();
	await page.goBack();
	await page.waitForSelector(".detail", { state: "detached" });
	await page.goForward();
	await page.waitForSelector(".detail .code");
});

await check("sequences are sorted, filtered and paged by the server", async (expect) => {
	await page.click('nav a:text("Sequences")');
	await rowsOf();
	const column = 9 - 1;
	for (const [sort, words] of [["places", ["--sort", "places"]], ["weight", ["--sort", "weight"]]]) {
		await page.click(`[data-sort="${sort}"]`);
		await page.waitForFunction((name) => location.hash.includes(`sort=${name}`), sort);
		const rows = await rowsOf();
		const known = json("report", "x.lode", ...words, "--limit", "10").sequences;
		expect(`by ${sort}`, rows.slice(0, 10).map((row) => Number(row[column - 1])), known.map((one) => one.id));
	}
	await page.click('[data-sort="weight"]');
	await page.waitForFunction(() => location.hash.includes("reverse=1"));
	/* The address changes before the page is drawn again. */
	await page.waitForSelector('[role="columnheader"][aria-sort="ascending"]:has([data-sort="weight"])');
	await page.click('[data-sort="weight"]');
	await page.waitForSelector('[role="columnheader"][aria-sort="descending"]:has([data-sort="weight"])');
	await page.fill("#with", "load");
	await page.waitForFunction(() => location.hash.includes("with=load"));
	const rows = await rowsOf();
	const known = json("report", "x.lode", "--sort", "weight", "--with", "load").sequences;
	expect("with load", rows.slice(0, 10).map((row) => Number(row[column - 1])), known.slice(0, 10).map((one) => one.id));
	const needs = json("report", "x.lode", "--sort", "weight", "--with", "needs:load").sequences.slice(0, 10).map((one) => one.id);
	for (const typed of ["needs load", "⟪needs load⟫", "needs:load"]) {
		await page.fill("#with", typed);
		await page.waitForFunction((text) => new URLSearchParams(location.hash.split("?")[1]).get("with") === text, typed);
		expect(`with ${typed}`, (await rowsOf()).slice(0, 10).map((row) => Number(row[column - 1])), needs);
	}
	await page.fill("#with", "");
	await page.fill("#search", "NEEDS load");
	await page.waitForFunction(() => /text=NEEDS/.test(location.hash) && !/with=/.test(location.hash));
	const matching = json("report", "x.lode", "--sort", "weight", "--text", "needs LOAD").sequences;
	expect("text", (await rowsOf()).slice(0, 10).map((row) => Number(row[column - 1])), matching.slice(0, 10).map((one) => one.id));
	expect("some", matching.length > 0 && matching.every((one) => one.sequence.flat().some((name) => /needs/.test(name))), true);
	await page.fill("#search", "");
	await page.waitForFunction(() => !/text=/.test(location.hash));
	await page.fill("#with", "load");
	await page.waitForFunction(() => location.hash.includes("with=load"));
	await rowsOf();
	expect("number", (await page.innerText(".caption")).startsWith(known.length.toLocaleString("en-US")), true);
	await picture("sequences");
	/* The end of the list comes from the server when it is scrolled to. */
	await page.evaluate(() => (document.querySelector(".virtual-scroll").scrollTop = 1e9));
	await page.waitForFunction(
		(id) => [...document.querySelectorAll(".virtual-row")].some((row) => row.children[row.children.length - 2]?.innerText === id),
		String(known[known.length - 1].id),
	);
});

await check("sequences of a profile that is not mined are the costliest, and so there soon", async (expect) => {
	await at(`#/sequences?profile=${TOPS}`);
	await rowsOf();
	const said = /of the ([\d,]+) in run ‘main’ with a support of at least ([\d.]+) %/.exec(await page.innerText(".caption"));
	expect("said", said !== null, true);
	run("cp", "tops.lode", "mined.lode");
	run(lode, "mine", "mined.lode");
	const all = json("report", "mined.lode", "--sort", "excess", "--limit", "1");
	expect("some of all", [Number(said[1].replaceAll(",", "")) <= all.run.sequences, Number(said[2]) >= 99 * all.run.min_support], [true, true]);
	const [first] = await rowsOf();
	expect("the same is first", first[2], `${(100 * (all.sequences[0].weight - all.sequences[0].frequency)).toFixed(1)} %`);
	await at("#/sequences?sort=weight&with=load");
	await rowsOf();
});

await check("an address leads to the same list in another window, and keys open a line", async (expect) => {
	const address = await page.evaluate(() => location.href);
	await page.evaluate(() => void (document.querySelector(".virtual-scroll").scrollTop = 0));
	await page.waitForSelector('[aria-rowindex="2"]');
	const before = (await rowsOf())[0];
	const other = listen(await context.newPage());
	await other.goto(address);
	await other.waitForFunction((id) => document.querySelector(".virtual-body .virtual-row")?.innerText.includes(id), before[before.length - 2]);
	expect("field", await other.inputValue("#with"), "load");
	await other.keyboard.press("j");
	await other.keyboard.press("j");
	await other.keyboard.press("k");
	await other.keyboard.press("Enter");
	await other.waitForSelector(".drawer .code");
	expect("opened", await other.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("open")), before[before.length - 2]);
	await other.click('button:text("Use as baseline")');
	await other.waitForFunction(() => /differences/.test(document.querySelector(".caption")?.textContent ?? ""));
	await other.keyboard.press("/");
	expect("focus", await other.evaluate(() => document.activeElement.id), "search");
	await other.keyboard.press("Escape");
	await other.keyboard.press("?");
	await other.waitForSelector('[role="dialog"]');
	await other.keyboard.press("Escape");
	await other.keyboard.press("2");
	await other.waitForFunction(() => location.hash.startsWith("#/code"));
	await other.close();
});

await check("code: functions, source beside disassembly, control flow, callers", async (expect) => {
	await at("#/code");
	const all = await rowsOf();
	const weights = all.map((row) => parseFloat(row[0]));
	expect("by weight", weights.every((one, i) => i === 0 || weights[i - 1] >= one), true);
	await page.fill("#search", "walk_");
	await page.waitForFunction(() => document.querySelectorAll(".virtual-body .virtual-row").length === 1);
	await page.click(".virtual-body a");
	await page.waitForSelector(".side-by-side .source");
	expect("source", (await texts(".source .text")).some((one) => one.includes("node->next")), true);
	const executed = json("annotate", "x.lode", "function", "walk_nodes").places[0].instructions;
	expect("instructions", await page.locator(".side-by-side table.code:not(.source) tbody tr").count(), executed.length);
	await picture("code");

	/* A function opens at its hottest instruction; n and p go on by weight. */
	await at("#/code?text=divide_");
	await page.waitForFunction(() => document.querySelectorAll(".virtual-body .virtual-row").length === 1);
	await page.click(".virtual-body a");
	await page.waitForSelector("tr.target");
	const divide = json("annotate", "x.lode", "function", "divide_numbers");
	const weightOf = (one) => one.events[divide.profile.weight_event] ?? 0;
	const hot = divide.places[0].instructions.filter((one) => weightOf(one) > 0).sort((a, b) => weightOf(b) - weightOf(a));
	const target = () => page.$eval("tr.target", (row) => row.id.slice(3));
	expect("hottest", await target(), hot[0].address);
	expect("in view", await page.$eval("tr.target", (row) => {
		const [own, box] = [row.getBoundingClientRect(), row.closest(".scroll").getBoundingClientRect()];
		return own.top >= box.top && own.bottom <= Math.min(box.bottom, innerHeight) && scrollY === 0;
	}), true);
	/* How many of its instructions have samples depends on the processor. */
	for (const [key, rank] of [["n", 1], ["n", 2], ["p", 1], ["p", 0], ["p", 0]].slice(hot.length > 2 ? 0 : 3)) {
		await page.keyboard.press(key);
		await until(`${key} goes to ${rank}`, async () => (await target()) === hot[rank].address);
	}
	expect("said", await page.innerText(".steps [role=status]"), `hottest of ${hot.length}: ${((100 * weightOf(hot[0])) / divide.profile.weight).toFixed(1)} %`);
	/* Those that explain something of it, which depends on the processor, too: there may be none. */
	const explaining = divide.findings.filter((one) => one.time >= 0.005).map((one) => one.id);
	expect("findings", await texts(".explained a"), explaining);
	expect("in one line", await page.$$eval(".explained > *", (all) => new Set(all.map((one) => one.offsetTop)).size), Math.min(1, explaining.length));
	/* Nothing ends at the edge of a box, and there is more room for one of them by the bar between. */
	const fits = () => page.$$eval(".side-by-side .scroll", (all) => all.every((one) => one.scrollWidth <= one.clientWidth + 1));
	await until("columns fit", fits);
	const widths = () => page.$$eval(".side-by-side > .scroll", (all) => all.map((one) => one.clientWidth));
	const [source, code] = await widths();
	await page.focus(".splitter");
	for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowLeft");
	await until("less source", async () => (await widths())[0] < source && (await widths())[1] > code);
	expect("in the address", /split=30/.test(await hash()), true);
	await until("still fit", fits);
	const bar = await page.locator(".splitter").boundingBox();
	await page.mouse.move(bar.x + bar.width / 2, bar.y + 40);
	await page.mouse.down();
	await page.mouse.move(640, bar.y + 40, { steps: 3 });
	await page.mouse.up();
	await until("dragged", async () => Math.abs((await widths())[0] - (await widths())[1]) < 60);
	await until("fit again", fits);
	/* One scale: what is darker costs more, in lines and instructions. */
	const shades = await page.$$eval("td[class*=heat-]", (all) => all.map((one) => [parseFloat(one.innerText), Number(/heat-(\d)/.exec(one.className)[1])]));
	expect("lines and instructions", shades.length >= 2, true);
	shades.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
	expect("shades", shades.every((one, i) => i === 0 || one[1] >= shades[i - 1][1]), true);
	expect("unfolded", await page.locator(".unrun").count(), 0);
	/* The same of a profile whose costs are given. */
	const given = json("annotate", "causes.lode", "function", "divide0");
	const costs = given.places[0].instructions.map((one) => [one.address, one.events[given.profile.weight_event] ?? 0]);
	await at(`#/code?profile=${CAUSES}&text=divide0`);
	await page.waitForFunction(() => document.querySelectorAll(".virtual-body .virtual-row").length === 1);
	await page.click(".virtual-body a");
	await page.waitForSelector("tr.target");
	expect("costliest of a given profile", [await target(), costs.length], [costs.reduce((most, one) => (one[1] > most[1] ? one : most))[0], 4]);
	await page.goBack();
	await page.waitForSelector(".virtual-body a");
	await at("#/code?text=walk_");
	await page.click(".virtual-body a");
	await page.waitForSelector(".side-by-side .source");
	await page.keyboard.press("g");
	await page.waitForSelector(".graph .block");
	expect("blocks", (await page.locator(".graph .block").count()) >= 2, true);
	expect("edges", (await page.locator(".graph .edge").count()) >= 2, true);
	/* What went on in another way than by this edge has its share, too. */
	expect("shares of edges", (await page.locator(".graph .edge-count").allTextContents()).some((one) => /^[\d,]+ · [\d.]+ %$/.test(one)), true);
	const lapping = () => page.evaluate(() => {
		const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
		const areLapping = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
		const labels = boxes(".graph .edge-count"), blocks = boxes(".graph .block > rect");
		return labels.filter((one, i) => [...labels.slice(i + 1), ...blocks].some((other) => areLapping(one, other))).length;
	});
	const leastText = () => page.$eval(".graph svg", (svg) => {
		const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
		return Math.min(...[...svg.querySelectorAll("text")].map((one) => parseFloat(getComputedStyle(one).fontSize) * scale), 99);
	});
	expect("labels over others", await lapping(), 0);
	expect(`legible: ${await leastText()} px`, (await leastText()) >= 8.99, true);
	for (let i = 0; i < 6; i++) await page.click('.graph-tools button:text("Smaller")');
	expect(`legible when small: ${await leastText()} px`, (await leastText()) >= 8.99, true);
	await page.click('.graph-tools button:text("Fit")');
	await picture("graph");
	await page.locator(".graph .block").first().press("Enter");
	await page.waitForSelector("tr.target");
	await page.click('button:text("Callers")');
	await page.waitForSelector(".neighbours");
	await page.goBack();
	await page.waitForSelector("tr.target");
	/* From recorded stacks: with what each function calls, and what came through each call. */
	await at("#/code?profile=5&sort=inclusive");
	const inclusive = (await rowsOf()).map((row) => [row[4].trim(), parseFloat(row[1])]);
	expect("by inclusive weight", inclusive.every(([, one], i) => i === 0 || inclusive[i - 1][1] >= one), true);
	const folded = [...foldedStacks("calls.lode")];
	const total = folded.reduce((sum, [, weight]) => sum + weight, 0);
	const through = (name) => folded.reduce((sum, [frames, weight]) => sum + (frames.includes(name) ? weight : 0), 0) / total;
	for (const name of ["deeper", "beside"]) {
		const shown = inclusive.find(([one]) => one === name)?.[1];
		expect(`inclusive of ${name}: ${shown}, ${100 * through(name)}`, Math.abs(shown - 100 * through(name)) < 1, true);
	}
	await page.click('.virtual-body bdi:text-is("inner")');
	await page.waitForSelector("table.code");
	await page.click('button:text("Callers")');
	await page.waitForSelector(".neighbours-table");
	const callers = json("report", "calls.lode", "--callers", "inner").callers;
	expect("callers", (await page.$$eval(".neighbours section:first-child tbody tr", (rows) => rows.map((row) => [...row.children].map((one) => one.innerText.trim())))).map((row) => [row[0], row.at(-1).split(" ")[0]]),
		callers.slice(0, 50).map((one) => [`${(100 * one.weight).toFixed(1)} %`, one.name]));
	expect("axe", await faultsOfAxe(), []);
	await picture("callers");
	await page.click('.neighbours bdi:text-is("deeper")');
	await page.waitForFunction(() => /pane=calls/.test(location.hash));
	await settle();
	expect("the caller", /^.?\s*deeper/.test(await page.innerText("h2")), true);
});

await check("code: what never ran is folded, an event of two names has one column", async (expect) => {
	await at(`#/code?profile=${LARGE}&function=1`);
	await page.waitForSelector("table.code");
	const lines = () => texts("table.code tbody td:last-child");
	expect("folded", (await lines()).map((one) => one.split(" op:")[0]), ["first", "one", "hot", "⋮ 6 never ran", "last"]);
	await page.click(".unrun button");
	await until("unfolded", async () => (await lines()).length === 10);
	await at(`#/code?profile=${PAIRS}&function=0`);
	await page.waitForSelector("table.code");
	expect("columns", (await texts("table.code th")).filter((one) => /^(l1d-miss|D1mr)$/.test(one)).length, 1);
	await at(`#/sequences?profile=${PAIRS}`);
	await page.click(".columns summary");
	expect("events", (await texts(".columns label")).filter((one) => /^(l1d-miss|D1mr)$/.test(one.trim())).length, 1);
});

await check("names are short, with the whole under the pointer; chains of inlined lines; the event that weighs", async (expect) => {
	const asked = (question) => page.evaluate(async (path) => (await fetch(`/api/${path}`)).json(), question);
	await at(`#/code?profile=${NAMES}`);
	await page.waitForSelector(".virtual-row a");
	const row = page.locator('.virtual-row [role="cell"]:has(a)', { hasText: /^lookups\(…\)$/ });
	expect("in the list", /^lookups\(std::map<.*allocator/.test(await row.getAttribute("title")), true);
	await row.locator("a").click();
	await page.waitForSelector("table.code");
	await settle();
	const heading = page.locator(".function h2 > bdi");
	expect("heading", [await heading.innerText(), /std::map<.*allocator/.test(await heading.getAttribute("title"))], ["lookups(…)", true]);
	const number = new URLSearchParams((await hash()).split("?")[1]).get("function");
	const { instructions } = (await asked(`annotate?profile=${NAMES}&function-number=${number}`)).places[0];
	const line = instructions.find((one) => one.executions > 0 && (one.chain?.length ?? 0) > 2);
	const chain = page.locator(`[id="at-${line.address}"] td.chain`);
	const told = (one) => `${one.short_function ?? one.function} ${one.file && one.line ? `${one.file.split("/").at(-1)}:${one.line}` : "(line not known)"}`;
	expect("whole chain", await chain.getAttribute("title"), line.chain.map(told).join(" → "));
	expect("a chain begins with its own line", line.chain[0].file.endsWith("names.cpp") && line.chain[0].line === line.line, true);
	expect("its ends", (await texts("td.chain")).includes(`names.cpp:${line.line} → … → ${told(line.chain.at(-1))}`), true);
	expect("axe", await faultsOfAxe(), []);
	/* There is a choice where several events were sampled, which are as many as the machine has. */
	const events = (await asked(`functions?profile=${NAMES}`)).profile.sampled_events ?? [];
	for (const view of ["findings", "code", "flame"]) {
		await at(`#/${view}?profile=${NAMES}`);
		expect(`choices in ${view}`, await page.locator(".weight-choice option").count(), events.length);
	}
	if (events.includes("latency:cause")) {
		await page.selectOption(".weight-choice select", "latency:cause");
		await settle();
		expect("samples of", (await texts(".caption"))[0].endsWith("of latency"), true);
		await page.click('nav a:text("Code")');
		await page.waitForSelector(".virtual-row a");
		await settle();
		const { functions } = await asked(`functions?profile=${NAMES}&weight=latency:cause`);
		expect("kept in the next view", (await rowsOf())[0][0], `${(100 * functions[0].share).toFixed(1)} %`);
		expect("chosen", await page.inputValue(".weight-choice select"), "latency:cause");
	}
	/* On a narrow screen the chosen view is in sight. */
	await page.setViewportSize({ width: 400, height: 800 });
	for (const view of ["compare", "findings", "memory"]) {
		await at(`#/${view}`);
		expect(`${view} in sight`, await page.evaluate(() => {
			const [chosen, all] = [document.querySelector("nav [aria-current]"), document.querySelector("nav")].map((one) => one.getBoundingClientRect());
			return chosen.left >= all.left - 1 && chosen.right <= all.right + 1;
		}), true);
	}
	await at("#/memory?pane=placement");
	expect("tab in sight", await page.evaluate(() => {
		const [chosen, all] = [document.querySelector(".tabs [aria-pressed=true]"), document.querySelector(".tabs")].map((one) => one.getBoundingClientRect());
		return chosen.left >= all.left - 1 && chosen.right <= all.right + 1;
	}), true);
	await at("#/memory?pane=histogram");
	await page.waitForSelector(".of-options td");
	expect("rows of one line", await page.evaluate(() => Math.max(...[...document.querySelectorAll(".of-options tbody tr")].map((row) => row.offsetHeight)) < 50), true);
	await page.setViewportSize({ width: 1280, height: 850 });
});

await check("a graph that is too large is drawn around its hottest block, or another", async (expect) => {
	await at(`#/code?profile=${LARGE}&function=0&pane=graph`);
	await page.waitForSelector(".graph .block");
	expect("blocks", await page.locator(".graph .block").count(), 150);
	expect("said", await page.innerText(".graph-tools [role=status]"), `150 of the ${BLOCKS} blocks that ran, around the costliest`);
	const addresses = async () => (await page.locator(".block-title").allTextContents()).map((one) => parseInt(one, 16));
	const first = await addresses();
	/* Along edges over five blocks, 15 steps reach 75 in each direction. */
	expect("the hottest", first.includes(HOTTEST) && Math.max(...first.map((one) => Math.abs(one - HOTTEST))) < 100, true);
	expect("axe", await faultsOfAxe(), []);
	const last = await page.locator(".block-more").last().getAttribute("aria-label");
	await page.locator(".block-more").last().press("Enter");
	await page.waitForFunction(() => location.hash.includes("around=0x"));
	await until("others", async () => JSON.stringify(await addresses()) !== JSON.stringify(first) && (await page.locator(".graph .block").count()) === 150);
	expect("around it", (await addresses()).includes(parseInt(last.split("0x")[1], 16)), true);
	await page.click('button:text("Around the costliest")');
	await until("back", async () => JSON.stringify(await addresses()) === JSON.stringify(first));
});

let divide;
await check("code and control flow have what windows observed", async (expect) => {
	const { functions } = await page.evaluate(async (number) => (await fetch(`/api/functions?profile=${number}&text=divide_numbers`)).json(), WINDOWS);
	divide = functions[0].number;
	await at(`#/code?profile=${WINDOWS}&function=${divide}`);
	await page.waitForSelector("td.observed");
	expect("beside the branch", (await texts("td.observed")).filter((one) => one.includes("observed")), ["taken 40 % (observed, 100), not foretold in 25 %"]);
	expect("said below", /inferred from samples, with 1,240 windows/.test(await page.innerText("footer.quality")), true);
	expect("axe", await faultsOfAxe(), []);
	await picture("windows");
	await at(`#/code?profile=${WINDOWS}&function=${divide}&pane=graph`);
	await page.waitForSelector(".graph .block");
	const titles = await page.locator(".graph .edge title").allTextContents();
	expect("on its edge", titles.filter((one) => /^fall-through: [\d,]+; observed in windows: 60 of 100, 60\.0 %$/.test(one)).length, 1);
	expect("as a share", (await page.locator(".graph .edge-count").allTextContents()).some((one) => one.endsWith(", 60.0 %")), true);
	await picture("windows-graph");
});

await check("light or dark is chosen, and kept; tables are copied as text", async (expect) => {
	const other = listen(await context.newPage());
	await other.goto(`${server.base}#/code`);
	await other.waitForSelector(".virtual-row a");
	const isDark = () => other.evaluate(() => parseInt(/\d+/.exec(getComputedStyle(document.documentElement).backgroundColor)[0]) < 128);
	const button = () => other.locator('button[aria-label^="Colours"]');
	const seen = [];
	for (let i = 0; i < 3; i++) {
		seen.push([await button().getAttribute("aria-label"), await isDark()]);
		await button().click();
	}
	expect("choices", seen, [["Colours: as the system", false], ["Colours: light", false], ["Colours: dark", true]]);
	await button().click();
	await button().click();
	await other.reload();
	await other.waitForSelector(".virtual-row a");
	expect("kept", [await button().getAttribute("aria-label"), await isDark()], ["Colours: dark", true]);
	await button().click();
	expect("as the system", await isDark(), false);
	await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(server.base).origin });
	await other.click('button:text("Copy as text")');
	await other.waitForFunction(() => /\d+ lines copied/.test(document.querySelector(".export [role=status]").innerText));
	const lines = (await other.evaluate(() => navigator.clipboard.readText())).split("\n").map((one) => one.split("\t"));
	expect("titles", lines[0].map((one) => one.replace(" ▼", "")), ["weight", "inclusive", "executions", "calls", "function", "image"]);
	const { functions } = await other.evaluate(async () => (await fetch("/api/functions?limit=1")).json());
	expect("first line", [lines[1][0], lines[1][4]], [`${(100 * functions[0].share).toFixed(1)} %`, functions[0].name]);
	await other.close();
});

/** The paths of folded stacks, without the thread, and their weights: the truth of a flame graph. */
function foldedPaths(profile, isInverted) {
	const weights = new Map();
	for (const [frames, weight] of foldedStacks(profile)) {
		if (isInverted) frames.reverse();
		for (let n = 0; n <= frames.length; n++) {
			const path = ["all", ...frames.slice(0, n)].join(";");
			weights.set(path, (weights.get(path) ?? 0) + weight);
		}
	}
	return weights;
}
const flamePaths = (flame) => {
	const { parent, function: functions, weight } = flame.nodes;
	const paths = parent.map(() => "");
	parent.forEach((above, row) => (paths[row] = above < 0 ? "all" : `${paths[above]};${flame.functions[functions[row]]?.[0]}`));
	/* Of one name in two images, a path has two nodes. */
	const weights = new Map();
	paths.forEach((path, row) => weights.set(path, (weights.get(path) ?? 0) + weight[row]));
	return weights;
};

await check("flame graph: zoomed, searched, inverted, by mouse and keys, and as a table", async (expect) => {
	const ask = (query) => page.evaluate(async (path) => (await fetch(path)).json(), `/api/flame?profile=5${query}`);
	const flame = await ask("");
	for (const isInverted of [false, true]) {
		const known = foldedPaths("calls.lode", isInverted);
		const answer = isInverted ? await ask("&inverted=1") : flame;
		const found = flamePaths(answer);
		/* Frames without a function are one in the graph. */
		const named = [...known].filter(([path]) => !/[+]0x|;0x|unknown/.test(path));
		expect(`all are there, inverted ${isInverted}`, named.filter(([path, weight]) => found.get(path) !== weight), []);
		expect("no more", [...found.keys()].filter((path) => !known.has(path) && !/null|undefined/.test(path)), []);
	}
	const deepest = [...foldedPaths("calls.lode", false)].find(([path]) => /deeper;deeper;deeper;deeper;inner$/.test(path));
	const few = await ask("&limit=3");
	expect("nothing is lost", few.nodes.narrower.reduce((sum, n) => sum + (n > 0 ? 1 : 0), 0) > 0 && few.nodes.weight[0] === flame.nodes.weight[0], true);
	few.nodes.weight.forEach((weight, row) => {
		const below = few.nodes.weight.filter((_, other) => few.nodes.parent[other] === row).reduce((sum, one) => sum + one, 0);
		if (few.nodes.narrower[row] === 0) expect(`row ${row}`, few.nodes.self[row] + below, weight);
	});
	const halves = await Promise.all(["..0.1234567", "0.1234567.."].map((time) => ask(`&time=${time}`)));
	expect("parts of the time", halves.map((one) => one.samples ?? one.error).every((n) => n > 0) && halves[0].samples + halves[1].samples, flame.samples);
	expect("no such node", (await ask("&root=99999999")).error?.code !== undefined, true);
	await at("#/flame?profile=5");
	const canvas = page.locator(".flame canvas");
	const painted = () => canvas.evaluate((one) => new Set(new Uint32Array(one.getContext("2d").getImageData(0, 0, one.width, one.height).data.buffer)).size);
	await until("colours", async () => (await painted()) > 3);
	await picture("flame");
	/* It begins where the stacks fork: below, no function has nearly all. */
	const { number, parent, weight } = flame.nodes;
	const childrenOf = (row) => number.map((_, i) => i).filter((i) => parent[i] === row);
	let fork = 0, forkDepth = 0;
	for (let next = 0; next !== undefined; next = childrenOf(fork).find((i) => weight[i] >= weight[fork] - weight[0] / 100)) {
		forkDepth += next > 0;
		fork = next;
	}
	const nameOf = (row) => flame.functions[flame.nodes.function[row]]?.[0] ?? "all";
	expect("the fork", [nameOf(fork), (await page.innerText(".flame-about")).startsWith("main")], ["main", true]);
	const lead = () => page.$eval(".flame", (one) => one.scrollTop / 19);
	expect("two rows lead to it", await lead(), Math.max(0, forkDepth - 2));
	/* By weight, or by time: what is to the right of the first below it. */
	for (const [order, before] of [["weight", (a, b) => weight[b] - weight[a]], ["time", (a, b) => flame.nodes.first[a] - flame.nodes.first[b]]]) {
		await at(`#/flame?profile=5${order === "time" ? "&order=time" : ""}`);
		await page.keyboard.press("ArrowDown");
		const [first] = childrenOf(fork).sort((a, b) => before(a, b) || weight[b] - weight[a]);
		await until(`the first by ${order}`, async () => (await page.innerText(".flame-about")).startsWith(`${nameOf(first)} ${((100 * weight[first]) / weight[0]).toFixed(1)} %`));
		await page.keyboard.press("ArrowUp");
	}
	expect("pressed", await page.getAttribute('button:text("By time")', "aria-pressed"), "true");
	await at("#/flame?profile=5");
	/* The widest path is at the left: main, then what it calls. */
	const depth = deepest[0].split(";").length - 1;
	await canvas.click({ position: { x: 20, y: 19 * (depth - (await lead())) + 9 } });
	await page.waitForFunction(() => /zoom=\d+/.test(location.hash));
	await settle();
	expect("the innermost", (await page.innerText(".flame-about")).includes("inner") && (await page.innerText(".flame-about")).includes(`${((100 * deepest[1]) / flame.weight).toFixed(1)} %`), true);
	await page.mouse.move(0, 0);
	const zoomed = await canvas.boundingBox();
	await page.mouse.move(zoomed.x + zoomed.width - 10, zoomed.y + 19 * (depth - (await lead())) + 9);
	await page.waitForSelector(".flame-tip .tip");
	expect("zoomed: as wide as the picture", (await page.innerText(".flame-tip .tip")).startsWith("inner"), true);
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => !/zoom=/.test(location.hash));
	await settle();
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("ArrowUp");
	await until("two callers above", async () => /^deeper\b/.test(await page.innerText(".flame-about")));
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => /zoom=\d+/.test(location.hash));
	await page.keyboard.press("0");
	await page.waitForFunction(() => !/zoom=/.test(location.hash));
	await page.keyboard.press("/");
	await page.keyboard.type("BESIDE");
	await page.waitForFunction(() => /text=BESIDE/.test(location.hash));
	await settle();
	const matched = [...foldedPaths("calls.lode", false)].filter(([path]) => /^[^]*;beside$/.test(path)).reduce((sum, [, weight]) => sum + weight, 0);
	expect("matched", await page.innerText(".caption b"), `${((100 * matched) / flame.weight).toFixed(1)} %`);
	await picture("flame-search");
	await page.keyboard.press("Escape");
	await page.keyboard.press("i");
	await page.waitForFunction(() => /inverted=1/.test(location.hash));
	await settle();
	expect("matched, inverted", await page.innerText(".caption b"), `${((100 * matched) / flame.weight).toFixed(1)} %`);
	await picture("flame-inverted");
	await page.click('button:text("As table")');
	await page.waitForSelector(".flame-table tbody tr");
	const rows = await page.$$eval(".flame-table tbody tr", (all) => all.map((row) => [...row.children].map((one) => one.innerText.trim())));
	expect("the first runs most", [rows[0][3].includes("all"), rows[1][3].includes("inner")], [true, true]);
	const ran = [...foldedPaths("calls.lode", true)].find(([path]) => path === "all;inner")[1];
	expect("its share", rows[1][0], `${((100 * ran) / flame.weight).toFixed(1)} %`);
	expect("axe", await faultsOfAxe(), []);
	await page.locator('.flame-table a:has-text("inner")').first().click();
	await page.waitForSelector("table.code");
	expect("the code", (await page.innerText("h2")).includes("inner"), true);
	await at("#/flame?profile=4");
	expect("without calls", /--call-graph dwarf/.test(await page.innerText(".empty")), true);
	/* By default, callers are known as far as the recorded top of the stack. */
	const tops = await page.evaluate(async (path) => (await fetch(path)).json(), `/api/flame?profile=${TOPS}`);
	expect("from", tops.from, "tops");
	expect("calls of inner", [...flamePaths(tops).keys()].some((path) => /(deeper|beside);inner$/.test(path)), true);
	await at(`#/flame?profile=${TOPS}`);
	await page.waitForSelector(".flame canvas");
	await until("its colours", async () => (await painted()) > 3);
	expect("said", /recorded top/.test(await page.innerText(".caption")), true);
	await picture("flame-tops");
});

await check("waits are those of lode report --waits, and lead to the waiting line", async (expect) => {
	const known = json("report", "waiting.lode", "--waits").waits.filter((one) => !one.idle && one.reason !== "unseen");
	await at(`#/findings?profile=${WAITING}`);
	await page.click('nav a:text("Waiting")');
	await page.waitForSelector(".waits td");
	await settle();
	expect("hash", await hash(), `#/waits?profile=${WAITING}`);
	const rows = page.locator(".waits >> nth=0 >> tbody tr");
	expect("rows", await rows.count(), known.length);
	expect("reasons", await texts(".waits >> nth=0 >> td.what > b"), known.map((one) => one.reason));
	expect("numbers", await texts(".waits >> nth=0 >> td:nth-child(2)"), known.map((one) => Math.round(one.count).toLocaleString("en-US")));
	const number = known.findIndex((one) => one.reason === "lock");
	const text = await rows.nth(number).innerText();
	for (const part of ["counted_lock", "count_slowly (waiting.c:7)", "by waiting"]) expect(part, text.includes(part), true);
	expect("holder", text.includes("of it while its holder was in"), known[number].holder !== null);
	await picture("waits");
	await rows.nth(number).locator("a").first().click();
	await page.waitForSelector(".code tr.target");
	expect("function", (await page.innerText("h2")).includes("count_slowly"), true);
	expect("line", (await page.innerText(".source tr.marked")).includes("pthread_mutex_lock"), true);
	/* A function that never ran in a sample has no code here, but stacks. */
	await at(`#/waits?profile=${WAITING}`);
	await page.click('.waits td:has-text("join") a');
	await page.waitForSelector(".flame canvas");
	expect("stacks", await hash(), `#/flame?profile=${WAITING}&text=main&o.weight=waiting`);
	/* Of a stretch of time nothing is known, which is said. */
	await at(`#/waits?profile=${WAITING}&o.time=0..0.1`);
	await page.waitForSelector(".problem");
	expect("a part", (await page.innerText(".problem")).includes("no waits are known"), true);
});

await check("timeline: a range and a thread, by mouse and keys, become options of the questions", async (expect) => {
	const answer = await page.evaluate(async () => (await fetch("/api/timeline?profile=10")).json());
	const seconds = answer.seconds;
	/* What a thread without samples did is known, too. */
	const threads = answer.threads.filter((one) => one.samples > 0);
	const known = json("report", "workers.lode", "--programs", "--by", "thread").programs;
	expect("weights", threads.map((one) => [one.tid, one.weight.toFixed(6)]).sort(), known.map((one) => [one.tid, one.share.toFixed(6)]).sort());
	const asked = [];
	const note = (request) => /[?&](time|thread)=/.test(request.url()) && asked.push(request.url().replace(/.*[/]api[/]/, ""));
	page.on("request", note);
	await at("#/flame?profile=10");
	await page.waitForSelector(".timeline canvas");
	expect("rows", await page.locator(".timeline-thread").count(), 6);
	/* The heaviest, in the order in which they began, below how many processors all kept busy. */
	const onPath = (one) => (answer.has_path ? one.slices.reduce((sum, slice) => sum + slice[5], 0) : 0);
	const begun = [...answer.threads].sort((a, b) => onPath(b) - onPath(a)).slice(0, 6).sort((a, b) => a.from - b.from);
	expect("in order of start", await texts(".timeline-thread bdi"), begun.map((one) => one.name));
	expect("busy processors", (await page.innerText(".timeline-busy")).startsWith("busy processors"), true);
	await page.click('.timeline-rows button:text("more")');
	await until("all rows", async () => (await page.locator(".timeline-thread").count()) === answer.threads.length);
	expect("text", (await texts(".timeline-thread")).filter((one) => one.includes("<b>worker-")).length, 8);
	expect("axe", await faultsOfAxe(), []);
	/* One worker ran after the other: in the time of one, there is only its function. */
	const worker = threads.find((one) => one.name === "<b>worker-3");
	const [first, last] = [worker.values.findIndex((one) => one > 0), worker.values.length - [...worker.values].reverse().findIndex((one) => one > 0)];
	const [width, middle] = [last - first, (first + last) / 2];
	const box = await page.locator(".timeline canvas").boundingBox();
	const x = (bin) => box.x + (box.width * bin) / worker.values.length;
	await page.mouse.move(x(middle - width / 4), box.y + 30);
	await page.mouse.down();
	await page.mouse.move(x(middle + width / 4), box.y + 50, { steps: 3 });
	await page.mouse.up();
	await page.waitForFunction(() => /o[.]time=/.test(location.hash));
	const time = await page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("o.time"));
	const [from, to] = time.split("..").map(Number);
	const near = (seen, bin) => Math.abs(seen - (seconds * bin) / worker.values.length) < seconds / 200;
	expect(`where it was dragged: ${time}`, near(from, middle - width / 4) && near(to, middle + width / 4), true);
	await settle();
	await page.click('button:text("As table")');
	await page.waitForSelector(".flame-table");
	const functions = (await texts(".flame-table tbody th")).join();
	expect("the functions of that time", [/work_odd/.test(functions), /work_even/.test(functions)], [true, false]);
	await page.fill(".timeline input >> nth=0", "0");
	await page.locator(".timeline input >> nth=0").press("Tab");
	await page.waitForFunction((to) => new RegExp(`o[.]time=0[.]0*[.][.]${to}`).test(location.hash), to);
	await page.waitForFunction(() => document.querySelector(".flame-table")?.innerText.includes("work_even"));
	await page.click(`.timeline-thread:has-text("worker-3")`);
	await page.waitForFunction((tid) => location.hash.includes(`o.thread=${tid}`), worker.tid);
	await page.waitForFunction(() => document.querySelector(".flame-table") && !document.querySelector(".flame-table").innerText.includes("work_even"));
	await picture("timeline");
	await page.click('nav a:text("Findings")');
	await page.waitForFunction(() => /#[/]findings.*o[.]time=.*o[.]thread=/.test(location.hash));
	await settle();
	expect("findings, too", asked.some((one) => one.startsWith("report") && one.includes(`thread=${worker.tid}`) && /time=0/.test(one)), true);
	await page.click('nav a:text("Code")');
	await page.waitForSelector(".virtual-body a");
	const isCostly = async (name) => (await rowsOf()).some((row) => parseFloat(row[0]) > 0 && row.join(" ").includes(name));
	await until("functions of that thread", async () => (await isCostly("work_odd")) && !(await isCostly("work_even")));
	await page.click('.virtual-body bdi:text-is("work_odd")');
	await page.waitForSelector("table.code");
	await page.keyboard.press("g");
	await page.waitForSelector(".graph .block");
	expect("and its graph", asked.some((one) => one.startsWith("graph") && one.includes(`thread=${worker.tid}`)), true);
	await page.goBack();
	await page.goBack();
	await page.waitForSelector(".virtual-body a");
	await page.click('nav a:text("Memory")');
	await page.waitForFunction(() => /#[/]memory/.test(location.hash) && !/o[.]/.test(location.hash));
	await page.goBack();
	await page.waitForSelector(".chip");
	await page.locator(".chip").first().click();
	await page.waitForFunction(() => !/o[.]time/.test(location.hash));
	await settle();
	await page.click(".chip");
	await page.waitForFunction(() => !/o[.]thread/.test(location.hash));
	await settle();
	expect("no chips", await page.locator(".chip").count(), 0);
	page.off("request", note);
});

await check("timeline: what threads did, in colours that a legend names; a click tells what was waited for", async (expect) => {
	const { kinds, threads, seconds, has_path: hasPath } = await page.evaluate(async (n) => (await fetch(`/api/timeline?profile=${n}`)).json(), WAITING);
	const known = json("report", "waiting.lode", "--waits").waits;
	await at(`#/waits?profile=${WAITING}`);
	await page.waitForSelector(".did li");
	const legend = (await texts(".did li")).map((one) => one.trim());
	for (const kind of ["running", "join", "lock", "sleep"]) expect(kind, legend.some((one) => one.split(", ").includes(kind)), true);
	expect("path", legend.includes("critical path"), hasPath);
	expect("colours", new Set(await page.$$eval(".did .swatch", (all) => all.map((one) => getComputedStyle(one).backgroundColor))).size, await page.locator(".did .swatch").count());
	/* The main thread waits for the others nearly all the time. */
	const main = threads.findIndex((one) => one.slices.some((slice) => kinds[slice[2]] === "join"));
	const join = threads[main].slices.filter((slice) => kinds[slice[2]] === "join").sort((a, b) => b[1] - a[1])[0];
	expect("place", known[join[3]].reason, "join");
	const rank = (await page.$$eval(".timeline-thread", (all) => all.map((one) => one.title))).findIndex((one) => one.includes(` ${threads[main].tid}:`));
	const box = await page.locator(".timeline canvas").boundingBox();
	await page.mouse.click(box.x + (box.width * (join[0] + join[1] / 2)) / 1e6 / seconds, box.y + 20 * (rank + (await page.locator(".timeline-busy").count())) + 9);
	await page.waitForSelector(".stretch a");
	const said = await page.innerText(".stretch");
	for (const part of ["join", "main (waiting.c:", "thread waiting"]) expect(`${part}: ${said}`, said.includes(part), true);
	expect("axe", await faultsOfAxe(), []);
	await picture("stretch");
	await page.click('.stretch button:text("Only this")');
	await page.waitForFunction((tid) => location.hash.includes(`o.thread=${tid}`) && /o[.]time=/.test(location.hash) && !/stretch/.test(location.hash), threads[main].tid);
});

await check("memory: heat maps that zoom, groups in groups", async (expect) => {
	await at("#/memory");
	await page.waitForSelector(".picture canvas");
	const painted = () =>
		page.$$eval(".picture canvas", (all) =>
			all.map((one) => new Set(new Uint32Array(one.getContext("2d").getImageData(0, 0, one.width, one.height).data.buffer)).size),
		);
	expect("pictures", (await painted()).length, 2);
	await until("colours", async () => (await painted()).every((one) => one > 2));
	await page.waitForSelector(".segment");
	await picture("memory");
	await page.keyboard.press("j");
	expect("first line", await page.evaluate(() => document.activeElement === document.querySelector(".segment")), true);
	/* What is under the pointer: by thread, where it has most. */
	const heat = await page.evaluate(async () => (await fetch("/api/heat")).json());
	const [thread, row] = heat.by_thread.reduce((most, one) => (one[2] + one[3] + one[4] > most[2] + most[3] + most[4] ? one : most));
	const cell = json("memory", "x.lode", "--address", heat.rows[row].join("-"), "--where", `thread_label == "${heat.thread_labels[thread]}"`, "--by", "object", "--by2", "function", "--top", "1").rows;
	const under = await page.locator(".picture canvas").nth(0).boundingBox();
	/* The lowest address is at the bottom. */
	await until("what is under the pointer", async () => {
		for (let y = under.height - 2; y > 0; y -= 2) {
			await page.mouse.move(under.x + (under.width * (thread + 0.5)) / heat.threads.length, under.y + y);
			if ((await page.locator(".tip").count()) > 0 && (await page.innerText(".tip")).includes(heat.rows[row][0])) break;
		}
		await page.waitForFunction(() => /\nline /.test(document.querySelector(".tip")?.innerText ?? "\nline "));
		return (await page.innerText(".tip")).includes("rank 1 of");
	});
	for (const one of cell.filter((one) => one.kind === "value").slice(0, 2))
		expect(`under the pointer: ${one.keys.at(-1)}`, (await page.innerText(".tip")).includes(one.keys.at(-1)), true);
	const box = await page.locator(".picture canvas").nth(1).boundingBox();
	await page.mouse.move(box.x + box.width * 0.25, box.y + 1);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + box.height - 2, { steps: 3 });
	await page.mouse.up();
	await page.waitForFunction(() => /from=\d+/.test(location.hash) && /address=0x/.test(location.hash));
	await page.waitForSelector('button:text("Whole picture")');
	await page.waitForSelector(".heat:not(.old), .empty");
	await at("#/memory?pane=pivot&by=object");
	await page.waitForSelector(".pivot .key");
	const known = json("memory", "x.lode", "--by", "object", "--top", "50").rows;
	expect("groups", (await texts(".pivot .level-0 .key bdi")).slice(0, 2), known.slice(0, 2).map((row) => row.keys[0] ?? "(none)"));
	await page.fill('input[name="level"]', "function");
	await page.click('button:text-is("Add")');
	await page.waitForSelector(".pivot .level-1");
	await picture("groups");
	/* Aggregate, filter, aggregate again: columns, then only one object. */
	await at("#/memory?pane=pivot&by=object&column=thread_label");
	await page.waitForSelector(".pivot.crossed .crossed-head");
	const crossed = json("memory", "x.lode", "--by", "object", "--by2", "thread_label").rows;
	const share = (object, thread) => crossed.find((row) => row.level === 1 && row.keys[0] === object && row.keys[1] === thread)?.share ?? 0;
	const heads = await texts(".crossed-head");
	const cells = await page.$$eval(".crossed tbody tr", (all) => all.map((row) => [row.querySelector(".key bdi").innerText, ...[...row.querySelectorAll("td")].slice(2).map((one) => one.innerText)]));
	for (const row of cells.slice(0, 2))
		heads.forEach((head, i) => {
			const value = share(row[0], head);
			expect(`${row[0]} × ${head}`, row[1 + i], value === 0 ? "·" : `${(100 * value).toFixed(1)} %`);
		});
	await picture("columns");
	await page.click(`button[aria-label="Only ${cells[0][0]}"]`);
	await page.waitForFunction(() => document.querySelectorAll(".crossed tbody .key").length === 1);
	expect("filter", await page.inputValue("#search"), `object == "${cells[0][0]}"`);
	await page.click('button:text("Types")');
	await page.waitForSelector(".empty, .layout");
	await at("#/memory?pane=layout");
	await page.waitForSelector(".layout .hottest");
	const type = json("memory", "x.lode", "--layout", "struct node").layouts[0];
	expect("members", (await texts(".layout-member bdi:first-child")).slice(0, 2), type.rows.filter((row) => row.kind === "member").map((row) => row.name));
	await at("#/memory?pane=sharing");
	await page.waitForSelector(".sharing, .empty");
	await at("#/memory?profile=3&pane=sharing");
	await page.waitForSelector(".sharing .open-row");
	const line = json("memory", "share.lode", "--sharing").lines[0];
	expect("line", (await page.$$eval(".sharing tbody tr:first-child td", (all) => all.map((one) => one.innerText.trim()))).slice(1, 5), [line.address, "false", "2", "2"]);
	await page.click(".sharing .open-row");
	await page.waitForSelector(".accesses tbody tr");
	expect("state", /line=/.test(await hash()), true);
	expect("accesses", (await texts(".accesses tbody tr")).length, line.accesses.length);
	expect("objects", (await texts(".accesses tbody td:nth-child(6)")).filter((name) => /counters|together/.test(name)).length >= 2, true);
	expect("functions", (await texts(".accesses tbody")).join().match(/hit|miss/g)?.length >= 2, true);
	expect("axe", await faultsOfAxe(), []);
	await picture("sharing");
	await at("#/memory?profile=4&pane=sharing&line=1%200x8000");
	await page.waitForSelector(".accesses .due-to");
	const taken = json("memory", "turns.lode", "--sharing").lines[0].accesses.map((one) => [`${one.thread}`, ...one.due_to.map((store) => `${store.misses}: thread ${store.thread}, ? ${store.pc}, bytes ${store.offset}–${store.offset + store.bytes - 1}`)]);
	expect("what took the line away", taken, [["0", "99: thread 1, ? 0x1010, bytes 8–15"], ["1", "99: thread 0, ? 0x1000, bytes 0–7"], ["2", "99: thread 0, ? 0x1000, bytes 0–7"]]);
	expect("due to", await page.$$eval(".accesses tbody tr", (all) => all.map((row) => [row.cells[1].innerText.trim(), ...[...row.querySelectorAll(".due-to")].map((one) => one.innerText.trim())])), taken);
	expect("axe", await faultsOfAxe(), []);
	await picture("sharing_due_to");
	await at("#/memory?pane=placement&threads=1");
	await page.waitForSelector(".placement .chosen");
	const policies = json("place", "x.lode", "--threads-per-memory", "1").policies;
	expect("policies", (await texts(".placement .chosen .share"))[0]?.trim(), `${(100 * policies.find((one) => one.is_chosen).share).toFixed(1)} %`);
	await picture("placement");
	await at("#/memory?pane=placement&machine=..%2Fetc%2Fpasswd");
	await page.waitForSelector(".problem");
	await at("#/memory?pane=pivot&where=(((");
	await page.waitForSelector(".problem");
	expect("error", /\(/.test(await page.innerText(".problem")), true);
});

await check("memory: a part to scale, moved by mouse and keys", async (expect) => {
	const heat = await page.evaluate(async () => (await fetch("/api/heat")).json());
	const nodes = heat.segments.find((one) => one.objects.some((name) => /struct node/.test(name)));
	await at(`#/memory?map=${nodes.first}-${nodes.last}`);
	await page.waitForSelector(".tiles canvas");
	const painted = () =>
		page.$eval(".tiles canvas", (one) => new Set(new Uint32Array(one.getContext("2d").getImageData(0, 0, one.width, one.height).data.buffer)).size);
	await page.waitForFunction(() => document.querySelector(".tile-label"));
	await until("colours", async () => (await painted()) >= 2);
	expect("names", (await texts(".tile-label bdi")).some((name) => /struct node/.test(name)), true);
	expect("axe", await faultsOfAxe(), []);
	await picture("map");
	const box = await page.locator(".tiles canvas").boundingBox();
	const before = await page.evaluate(() => location.hash);
	await page.mouse.move(box.x + 200, box.y + 100);
	await page.mouse.down();
	await page.mouse.move(box.x + 120, box.y + 100, { steps: 4 });
	await page.mouse.up();
	await page.waitForFunction((was) => location.hash !== was && /from=[1-9]/.test(location.hash), before);
	const moved = await page.evaluate(() => location.hash);
	await page.focus(".tiles");
	await page.keyboard.press("+");
	await page.waitForFunction((was) => location.hash !== was, moved);
	await page.goBack();
	await page.waitForFunction((was) => location.hash === was, before);
	/* A tile counts what the groups count. */
	const tile = await page.evaluate(async ({ first, last }) => (await fetch(`/api/heat?first=${first}&last=${last}&rows=64&from=0`)).json(), nodes);
	const grouped = json("memory", "x.lode", "--address", `${nodes.first}-${nodes.last}`, "--by", "thread_label").total;
	expect("weight", Math.round(tile.by_time.reduce((sum, one) => sum + one[2], 0)), Math.round(grouped.weight));
});

await check("options that a view has no field for, and views of lode memory as tables", async (expect) => {
	const csv = (...words) => run(lode, "memory", "share.lode", ...words, "--format", "csv").toString().trim().split("\n");
	await at("#/memory?profile=3&pane=histogram");
	await page.click(".more summary");
	await settle();
	const fields = (await texts(".more label")).map((one) => one.split("\n")[0].trim());
	expect("fields", ["thread", "pc", "define", "weight", "granularity", "by-thread"].filter((one) => !fields.includes(one)), []);
	expect("what has fields above", fields.filter((one) => ["where", "event", "by", "sharing", "format", "output"].includes(one)), []);
	for (const [hash, words] of [
		["histogram", []],
		["histogram&o.granularity=line&o.by-thread=1", ["--granularity", "line", "--by-thread"]],
		["histogram&o.thread=2", ["--thread", "2"]],
		["first-touch", ["--first-touch"]],
		["coverage", ["--coverage"]],
	]) {
		await at(`#/memory?profile=3&pane=${hash}`);
		expect(`rows of ${hash}`, (await page.locator("main tbody tr, .scroll tbody tr").count()), Math.min(500, csv(...words).length - 1));
	}
	await at("#/memory?profile=3&pane=histogram&o.thread=evil");
	expect("a wrong one", (await page.locator("[role=alert], .problem").first().innerText()).includes("evil"), true);
	await at("#/sequences?o.max-weight=1%25");
	expect("sequences", await page.locator(".caption").first().innerText().then((text) => text.split(" of the")[0]),
		`${json("report", "x.lode", "--max-weight", "1%").sequences.length} sequences`);
});

/* A field that a view of lode's no longer writes, or writes as something else, does not compile. */
let compiled;
await check("the page's questions are answered", async (expect) => {
	const asked = {
		Served: ["profiles"],
		Questions: ["questions"],
		Findings: ["report?explain=1", `report?profile=${CAUSES}&explain=1`],
		Sequences: ["report?sequences=1&limit=20"],
		Functions: ["functions?limit=20"],
		Annotation: ["annotate?finding=1&limit=2", "annotate?function-number=0", "annotate?profile=3&function=hit", `annotate?profile=${WINDOWS}&function=divide_numbers`],
		Graph: ["graph?function-number=0", `graph?profile=${WINDOWS}&function-number=${divide}`],
		Calls: ["calls?profile=5&function=inner", "calls?function=0"],
		Threads: ["timeline?profile=10", "timeline?profile=4", `timeline?profile=${WAITING}`],
		Waits: [`waits?profile=${WAITING}`],
		Flame: ["flame?profile=5", "flame?profile=5&inverted=1&text=inner&limit=2", "flame?profile=4", `flame?profile=${TOPS}`],
		Pivot: ["memory?profile=3&by=object&by2=thread"],
		Heat: ["heat?profile=3"],
		Layouts: ["memory?layout=struct%20node"],
		Sharing: ["memory?profile=3&sharing=1", "memory?profile=4&sharing=1"],
		Placement: ["place?profile=3&threads-per-memory=1"],
		TraceResults: ["trace-simulate?cache=d1=1K:2:64&classify=1&over-time=5", "trace-simulate?curve=data"],
		Misses: ["trace-simulate?cache=d1=1K:2:64&by=object"],
		Comparisons: ["diff?base=0&profile=2&by=all", `diff?base=${CAUSES}&profile=${MENDED}`],
	};
	const lines = [
		`import type * as api from ${JSON.stringify(join(ui, "src/api"))};`,
		"type Any<T> = T extends string ? string : T extends number ? number : T extends boolean ? boolean",
		"	: T extends (infer One)[] ? Any<One>[] : T extends object ? { [Name in keyof T]: Any<T[Name]> | (string extends Name ? undefined : never) } : T;",
	];
	/* Long lists take long: the compiler, and the browser that hands them over. */
	const ask = (address) =>
		page.evaluate(async (path) => {
			const brief = (one) =>
				Array.isArray(one) ? one.slice(0, 40).map(brief) : one && typeof one === "object" ? Object.fromEntries(Object.entries(one).map(([name, value]) => [name, brief(value)])) : one;
			return brief(await (await fetch(`/api/${path}`)).json());
		}, address);
	for (const [type, addresses] of Object.entries(asked)) {
		for (const address of addresses) {
			const answer = await ask(address);
			expect(`${address} has no error`, answer.error, undefined);
			lines.push(`const answer${lines.length} = ${JSON.stringify(answer)};`, `export const checked${lines.length}: Any<api.${type}> = answer${lines.length};`);
		}
	}
	writeFileSync("answers.ts", lines.join("\n"));
	const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2020", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2021,dom,dom.iterable"];
	/* It takes long, and the browser has other things to do meanwhile. */
	compiled = promisify(execFile)(process.execPath, [join(ui, "node_modules/typescript/bin/tsc"), ...options, "answers.ts"]).then(
		() => "",
		(error) => String(error.stdout || error).slice(-3000),
	);
});

const hottest = await page.evaluate(async () => (await (await fetch("/api/functions?limit=1")).json()).functions[0].number);
const views = {
	findings: "#/findings?open=F1",
	diagnoses: `#/findings?profile=${CAUSES}&open=D1`,
	sequences: "#/sequences",
	code: "#/code",
	function: `#/code?function=${hottest}`,
	graph: `#/code?function=${hottest}&pane=graph`,
	flame: "#/flame?profile=5",
	paths: "#/flame?profile=5&pane=table",
	waits: `#/waits?profile=${WAITING}`,
	memory: "#/memory",
	groups: "#/memory?pane=pivot&by=object&by=function",
	columns: "#/memory?pane=pivot&by=object&column=function",
	types: "#/memory?pane=layout",
	placement: "#/memory?pane=placement&threads=1",
	sharing: "#/memory?pane=sharing",
	curves: "#/traces",
};
const ready = {
	findings: ".detail .code", diagnoses: ".diagnosis-places", sequences: ".virtual-row .pattern", code: ".virtual-row a", function: "table.code", graph: ".graph .block", flame: ".flame canvas", paths: ".flame-table tbody tr", waits: ".waits td",
	memory: ".picture canvas", groups: ".pivot .key", columns: ".crossed .key", types: ".layout", placement: ".placement .chosen", sharing: ".sharing, .empty", curves: ".plot canvas",
};
/* Of which axe-core and a hostile profile are tried elsewhere, or that are of no profile. */
const others = {
	compare: ["#/compare?profile=2&base=0&kind=functions&all=1", ".compared td"],
	caches: ["#/traces?pane=caches&cache=d1%3D1K..4K%3A8%3A64&classify=1", ".plot canvas"],
	misses: ["#/traces?pane=misses&cache=d1%3D1K%3A8%3A64&by=function", "tbody .share"],
};
const go = async (name, change = "") => {
	const [hash, selector] = others[name] ?? [views[name], ready[name]];
	await at("#/none");
	await at(hash + (change && (hash.includes("?") ? "&" : "?") + change));
	await page.waitForSelector(selector);
	await page.waitForFunction(() => !document.querySelector(".loading"));
};

for (const scheme of ["light", "dark"]) {
	await page.emulateMedia({ colorScheme: scheme });
	await check(`axe-core finds nothing serious, ${scheme}`, async (expect) => {
		const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
		expect("background", /rgb\((\d+)/.exec(background)[1] < 128, scheme === "dark");
		for (const name of Object.keys(views)) {
			await go(name);
			/* Only colours differ. */
			expect(name, await faultsOfAxe(page, scheme === "dark" ? ["color-contrast", "link-in-text-block"] : null), []);
			expect(`${name}: blank below`, await blank(), 0);
			if (scheme === "dark") await picture(`dark-${name}`);
		}
	});
}
await page.emulateMedia({ colorScheme: "light" });

await check("each view fits 390 pixels", async (expect) => {
	/* What is drawn is made narrow after the page is. */
	const hasWidth = (name) =>
		until(`${name}: width`, async () => (await page.evaluate(() => document.documentElement.scrollWidth)) === 390);
	await page.setViewportSize({ width: 390, height: 800 });
	for (const name of Object.keys(views)) {
		await go(name);
		await hasWidth(name);
		expect(`${name}: blank below`, await blank(), 0);
		const top = (await page.locator(ready[name]).first().boundingBox()).y;
		/* The code of an open finding, the places of a diagnosis, and the members of a type are below what they are of. */
		if (!["findings", "diagnoses", "types"].includes(name)) expect(`${name}: begins at ${top}`, top < 450, true);
		await picture(`narrow-${name}`);
	}
	for (const name of Object.keys(others)) {
		await go(name);
		await hasWidth(name);
		await picture(`narrow-${name}`);
	}
	for (const name of ["code", "placement", "groups"]) {
		await go(name);
		expect(`${name}: folded`, await page.locator("#search").isVisible(), false);
	}
	await go("memory");
	expect("names of rows", (await texts(".picture-box .segment")).filter((one) => /struct node/.test(one)).length >= 2 && (await page.locator(".picture-box .segment").first().isVisible()), true);
	await go("groups");
	expect("fits", await page.$eval(".pivot", (one) => one.scrollWidth <= one.parentElement.clientWidth), true);
	await go("sequences");
	expect("folded", await page.locator("#with").isVisible(), false);
	await page.click(".fold summary");
	await page.fill("#with", "load");
	await page.waitForFunction(() => location.hash.includes("with=load") && /1 set/.test(document.querySelector(".fold summary").innerText));
	await page.setViewportSize({ width: 1280, height: 850 });
});

await check("what a profile holds is text, whatever it says", async (expect) => {
	for (const name of Object.keys(views)) {
		if (name === "curves" || name === "sharing") continue;
		if (name === "flame" || name === "paths") await at(`${views[name].replace("=5", "=6")}&text=script&zoom=1`);
		else if (name === "diagnoses") await at(views[name].replace(`=${CAUSES}`, `=${EVIL_CAUSES}`));
		else if (name === "waits") await at(views[name].replace(`=${WAITING}`, `=${EVIL_WAITING}`));
		else await go(name, "profile=1");
		await page.waitForSelector(ready[name]);
		const found = await page.evaluate(() => ({
			hostile: window.hostile,
			elements: document.querySelectorAll("main script, main img").length,
			shown: document.body.innerText.includes("<script>window.hostile=1</script>"),
			marks: /[\u202e\u2066]/.test(document.body.textContent),
		}));
		expect(name, found, { elements: 0, shown: true, marks: false });
		await picture(`hostile-${name}`);
	}
});

await check("one file has the page, and needs no server", async (expect) => {
	run(lode, "report", "x.lode", "--html", "x.html");
	run(lode, "report", "evil.lode", "--html", "evil.html");
	/* Each '<' of a name takes six bytes in the file. */
	for (const name of ["x.html", "evil.html"]) {
		const size = readFileSync(name).length;
		expect(`size of ${name}: ${size}`, size > 100000 && size < 5000000, true);
	}
	run(lode, "report", "causes.lode", "--html", "causes.html");
	const causes = listen(await context.newPage());
	await causes.goto(`file://${work}/causes.html#/findings?open=D1`);
	await causes.waitForSelector(".diagnosis-places a");
	expect("diagnoses in the file", await causes.locator(".diagnoses .id").allInnerTexts(), json("report", "causes.lode").diagnoses.map((one) => one.id));
	expect("functions in the file", await causes.locator(".top-functions .what a").count(), 3);
	expect("no problem with them", await causes.locator(".problem").count(), 0);
	await causes.locator(".diagnosis-places a").first().click();
	await causes.waitForSelector("table.code");
	await causes.close();
	run(lode, "report", "waiting.lode", "--html", "waiting.html");
	const waiting = listen(await context.newPage());
	await waiting.goto(`file://${work}/waiting.html#/waits`);
	await waiting.waitForSelector(".waits td");
	await waiting.locator(".waits a").first().click();
	await waiting.waitForSelector("table.code");
	await waiting.close();
	run(lode, "report", "calls.lode", "--html", "calls.html");
	const flame = listen(await context.newPage());
	await flame.goto(`file://${work}/calls.html#/flame?inverted=1&pane=table`);
	await flame.waitForSelector(".flame-table tbody tr");
	expect("what ran", (await flame.locator(".flame-table tbody th").nth(1).innerText()).includes("inner"), true);
	await flame.click('button:text("As table")');
	await flame.waitForSelector(".flame canvas");
	await flame.keyboard.press("i");
	await flame.waitForFunction(() => !/inverted/.test(location.hash));
	await flame.focus(".flame"); /* Enter on the button would be its own */
	await flame.keyboard.press("ArrowDown");
	await flame.keyboard.press("Enter");
	await flame.waitForFunction(() => /zoom=/.test(location.hash));
	await settle(flame);
	expect("no problem", await flame.locator(".problem").count(), 0);
	await flame.close();
	for (const name of ["x", "evil"]) {
		const other = listen(await context.newPage());
		const asked = [];
		other.on("request", (request) => asked.push(request.url()));
		await other.goto(`file://${work}/${name}.html#/findings?open=F1`);
		await other.waitForSelector(".detail .code");
		for (const view of ["sequences", "code", "memory"]) {
			await at(views[view], other);
			await other.waitForSelector(ready[view]);
		}
		const panes = { pivot: ".pivot .key", layout: ".layout-member", sharing: ".sharing, .empty", placement: ".placement .chosen" };
		for (const [pane, selector] of Object.entries(panes)) {
			await at(`#/memory?pane=${pane}`, other);
			await other.waitForSelector(selector);
		}
		await at("#/memory", other);
		const segments = await other.locator(".segment").count();
		expect("segments", segments > 1, true);
		await other.click(".segment");
		await other.waitForFunction((was) => document.querySelector(".picture canvas") && document.querySelectorAll(".segment").length < was, segments);
		await at("#/code", other);
		await other.click(".virtual-body a");
		await other.waitForSelector("table.code");
		await other.keyboard.press("g");
		await other.waitForSelector(".graph .block");
		await at("#/sequences", other);
		await other.click('[data-sort="places"]');
		await settle(other);
		const places = (await other.$$eval(".virtual-row:not(.head)", (rows) => rows.map((row) => Number(row.children[3].innerText.replaceAll(",", ""))))).slice(0, 8);
		expect("by places", places, [...places].sort((a, b) => b - a));
		expect("the first", places[0], json("report", `${name}.lode`, "--sort", "places", "--limit", "1").sequences[0].places);
		await other.click('[data-sort="excess"]');
		await settle(other);
		expect("back", await other.locator(".problem").count(), 0);
		/* The choice is kept for all such files. */
		for (const choice of name === "x" ? ["as the system", "light"] : []) await other.click(`button[aria-label="Colours: ${choice}"]`);
		expect("dark", await other.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), "rgb(21, 23, 27)");
		await at("#/sequences?with=load", other);
		await other.waitForSelector(".problem");
		expect("what is left out", /not in the file.*no address trace/.test(await other.innerText(".problem")), true);
		expect("requests", asked.filter((one) => !/^(file|blob|data):/.test(one)), []);
		expect("hostile", await other.evaluate(() => window.hostile ?? document.querySelectorAll("main script, main img").length), 0);
		if (name === "x" && pictures) await other.screenshot({ path: join(pictures, "file.png") });
		await other.close();
	}
});

await check("traces: curves, caches over time, misses by place", async (expect) => {
	const curves = JSON.parse(run(lode, "trace", "simulate", "x.rps", "--curve", "data", "--format", "json")).curves;
	await at("#/traces");
	await page.waitForSelector(".plot canvas");
	await page.click("details:not(.more) summary");
	const rows = await page.$$eval("details tbody tr", (all) => all.map((row) => [...row.children].map((one) => one.innerText)));
	const known = curves[0].points.filter((one) => one.bytes > 0);
	expect("sizes", rows.length, known.length);
	const [shown, ratio] = [parseFloat(rows.at(-1)[1]), 100 * known.at(-1).miss_ratio];
	expect(`largest: ${shown} for ${ratio}`, Math.abs(shown - ratio) <= 0.051, true);
	await picture("curves");
	await at("#/traces?pane=caches&cache=d1%3D1K..4K%3A8%3A64&classify=1");
	await page.waitForSelector(".plot canvas");
	const sweep = JSON.parse(run(lode, "trace", "simulate", "x.rps", "--cache", "d1=1K..4K:8:64", "--classify", "--format", "json")).hierarchies;
	const misses = await page.$$eval(".scroll tbody tr:not(.layout-line)", (all) => all.map((row) => Number(row.children[5].innerText.replaceAll(",", ""))));
	expect("misses", misses, sweep.map((one) => Object.values(one.caches[0].misses).reduce((a, b) => a + b)));
	expect("axe", await faultsOfAxe(), []);
	await picture("caches");
	await at("#/traces?pane=misses&cache=d1%3D1K%3A8%3A64,l2%3D4K%3A8%3A64&by=object");
	await page.waitForSelector("tbody .share, .problem");
	expect("objects", (await texts("tbody bdi")).some((name) => /struct node|numbers/.test(name)), true);
	expect("what is left", (await texts("footer.quality p")).some((one) => /^(Nothing is unresolved|Without data, .*: [\d.]+ % of all)/.test(one)), true);
	expect("axe", await faultsOfAxe(), []);
	await picture("misses");
	/* Of one level, the misses have two names, of which the first is not in rows of data. */
	await at("#/traces?pane=misses&cache=d1%3D1K%3A8%3A64&by=object");
	await page.waitForSelector("tbody .share, .problem, .empty");
	expect("one level", (await page.innerText(".caption")).includes("l1d-miss by object") && (await texts("tbody bdi")).length > 0, true);
	await at("#/traces?pane=caches&cache=%2Fetc%2Fpasswd");
	await page.waitForSelector(".problem");
	/* A trace alone is what the page begins with; without fetches, misses by instruction are not known. */
	writeFileSync("stores.csv", `kind,address,size,thread\n${"store,32768,8,0\n".repeat(9)}`);
	run(lode, "trace", "pack", "stores.csv", "-o", "stores.rps");
	const alone = await serve("stores.rps");
	const other = listen(await context.newPage());
	await other.goto(alone.link);
	await other.waitForSelector(".plot canvas");
	expect("views", await other.locator("nav a").allInnerTexts(), ["Traces"]);
	await at("#/traces?pane=caches&cache=d1%3D1K%3A2%3A64", other);
	await other.waitForSelector(".scroll tbody tr:not(.layout-line)");
	expect("by instruction", (await other.locator(".scroll tbody tr:not(.layout-line)").first().innerText()).trim().split(/\s+/).at(-1), "–");
	await other.close();
	alone.child.kill("SIGINT");
});

await check("compare: what lode diff says of two profiles", async (expect) => {
	await at("#/compare?profile=2&base=0&kind=functions&all=1");
	await page.waitForSelector(".scatter circle");
	const all = JSON.parse(run(lode, "diff", "x.lode", "again.lode", "--format", "json")).comparisons[0].functions.rows;
	/* What costs nothing in both is left out. */
	const known = all.filter((one) => one.base.time || one.new.time);
	expect("some cost nothing", known.length < all.length, true);
	expect("rows", await page.locator(".compared tbody tr").count(), Math.min(300, known.length));
	expect("first", (await texts(".compared tbody tr:first-child td:last-child bdi"))[0], known[0].text);
	expect("points", await page.locator(".scatter circle").count(), Math.min(500, known.length));
	await picture("compare");
	expect("axe", await faultsOfAxe(), []);
	const processor = /Processor time [\d.]+ → [\d.]+ s, [\d.]+ ×: user [^;]*/.exec(run(lode, "diff", "x.lode", "again.lode").toString());
	expect(`times: ${processor?.[0]}`, await page.evaluate(() => /Processor time [\d.]+ → [\d.]+ s, [\d.]+ ×: user .*, kernel .*; wall [\d.]+ → /.test(document.querySelector("main").innerText)), processor !== null);
	/* All kinds in one table, as the text has them. */
	await at(`#/compare?profile=${SLOWER}&base=${PAIRS}`);
	await page.waitForSelector(".compared tbody tr");
	const told = JSON.parse(run(lode, "diff", "pairs.lode", "slower.lode", "--format", "json")).comparisons[0];
	const rows = ["functions", "lines", "patterns", "places"].flatMap((kind) => (told[kind]?.rows ?? []).filter((row) => row.is_told && !row.is_repeated).map((row) => [kind.slice(0, -1), row.text]));
	expect("changes of several kinds", new Set(rows.map((row) => row[0])).size >= 2, true);
	expect("kinds and names", await page.$$eval(".compared tbody tr", (all) => all.map((row) => [row.cells[row.cells.length - 2].innerText, row.dataset.row])), rows);
	expect("drawn", (await page.innerText(".scatter figcaption")).startsWith(`${rows[0][0]}s:`), true);
	/* Diagnoses in the words of the text. */
	await at(`#/compare?profile=${MENDED}&base=${CAUSES}`);
	await page.waitForSelector(".compared-diagnoses tbody tr");
	const said = run(lode, "diff", "causes.lode", "mended.lode").toString().split("\n\n")[1].replaceAll("\n", " ");
	const [, title, scope, more, promised, achieved] = /^Gone: (.*) in (\w+) (and \d+ more functions), .*; promised (\S+ %), achieved (\S+ %)\./.exec(said) ?? [];
	expect(`a diagnosis: ${said}`, title, "divisions");
	const cells = await page.$eval(".compared-diagnoses tbody tr", (row) => [...row.cells].map((cell) => cell.innerText.trim().replace(/\s+/g, " ")));
	expect("promised, achieved, scope", cells.slice(3), [promised, achieved, `${title} in ${scope} ${more}`]);
	expect("gone", /^−.* s gone$/.test(cells[0]), true);
	expect("axe of diagnoses", await faultsOfAxe(), []);
	/* All of it, the diagnosis too, is in sight on a phone. */
	await page.setViewportSize({ width: 390, height: 800 });
	await at(`#/compare?profile=${MENDED}&base=${CAUSES}`);
	await page.waitForSelector(".compared-diagnoses tbody tr");
	const wide = () => page.$$eval("main .scroll", (all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute("aria-label")));
	expect("tables that are cut", await wide(), []);
	expect("promised and achieved", (await page.innerText(".compared-diagnoses")).includes(`promised ${promised}, achieved ${achieved}`), true);
	if (pictures) await page.screenshot({ path: join(pictures, "narrow-compare-diagnoses.png"), fullPage: true });
	await page.setViewportSize({ width: 1280, height: 850 });
	/* What is compared with unless it is chosen: the profile before of the same command. */
	await at("#/compare?profile=2");
	await page.waitForSelector(".compared tbody tr, .empty, .quality");
	expect("the same command", await page.inputValue(`label:has-text("compared with") select`), "0");
	await at(`#/compare?profile=${SLOWER}&base=${PAIRS}`);
	await page.waitForSelector(".compared tbody tr");
	await page.click(`.tabs button:text("functions")`);
	await page.waitForFunction(() => /kind=functions/.test(location.hash) && !/kind/.test(document.querySelector(".compared thead").innerText));
	expect("one kind", await page.locator(".compared tbody tr").count(), rows.filter((row) => row[0] === "function").length);
});

await check("live: pictures while a program is recorded, then its profile", async (expect) => {
	const child = spawn(lode, ["memory", "record", "--serve", "-o", "live.lode", "--", "./prog", "long"], { stdio: ["ignore", "ignore", "pipe"] });
	const link = await new Promise((done, fail) => {
		let text = "";
		child.stderr.on("data", (data) => {
			text += data;
			const found = /http:\S+/.exec(text);
			if (found) done(found[0]);
		});
		child.on("exit", () => fail(new Error(`lode ended: ${text}`)));
	});
	try {
		const other = listen(await context.newPage());
		await other.goto(link);
		await other.waitForSelector(".live-grid canvas");
		const samples = () => other.evaluate(() => Number(/([\d,]+) samples/.exec(document.querySelector(".facts").innerText)?.[1].replaceAll(",", "") ?? 0));
		const first = await samples();
		await until("more samples", async () => (await samples()) > first);
		const names = (selector) => other.evaluate((from) => /walk_nodes|divide_numbers/.test(document.querySelector(from)?.innerText), selector);
		await until("functions", () => names(".two-tables"));
		/* They are fitted while the machine has nothing else to do. */
		await until("findings", () => names(".live-findings tbody"), 4);
		/* Of the thread that has ended there is no row, unless it is asked for. */
		await until("a thread has ended", () => other.evaluate(() => /also the 1 thread that has ended/.test(document.querySelector("main").innerText)));
		const threads = () => other.locator(".live-threads span").allInnerTexts();
		const alive = await threads();
		expect("rows", alive.length === 3 && alive[0] === "all" && alive.slice(1).every((one) => /^prog \d/.test(one)), true);
		await other.check(".check input");
		await until("its row", async () => (await threads()).length === 4);
		expect("at the end", (await threads()).slice(0, 3), alive);
		await other.uncheck(".check input");
		if (pictures) await other.screenshot({ path: join(pictures, "live.png") });
		expect("axe", await faultsOfAxe(other), []);
		await other.setViewportSize({ width: 390, height: 800 });
		await other.waitForFunction(() => document.documentElement.scrollWidth === 390);
		if (pictures) await other.screenshot({ path: join(pictures, "narrow-live.png") });
		await other.setViewportSize({ width: 1280, height: 850 });
		await other.click('button:text("Pause the picture")');
		const paused = await samples();
		await other.waitForTimeout(1200);
		expect("paused", await samples(), paused);
		await other.click('button:text("Go on")');
		writeFileSync("stop", "");
		await other.waitForSelector('p[role="status"] a:text("memory")', { timeout: 60000 });
		await other.click('p[role="status"] a:text("memory")');
		await other.waitForSelector(".picture canvas");
		await other.click('nav a:text("Findings")');
		await other.waitForSelector(".findings .id");
		await other.close();
	} finally {
		writeFileSync("stop", "");
		child.kill("SIGINT");
		await new Promise((done) => child.on("exit", done));
	}
	expect("profile", existsSync("live.lode"), true);
	rmSync("stop");

	/* Of which only a recording is left. */
	const recorder = spawn(lode, ["record", "--serve", "-o", "x.data", "--", "./prog", "short"], { stdio: ["ignore", "ignore", "pipe"] });
	const address = await new Promise((done, fail) => {
		recorder.stderr.on("data", (data) => /http:\S+/.test(data) && done(/http:\S+/.exec(data)[0]));
		recorder.on("exit", () => fail(new Error("lode record ended")));
	});
	const last = listen(await context.newPage());
	await last.goto(address);
	await last.waitForSelector('p[role="status"] code:text("lode import")');
	expect("views", await last.locator("nav a").allInnerTexts(), ["Live"]);
	await last.close();
	recorder.kill("SIGINT");
	await new Promise((done) => recorder.on("exit", done));
});

await check("an answer that fails is said, with what to do", async (expect) => {
	await at("#/nothing");
	await page.waitForSelector(".empty");
	renameSync("x.lode", "y.lode");
	await at("#/code?sort=name");
	await page.waitForSelector(".problem");
	expect("removed", /removed/.test(await page.innerText(".problem")), true);
	renameSync("y.lode", "x.lode");
	run("cp", "x.lode", "z.lode");
	renameSync("z.lode", "x.lode");
	await at("#/code?sort=calls");
	await page.waitForSelector('.problem button:text("Read the new file")');
	await page.click('.problem button:text("Read the new file")');
	await page.waitForSelector(".virtual-row a");
	server.child.kill("SIGINT");
	await new Promise((done) => server.child.on("exit", done));
	await at("#/code?sort=image");
	await page.waitForSelector(".problem");
	expect("gone", /does not answer/.test(await page.innerText(".problem")), true);
});

await check("the answers are what the page takes them for", async (expect) => expect("types", await compiled, ""));

await check("the page has no errors of its own", async (expect) => expect("console", [...new Set(complaints)], []));

console.log(`1..${number}`);
await browser.close();
server.child.kill("SIGINT");
rmSync(work, { recursive: true });
process.exit(0);
