import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import { tell } from "../text/tell.ts";
import type { Ask, Install, Program, Setup } from "./process.ts";

/** A program that users and hosts have of their own. */
interface Installed {
	/** Also Debian's package. */
	readonly name: string;
	readonly install: Install;
	/** Behind an image's entry point. */
	readonly inImage: readonly string[];
	/** The argument by which it prints its version, and that in what it prints. */
	readonly flag: string;
	version(said: string): string | undefined;
}

/** The program of a node: `binary`, the one of PATH, the host's own or the image's, of the version that is asked for. */
export function installedServer(wanted: Installed): Program {
	const { name, install, inImage, flag, version } = wanted;
	return {
		async command(setup, _, index) {
			const { system, tools, image, ask } = setup;
			if (image) return inImage;
			if (ask) {
				// A version's words may stand on any line, and be called a failure.
				const line = `PATH="$PATH:/usr/sbin:/usr/local/sbin"; p=$(command -v ${name}) && echo "mqbench:program=$p" && echo "mqbench:version=$("$p" ${flag} | head -n 1)"`;
				const there = await installed({ ...setup, ask }, index, { package: name, line });
				checkVersionThere(setup, index, { ...there, found: version(there.version) ?? "" });
				return [there.program];
			}
			const program = tools.findProgram(system, [name], install);
			if (system.options.version !== undefined) {
				const said = await promisify(execFile)(program, [flag], { timeout: 10_000 }).then(
					({ stdout }) => stdout.trim(),
					reasonOf,
				);
				const found = version(said);
				checkVersionHere(system, program, found ?? "", {
					is: found ?? `unclear (${said})`,
					remedy: `Install that version and name it: binary: /path/to/${name}; or remove version`,
				});
			}
			return [program];
		},
	};
}

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
	if (isVersion(system, found)) return;
	throw failure("broker-missing", {
		system: system.key,
		what: tell("other-version-there", {
			wanted: system.options.version,
			program,
			found: found || "unclear",
			host: nodes[node]?.hostname,
		}),
		remedy: tell("install-version-there"),
	});
}

/** The same of a program of this machine: `is` for people. */
export function checkVersionHere(
	system: Setup["system"],
	program: string,
	found: string,
	{ is, remedy }: { readonly is: string; readonly remedy: string },
): void {
	if (isVersion(system, found)) return;
	throw failure("broker-missing", {
		system: system.key,
		what: `version ${system.options.version} is wanted, and ${program} is ${is}`,
		remedy,
	});
}

// --- internal ---

/** "7.0" is 7.0.15, too. */
function isVersion({ options: { version } }: Setup["system"], found: string): boolean {
	return version === undefined || found === version || found.startsWith(`${version}.`);
}
