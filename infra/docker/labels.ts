import { packageVersion } from "../../runner/package.ts";
import { ownerText } from "../owner.ts";

/** On everything that mqbench makes in an engine, to find it again. */
export const LABELS = {
	/** The rig: everything that belongs together. */
	run: "mqbench.run",
	/** The process that the rig belongs to. Without it the rig outlives its command (`mqbench up`). */
	owner: "mqbench.owner",
	/** Name of a rig that stays up between commands. */
	rig: "mqbench.rig",
	/** A container's address in its rig's network. The container loses the address when it is cut off. */
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
	return { [LABELS.run]: id, [LABELS.rig]: id, [LABELS.version]: packageVersion };
}

/** The labels as arguments of docker's commands. */
export function labelArguments(labels: Readonly<Record<string, string>>): string[] {
	return Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
}
