import { hasProcess } from "../brokers/index.ts";
import { tell } from "../text/tell.ts";
import { caseProblems, type ResolvedCases } from "./cases.ts";
import { sizeFor } from "./message-size.ts";
import type { GivenRig } from "./overrides.ts";
import type { Parts } from "./parts.ts";
import { type Problem, refuseKey } from "./problem.ts";
import type { Scenario, System } from "./scenario.ts";

/** Messages that are larger than those which the rig's brokers were set up for. */
export function beyondRig(
	systems: readonly System[],
	cases: ResolvedCases,
	given: GivenRig | null,
): Problem[] {
	if (given === null) return [];
	return systems.flatMap(({ key, traits }) => {
		const most = brokerOf(given, key)?.messageBytes ?? null;
		if (most === null) return [];
		return caseProblems(cases, ({ message }) => {
			const size = sizeFor(message.size, traits);
			const messageBytes = size?.limitBytes ?? size?.bytes ?? 0;
			return [
				messageBytes > most && {
					message: tell("too-large-for-rig", {
						messageBytes,
						system: key,
						rig: given.path,
						mostBytes: most,
					}),
				},
			];
		});
	});
}

/** Faults of brokers whose processes are not in reach. */
export function untouchable(
	faults: Parts["faults"],
	systems: readonly System[],
	given: GivenRig | null,
): Problem[] {
	if (given === null || faults.length === 0) return [];
	const out = systems.find(({ key, url }) => url !== null && !onHosts(given, key));
	return out === undefined
		? []
		: [refuseKey(["faults"], "faults-beyond-rig", { rig: given.path, system: out.key })];
}

/** Does mqbench start the system's broker on hosts of that rig, anew for every run? */
export function onHosts(given: GivenRig | null, key: string): boolean {
	return given !== null && (brokerOf(given, key)?.hosts.length ?? 0) > 0;
}

/** Does mqbench start brokers on hosts of that rig? */
export function hasHosts(given: GivenRig | null): boolean {
	return given?.rig.brokers.some(({ hosts }) => hosts.length > 0) ?? false;
}

/** What a report has to say of a system's broker that was there before the run. */
export function notFresh(
	{ rig }: Pick<Scenario, "rig">,
	system: Pick<System, "key" | "options">,
): string[] {
	return rig === null || !hasProcess(system.options) || onHosts({ path: "", rig }, system.key)
		? []
		: [tell("broker-not-fresh", { rig: rig.id })];
}

// --- internal ---

function brokerOf({ rig }: GivenRig, key: string) {
	return rig.brokers.find(({ system }) => system === key);
}
