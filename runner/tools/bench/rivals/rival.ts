import { type JarsOptions, resolveJars } from "../../../../infra/binaries/jars.ts";
import { findOnPath } from "../../../../infra/local/program.ts";
import type { BrokerProcess } from "../../../brokers/process.ts";
import type { Bench, Command } from "../tools-run.ts";

/** Size of a message, for all. */
export const BYTES = 1024;

/** Part of a run's messages that go before, and are not counted. As mqbench's own warm-up. */
export const WARMUP = 0.1;

/** The broker that both use; `run` is different for each run of a tool. */
export interface Opened {
	readonly url: string;
	readonly run: number;
}

/** A broker's own tool, and what mqbench is to do in order to do the same. */
export interface Rival {
	/** Name of the tool, and what both do. */
	readonly tool: string;
	readonly what: string;
	/** What is not the same for both, as a sentence; left out: all that counts is. */
	readonly unequal?: string;
	/** Messages of a run, so that it takes two seconds or so on two cores. */
	readonly messages: number;
	/** The system and workload of ours; both have the same messages, size, connections and inFlight. */
	readonly system: Readonly<Record<string, unknown>>;
	readonly pattern: "publish" | "round-trip";
	readonly inFlight: number;
	command(bench: Bench, broker: Opened, messages: number): Promise<Command>;
	/** Messages per second by what the tool has printed. `messages`: as many as it was to send. */
	rate(stdout: string, messages: number): number;
	/** Of a tool that runs for a time: messages that it has sent. Left out: as many as it was to send. */
	sent?(stdout: string): number;
	/** Removes what the tool has left in the broker; it is not measured. */
	after?(bench: Bench, broker: Opened, messages: number): Promise<void>;
	/** Its first second is not like the others (in Java), or its time holds its start. */
	readonly slowStart: boolean;
}

/** A broker that is started once, and all that is measured on it. */
export interface Contest {
	/** The system that the local rig starts. */
	readonly rig: Readonly<Record<string, unknown>> & { readonly broker: string };
	/** How it is started where its tool needs something that mqbench does not. */
	readonly starts?: BrokerProcess;
	readonly rivals: readonly Rival[];
	/** The system whose rates are tried. */
	readonly rates: Readonly<Record<string, unknown>>;
}

/** The command between two readings of the clock, for tools that print no rate: see `clockedRate`. */
export function clocked(argv: readonly string[]): string[] {
	return ["/bin/sh", "-c", `${CLOCK}; "$@" || exit; ${CLOCK}`, "sh", ...argv];
}

export const CLOCK = 'date "+mqbench:seconds=%s.%N"';

/** Path of a program of this machine. */
export function findTool(name: string, env: Bench["world"]["env"]): string {
	const found = findOnPath(name, env);
	if (found === null) throw new Error(`${name} is not on PATH`);
	return found;
}

/** Folder of the jars of a pom. */
export function findJars(
	{ world, binaries }: Bench,
	asked: Pick<JarsOptions, "name" | "pom" | "sums" | "system">,
): Promise<string> {
	return resolveJars({
		...asked,
		properties: {},
		mvn: findTool("mvn", world.env),
		agent: binaries.agent,
		world,
	});
}
