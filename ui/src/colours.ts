// SPDX-License-Identifier: MIT
//
// Colours of pictures drawn on a canvas.

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
