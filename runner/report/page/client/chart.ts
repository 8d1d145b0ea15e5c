import type { EChartsType } from "echarts/core";
import { init } from "../../charts/echarts.ts";
import type { Figure, View } from "../../charts/figure.ts";
import {
	heightOf,
	isLogarithmic,
	optionOf,
	type Reading,
	readingAt,
	stopsOf,
} from "../../charts/options.ts";
import { pictureOf } from "../../charts/picture.ts";
import { element, swatchOf } from "./elements.ts";
import { onPaper, theme } from "./theme.ts";

/** How the reader looks at it: what the tools of a chart change. */
export interface Look {
	off: ReadonlySet<string>;
	/** In the axis' own numbers; null: all of it. */
	zoom: readonly [from: number, to: number] | null;
	logarithmic: boolean | null;
}

/** A figure that is drawn, with a pointer that follows the mouse and the arrow keys. It lives as long as the page. */
export class Chart {
	readonly figure: Figure;
	readonly look: Look;
	/** Called after each change of what is shown. */
	changed: () => void = () => {};
	/** Called when the place at which the pointer stands is clicked, or Enter is pressed: in the axis' own numbers. */
	chosen: (x: number) => void = () => {};
	readonly #plot: HTMLElement;
	readonly #canvas = element("div", "canvas");
	readonly #cross = element("div", "cross");
	readonly #band = element("div", "band");
	readonly #tip = element("div", "tip");
	readonly #said = element("p", "unseen");
	#chart: EChartsType;
	/** Where the pointer stands; null: nowhere. */
	#at: number | null = null;
	/** Pixel at which a drag began. */
	#from: number | null = null;

	constructor(plot: HTMLElement, figure: Figure, look: Look) {
		this.figure = figure;
		this.look = look;
		this.#plot = plot;
		this.#said.setAttribute("aria-live", "polite");
		for (const part of [this.#cross, this.#band, this.#tip]) part.hidden = true;
		this.#tip.setAttribute("aria-hidden", "true");
		const canvas = this.#canvas;
		canvas.tabIndex = 0;
		canvas.setAttribute("role", "application");
		canvas.setAttribute("aria-roledescription", "chart");
		canvas.setAttribute(
			"aria-label",
			`${figure.title}. Arrow keys move a pointer and tell values, + and - zoom, 0 shows all.`,
		);
		canvas.setAttribute("aria-describedby", `${figure.id}-alt`);
		plot.replaceChildren(
			canvas,
			this.#band,
			this.#cross,
			this.#tip,
			this.#said,
		);
		this.#chart = this.#fresh(this.#size());
		this.#listen();
		this.draw();
	}

	/** Draws it as the page is now: colours, width, paper. */
	draw(): void {
		const view = this.view();
		this.#canvas.style.height = `${view.height}px`;
		this.#plot.style.minHeight = `${view.height}px`;
		this.#chart.dispose();
		this.#chart = this.#fresh(view);
		// The pointer is ours: one for mouse and keys alike.
		this.#chart.setOption({
			...optionOf(this.figure, view),
			tooltip: { show: false },
			animation: false,
		});
		this.#canvas.dataset.drawn = view.theme;
		this.#canvas.querySelector("svg")?.setAttribute("aria-hidden", "true");
		if (this.#at === null) this.hide();
		else this.#point(this.#at, false);
		this.changed();
	}

	/** Draws it anew if its width is another one. */
	fit(): void {
		const { width, height } = this.#size();
		if (width !== this.#chart.getWidth() || height !== this.#chart.getHeight())
			this.draw();
	}

	/** On paper there are no switches to tell the curves by: the picture has its own title and legend. */
	view(): View {
		const alone = onPaper();
		return { theme: theme(), ...this.#size(), ...this.look, alone };
	}

	/** The picture as it is shown, on its own: with title, facts and legend. */
	svg(): string {
		const view: View = { ...this.view(), alone: true };
		return pictureOf(this.figure, {
			...view,
			height: heightOf(this.figure, view),
		});
	}

	/** Makes the stretch that is shown smaller (factor below 1) or larger, around the pointer or the middle. */
	zoomBy(factor: number, around: number | null = this.#at): void {
		const [from, to] = this.#shown();
		const centre = around === null ? (from + to) / 2 : around;
		this.#zoom([
			centre - (centre - from) * factor,
			centre + (to - centre) * factor,
		]);
	}

	/** Moves the stretch that is shown by this part of it, to the right above 0. */
	pan(part: number): void {
		const [from, to] = this.#shown();
		const [first, last] = this.#whole();
		const wanted = (to - from) * part;
		const by = Math.max(first - from, Math.min(last - to, wanted));
		this.#zoom([from + by, to + by]);
	}

	/** Is the value axis logarithmic, by choice or by itself? */
	get logarithmic(): boolean {
		return isLogarithmic(this.figure, this.view());
	}

	showAll(): void {
		this.look.zoom = null;
		this.draw();
	}

	hide(): void {
		this.#at = null;
		this.#cross.hidden = true;
		this.#tip.hidden = true;
	}

	// --- internal ---

	/**
	 * Each picture is drawn from nothing: with "notMerge" ECharts still keeps the elements of custom series, found again by their
	 * position alone, so that what belonged to the view before could stay, such as the line of a limit at a height of the past.
	 */
	#fresh({ width, height }: Pick<View, "width" | "height">): EChartsType {
		return init(this.#canvas, null, { renderer: "svg", width, height });
	}

	#size(): { width: number; height: number } {
		const width = onPaper()
			? PAPER_WIDTH
			: Math.max(MIN_WIDTH, this.#plot.clientWidth);
		const rest = {
			theme: theme(),
			width,
			...this.look,
			alone: onPaper(),
		};
		return { width, height: heightOf(this.figure, rest) };
	}

	#whole(): readonly [number, number] {
		const { figure } = this;
		if (figure.kind === "time" || figure.kind === "heat")
			return [figure.from, figure.to];
		const stops = stopsOf(figure, { ...this.view(), zoom: null });
		return [stops[0] ?? 0, stops.at(-1) ?? 1];
	}

