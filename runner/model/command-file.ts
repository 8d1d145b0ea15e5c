import { existsSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { readGiven } from "../given-folder.ts";
import { maskSameLength, maskUrl } from "../secrets.ts";
import { commandLine } from "../shell.ts";
import type { World } from "../world.ts";

/** `command.json` next to scenario.yaml, written before the first run. Passwords are hidden. */
export const CommandFile = z.strictObject({
	schema: z.literal(1),
	/** Relative to the working directory; with / on every system. */
	scenario: z.string(),
	args: z.array(z.string()),
	/** From the root of a CI job's repository ($GITHUB_WORKSPACE). Null without one, or if the file lies outside. */
	file: z.string().nullable(),
	/** --resume refuses a scenario with a search for the highest rate. */
	resumable: z.literal(false).optional(),
});
export type CommandFile = z.infer<typeof CommandFile>;

export function commandOf(
	scenario: string,
	argv: readonly string[],
	{ cwd, env }: Pick<World, "cwd" | "env">,
): CommandFile {
	const where = path.resolve(cwd, scenario);
	const below = slashes(path.relative(env.GITHUB_WORKSPACE || where, where));
	const outside = below === "" || /^\.\.(?:\/|$)/.test(below) || path.isAbsolute(below);
	return {
		schema: 1,
		scenario: maskUrl(slashes(path.relative(cwd, where))),
		args: argv.map((arg, i) => masked(arg, argv[i - 1])),
		file: outside ? null : below,
	};
}

/** Null if it is unreadable or missing, as in the published reports. It decides nothing, so nothing fails without it. */
export function commandIn(folder: string): Omit<CommandFile, "schema"> | null {
	const where = path.join(folder, "command.json");
	if (!existsSync(where)) return null;
	try {
		const { schema: _, ...command } = CommandFile.parse(JSON.parse(readGiven(where)));
		return command;
	} catch {
		return null;
	}
}

/** The same command to paste, resuming in the folder of its runs. If `folder` is null, that is its --out or reports/<run-id>. */
export function resumeCommand(
	command: Pick<CommandFile, "args"> | null | undefined,
	folder: string | null,
	runId = "<run-id>",
): string {
	const words = [...(command?.args ?? [])];
	let own = `reports/${runId}`;
	for (const option of ["--out", "--resume"]) {
		const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
		if (at < 0) continue;
		const [word = "", value] = words.splice(at, words[at] === option ? 2 : 1);
		own = value ?? word.slice(option.length + 1);
	}
	// A placeholder must not be quoted for a shell.
	const begin = command ? "npx mqbench" : "npx mqbench <scenario>";
	return `${begin} ${commandLine([...words, "--resume", folder ?? own])}`;
}

// --- internal ---

function slashes(relative: string): string {
	return relative.split(path.sep).join("/");
}

/** Masks URLs and secret-sounding keys. A broker's config has keys of any name, so only its plain values stay. Stars hide lengths. */
function masked(arg: string, before: string | undefined): string {
	const set = before === "--set" ? arg : /^--set=(.*)$/s.exec(arg)?.[1];
	const [, path = "", value = ""] = /^([^=]*)=(.*)$/s.exec(set ?? "") ?? [];
	const config = /(?:^|\.)config(?:$|[.[])/.test(path) || HOLDS_CONFIG.test(value);
	if (config && !PLAIN.test(value)) return `${arg.slice(0, arg.length - value.length)}***`;
	const masked = maskSameLength(maskUrl(arg));
	return masked === arg ? arg : masked.replaceAll(/\*{3,}/g, "***");
}

/** A map with config in it, as a value: {config: {...}}. */
const HOLDS_CONFIG = /[{,\s"']config["']?\s*:/;

const PLAIN =
	/^\s*(?:-?\d+(?:\.\d+)?\s*(?:%|ns|us|\u00b5s|ms|s|m|min|h|d|b|[kmgt]i?b?)?|true|false|yes|no|on|off)\s*$/i;
