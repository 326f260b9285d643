// SPDX-License-Identifier: MIT
//
// Two boxes beside each other, and between them a bar that gives one more room and the other less: by
// mouse, finger or the arrow keys. On a narrow screen they stand below each other, without it.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useNarrow } from "./parts";

const LEAST = 15; /* per cent of the width, of each */
const STEP = 2;

/** `part`: per cent of the width for the first; `onPart`: when it has been changed. */
export function Split({ part, label, onPart, children }: { part: number; label: string; onPart: (part: number) => void; children: [ComponentChildren, ComponentChildren] }) {
	const box = useRef<HTMLDivElement>(null);
	const [dragged, setDragged] = useState<number | null>(null);
	const isNarrow = useNarrow();
	const bound = (value: number) => Math.round(Math.max(LEAST, Math.min(100 - LEAST, value)));
	const at = (event: PointerEvent) => {
		const { left, width } = box.current!.getBoundingClientRect();
		return bound((100 * (event.clientX - left)) / (width || 1));
	};
	const shown = dragged ?? bound(part);
	if (isNarrow) return <div class="side-by-side">{children}</div>;
	return (
		<div class="side-by-side" ref={box} style={{ gridTemplateColumns: `minmax(0, ${shown}fr) auto minmax(0, ${100 - shown}fr)` }}>
			{children[0]}
			<div class="splitter" role="separator" tabIndex={0} aria-orientation="vertical" aria-label={label} aria-valuenow={shown} aria-valuemin={LEAST} aria-valuemax={100 - LEAST}
				onPointerDown={(event) => {
					(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
					setDragged(at(event));
				}}
				onPointerMove={(event) => dragged !== null && setDragged(at(event))}
				onPointerCancel={() => setDragged(null)}
				onPointerUp={(event) => {
					if (dragged !== null) onPart(at(event));
					setDragged(null);
				}}
				onKeyDown={(event) => {
					const by = event.key === "ArrowLeft" ? -STEP : event.key === "ArrowRight" ? STEP : 0;
					if (by === 0) return;
					event.preventDefault();
					onPart(bound(shown + by));
				}}
			/>
			{children[1]}
		</div>
	);
}
