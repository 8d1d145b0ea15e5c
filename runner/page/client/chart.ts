import {
	DataZoomInsideComponent,
	DataZoomSliderComponent,
	TooltipComponent,
} from "echarts/components";
import type { EChartsType } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { init, use } from "../../chart/echarts.ts";
import { shown } from "../../chart/frame.ts";
import type { Figure, View } from "../../chart/old-figure.ts";
import { firstView, heightOf, isLogarithmic, offAtFirst, optionOf } from "../../chart/options.ts";
import { pictureOf } from "../../chart/picture.ts";
import { type Reading, readingAt, stopsOf } from "../../chart/readings.ts";
import { type Markable, marksStretch } from "./drag.ts";
import { element } from "./elements.ts";
import { onPaper, theme } from "./theme.ts";
import { tipOf } from "./tip.ts";

use([CanvasRenderer, DataZoomInsideComponent, DataZoomSliderComponent, TooltipComponent]);

/**
 * A figure that ECharts draws, with its own pointer, zoom and tooltip; the words are ours, and arrow keys move the pointer as well. It lives
 * as long as the page: what changes is updated in place.
 */
export class Chart {
	/** Groups that are switched off. */
	readonly off: Set<string>;
	logarithmic: boolean | null = null;
	/** Called when a group has been switched on or off. */
	switched: () => void = () => {};
	/** Called when it has been drawn anew: its colours may be others. */
	drawn: () => void = () => {};
	#figure: Figure;
	readonly #canvas = element("div", "canvas");
	readonly #said = element("p", "unseen");
	readonly #chart: EChartsType;
	readonly #plot: HTMLElement;
	/** Where the pointer is, pixels. */
	#pointer: readonly [x: number, y: number] = [0, 0];
	#stop: number | null = null;

