import {
	formatBytes as bytes,
	formatCount as count,
	formatDuration as duration,
	plural,
	plusMinus,
} from "../units.ts";

/** What the checks say of the files, the clients and the counts of a run. */
export const runChecks = {
	"broker-disk-full": (d: { folder: string; freeBytes: number; leftBytes: number }) =>
		`the broker's disk ran full: of ${bytes(d.freeBytes)} free at ${d.folder}, ${bytes(d.leftBytes)} were left. Make room, or set TMPDIR to a larger disk`,
	"not-counted": () => "no client has counted",

	"files-closed": () => "every file is closed and matches its sum",
	"files-unreadable": (d: { problem: string }) => d.problem,
	"run-aborted": (d: { afterNs: number; sla: string }) =>
		`stopped after ${duration(d.afterNs)}: ${d.sla} could not pass any more`,
	"run-unfinished": (d: { problem: string }) => d.problem,
	"client-unfinished": () => "not every client's result is whole: see clients",
	"k6-ended-oddly": (d: {
		signal: string | null;
		exitCode: number | null;
		client: string | null;
	}) =>
		`all results are there, but k6 ended with ${d.signal ?? `exit code ${d.exitCode}`}${d.client === null ? "" : ` on ${d.client}`}`,

	"clients-missing": (d: { whole: number; clients: number; problems: readonly string[] }) =>
		`${d.clients - d.whole} of ${d.clients} clients did not finish: ${d.problems.join("; ")}`,
	"clients-whole": (d: { clients: number }) => `all ${d.clients} clients finished`,
	"claim-unknown": () => "not every client has told when it began",
	"claimed-late": (d: { lateNs: number; client: string }) =>
		`${d.client} began to send ${duration(d.lateNs)} after the common start`,
	"claimed-in-time": (d: { aheadNs: number }) =>
		`every client was ready before the common start, the last one ${duration(d.aheadNs)} ahead`,

	suspended: (d: { machine: string; ns: number }) =>
		`${d.machine} was suspended for ${duration(d.ns)} during the run, as when a laptop's lid is closed; in that time nothing was sent or timed`,
	awake: () => "no load generator was suspended",

	"clock-not-compared": (d: { client: string; crossing: boolean }) =>
		`the clock of ${d.client} was not compared again after the run, so how far it moved meanwhile is not known${d.crossing ? ", and messages cross from client to client" : ""}`,
	"clock-contradicted": (d: { messages: number; earliestNs: number; boundNs: number }) =>
		`${plural(d.messages, "message")} arrived before ${d.messages === 1 ? "it was" : "they were"} sent, ${d.messages === 1 ? "" : "the worst "}by ${duration(d.earliestNs)}: the clocks are further apart than ${plusMinus(d.boundNs)}`,
	"clock-kept": (d: {
		boundNs: number;
		crossing: boolean;
		/** null: chrony keeps the clocks in step. */
		movedNs: number | null;
	}) =>
		`${d.crossing ? "times across clients are exact to" : "clients share their start to"} ${plusMinus(d.boundNs)}${d.movedNs === null ? ", by chrony on each of them" : `; their clocks moved by at most ${duration(d.movedNs)} during the run`}`,
	"clock-source-unknown": () => "the clock source cannot be read",
	"clock-source-slow": (d: { source: string }) =>
		`clock source ${d.source} is too slow or too coarse to time messages`,
	"clock-source-good": (d: { source: string }) => `clock source ${d.source}`,

	"counts-incomplete": () => "some counts are missing, so they were not added up",
	"counts-add-up": () => "all counts add up",
	"counts-differ": (d: { broken: readonly string[] }) =>
		`counts do not add up, a bug of mqbench: ${d.broken.join("; ")}`,
	"sla-counts-all": () => "the SLA counts every kind of missing message",
	"nobody-counts": (d: {
		intended: number;
		failed: number;
		unknown: number;
		lost: number;
		copies: boolean;
		lines: readonly string[];
	}) => {
		const kinds: [number, string, boolean][] = [
			[d.failed, "failed", false],
			[d.unknown, d.unknown === 1 ? "was never answered" : "were never answered", false],
			[
				d.lost,
				`${d.copies ? (d.lost === 1 ? "copy " : "copies ") : ""}${d.lost === 1 ? "was" : "were"} lost`,
				d.copies,
			],
		];
		const parts = kinds
			.filter(([n]) => n > 0)
			.map(
				([n, what, copies], i) =>
					`${count(n)}${i === 0 && !copies ? ` of ${plural(d.intended, "message")}` : ""} ${what}`,
			);
		return `${parts.join(", ")}, and no SLA line counts them: add ${d.lines.join(" and ")}, or a latency`;
	},
	"nothing-completed": (d: { intended: number }) =>
		`none of the ${count(d.intended)} messages of the window completed`,
	"run-unfinished-counts": () => "the run was not completed",

	"values-in-range": () => "every value was between 0 and 1h",
	"values-out-of-range": (d: { clamped: number; negative: number }) =>
		`${plural(d.clamped, "value")} above 1h ${d.clamped === 1 ? "was" : "were"} recorded as 1h, ${count(d.negative)} below 0 as 0`,

	"faults-unknown": () => "what was done to the broker was not written down",
	"faults-none-yet": () => "the run was stopped before the first fault",
	"faults-done": (d: { faults: readonly string[] }) => `${d.faults.join(", ")}: carried out`,
	"faults-not-done": (d: {
		missing: readonly string[];
		failed: readonly string[];
		/** Why, of each in `failed`. */
		errors: readonly string[];
	}) =>
		[
			...d.missing.map((name) => `${name} did not happen`),
			...d.failed.map((name, i) => `${name} was not carried out as planned: ${d.errors[i] ?? ""}`),
		].join("; "),
};
