import type { Target } from "../model/plan.ts";
import type { GivenRig } from "./overrides.ts";
import type { Path, Problem } from "./problem.ts";

export interface Surroundings {
	/** Absolute; paths in the scenario count from here. */
	readonly folder: string;
	/** As Node names it: "linux". */
	readonly platform: string;
	readonly rig?: GivenRig | undefined;
	/** Size of a file, or null if it is unreadable. */
	fileBytes(path: string): number | "folder" | null;
}

export interface Context extends Omit<Surroundings, "rig"> {
	readonly target: Target;
	/** If the command line chose the target, settings that only other targets have are left aside, not refused. */
	readonly targetChosen: boolean;
	/** Its brokers replace the target's; its clients make the load unless the scenario names its own. */
	readonly rig: GivenRig | null;
	readonly problems: Problem[];
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Values of secret variables, from every `config`. */
	readonly secrets: readonly string[];
	/** The option that set the value at `path`, or undefined if the file did. */
	labelOf(path: Path): string | undefined;
	/** Line in the file, or null if the command line set the value. */
	lineOf(path: Path): number | null;
}
