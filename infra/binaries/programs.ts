import path from "node:path";
import { brokerOf, builtPrograms, withLargeDriver } from "../../runner/brokers/index.ts";
import type { BuiltProgram } from "../../runner/brokers/server.ts";

const K6: BuiltProgram = { name: "k6", module: ".", package: "./cmd/k6" };

/** Go programs that mqbench builds before its first run: its own, and the brokers that come with it. */
export const FIRST: readonly BuiltProgram[] = [
	K6,
	{ name: "agent", module: ".", package: "./cmd/agent" },
	...builtPrograms,
];

/** k6 once more, with the drivers that take long to compile too; and what it is, for people. */
export const LARGE: readonly BuiltProgram[] = [{ ...K6, tags: "large" }];
export const largeTitle = `k6 with the drivers of ${withLargeDriver()
	.map((broker) => brokerOf({ broker }).title)
	.join(" and ")}`;

/** One call of `go build` each: a module and its packages. */
export function modulesOf(programs: readonly BuiltProgram[]): {
	readonly module: string;
	readonly packages: readonly string[];
	readonly tags: readonly string[];
}[] {
	return [...new Set(programs.map(({ module }) => module))].map((module) => ({
		module,
		packages: programs.filter((source) => source.module === module).map((source) => source.package),
		tags: programs.flatMap(({ tags }) => tags ?? []),
	}));
}

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
