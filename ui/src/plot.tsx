// SPDX-License-Identifier: MIT
//
// Lines by uPlot, in the page's colours.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { resolver, threadHues, useScheme } from "./colours";
import { savePicture } from "./parts";

export interface Line {
	name: string;
	values: (number | null)[];
}

export function Plot(props: {
	title: string;
	x: number[];
	xTitle: string;
	xText: (value: number) => string;
	isLog2?: boolean;
	lines: Line[];
	yText: (value: number) => string;
	isStepped?: boolean;
}) {
	const box = useRef<HTMLDivElement>(null);
	const scheme = useScheme();
	useEffect(() => {
		const here = box.current;
		if (!here) return;
		const css = resolver(here);
		const [text, line] = [css("var(--text)"), css("var(--line)")];
		const size = () => ({ width: Math.max(240, here.clientWidth), height: innerWidth < 700 ? 240 : 320 });
		const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui", labelFont: "12px system-ui" };
		const plot = new uPlot(
			{
				...size(),
				scales: { x: props.isLog2 ? { time: false, distr: 3, log: 2 } : { time: false }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } },
				axes: [
					{ ...axis, label: props.xTitle, values: (_, all) => all.map((one) => (one === null ? "" : props.xText(one))) },
					{ ...axis, size: 62, values: (_, all) => all.map((one) => props.yText(one)) },
				],
				series: [
					{ label: props.xTitle, value: (_, one) => (one === null ? "–" : props.xText(one)) },
					...props.lines.map((one, i) => ({
						label: one.name,
						stroke: threadHues[i % threadHues.length]!,
						width: 2,
						dash: i >= threadHues.length ? [6, 3] : [],
						points: { show: one.values.length < 60 },
						value: (_: uPlot, value: number | null) => (value === null ? "–" : props.yText(value)),
						...(props.isStepped ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
					})),
				],
				cursor: { drag: { x: true, y: false } },
			},
			[props.x, ...props.lines.map((one) => one.values)] as uPlot.AlignedData,
			here,
		);
		plot.root.querySelector("canvas")?.setAttribute("role", "img");
		plot.root.querySelector("canvas")?.setAttribute("aria-label", `${props.title}: ${props.lines.map((one) => one.name).join(", ")}`);
		const observer = new ResizeObserver(() => plot.setSize(size()));
		observer.observe(here);
		return () => {
			observer.disconnect();
			plot.destroy();
		};
	}, [props.x, props.lines, scheme]);
	return (
		<figure class="plot">
			<figcaption>
				{props.title}{" "}
				<button class="quiet" onClick={() => savePicture(box.current!.querySelector("canvas")!, "lode-curves.png")} aria-label={`Save ‘${props.title}’ as PNG`}>
					PNG
				</button>
			</figcaption>
			<div class="plot-box" ref={box} />
		</figure>
	);
}
