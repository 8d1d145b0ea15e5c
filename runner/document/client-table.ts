import type { Run } from "../model/result.ts";
import type { FailoverTable } from "../result/failover-table.ts";
import { countText, lagText } from "../result/words.ts";
import { plusMinus } from "../text/run-checks.ts";
import { tell } from "../text/tell.ts";
import { formatDuration } from "../units.ts";
import { movedBy } from "../verdict/checks/clock.ts";

/**
 * The clients of a run below each other, as words: the same in every report; how well they kept together, and who broke off. null: a single
 * process on this machine.
 */
export function clientTable(run: Run): FailoverTable | null {
	if (run.clients.length === 0) return null;
	return {
		title: "Clients: who made the load",
		head: ["client", "machine", "intended", "sent", "lag p99", "cores", "first claim", "clock"],
		rows: run.clients.map((c) => [
			`${c.index}: ${c.name}`,
			c.machine ?? "n/a",
			countText(c.intended),
			countText(c.sent),
			lagText(c),
			c.cores === null ? "n/a" : `${Number(c.cores.toPrecision(2))}`,
			claimText(c.firstClaimNs),
			clockText(c),
		]),
		notes: [...togetherTexts(run), ...problemsOf(run)],
		meaning: [tell("first-claim-means")],
	};
}

/** "client 0: this machine: machine linux amd64, ..., intended 5 000, sent 5 000, ...", and how well they kept together. Empty for a single process. */
export function clientTexts(run: Run): string[] {
	const table = clientTable(run);
	if (table === null) return [];
	return [
		...table.rows.map(
			([name, ...cells]) =>
				`client ${name}: ${cells.map((cell, i) => `${table.head[i + 1]} ${cell}`).join(", ")}`,
		),
		...table.notes,
	];
}

/** "their starts lay within 43ms"; "times across clients are exact to ±0.4ms". Empty for a single client. */
function togetherTexts(run: Run): string[] {
	const { startSkewNs, clockBoundNs } = run;
	return [
		...(startSkewNs === null ? [] : [tell("claims-within", { skew: formatDuration(startSkewNs) })]),
		...(clockBoundNs === null
			? []
			: [
					clockBoundNs === 0
						? tell("messages-cross-one-clock")
						: tell("messages-cross-clients", { bound: plusMinus(clockBoundNs) }),
				]),
	];
}

// --- internal ---

function problemsOf(run: Run): string[] {
	return run.clients.flatMap(({ error }) => error ?? []);
}

/** "100ms ahead", "3ms late" */
function claimText(ns: number | null): string {
	if (ns === null) return "n/a";
	return ns > 0 ? `${formatDuration(ns)} late` : `${formatDuration(-ns)} ahead`;
}

/** Behind "by probes". */
const PROBED: Readonly<Record<Run["clients"][number]["kind"], string>> = {
	local: "",
	docker: "",
	ssh: " over SSH",
	pod: " over exec",
};

/**
 * "±0.2ms by probes over SSH, moved 40us"; by chrony "±0.05ms by chrony, ±12ms against this machine's"; null is this machine's clock.
 */
function clockText({ clock, kind }: Run["clients"][number]): string {
	if (clock === null) return "this machine's";
	const moved = movedBy(clock);
	if (moved === null) return "not known";
	const bound = plusMinus(clock.boundNs);
	if (clock.source === "chrony")
		return `${bound} by chrony${clock.probedNs === null ? "" : `, ${plusMinus(clock.probedNs)} against this machine's`}`;
	return `${bound} by probes${PROBED[kind]}, moved ${formatDuration(moved)}`;
}
