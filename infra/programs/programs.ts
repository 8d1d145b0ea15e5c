import path from "node:path";
import { builtPrograms } from "../../runner/brokers/index.ts";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { packageFolder } from "../../runner/package.ts";
import { platformName } from "../platform.ts";

/** The folder with our Go modules. */
export const EXTENSIONS = path.join(packageFolder, "extensions");

/** A platform that programs run on. */
export interface Platform {
	/** In Go's words: "linux/amd64". */
	readonly name: string;
	/** In Node's, which name packages and builds. */
	readonly system: string;
	readonly processor: string;
	/** Suffix of programs. */
	readonly exe: string;
	/** "@mqbench/linux-x64" */
	readonly packageName: string;
}

/** In Node's words. */
export function platformOf(system: string, processor: string): Platform {
	const exe = system === "win32" ? ".exe" : "";
	const name = platformName(system, processor);
	return { name, system, processor, exe, packageName: `@mqbench/${system}-${processor}` };
}

/** This machine's. */
export const HERE = platformOf(process.platform, process.arch);

const K6: BuiltProgram = { name: "k6", module: ".", package: "./cmd/k6" };

/** Go programs that mqbench builds before its first run: its own, and the brokers that come with it. */
export const FIRST: readonly BuiltProgram[] = [
	K6,
	{ name: "agent", module: ".", package: "./cmd/agent" },
	...builtPrograms,
];

/** k6 once more, with all drivers: a first run would wait twice as long for them. */
export const ALL_DRIVERS: readonly BuiltProgram[] = [{ ...K6, tags: "drivers" }];

/** The programs built, for people. */
export function titleOf(programs: readonly BuiltProgram[]): string {
	const names = (some: readonly { name: string }[]) => some.map(({ name }) => name).join(" and ");
	if (programs === FIRST)
		return `the load generator (k6 with mqbench's extensions) and ${names(builtPrograms)}`;
	return programs === ALL_DRIVERS ? "k6 with the drivers of all systems" : names(programs);
}

/** One call of `go build` each: a module and its packages. */
export function modulesOf(programs: readonly BuiltProgram[]): {
	readonly module: string;
	readonly packages: readonly string[];
	readonly flags: readonly string[];
}[] {
	return [...new Set(programs.map(({ module }) => module))].map((module) => ({
		module,
		packages: programs.filter((source) => source.module === module).map((source) => source.package),
		flags: programs.flatMap(({ tags }) => (tags ? ["-tags", tags] : [])),
	}));
}

/** The path of a program in a folder of programs. */
export function programIn(folder: string, name: string, { exe }: Platform = HERE): string {
	return path.join(folder, name + exe);
}
