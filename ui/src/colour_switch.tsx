// SPDX-License-Identifier: MIT
//
// The switch between light, dark and what the system has.
import { useState } from "preact/hooks";
import { chooseColours, colourChoice, colourChoices } from "./colour_choice";

const signs = { system: "◐", light: "☀", dark: "☾" };

export function ColourSwitch() {
	const [choice, setChoice] = useState(colourChoice);
	const next = () => {
		const chosen = colourChoices[(colourChoices.indexOf(choice) + 1) % colourChoices.length]!;
		chooseColours(chosen);
		setChoice(chosen);
	};
	const title = choice === "system" ? "Colours: as the system" : `Colours: ${choice}`;
	return (
		<button class="quiet" aria-label={title} title={title} data-choice={choice} onClick={next}>
			<span aria-hidden="true">{signs[choice]}</span>
		</button>
	);
}