	#shown(): readonly [number, number] {
		return this.look.zoom ?? this.#whole();
	}

	#zoom([from, to]: readonly [number, number]): void {
		const [first, last] = this.#whole();
		const whole = last - first;
		if (!(whole > 0) || to - from < whole / DEEPEST) return;
		const all = from <= first && to >= last;
		this.look.zoom = all ? null : [Math.max(first, from), Math.min(last, to)];
		this.draw();
	}

	#listen(): void {
		const canvas = this.#canvas;
		canvas.addEventListener("keydown", (event) => this.#key(event));
		canvas.addEventListener("blur", () => this.hide());
		canvas.addEventListener("pointermove", (event) => {
			const x = this.#pixel(event);
			if (this.#from !== null) this.#mark(this.#from, x);
			const at = this.#value(x);
			if (at !== null) this.#point(at, false);
		});
		canvas.addEventListener("pointerleave", () => {
			if (this.#from === null && document.activeElement !== canvas) this.hide();
		});
		canvas.addEventListener("pointerdown", (event) => {
			if (event.button !== 0) return;
			// A finger scrolls the page, and a tap points; for zoom it has the buttons.
			if (event.pointerType === "touch") {
				const at = this.#value(this.#pixel(event));
				if (at !== null) this.#point(at, false);
				return;
			}
			this.#from = this.#pixel(event);
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointerup", (event) => {
			const [from, to] = [this.#from, this.#pixel(event)];
			this.#stopDrag();
			if (from === null) return;
			if (Math.abs(to - from) < SHORTEST_DRAG) {
				if (this.#at !== null) this.chosen(this.#at);
				return;
			}
			const [a, b] = [this.#value(from), this.#value(to)];
			if (a !== null && b !== null)
				this.#zoom([Math.min(a, b), Math.max(a, b)]);
		});
		canvas.addEventListener("pointercancel", () => this.#stopDrag());
		canvas.addEventListener("dblclick", () => this.showAll());
		canvas.addEventListener(
			"wheel",
			(event) => {
				// Without a key the wheel scrolls the page.
				if (!event.ctrlKey && !event.metaKey) return;
				event.preventDefault();
				const around = this.#value(this.#pixel(event));
				this.zoomBy(event.deltaY < 0 ? 1 / STEP : STEP, around);
			},
			{ passive: false },
		);
	}

	#key(event: KeyboardEvent): void {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const steps: Readonly<Record<string, () => void>> = {
			ArrowRight: () => (event.shiftKey ? this.pan(0.25) : this.#step(1)),
			ArrowLeft: () => (event.shiftKey ? this.pan(-0.25) : this.#step(-1)),
			PageDown: () => this.#step(10),
			PageUp: () => this.#step(-10),
			Home: () => this.#step(Number.NEGATIVE_INFINITY),
			End: () => this.#step(Number.POSITIVE_INFINITY),
			"+": () => this.zoomBy(1 / STEP),
			"=": () => this.zoomBy(1 / STEP),
			"-": () => this.zoomBy(STEP),
			"0": () => this.showAll(),
			Enter: () => {
				if (this.#at !== null) this.chosen(this.#at);
			},
			Escape: () => {
				this.#stopDrag();
				this.hide();
			},
		};
		const step = steps[event.key];
		if (step === undefined) return;
		event.preventDefault();
		step();
	}

	/** To the next place but `by` at which there is something. */
	#step(by: number): void {
		const [from, to] = this.#shown();
		const stops = stopsOf(this.figure, this.view()).filter(
			(x) => x >= from && x <= to,
		);
		const last = stops.length - 1;
		const at = this.#at;
		const now = at === null ? -1 : stops.findLastIndex((x) => x <= at + 1e-9);
		const next =
			at === null && by === 1 ? 0 : Math.max(0, Math.min(last, now + by));
		const x = stops[next];
		if (x !== undefined) this.#point(x, true);
	}

	#point(x: number, aloud: boolean): void {
		const view = this.view();
		const reading = readingAt(this.figure, view, x);
		if (reading === null) {
			this.hide();
			return;
		}
		this.#at = reading.x;
		const left = this.#chart.convertToPixel({ xAxisIndex: 0 }, reading.x);
		if (!Number.isFinite(left)) return;
		this.#cross.style.cssText = `left:${left}px;top:0;height:${view.height}px`;
		this.#cross.hidden = false;
		this.#tell(reading, left, view);
		if (aloud)
			this.#said.textContent = [
				reading.title,
				...reading.rows.map(({ name, text }) => `${name} ${text}`),
			].join(", ");
	}

	#tell(reading: Reading, left: number, view: View): void {
		const tip = this.#tip;
		const table = element("table", "");
		for (const { key, name, text } of reading.rows) {
			const row = table.insertRow();
			const head = row.appendChild(element("th", ""));
			if (key) head.append(swatchOf(key, view.theme));
			head.append(name);
			row.insertCell().textContent = text;
		}
		tip.replaceChildren(element("b", "", reading.title), table);
		tip.hidden = false;
		// Beside the pointer, on the side that has more room, and never out of the picture.
		const wide = Math.min(tip.offsetWidth, view.width);
		const right = left + 14 + wide <= view.width;
		const at = right ? left + 14 : Math.max(0, left - 14 - wide);
		tip.style.left = `${at}px`;
		tip.style.top = "8px";
	}

	#mark(from: number, to: number): void {
		const [left, right] = [Math.min(from, to), Math.max(from, to)];
		this.#band.style.cssText = `left:${left}px;width:${right - left}px;top:0;height:${this.#canvas.clientHeight}px`;
		this.#band.hidden = false;
	}

	#stopDrag(): void {
		this.#from = null;
		this.#band.hidden = true;
	}

	#pixel(event: MouseEvent): number {
		return event.clientX - this.#canvas.getBoundingClientRect().left;
	}

	/** A pixel in the axis' own numbers, kept within what is shown. */
	#value(pixel: number): number | null {
		const value = this.#chart.convertFromPixel({ xAxisIndex: 0 }, pixel);
		if (!Number.isFinite(value)) return null;
		const [from, to] = this.#shown();
		return Math.max(from, Math.min(to, value));
	}
}

/** CSS pixels. */
const PAPER_WIDTH = 690;
const MIN_WIDTH = 260;
const SHORTEST_DRAG = 6;
/** Zoom of one press, and how small a part of the whole can be shown. */
const STEP = 2;
const DEEPEST = 1000;