	constructor(plot: HTMLElement, figure: Figure) {
		this.#figure = figure;
		this.#plot = plot;
		this.off = offAtFirst(figure);
		this.#said.setAttribute("aria-live", "polite");
		const canvas = this.#canvas;
		canvas.tabIndex = 0;
		canvas.setAttribute("role", "application");
		canvas.setAttribute("aria-roledescription", "chart");
		canvas.setAttribute("aria-describedby", `${figure.id}-alt`);
		plot.replaceChildren(canvas, this.#said);
		const view = this.view();
		canvas.style.height = `${view.height}px`;
		this.#chart = init(canvas, null, {
			renderer: "canvas",
			width: view.width,
			height: view.height,
		});
		this.#listen();
		this.draw();
	}

	get figure(): Figure {
		return this.#figure;
	}

	/** Draws it as the page is now: colours, width, paper; another figure of the same id takes the place of the one before. */
	draw(figure: Figure = this.#figure): void {
		this.#figure = figure;
		const view = this.view();
		this.#canvas.style.height = `${view.height}px`;
		this.#plot.style.minHeight = `${view.height}px`;
		this.#canvas.setAttribute(
			"aria-label",
			`${figure.title}. Arrow keys move a pointer and tell values, 0 shows all.${figure.kind === "trend" ? " Enter opens the report." : ""}`,
		);
		if (this.#chart.getWidth() !== view.width || this.#chart.getHeight() !== view.height)
			this.#chart.resize({ width: view.width, height: view.height });
		const stretch = this.#stretch();
		this.#chart.setOption(
			{ ...optionOf(figure, view), ...pointerOf(figure, view, (params) => this.#tip(params)) },
			{ replaceMerge: ["series", "grid", "xAxis", "yAxis", "title"] },
		);
		if (stretch !== null) this.#show(stretch[0], stretch[1]);
		this.#canvas.dataset.drawn = view.theme;
		this.drawn();
	}

	/** Draws it anew if its width is another one. */
	fit(): void {
		if (this.#width() !== this.#chart.getWidth()) this.draw();
	}

	view(): View {
		const view = {
			theme: theme(),
			width: this.#width(),
			off: this.off,
			logarithmic: this.logarithmic,
			// On paper there are no switches to tell the curves by: the picture has its own title and legend.
			alone: onPaper(),
		};
		return { ...view, height: heightOf(this.#figure, view) };
	}

	/** Switches a group on or off, without drawing the others anew. */
	toggle(group: string): void {
		if (!this.off.delete(group)) this.off.add(group);
		this.#chart.dispatchAction({ type: "legendToggleSelect", name: shown(group) });
		this.switched();
	}

	get isLogarithmic(): boolean {
		return isLogarithmic(this.#figure, this.view());
	}

	showAll(): void {
		this.#chart.dispatchAction({ type: "dataZoom", start: 0, end: 100 });
	}

	/** The picture as it is shown, on its own: with title, facts and legend. */
	svg(): string {
		return pictureOf(this.#figure, this.#alone());
	}

	/** The same as a PNG of twice the pixels, as a data: URL. */
	png(): string {
		const view = this.#alone();
		const chart = init(element("div", ""), null, {
			renderer: "canvas",
			width: view.width,
			height: view.height,
			devicePixelRatio: 2,
		});
		try {
			chart.setOption(optionOf(this.#figure, view));
			return chart.getDataURL({ type: "png", pixelRatio: 2 });
		} finally {
			chart.dispose();
		}
	}

	#alone(): View {
		const view = {
			...firstView(this.#figure, theme(), Math.max(720, this.#width())),
			off: this.off,
			logarithmic: this.logarithmic,
		};
		return { ...view, height: heightOf(this.#figure, view) };
	}

	#width(): number {
		return onPaper() ? PAPER_WIDTH : Math.max(MIN_WIDTH, this.#plot.clientWidth);
	}

	#listen(): void {
		const zr = this.#chart.getZr();
		for (const name of ["mousemove", "click"] as const)
			zr.on(name, ({ offsetX, offsetY }) => {
				this.#pointer = [offsetX, offsetY];
				this.#stop = null;
			});
		zr.on("dblclick", () => this.showAll());
		marksStretch(this.#canvas, (x, y) => this.#zoomable(x, y));
		// The library keeps every wheel to itself, also one that does not zoom: without Ctrl it is the page's.
		this.#canvas.addEventListener(
			"wheel",
			(event) => {
				if (!event.ctrlKey) event.stopPropagation();
			},
			{ capture: true, passive: true },
		);
		if (this.#figure.kind === "trend")
			zr.on("click", () => {
				// A tap shows the tooltip, which has the link.
				const href = FINE.matches ? this.#pointed()?.href : null;
				if (href != null) location.assign(href);
			});
		this.#canvas.addEventListener("keydown", (event) => {
			if (event.key === "ArrowLeft") this.#step(-1);
			else if (event.key === "ArrowRight") this.#step(1);
			else if (event.key === "Home") this.#step(Number.NEGATIVE_INFINITY);
			else if (event.key === "End") this.#step(Number.POSITIVE_INFINITY);
			else if (event.key === "0") this.showAll();
			else if (event.key === "Escape") this.#hide();
			else if (event.key === "Enter") {
				const href = this.#reading(0)?.rows.find((row) => row.href)?.href;
				if (href != null) location.assign(href);
				return;
			} else return;
			event.preventDefault();
		});
	}

	/** What is below the pointer, the nearest first. */
	#read(): Reading | null {
		const panel = this.#panel();
		const [x] = this.#chart.convertFromPixel({ gridIndex: panel }, [...this.#pointer]) as [number];
		const reading = readingAt(this.#figure, this.view(), this.#value(x), panel);
		if (reading === null) return null;
		const distance = ({ at }: Reading["rows"][number]) =>
			at === null
				? Number.POSITIVE_INFINITY
				: Math.abs(
						(this.#chart.convertToPixel({ yAxisIndex: at.panel }, at.value) as number) -
							this.#pointer[1],
					);
		// Over time values have their order, but those of its panel come first.
		const far =
			this.#figure.kind === "time"
				? ({ at }: Reading["rows"][number]) => (at === null || at.panel === panel ? 0 : 1)
				: distance;
		return this.#figure.kind === "heat"
			? reading
			: { ...reading, rows: reading.rows.toSorted((a, b) => far(a) - far(b)) };
	}

	/** The row whose point lies right below the pointer. */
	#pointed(): Reading["rows"][number] | undefined {
		const reading = this.#read();
		return reading?.rows.find(({ at }) => {
			if (at === null) return false;
			const [x = 0, y = 0] = this.#chart.convertToPixel({ gridIndex: 0 }, [
				reading.x,
				at.value,
			]) as number[];
			return Math.hypot(x - this.#pointer[0], y - this.#pointer[1]) <= NEAR;
		});
	}

	#tip(params: unknown): HTMLElement | string {
		const reading = this.#stop === null ? this.#read() : this.#reading(this.#panel());
		return params === null || reading === null ? "" : tipOf(reading, theme());
	}

	/** Category axes count their places. */
	#value(x: number): number {
		return this.#figure.kind === "rate" && this.#figure.axis.names !== null ? Math.round(x) : x;
	}

	#panel(): number {
		const { grid } = this.#chart.getOption() as { grid?: unknown[] };
		const all = (grid ?? [0]).map((_, i) => i);
		return (
			all.find((gridIndex) => this.#chart.containPixel({ gridIndex }, [...this.#pointer])) ?? 0
		);
	}

	#reading(panel: number): Reading | null {
		return this.#stop === null ? null : readingAt(this.#figure, this.view(), this.#stop, panel);
	}

	/** The pointer goes so many stops further, and says what is there. */
	#step(by: number): void {
		const [from, to] = this.#stretch() ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
		const stops = stopsOf(this.#figure, this.view()).filter((x) => x >= from && x <= to);
		const now = this.#stop === null ? -1 : stops.indexOf(this.#stop);
		const next = stops[Math.max(0, Math.min(stops.length - 1, now + by))];
		if (next === undefined) return;
		this.#stop = next;
		const x = this.#chart.convertToPixel({ xAxisIndex: 0 }, next) as number;
		const y = (this.#chart.getOption() as { grid?: { top?: number }[] }).grid?.[0]?.top;
		this.#chart.dispatchAction({ type: "showTip", x, y: (y ?? 30) + 20 });
		const reading = this.#reading(0);
		if (reading !== null)
			this.#said.textContent = [
				reading.title,
				...reading.rows.map(({ name, text }) => `${name} ${text}`),
			].join(", ");
	}

	#hide(): void {
		this.#stop = null;
		this.#chart.dispatchAction({ type: "hideTip" });
	}

	/** The stretch of the x axis that is shown; null: all of it, or there is none to zoom. */
	#stretch(): [from: number, to: number] | null {
		const option = this.#chart.getOption() as {
			dataZoom?: { start?: number; end?: number; startValue?: number; endValue?: number }[];
		};
		const zoom = option?.dataZoom?.[0];
		if (zoom === undefined || (zoom.start === 0 && zoom.end === 100)) return null;
		const { startValue, endValue } = zoom;
		return startValue === undefined || endValue === undefined ? null : [startValue, endValue];
	}

	#show(startValue: number, endValue: number): void {
		this.#chart.dispatchAction({ type: "dataZoom", startValue, endValue });
	}

	/** What a drag from there can mark; null: nothing. */
	#zoomable(x: number, y: number): Markable | null {
		const { grid = [], dataZoom = [] } = this.#chart.getOption() as {
			grid?: { left: number; right: unknown; width: unknown }[];
			dataZoom?: unknown[];
		};
		const panel = grid.findIndex((_, gridIndex) => this.#chart.containPixel({ gridIndex }, [x, y]));
		const area = grid[panel];
		if (area === undefined || dataZoom.length === 0) return null;
		const { left, right, width } = area;
		const valueAt = (at: number) =>
			this.#chart.convertFromPixel({ xAxisIndex: panel }, at) as unknown as number;
		return {
			least: left,
			most: typeof width === "number" ? left + width : this.#chart.getWidth() - Number(right),
			show: (from, to) => this.#show(valueAt(from), valueAt(to)),
		};
	}
}

// --- internal ---

/** CSS pixels. */
const NEAR = 12;
const PAPER_WIDTH = 690;
const MIN_WIDTH = 260;
const FINE = matchMedia("(pointer: fine)");

function pointerOf(
	{ kind }: Figure,
	view: View,
	formatter: (params: unknown) => HTMLElement | string,
) {
	return {
		tooltip: {
			show: !view.alone && kind !== "ratios",
			className: "tip",
			trigger: "axis",
			confine: true,
			enterable: true,
			transitionDuration: 0,
			axisPointer: { type: "line", animation: false, snap: false },
			formatter,
			// The style sheet's, not the library's.
			backgroundColor: "",
			borderColor: "",
			borderWidth: 0,
			padding: 0,
			extraCssText: "box-shadow:none",
		},
	};
}
