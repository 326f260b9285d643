// SPDX-License-Identifier: MIT
//
// A list of any length: the document has only the rows in view, and a page of rows is requested when it
// comes into view.
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Ask, address, ask, Failure } from "./api";

const PAGE = 100;
const ROW_HEIGHT = 28;
const AROUND = 12; /* rows above and below those in view */

export interface Rows<T, R> {
	first: T | null; /* the answer with the first page */
	error: Failure | null;
	isLoading: boolean;
	total: number;
	row: (index: number) => R | undefined;
	see: (first: number, end: number) => void;
}

/** The rows of a query that has `offset` and `limit`. */
export function useRows<T extends { passed: number }, R>(query: string, what: Ask, rowsOf: (answer: T) => R[]): Rows<T, R> {
	const key = address(query, what);
	const [, redraw] = useState(0);
	const store = useRef({
		key: "",
		pages: new Map<number, R[] | "asked">(),
		first: null as T | null,
		error: null as Failure | null,
		control: new AbortController(),
		isLoading: true,
	});
	const load = useCallback(
		(page: number) => {
			const here = store.current;
			if (here.pages.has(page)) return;
			here.pages.set(page, "asked");
			ask<T>(query, { ...what, offset: page * PAGE, limit: PAGE }, here.control.signal).then(
				(answer) => {
					if (here.key !== key) return;
					here.pages.set(page, rowsOf(answer));
					if (page === 0) here.first = answer;
					here.isLoading = false;
					redraw((n) => n + 1);
				},
				(error) => {
					if (here.control.signal.aborted || here.key !== key) return;
					here.error = error instanceof Failure ? error : new Failure("failed", String(error));
					here.isLoading = false;
					redraw((n) => n + 1);
				},
			);
		},
		[key],
	);
	useEffect(() => {
		const here = store.current;
		here.control.abort();
		Object.assign(here, { key, pages: new Map(), error: null, control: new AbortController(), isLoading: true });
		redraw((n) => n + 1);
		load(0);
	}, [key]);
	useEffect(() => () => store.current.control.abort(), []);
	const here = store.current;
	return {
		first: here.first,
		error: here.error,
		isLoading: here.isLoading || here.key !== key,
		total: here.first?.passed ?? 0,
		row: (index) => {
			const page = here.pages.get(Math.floor(index / PAGE));
			return page && page !== "asked" ? page[index % PAGE] : undefined;
		},
		see: (first, end) => {
			if (here.key !== key) return;
			for (let page = Math.floor(first / PAGE); page * PAGE < end; page++) load(page);
		},
	};
}

export function VirtualTable<R>(props: {
	label: string;
	total: number;
	head: ComponentChildren;
	row: (index: number) => R | undefined;
	see: (first: number, end: number) => void;
	cells: (row: R, index: number) => ComponentChildren;
	columns: string; /* grid-template-columns */
	selected: number;
	scrollKey: string; /* when it changes, the list scrolls to its beginning */
	onOpen: (row: R, index: number) => void;
	onSelect: (index: number) => void;
}) {
	const box = useRef<HTMLDivElement>(null);
	const [top, setTop] = useState(0);
	const [height, setHeight] = useState(600);
	const { total, selected } = props;

	useEffect(() => {
		const measure = () => setHeight(box.current?.clientHeight ?? 600);
		measure();
		addEventListener("resize", measure);
		return () => removeEventListener("resize", measure);
	}, []);
	useEffect(() => {
		if (box.current) box.current.scrollTop = 0;
		setTop(0);
	}, [props.scrollKey]);
	useEffect(() => {
		const here = box.current;
		if (!here || selected < 0) return;
		const at = selected * ROW_HEIGHT;
		if (at < here.scrollTop) here.scrollTop = at;
		else if (at + 2 * ROW_HEIGHT > here.scrollTop + here.clientHeight)
			here.scrollTop = at + 2 * ROW_HEIGHT - here.clientHeight;
	}, [selected]);

	const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - AROUND);
	const end = Math.min(total, Math.ceil((top + height) / ROW_HEIGHT) + AROUND);
	useEffect(() => props.see(first, end));

	const rows = [];
	for (let index = first; index < end; index++) {
		const row = props.row(index);
		rows.push(
			<div
				key={index}
				role="row"
				aria-rowindex={index + 2}
				aria-selected={index === selected}
				class={`virtual-row ${index === selected ? "selected" : ""}`}
				style={{ top: `${index * ROW_HEIGHT}px`, gridTemplateColumns: props.columns }}
				onClick={() => {
					props.onSelect(index);
					if (row) props.onOpen(row, index);
				}}
			>
				{row ? props.cells(row, index) : <span role="cell" class="faint">…</span>}
			</div>,
		);
	}
	return (
		<div class="virtual">
			<div class="virtual-scroll" role="table" aria-label={props.label} aria-rowcount={total + 1} ref={box} tabIndex={0} onScroll={() => setTop(box.current?.scrollTop ?? 0)}>
				<div role="rowgroup" class="virtual-head">
					<div role="row" aria-rowindex={1} class="virtual-row head" style={{ gridTemplateColumns: props.columns }}>
						{props.head}
					</div>
				</div>
				<div role="rowgroup" class="virtual-body" style={{ height: `${total * ROW_HEIGHT}px` }}>
					{rows}
				</div>
			</div>
		</div>
	);
}

/** A title that sorts by its column. */
export function SortTitle(props: {
	name: string;
	title: string;
	text?: string | undefined;
	sort: string;
	isReversed: boolean;
	isText?: boolean;
	onSort: (name: string, isReversed: boolean) => void;
}) {
	const isOn = props.sort === props.name;
	const isAscending = props.isReversed !== (props.isText ?? false);
	return (
		<span
			role="columnheader"
			class={props.isText ? "" : "number"}
			aria-sort={isOn ? (isAscending ? "ascending" : "descending") : "none"}
		>
			<button
				class="sort"
				title={props.text}
				data-sort={props.name}
				onClick={() => props.onSort(props.name, isOn ? !props.isReversed : false)}
			>
				{props.title}
				<span aria-hidden="true">{isOn ? (isAscending ? " ▲" : " ▼") : ""}</span>
			</button>
		</span>
	);
}
