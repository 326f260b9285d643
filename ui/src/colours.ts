// SPDX-License-Identifier: MIT
//
// Colours of pictures drawn on a canvas.
import { useEffect, useState } from "preact/hooks";

export const threadHues = ["#4269d0", "#c8781e", "#d64045", "#2a9d8f", "#3a8f3a", "#b65fcf", "#9c6b4e", "#6b7280"];

/** Converts CSS colours, with variables and mixing, to values for a canvas. */
export function resolver(element: Element): (colour: string) => string {
	const probe = document.createElement("span");
	const known = new Map<string, string>();
	probe.hidden = true;
	return (colour) => {
		let found = known.get(colour);
		if (found === undefined) {
			probe.style.color = colour;
			element.append(probe);
			found = getComputedStyle(probe).color;
			probe.remove();
			known.set(colour, found);
		}
		return found;
	};
}

/** Changes when the page turns light or dark: its pictures are drawn again. */
export function useScheme(): number {
	const [scheme, setScheme] = useState(0);
	useEffect(() => {
		const dark = matchMedia("(prefers-color-scheme: dark)");
		const turn = () => setScheme((n) => n + 1);
		dark.addEventListener("change", turn);
		addEventListener("colours", turn);
		return () => {
			dark.removeEventListener("change", turn);
			removeEventListener("colours", turn);
		};
	}, []);
	return scheme;
}
