// SPDX-License-Identifier: MIT
//
// Whether the page is light or dark: as the system, unless the user chose.
export const colourChoices = ["system", "light", "dark"] as const;
export type ColourChoice = (typeof colourChoices)[number];

const KEY = "lode-colours";

export function colourChoice(): ColourChoice {
	try {
		return colourChoices.find((one) => one === localStorage.getItem(KEY)) ?? "system";
	} catch {
		return "system"; /* the browser keeps nothing for this page */
	}
}

/** Gives the document the colours that were chosen. */
export function applyColours(choice: ColourChoice = colourChoice()): void {
	if (choice === "system") delete document.documentElement.dataset.colours;
	else document.documentElement.dataset.colours = choice;
}

export function chooseColours(choice: ColourChoice): void {
	try {
		localStorage.setItem(KEY, choice);
	} catch {
		/* It holds until the page is left. */
	}
	applyColours(choice);
	dispatchEvent(new Event("colours"));
}
