// SPDX-License-Identifier: MIT
//
// The colours of the page, and its first queries, sent while its script is still being loaded. api.ts makes each of them
// once, with the same address, and gets the response from here.
import type { Served } from "./api";
import { applyColours } from "./colour_choice";
import { PLACES_SHOWN } from "./places_shown";

declare global {
	interface Window {
		early?: Map<string, Promise<Response>>;
	}
}

applyColours();
const early = new Map<string, Promise<Response>>();
function start(path: string, answer: () => Promise<Response>): Promise<Response> {
	const response = answer();
	/* A failure is reported to those that wait; a later query is sent again. */
	response.catch(() => early.delete(path));
	early.set(path, response);
	return response;
}

const [view = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
const profiles = start("/api/profiles?", () => fetch("/api/profiles?"));
const known = new URLSearchParams(query);
const hasOptions = [...known.keys()].some((name) => name.startsWith("o."));
if ((view === "" || view === "findings") && !hasOptions) {
	const asked = new URLSearchParams();
	for (const name of ["profile", "run"]) if (known.get(name)) asked.set(name, known.get(name)!);
	asked.set("explain", "1");
	asked.set("places", String(PLACES_SHOWN));
	const path = `/api/report?${asked}`;
	/* While a program is recorded there are no findings or no profile yet: the page begins with a different view. */
	const hasOther = async () => {
		const served = (await (await profiles).clone().json()) as Served;
		return served.live !== null || served.profiles.length === 0;
	};
	start(path, async () => (view === "" && (await hasOther()) ? Promise.reject(new Error("another view")) : fetch(path)));
}
window.early = early;
