/** Pixels between which a stretch can be marked, and what is done with it. */
export interface Markable {
	readonly least: number;
	readonly most: number;
	readonly show: (from: number, to: number) => void;
}

/** A drag with a mouse marks a stretch; Escape gives it up. Fingers scroll the page, and have the slider. */
export function marksStretch(
	canvas: HTMLElement,
	from: (x: number, y: number) => Markable | null,
): void {
	canvas.addEventListener("pointerdown", ({ pointerType, button, clientX, clientY }) => {
		const { left, top } = canvas.getBoundingClientRect();
		const start = clientX - left;
		const area = from(start, clientY - top);
		if (pointerType !== "mouse" || button !== 0 || area === null) return;
		const mark = canvas.appendChild(document.createElement("div"));
		mark.className = "mark";
		const over = new AbortController();
		let stretch: [number, number] = [start, start];
		const end = () => {
			over.abort();
			mark.remove();
		};
		const on = <K extends keyof WindowEventMap>(name: K, act: (event: WindowEventMap[K]) => void) =>
			addEventListener(name, act, { signal: over.signal });
		on("pointermove", (event) => {
			const now = Math.max(area.least, Math.min(area.most, event.clientX - left));
			stretch = [Math.min(start, now), Math.max(start, now)];
			mark.style.left = `${stretch[0]}px`;
			mark.style.width = `${stretch[1] - stretch[0]}px`;
		});
		on("pointerup", () => {
			end();
			if (stretch[1] - stretch[0] >= LEAST) area.show(stretch[0], stretch[1]);
		});
		on("pointercancel", end);
		on("keydown", ({ key }) => {
			if (key === "Escape") end();
		});
	});
}

// --- internal ---

/** Pixels; a hand that clicks may move that far. */
const LEAST = 5;
