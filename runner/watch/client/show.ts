import { liveFigure } from "../live-figure.ts";
import type { CurrentRun, RunRow, Valued, WatchState } from "../state.ts";
import { type Draw, drawIn } from "./draw.ts";
import { element, filled, place } from "./elements.ts";

/** Shows the state; what has not changed since it was shown last stays as it is. `lost`: nothing new comes at the moment. */
export function show(state: WatchState, lost: boolean): void {
	const changed = (key: keyof WatchState) => state[key] !== seen?.[key];
	place("scenario").textContent = state.scenario;
	place("where").textContent = `Results: ${state.folder}`;
	badge(state, lost);
	const over = state.end !== null;
	place("stop").hidden = state.stopping || over || lost;
	filled("doing", over ? null : state.status);
	if (state.stopping || over) filled("news", state.end ?? STOPPING);
	if (changed("current")) current(state);
	if (changed("figures")) curves(state.figures);
	if (changed("runs")) runs(state.runs);
	if (changed("log")) log(state.log);
	seen = state;
}

// --- internal ---

let seen: WatchState | null = null;

const STOPPING = "Stopping, as by one Ctrl-C: waiting for the last results.";
/** More runs that wait are told by their number. */
const MOST_WAITING = 12;

function badge({ stopping, end, current }: WatchState, lost: boolean): void {
	const [text, look] =
		end !== null
			? ["ENDED", "error"]
			: lost
				? ["CONNECTION LOST", "warn"]
				: stopping
					? ["STOPPING", "warn"]
					: current === null
						? ["STARTING", "unknown"]
						: ["RUNNING", "ok"];
	const one = place("state");
	if (one.textContent !== text) one.textContent = text as string;
	one.className = `badge ${look}`;
}

let seconds: Draw | null = null;

function current(state: WatchState): void {
	const { current: run } = state;
	if (run === null) return;
	const { rows, done, frame } = run;
	filled("title", run.title);
	const bar = place<HTMLProgressElement>("done");
	bar.hidden = done === null;
	bar.value = done ?? 0;
	const figures = place("figures");
	figures.replaceChildren();
	for (const [label, parts] of rows) {
		const row = element("tr");
		const head = element("th", "", label);
		head.scope = "row";
		const cell = element("td", "");
		for (const part of parts) cell.append(element("span", "", part), " ");
		row.append(head, cell);
		figures.append(row);
	}
	const percent = done === null ? "" : `${Math.floor(done * 100)} % `;
	document.title = `${percent}${frame.title} - mqbench`;
	const figure = liveFigure(run, placeOf(run, state.runs));
	const block = place("seconds");
	seconds ??= drawIn(block);
	if (figure === null) block.replaceChildren();
	else seconds(figure);
}

/** Its colour is that of its system in the report. */
function placeOf(run: CurrentRun, runs: readonly RunRow[]) {
	const systems = [...new Set(runs.map(({ system }) => system))];
	const system = runs.find(({ index }) => index === run.index)?.system ?? "";
	return { place: Math.max(0, systems.indexOf(system)) };
}

const curveDraws = new Map<string, Draw>();

function curves(figures: WatchState["figures"]): void {
	place("curves").hidden = figures.length === 0;
	for (const figure of figures) {
		let draw = curveDraws.get(figure.id);
		if (draw === undefined) {
			const block = element("figure", "chart live");
			block.id = `figure-${figure.id}`;
			place("curve-list").append(block);
			draw = drawIn(block);
			curveDraws.set(figure.id, draw);
		}
		draw(figure);
	}
}

function runs(all: readonly RunRow[]): void {
	place("runs").hidden = all.length === 0;
	const done = all.filter(({ is }) => is === "done").length;
	place("count").textContent = `${done} of ${all.length} done`;
	const waiting = all.filter(({ is }) => is === "waiting");
	const left = new Set(waiting.slice(MOST_WAITING));
	const rows = all.filter((run) => !left.has(run)).map(runRow);
	if (left.size > 0) {
		const cell = element("td", "", `and ${left.size} more`);
		cell.colSpan = 6;
		rows.push(element("tr", "waiting", cell));
	}
	const table = place("run-rows");
	table.replaceChildren();
	for (const row of rows) table.append(row);
}

function runRow({ system, case: name, repeat, is, judged }: RunRow) {
	const head = element("th", "", `${system}: ${name}`);
	head.scope = "row";
	if (repeat !== null) head.append(element("small", "", `repeat ${repeat}`));
	const word = judged?.verdict.toUpperCase() ?? is;
	const look = judged === null ? "soft" : `badge ${judged.verdict}`;
	const verdict = element("td", "", element("span", look, word));
	const cell = (label: string, value: Valued | undefined) => {
		const made = element("td", "n");
		if (value === undefined) return made;
		made.dataset.l = label;
		made.append(value.value);
		if (value.interval !== "") made.append(element("small", "", value.interval));
		return made;
	};
	const throughput = judged?.throughput ?? undefined;
	return element(
		"tr",
		is,
		head,
		verdict,
		cell("p50", judged?.p50),
		cell("p99", judged?.p99),
		cell("throughput", throughput === undefined ? undefined : { value: throughput, interval: "" }),
		element("td", "", judged?.why ?? ""),
	);
}

/** Lines are only ever added, unless a new snapshot comes. */
function log(lines: WatchState["log"]): void {
	place("said").hidden = lines.length === 0;
	const list = place("log");
	const from = seen !== null && lines[0] === seen.log[0] ? seen.log.length : 0;
	if (from === 0) list.replaceChildren();
	for (const { at, text } of lines.slice(from)) {
		const time = element("time", "", new Date(at).toLocaleTimeString("en-GB"));
		list.append(element("li", "", time, element("span", "", text)));
	}
}
