import path from "node:path";
import type { BuiltProgram } from "../../runner/brokers/broker.ts";
import { builtPrograms } from "../../runner/brokers/index.ts";

/** All Go programs that mqbench builds: its own, and the brokers that come with it. */
const SOURCES: readonly BuiltProgram[] = [
	{ name: "k6", module: ".", package: "./cmd/k6" },
	{ name: "agent", module: ".", package: "./cmd/agent" },
	...builtPrograms,
];

/** Their names, which are also their file names. */
export const PROGRAMS: readonly string[] = SOURCES.map(({ name }) => name);

/** One call of `go build` each: a module and its packages. */
export const MODULES: readonly {
	readonly module: string;
	readonly packages: readonly string[];
}[] = [...new Set(SOURCES.map(({ module }) => module))].map((module) => ({
	module,
	packages: SOURCES.filter((source) => source.module === module).map(
		(source) => source.package,
	),
}));

/** Paths of the programs. */
export interface Programs {
	readonly k6: string;
	readonly agent: string;
	/** Brokers, by name. */
	readonly brokers: Readonly<Record<string, string>>;
}

/** The path of a program in a folder with all of them; `exe` is the suffix. */
export function programIn(folder: string, name: string, exe: string): string {
	return path.join(folder, name + exe);
}

export function programsIn(folder: string, exe: string): Programs {
	return {
		k6: programIn(folder, "k6", exe),
		agent: programIn(folder, "agent", exe),
		brokers: Object.fromEntries(
			builtPrograms.map(({ name }) => [name, programIn(folder, name, exe)]),
		),
	};
}
