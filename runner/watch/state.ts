import type { Verdict } from "../model/verdict.ts";
import type { RateFigure, TimeFigure } from "../report/charts/figure.ts";

/**
 * What the page of a command that is under way shows. Server and page hold the same state: a page gets all of it when it connects, then
 * what happens. Every text is masked, and in the words of terminal and report.
 */
export interface WatchState {
	readonly scenario: string;
	/** Folder of the results, as a person finds it. */
	readonly folder: string;
	/** In the order in which they are made; those of searches, and of --confirm, are added as they come. */
	readonly runs: readonly RunRow[];
	/** The run, or floor, that is under way, or was last; null: none has begun. */
	readonly current: CurrentRun | null;
	/** Latency over rate, or by case: of searches, steps and cases, as far as they are measured. */
	readonly figures: readonly RateFigure[];
	readonly log: readonly LogLine[];
	/** What goes on beside the runs, as "packages 40/800" of a build; null: nothing that is told. */
	readonly status: string | null;
	/** Somebody has stopped the command. */
	readonly stopping: boolean;
	/** How the command ended without a report; null: it has not. */
	readonly end: string | null;
}

export interface RunRow {
	/** `Plan.index` */
	readonly index: number;
	readonly system: string;
	readonly case: string;
	/** "repeat 1/3"; null: there is one. */
	readonly repeat: string | null;
	readonly is: "waiting" | "running" | "done";
	/** null until it is judged. */
	readonly judged: JudgedRow | null;
}

/** The figures of a run as the report has them. */
export interface JudgedRow {
	readonly verdict: Verdict;
	/** Why it did not pass; null: it did. */
	readonly why: string | null;
	/** What the percentiles are of: "response". */
	readonly metric: string;
	readonly p50: Valued;
	readonly p99: Valued;
	/** "3 000/s": received, of a system or pattern without receipts sent; null: not known. */
	readonly throughput: string | null;
}

export interface Valued {
	/** "1.2ms", "~1.2ms", "> 30s", "n/a" */
	readonly value: string;
	/** "[1.1ms, 1.4ms]"; "" without one. */
	readonly interval: string;
}

export interface CurrentRun {
	/** `Plan.index`; null: a floor. */
	readonly index: number | null;
	readonly title: string;
	readonly frame: Frame;
	/** Share of its messages or of its schedule that is over, 0 .. 1; null: nothing yet. */
	readonly done: number | null;
	/** A label and its parts; without a label they go on with those above. */
	readonly rows: readonly (readonly [label: string, parts: readonly string[]])[];
	readonly seconds: readonly Second[];
}

/** What a picture of the run has before there is a single second. */
export interface Frame extends Pick<TimeFigure, "from" | "to" | "marks" | "title"> {
	/** When the window opens, seconds since T0. */
	readonly startS: number;
	/** It ends when it is through: its axis grows. */
	readonly closed: boolean;
	/** "response" */
	readonly metric: string;
	readonly limits: readonly { readonly text: string; readonly value: number }[];
}

/** A second of the run, as the generator told it. */
export interface Second {
	/** Its end, seconds since T0. */
	readonly at: number;
	/** ns; null: nothing came back. */
	readonly p50: number | null;
	readonly p99: number | null;
	/** "", or " (worst of 3 clients)" behind the names of percentiles. */
	readonly whose: string;
	/** Messages a second by name: "offered", "sent", "received". */
	readonly rates: readonly (readonly [name: string, perSecond: number])[];
	readonly inFlight: number;
	/** Waiting in the client library for its handler; null: not known. */
	readonly held: number | null;
	/** Cores in use by name: "generator"; only what is known. */
	readonly cores: readonly (readonly [name: string, cores: number])[];
}

export interface LogLine {
	/** ms since 1970. */
	readonly at: number;
	readonly text: string;
}

/** What happens, each at most a few times a second. */
export type WatchEvent =
	/** Rows that are new, or take the place of those with the same index. */
	| { readonly kind: "runs"; readonly runs: readonly RunRow[] }
	| { readonly kind: "begin"; readonly run: CurrentRun }
	| { readonly kind: "frame"; readonly frame: Frame }
	| ({ readonly kind: "second"; readonly second: Second } & Pick<CurrentRun, "done" | "rows">)
	| { readonly kind: "figures"; readonly figures: WatchState["figures"] }
	| ({ readonly kind: "log" } & LogLine)
	| { readonly kind: "status"; readonly status: string | null }
	| { readonly kind: "stopping" }
	| { readonly kind: "end"; readonly text: string };

export function emptyState(of: Pick<WatchState, "scenario" | "folder">): WatchState {
	return {
		...of,
		runs: [],
		current: null,
		figures: [],
		log: [],
		status: null,
		stopping: false,
		end: null,
	};
}

/** The state after an event. */
export function after(state: WatchState, event: WatchEvent): WatchState {
	const { current } = state;
	switch (event.kind) {
		case "runs":
			return { ...state, runs: placed(state.runs, event.runs) };
		case "begin":
			return {
				...state,
				current: event.run,
				runs: state.runs.map((run) =>
					run.index === event.run.index ? { ...run, is: "running" } : run,
				),
			};
		case "frame":
			return current === null ? state : { ...state, current: { ...current, frame: event.frame } };
		case "second": {
			if (current === null) return state;
			const { done, rows, second } = event;
			const seconds = [...current.seconds, second];
			return { ...state, current: { ...current, done, rows, seconds } };
		}
		case "figures":
			return { ...state, figures: event.figures };
		case "log": {
			const { at, text } = event;
			return { ...state, log: [...state.log, { at, text }] };
		}
		case "status":
			return { ...state, status: event.status };
		case "stopping":
			return { ...state, stopping: true };
		case "end":
			return { ...state, end: event.text };
	}
}

// --- internal ---

function placed(known: readonly RunRow[], news: readonly RunRow[]): readonly RunRow[] {
	const rows = new Map([...known, ...news].map((row) => [row.index, row]));
	return [...rows.values()].sort((a, b) => a.index - b.index);
}
