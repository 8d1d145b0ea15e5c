import { DataZoomSliderComponent, ToolboxComponent, TooltipComponent } from "echarts/components";
import type { EChartsType } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import type { Figure, View } from "../../chart/figure.ts";
import { shown } from "../../chart/head.ts";
import { heightOf, isLogarithmic, optionOf } from "../../chart/option.ts";
import { type Reading, type ReadingRow, readingAt, stopsOf } from "../../chart/read.ts";
import { init, svgOf, use } from "../../chart/svg.ts";
import { markup } from "../markup.ts";
import { onPaper, theme } from "./theme.ts";
import { tipOf } from "./tip.ts";

use([CanvasRenderer, DataZoomSliderComponent, ToolboxComponent, TooltipComponent]);

/** A figure drawn by ECharts, with its pointer, zoom and tooltip, and our words. It is updated in place. */
export class Chart {
	readonly figure: Figure;
	readonly off = new Set<string>();
	#logarithmic: boolean | null = null;
	#drawn: View | null = null;
	readonly #plot: HTMLElement;
	readonly #canvas: HTMLElement;
	readonly #chart: EChartsType;
	/** Where the pointer is, pixels. */
	#pointer: [x: number, y: number] = [0, 0];

	constructor(plot: HTMLElement, figure: Figure) {
		this.figure = figure;
		this.#plot = plot;
		plot.innerHTML =
			markup`<div class="canvas" role="img" aria-describedby="${figure.id}-alt" aria-label="${figure.title}"></div>`.text;
		this.#canvas = plot.firstElementChild as HTMLElement;
		const { width, height } = this.#view();
		this.#chart = init(this.#canvas, null, { renderer: "canvas", width, height });
		this.#listen();
		this.#draw();
	}

