import type { MachineAsked, MachineSettings } from "../model/machine-settings.ts";
import { tell } from "../text/tell.ts";

/** What the scenario asks of a machine and it is not, a sentence each, for people and for the run's notes. */
export function unmetSettings(asked: MachineAsked, name: string, found: MachineSettings): string[] {
	const { maxCState, smt, interruptModeration } = asked;
	// In a guest "haltpoll" hands a core to the host, which puts it to sleep as it likes.
	const hidden = found.maxCState === null || found.idleDriver === "haltpoll";
	const moderates = found.interruptModeration?.split(", ").some((one) => !/ (off|0)$/.test(one));
	return [
		...(maxCState === null
			? []
			: hidden
				? [tell("c-states-hidden", { name, maxCState, driver: found.idleDriver ?? "none" })]
				: (found.maxCState ?? 0) > maxCState
					? [tell("c-states-deeper", { name, maxCState, states: found.cStates ?? "" })]
					: []),
		...(smt === null || (found.smt !== null && found.smt !== "on")
			? []
			: [tell("smt-not-off", { name, smt: found.smt ?? "not known" })]),
		...(interruptModeration === null || moderates === false
			? []
			: [tell("moderation-not-off", { name, found: found.interruptModeration ?? "not known" })]),
	];
}
