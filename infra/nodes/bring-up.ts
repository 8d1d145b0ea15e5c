import { failure } from "../../runner/errors.ts";
import { interrupted } from "../../runner/stop.ts";
import type { BrokerRequest } from "../rig.ts";
import type { BrokerLog } from "./broker-log.ts";
import { type Health, untilHealthy } from "./health.ts";
import type { BrokerNode } from "./node.ts";
import { crowdedHere, patience } from "./patience.ts";
import type { End } from "./place.ts";

export interface BringUp {
	/** Nodes to start: all, except those that are running. */
	readonly nodes: readonly BrokerNode[];
	/** How many nodes the broker has. */
	readonly count: number;
	readonly health: Health;
	readonly request: Pick<BrokerRequest, "system" | "logPath">;
	readonly log: BrokerLog;
	/** The time limit for all of it. */
	readonly startMs: number;
	readonly stop: AbortSignal;
	/** Why its health could not be checked; "" if nothing is known. */
	trouble?(): string;
}

/** Runs the preparations, starts the nodes, and returns when each is ready and the broker is healthy. Fails with a suitable sentence. */
export async function bringUp({
	nodes,
	count,
	health,
	request: { system, logPath },
	log,
	startMs,
	stop,
	trouble = () => "",
}: BringUp): Promise<void> {
	const over = new AbortController();
	const limit: Promise<Step> = patience(
		startMs,
		AbortSignal.any([stop, over.signal]),
		nodes.some(({ place: { host } }) => host === null) ? crowdedHere : () => 1,
	).then(
		(limitMs) => ({ limitMs }),
		() => "stopped" as const,
	);
	const whose = ({ number, place: { host } }: BrokerNode) =>
		count === 1 ? "" : `node ${number} of ${count}${host === null ? "" : ` (${host})`}: `;
	/** Throws unless the step succeeded. */
	const judge = (step: Step, passed = "") => {
		if (step === "done") return;
		if (step === "stopped") throw interrupted(stop);
		const words = log.lastWords();
		const ending = words && `, last words: ${words}`;
		let reason: string;
		if ("limitMs" in step) {
			const why = passed === "" ? "" : trouble();
			const seconds = Number((step.limitMs / 1000).toFixed(1));
			const busy =
				step.limitMs === startMs
					? ""
					: `, more than the ${startMs / 1000}s that it gets on an idle machine: other programs use this one (mqbench doctor)`;
			reason = `it ${passed}took no connections within ${seconds}s${busy}${why && ` (through the SSH connection: ${why})`}${ending}`;
		} else reason = `${step.how}${ending}`;
		throw failure("broker-start", { system: system.key, reason, log: logPath });
	};
	try {
		const before = Promise.all(
			nodes.map(async (node) => {
				const failed = await runBefore(node, log, over.signal);
				return failed === null ? null : { how: `${whose(node)}${failed}` };
			}),
		).then((all) => all.find((one) => one !== null) ?? "done");
		judge(await Promise.race([before, limit]));
		const starts = await Promise.all(
			nodes.map(async (node) => ({ node, ...(await node.start()) })),
		);
		const ended = starts.map(async ({ node, ended }) => ({
			how: `${whose(node)}${(await ended).how}`,
		}));
		const ready = Promise.all(starts.map(({ ready }) => ready)).then(DONE);
		judge(await Promise.race([ready, limit, ...ended]));
		const healthy = untilHealthy(health, over.signal).then(DONE);
		judge(await Promise.race([healthy, limit, ...ended]), "was ready and ");
	} finally {
		over.abort();
	}
}

// --- internal ---

type Step = "done" | "stopped" | { readonly limitMs: number } | Pick<End, "how">;

const DONE = () => "done" as const;

/** Which command failed, and how; null: none failed. */
async function runBefore(
	{ place, command, number }: BrokerNode,
	log: BrokerLog,
	over: AbortSignal,
): Promise<string | null> {
	if (!place.run) return null;
	const { before = [], env = {} } = command;
	for (const argv of before) {
		// Start nothing more.
		if (over.aborted) return null;
		const { ended } = await place.run({ argv, env }, (line) => log.write(line, number));
		const { how, well } = await ended;
		if (!well) return `${argv[0]}: ${how}`;
	}
	return null;
}
