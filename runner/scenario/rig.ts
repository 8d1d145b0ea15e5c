import { hasProcess } from "../brokers/index.ts";
import { tell } from "../text/tell.ts";
import type { GivenRig } from "./overrides.ts";
import type { Scenario, System } from "./scenario.ts";

export function rigBroker(given: GivenRig | null, key: string) {
	return given?.rig.brokers.find(({ system }) => system === key);
}

/** Does mqbench start the system's broker on this rig's hosts for each run? */
export function onHosts(given: GivenRig | null, key: string): boolean {
	return (rigBroker(given, key)?.hosts.length ?? 0) > 0;
}

export function hasHosts(given: GivenRig | null): boolean {
	return given?.rig.brokers.some(({ hosts }) => hosts.length > 0) ?? false;
}

/** Warns in reports that the system's broker was already running before the run. */
export function notFresh(
	{ rig }: Pick<Scenario, "rig">,
	system: Pick<System, "key" | "options">,
): string[] {
	return rig === null || !hasProcess(system.options) || onHosts({ path: "", rig }, system.key)
		? []
		: [tell("broker-not-fresh", { rig: rig.id })];
}
