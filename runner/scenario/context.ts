import type { Target } from "../model/plan.ts";
import type { GivenRig } from "./overrides.ts";
import type { Path, Problem } from "./problem.ts";

/** What lies around a scenario file: its folder, and the machine. */
export interface Surroundings {
	/** Absolute; paths in the scenario count from here. */
	readonly folder: string;
	/** In Node's words: "linux". */
	readonly platform: string;
	/** What `--rig` names; undefined: nothing. */
	readonly rig?: GivenRig | undefined;
	/** Size of a file; null: there is none that can be read. */
	fileBytes(path: string): number | "folder" | null;
}

/** What the parts of a scenario are resolved with, besides each other. */
export interface Context extends Omit<Surroundings, "rig"> {
	readonly target: Target;
	/** The command line chose the target: what only other targets have is then left aside, not refused. */
	readonly targetChosen: boolean;
	/** Its brokers stay up, in place of those that the target would have; its clients make the load, unless the scenario names its own. */
	readonly rig: GivenRig | null;
	/** What is found to be wrong is added here. */
	readonly problems: Problem[];
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Values of variables that are secrets, of all that stand in a `config`. */
	readonly secrets: readonly string[];
	/** The option that set what stands at `path`; undefined: the file did. */
	labelOf(path: Path): string | undefined;
	/** The line of what the file says there; null: the command line says it. */
	lineOf(path: Path): number | null;
}
