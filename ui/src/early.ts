// SPDX-License-Identifier: MIT
//
// The first questions of the page, on their way while its script is still being read. They are asked
// once by api.ts in the same words, and answered from here.
import type { Served } from "./api";
import { PLACES_SHOWN } from "./places_shown";

declare global {
	interface Window {
		early?: Map<string, Promise<Response>>;
	}
}

const early = new Map<string, Promise<Response>>();
function start(path: string, answer: () => Promise<Response>): Promise<Response> {
	const response = answer();
	/* Whoever waits for it is told; whoever asks later asks lode. */
	response.catch(() => early.delete(path));
	early.set(path, response);
	return response;
}

const [view = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
const profiles = start("/api/profiles?", () => fetch("/api/profiles?"));
if (view === "" || view === "findings") {
	const known = new URLSearchParams(query);
	const asked = new URLSearchParams();
	for (const name of ["profile", "run"]) if (known.get(name)) asked.set(name, known.get(name)!);
	asked.set("explain", "1");
	asked.set("places", String(PLACES_SHOWN));
	const path = `/api/report?${asked}`;
	/* While a program is recorded there are none yet, or no profile: the page begins with another view. */
	const hasOther = async () => {
		const served = (await (await profiles).clone().json()) as Served;
		return served.live !== null || served.profiles.length === 0;
	};
	start(path, async () => (view === "" && (await hasOther()) ? Promise.reject(new Error("another view")) : fetch(path)));
}
window.early = early;