	#draw(view = this.#view()): void {
		const { width, height } = view;
		this.#canvas.style.height = `${height}px`;
		this.#plot.style.minHeight = `${height}px`;
		if (this.#chart.getWidth() !== width || this.#chart.getHeight() !== height)
			this.#chart.resize({ width, height });
		const tooltip = {
			show: !view.alone && stopsOf(this.figure, this).length > 0,
			className: "tip",
			trigger: "axis",
			confine: true,
			enterable: true,
			transitionDuration: 0,
			axisPointer: { type: "line", animation: false, snap: false },
			formatter: (params: unknown) => this.#tip(params),
		};
		// Dragging with a mouse zooms through the library's hidden button. Fingers scroll the page, and have the slider.
		const toolbox = {
			itemSize: 0,
			feature: { dataZoom: { yAxisIndex: "none", filterMode: "none" } },
		};
		const drags = FINE.matches && this.zooms;
		this.#chart.setOption(
			{ ...optionOf(this.figure, view), tooltip, ...(drags && { toolbox }) },
			{ replaceMerge: ["series", "grid", "xAxis", "yAxis", "title"] },
		);
		this.#chart.dispatchAction({
			type: "takeGlobalCursor",
			key: "dataZoomSelect",
			dataZoomSelectActive: drags,
		});
		this.#canvas.dataset.drawn = view.theme;
		this.#drawn = view;
	}

	refresh(): void {
		const { theme, width, alone } = this.#view();
		const was = this.#drawn;
		if (was?.theme !== theme || was.width !== width || was.alone !== alone) this.#draw();
	}

	/** Switches a group without redrawing the others; returns whether it is on. */
	toggle(group: string): boolean {
		const on = this.off.delete(group);
		if (!on) this.off.add(group);
		this.#chart.dispatchAction({ type: "legendToggleSelect", name: shown(group) });
		return on;
	}

	get isLogarithmic(): boolean {
		return isLogarithmic(this.figure, { logarithmic: this.#logarithmic });
	}

	/** Switches between logarithmic and linear; returns whether it is logarithmic. */
	toggleScale(): boolean {
		this.#logarithmic = !this.isLogarithmic;
		this.#draw();
		return this.isLogarithmic;
	}

	/** Names have no range to zoom. */
	get zooms(): boolean {
		const { scale } = this.figure.x;
		return scale === "seconds" || scale === "date" || (FINE.matches && scale !== "names");
	}

	showAll(): void {
		this.#chart.dispatchAction({ type: "dataZoom", start: 0, end: 100 });
	}

	/** The picture as shown, with title, facts and legend. */
	svg(): string {
		return svgOf(this.figure, this.#alone());
	}

	/** The same as a PNG with twice the pixels, as a data: URL. */
	png(): string {
		this.#draw(this.#alone());
		const url = this.#chart.getDataURL({ type: "png", pixelRatio: 2 });
		this.#draw();
		return url;
	}

	#alone(): View {
		return this.#view(true, Math.max(720, this.#width()));
	}

	/** Paper has no switches that name the curves, so the picture has its own title and legend. */
	#view(alone = onPaper(), width = this.#width()): View {
		const view = { theme: theme(), width, off: this.off, logarithmic: this.#logarithmic, alone };
		return { ...view, height: heightOf(this.figure, view) };
	}

	#width(): number {
		return onPaper() ? PAPER_WIDTH : Math.max(MIN_WIDTH, this.#plot.clientWidth);
	}

	#listen(): void {
		const zr = this.#chart.getZr();
		for (const name of ["mousemove", "click"] as const)
			zr.on(name, ({ offsetX, offsetY }) => {
				this.#pointer = [offsetX, offsetY];
			});
		zr.on("dblclick", () => this.showAll());
		// A tap shows the tooltip, which has the link.
		if (FINE.matches)
			zr.on("click", () => {
				const href = this.#pointed();
				if (href !== undefined) location.assign(href);
			});
		// The library keeps every wheel event, even without a zoom: without Ctrl it belongs to the page.
		this.#canvas.addEventListener(
			"wheel",
			(event) => {
				if (!event.ctrlKey) event.stopPropagation();
			},
			{ capture: true, passive: true },
		);
	}

	#tip(params: unknown): string {
		const reading = this.#below();
		return params === null || reading === null ? "" : tipOf(reading).text;
	}

	#below(): Reading | null {
		const panel = this.#panel();
		const [x] = this.#chart.convertFromPixel({ gridIndex: panel }, this.#pointer) as [number];
		const reading = readingAt(this.figure, this, x, panel);
		if (reading === null) return null;
		const far = ({ at }: ReadingRow) => {
			// Over time values keep their order, but those of the pointer's panel come first.
			if (this.figure.x.scale === "seconds") return Number(at !== null && at.panel !== panel);
			return at === null
				? Number.POSITIVE_INFINITY
				: Math.abs(this.#pixel("yAxisIndex", at.panel, at.value) - this.#pointer[1]);
		};
		return { ...reading, rows: reading.rows.toSorted((a, b) => far(a) - far(b)) };
	}

	/** The report of the point right below the pointer. */
	#pointed(): string | undefined {
		const reading = this.#below();
		const row = reading?.rows[0];
		if (!reading || !row?.at) return undefined;
		const { panel, value } = row.at;
		const dx = this.#pixel("xAxisIndex", panel, reading.x) - this.#pointer[0];
		const dy = this.#pixel("yAxisIndex", panel, value) - this.#pointer[1];
		return Math.hypot(dx, dy) <= NEAR ? row.href : undefined;
	}

	#pixel(axis: "xAxisIndex" | "yAxisIndex", panel: number, value: number): number {
		return this.#chart.convertToPixel({ [axis]: panel }, value) as number;
	}

	#panel(): number {
		const at = (_: unknown, i: number) => this.#chart.containPixel({ gridIndex: i }, this.#pointer);
		return Math.max(0, this.figure.panels.findIndex(at));
	}
}

// --- internal ---

/** CSS pixels. */
const NEAR = 12;
const PAPER_WIDTH = 690;
const MIN_WIDTH = 260;
const FINE = matchMedia("(pointer: fine)");
