import { packageVersion } from "../../runner/package.ts";
import { ownerText } from "../owner.ts";

/** On everything that mqbench makes in an engine: by these it is found again. */
export const LABELS = {
	/** Of one rig: all that goes together. */
	run: "mqbench.run",
	/** The process that the rig belongs to; without one it outlives its command (`mqbench up`). */
	owner: "mqbench.owner",
	/** Name of a rig that stays up between commands. */
	rig: "mqbench.rig",
	/** Of a container: its address in its rig's network, which it loses when it is cut off. */
	address: "mqbench.address",
	version: "mqbench.version",
} as const;

/** Labels of a rig that ends with this process. */
export function labelsOfRun(run: string): Record<string, string> {
	return {
		[LABELS.run]: run,
		[LABELS.owner]: ownerText(process.pid),
		[LABELS.version]: packageVersion,
	};
}

/** Labels of a rig that stays up until it is taken down. */
export function labelsOfRig(id: string): Record<string, string> {
	return {
		[LABELS.run]: id,
		[LABELS.rig]: id,
		[LABELS.version]: packageVersion,
	};
}

/** As arguments of docker's commands. */
export function labelArguments(
	labels: Readonly<Record<string, string>>,
): string[] {
	return Object.entries(labels).flatMap(([name, value]) => [
		"--label",
		`${name}=${value}`,
	]);
}
