// SPDX-License-Identifier: MIT
//
// Formats numbers and patterns as lode's text views do.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(value: number | null | undefined): string {
	return value === null || value === undefined ? "–" : whole.format(value);
}

const isClock = (event: string) => event.includes("-clock");

/** A value of an event, as lode's text has it: "0.53 s" of a clock, "1,234" of others. Latency is of the clock, where `all` events have one. */
export function eventValue(value: number | undefined, event: string, all: string[] = []): string {
	if (!value || !(isClock(event) || (event.startsWith("latency") && all.some(isClock)))) return count(value);
	const seconds = value / 1e9;
	return `${seconds >= 100 ? count(seconds) : seconds.toFixed(seconds >= 10 ? 1 : seconds >= 0.1 ? 2 : 4)} s`;
}

/** "0.53 s of cpu-clock", "1,234 cycles" */
export function eventTotal(value: number, event: string | null): string {
	return event === null ? `${count(value)} no weight` : `${eventValue(value, event)}${isClock(event) ? " of" : ""} ${event}`;
}

/** "1 place", "12 places" */
export function some(n: number, what: string): string {
	return `${count(n)} ${what}${n === 1 ? "" : "s"}`;
}

export function share(value: number | null | undefined): string {
	return value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`;
}

/** "20–35 %", or "up to 35 %" where the lower end is not known, or less than a fifth of the upper; "60 % or more" where that is next to all. */
export function percents(low: number | null, high: number): string {
	if (low !== null && high <= 5 * low && high >= 0.985 && low < 0.985) return `${(100 * low).toFixed(0)} % or more`;
	return low === null || high > 5 * low ? `up to ${(100 * high).toFixed(0)} %` : `${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)} %`;
}

/** The first clause of a text that has some words. */
export function clause(text: string): string {
	return /^.{24,}?(?=[;:.](\s|$))/s.exec(text)?.[0] ?? text;
}

/** A difference of shares, in percentage points. */
export function points(value: number): string {
	return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(100 * value).toFixed(1)}`;
}

export function ratio(value: number): string {
	if (!Number.isFinite(value)) return "–";
	return `${value.toFixed(value < 100 ? 1 : 0)}×`;
}

/** Three significant digits. */
export function amount(value: number | null): string {
	if (value === null) return "–";
	const size = Math.abs(value);
	if (size >= 1000) return whole.format(value);
	return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** The cost of an execution, as in lode report; "≥": a lower bound. */
export function each(value: number, isLeast: boolean, isCounted: boolean, unit: string): string {
	const sign = isLeast ? "≥ " : isCounted ? "+" : "";
	return `${sign}${amount(value)} ${isCounted ? unit : "×"}`;
}

/** "2.83 s", "4.66 ms", "90.0 µs" */
export function duration(seconds: number): string {
	if (!(seconds > 0)) return "0";
	return seconds >= 0.1 ? `${amount(seconds)} s` : seconds >= 1e-3 ? `${amount(1e3 * seconds)} ms` : `${amount(1e6 * seconds)} µs`;
}

/** A name as it is shown: an answer has `short_X` beside `X` where that is shorter. */
export function shortOf<T extends object>(row: T, member: string & keyof T): string | null {
	const names = row as Record<string, string | null | undefined>;
	return names[`short_${member}`] ?? names[member] ?? null;
}

export function baseName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}

/** "kind:load" → "load", if that is unambiguous. */
function attribute(name: string): string {
	const plain = /^(?:op|kind|mem|ev):(.+)$/.exec(name);
	if (plain) return plain[1]!;
	return name.replace(/^(needs|address):/, (_, word) => (word === "address" ? "address from " : "needs "));
}

function element(attributes: string[]): string {
	return `⟨${attributes.length > 0 ? attributes.map(attribute).join(", ") : "·"}⟩`;
}

/** A line of a chain of inlined code, after its function. */
export function inlinedLine(one: { function: string; file: string | null; line: number }): string {
	return `${shortOf(one, "function")} ${one.file !== null && one.line > 0 ? `${baseName(one.file)}:${one.line}` : LINE_NOT_KNOWN}`;
}
export const LINE_NOT_KNOWN = "(line not known)";

export function sequence(elements: string[][]): string {
	return elements.map(element).join(" → ");
}

export function place(one: { file: string | null; line: number; address: string }): string {
	return one.file && one.line > 0 ? `${baseName(one.file)}:${one.line}` : one.address;
}
