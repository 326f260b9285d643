// SPDX-License-Identifier: MIT
//
// The state of the page is in its address, after the '#', which is not sent to servers:
//
//   #/sequences?profile=0&sort=weight&with=load
//
// So a link leads to the same view, and the back button to the previous one.
import { useEffect, useState } from "preact/hooks";

export interface Route {
	view: string;
	params: URLSearchParams;
}

export type Change = Record<string, string | string[] | null | undefined>;

function parse(): Route {
	const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
	return { view: path || "findings", params: new URLSearchParams(query) };
}

/** The address of a view; `change` overrides `params`: null and "" remove a name. */
export function href(view: string, params: URLSearchParams, change: Change = {}): string {
	const next = new URLSearchParams(params);
	for (const [name, value] of Object.entries(change)) {
		next.delete(name);
		for (const one of Array.isArray(value) ? value : [value]) if (one) next.append(name, one);
	}
	const query = next.toString();
	return `#/${view}${query ? `?${query}` : ""}`;
}

/** The options that choose a part of the recording, and the views that show it. */
export const PART = ["o.time", "o.thread", "o.command", "o.pid", "o.where"];
/** The option that chooses the event that weighs; those views have it, too. */
export const WEIGHT = "o.weight";
export const PART_VIEWS = ["findings", "code", "flame", "waits"];

/** A view of the same profile, run and part of the recording, without other parameters. */
export function linkTo(view: string, route: Route, change: Change = {}): string {
	const kept = new URLSearchParams();
	const hasPart = PART_VIEWS.includes(view) && PART_VIEWS.includes(route.view);
	for (const name of ["profile", "run", ...(hasPart ? [...PART, WEIGHT] : [])]) {
		const value = route.params.get(name);
		if (value) kept.set(name, value);
	}
	return href(view, kept, change);
}

/** Changes the view's own state; `replace` leaves no step for the back button (typing, moving). */
export function change(route: Route, changes: Change, replace = false): void {
	const next = href(route.view, route.params, changes);
	if (next === location.hash) return;
	if (replace) {
		history.replaceState(null, "", next);
		dispatchEvent(new HashChangeEvent("hashchange"));
	} else {
		location.hash = next;
	}
}

export function useRoute(): Route {
	const read = () => ({ route: parse(), hash: location.hash });
	const [here, setHere] = useState(read);
	useEffect(() => {
		const update = () => setHere(read());
		addEventListener("hashchange", update);
		return () => removeEventListener("hashchange", update);
	}, []);
	/* The address of the present view, for tests and benchmarks, as `asked` in api.ts. */
	useEffect(() => void (document.body.dataset.shown = here.hash), [here]);
	return here.route;
}
