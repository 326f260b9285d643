// SPDX-License-Identifier: MIT
//
// The object under the pointer in a picture of addresses: requested when the pointer rests.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Pivot, useAnswer } from "./api";
import { count } from "./format";
import { filterOf } from "./memory_filter";
import type { Route } from "./state";

const REST_MS = 150;

export function Tip(props: {
	route: Route;
	conditions: string[]; /* of a filter of samples */
	rank: number; /* among the boxes in view, by weight */
	x: number;
	y: number;
	width: number; /* of the picture */
	children: ComponentChildren;
}) {
	const { route, rank, x, y, width } = props;
	const own = route.params.get("where");
	const where = [...(own ? [`(${own})`] : []), ...props.conditions].join(" && ");
	const [rested, setRested] = useState("");
	useEffect(() => {
		const timer = setTimeout(() => setRested(where), REST_MS);
		return () => clearTimeout(timer);
	}, [where]);
	const isThere = rested === where;
	const { data, isLoading } = useAnswer<Pivot>(isThere ? "memory" : null, { ...filterOf(route), where, by: "object", by2: "function", by3: "place", sort: "weight", top: "1" });
	const first = (level: number) => {
		const row = data?.rows.find((one) => one.level === level && one.kind === "value");
		return row ? (row.short_key ?? String(row.keys[level])) : null;
	};
	return (
		<div class="tip" role="tooltip" style={{ left: `${Math.max(0, Math.min(x + 12, width - 200))}px`, top: `${y + 14}px` }}>
			{props.children}
			{`\nrank ${count(rank)} of those in sight`}
			{isThere && !isLoading && data && `\nobject ${first(0) ?? "?"}\nfunction ${first(1) ?? "?"}\nline ${first(2) ?? "?"}`}
		</div>
	);
}
