import { failure } from "../errors.ts";
import { tell } from "../text/tell.ts";
import type { Ask, Setup } from "./process.ts";

/** A program that a host has of its own. */
export interface Wanted {
	/** Debian's package. */
	readonly package: string;
	/** Line of sh that prints "mqbench:program=/path" and other lines of that kind, or fails where it is not. */
	readonly line: string;
}

/**
 * What the line prints on the host of a node (from 0): at least `program` and `version`. Fails with `broker-missing`, which names the host and
 * the package.
 */
export async function installed(
	{ system, nodes, ask }: Pick<Setup, "system" | "nodes"> & { readonly ask: Ask },
	node: number,
	wanted: Wanted,
): Promise<{ program: string; version: string; names: string }> {
	const { code, said } = await ask(node, ["sh", "-c", wanted.line]);
	const value = (name: string) =>
		new RegExp(`^mqbench:${name}=(.*)$`, "m").exec(said)?.[1]?.trim() ?? "";
	const program = value("program");
	if (code !== 0 || program === "")
		throw failure("broker-missing", {
			system: system.key,
			what: tell("not-there", { package: wanted.package, host: nodes[node]?.hostname }),
			remedy: tell("install-there", { package: wanted.package }),
		});
	return { program, version: value("version"), names: value("names") };
}

/** `version` says which one must be there: mqbench has no way to get another one. */
export function checkVersionThere(
	{ system, nodes }: Pick<Setup, "system" | "nodes">,
	node: number,
	{ program, found }: { readonly program: string; readonly found: string },
): void {
	const wanted = system.options.version;
	if (wanted === undefined || found === wanted || found.startsWith(`${wanted}.`)) return;
	throw failure("broker-missing", {
		system: system.key,
		what: tell("other-version-there", {
			wanted,
			program,
			found: found || "unclear",
			host: nodes[node]?.hostname,
		}),
		remedy: tell("install-version-there"),
	});
}
