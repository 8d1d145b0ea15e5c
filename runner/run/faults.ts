import { setTimeout as sleep } from "node:timers/promises";
import type { Broker } from "../../infra/rig.ts";
import type { FaultAction, Plan } from "../model/plan.ts";
import type { FaultDone } from "../model/run-file.ts";
import { reasonOf } from "../reason.ts";
import { maskUrls } from "../secrets.ts";
import type { Clock } from "../world.ts";

/** Carries out the plan's faults of brokers; load generators do those of consumers. Each that fails or cannot be undone gets a reason, because its run does not show the planned fault. */
export function faultsOf(
	{ faults }: Pick<Plan, "faults">,
	broker: Tools["broker"],
	clock: Clock,
	leader: Tools["leader"],
) {
	const over = new AbortController();
	const done: FaultDone[] = [];
	let running: Promise<unknown> = Promise.resolve();
	return {
		begin(t0Ms: number) {
			const sinceMs = sinceT0(t0Ms, clock);
			const tools = { broker, sinceMs, leader };
			running = Promise.all(
				ofBrokers({ faults }).map(async (fault) => {
					await until(fault.atNs / 1e6, sinceMs, over.signal);
					if (!over.signal.aborted) done.push(await carryOut(fault, tools, over.signal));
				}),
			);
		},
		/** Cancels pending faults, undoes the others and returns them in order of time. Never rejects. */
		async end() {
			over.abort();
			await running;
			return done.sort((a, b) => a.beganNs - b.beganNs);
		},
	};
}

export function ofBrokers({ faults }: Pick<Plan, "faults">) {
	return faults.flatMap((fault) =>
		fault.of === "brokers" ? [{ ...fault, action: fault.action as FaultAction }] : [],
	);
}

/** A monotonic clock of ms since T0 (ms since 1970). It reads the wall clock only now, so setting that clock later moves nothing. */
export function sinceT0(t0Ms: number, clock: Clock): () => number {
	const t0 = clock.monotonicMs() - (clock.nowMs() - t0Ms);
	return () => clock.monotonicMs() - t0;
}

// --- internal ---

interface Tools {
	readonly broker: Pick<Broker, "disturb" | "nodeOf">;
	sinceMs(): number;
	leader(): Promise<string | null>;
}

const RUN_OVER = new Error("the run was over before it was done");

async function carryOut(
	{ action, node, forNs, delayNs }: ReturnType<typeof ofBrokers>[number],
	tools: Tools,
	over: AbortSignal,
): Promise<FaultDone> {
	const nowNs = () => Math.round(tools.sinceMs() * 1e6);
	const done: FaultDone = {
		of: "brokers",
		action,
		count: null,
		node: node === "leader" ? null : node,
		leader: node === "leader",
		calledNs: null,
		beganNs: nowNs(),
		endedNs: null,
		delayNs,
		error: null,
		runOver: false,
	};
	let back: () => Promise<void>;
	try {
		if (done.leader) done.node = await findLeader(tools, over);
		// From here on, effects may be the fault's, however long it takes to be confirmed.
		done.calledNs = nowNs();
		// The signal to end affects a process at once.
		done.beganNs = done.calledNs;
		back = await tools.broker.disturb({ action, node: done.node, delayNs });
		if (!ends(action)) done.beganNs = nowNs();
	} catch (error) {
		const why = sentence(error);
		if (!over.aborted) return { ...done, error: why };
		const more = error === RUN_OVER ? "" : `: ${why}`;
		return { ...done, error: RUN_OVER.message + more, runOver: true };
	}
	if (forNs === null) return done;
	await until(tools.sinceMs() + forNs / 1e6, tools.sinceMs, over);
	// A node that is down need not come up for its broker to be closed.
	const goes = ends(action);
	if (goes && over.aborted) return done;
	const taken = back().then(
		() => null,
		(error: unknown) => sentence(error),
	);
	const error = await (goes ? Promise.race([taken, aborted(over)]) : taken);
	// If the end of the run cuts it short, the fault has not failed.
	if (over.aborted) return done;
	return { ...done, endedNs: error === null ? nowNs() : null, error };
}

function ends(action: FaultDone["action"]): boolean {
	return action === "kill" || action === "restart";
}

async function findLeader({ leader, broker }: Tools, over: AbortSignal): Promise<number> {
	const isOver = aborted(over).then(() => Promise.reject(RUN_OVER));
	const name = await Promise.race([leader(), isOver]);
	if (name === null) throw new Error("the broker does not say which node leads the first topic");
	const number = broker.nodeOf(name);
	if (number !== null) return number;
	throw new Error(
		`the first topic is led by ${name}, which is none of the nodes that mqbench has started`,
	);
}

function sentence(error: unknown): string {
	return maskUrls(error instanceof Error ? reasonOf(error) : String(error));
}

function aborted(signal: AbortSignal): Promise<null> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve(null);
		signal.addEventListener("abort", () => resolve(null), { once: true });
	});
}

/** `atMs` and `sinceMs` since T0. */
async function until(atMs: number, sinceMs: () => number, over: AbortSignal): Promise<void> {
	await sleep(Math.max(0, atMs - sinceMs()), undefined, { signal: over }).catch(() => {});
}
