import { packageVersion } from "../../runner/package.ts";
import { ownerText } from "../owner.ts";

/** On everything that mqbench makes in an engine, to find it again. */
export const LABELS = {
	/** The rig: everything that belongs together. */
	run: "mqbench.run",
	/** The process that the rig belongs to. */
	owner: "mqbench.owner",
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

/** The labels as arguments of docker's commands. */
export function labelArguments(labels: Readonly<Record<string, string>>): string[] {
	return Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
}
