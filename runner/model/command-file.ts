import { existsSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { readGiven } from "../given-folder.ts";
import { maskSameLength, maskUrl } from "../secrets.ts";
import { commandLine } from "../shell.ts";
import type { World } from "../world.ts";

/** `command.json` beside scenario.yaml: how the command was given, written before the first run. Passwords are hidden. */
export const CommandFile = z.strictObject({
	schema: z.literal(1),
	/** Path of the scenario, relative to the folder that mqbench was started in; with / on every system. */
	scenario: z.string(),
	/** What follows "mqbench". */
	args: z.array(z.string()),
	/** The same file from the root of the repository that a CI job works in ($GITHUB_WORKSPACE); null: there is none, or it lies outside. */
	file: z.string().nullable(),
	/** false: its scenario has a search for the highest rate, so --resume refuses it, whenever it was stopped. Absent: it may be resumed. */
	resumable: z.literal(false).optional(),
});
export type CommandFile = z.infer<typeof CommandFile>;

/** How this command was given: `scenario` is the path as it was written, `argv` what follows "mqbench". */
export function commandOf(
	scenario: string,
	argv: readonly string[],
	{ cwd, env }: Pick<World, "cwd" | "env">,
): CommandFile {
	const where = path.resolve(cwd, scenario);
	const root = env.GITHUB_WORKSPACE;
	const below = slashes(path.relative(root || where, where));
	const outside = below === "" || /^\.\.(?:\/|$)/.test(below) || path.isAbsolute(below);
	return {
		schema: 1,
		scenario: maskUrl(slashes(path.relative(cwd, where))),
		args: argv.map((arg, i) => masked(arg, argv[i - 1])),
		file: outside ? null : below,
	};
}

/** What result.json says of it; null: there is none, as in the published reports, or it cannot be read. It decides nothing, so nothing fails for it. */
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

/**
 * The same command once more, to be pasted: it goes on in the folder of its runs. All else stays, as the plans have to be the same. `folder`: null: where
 * it was told to put them, or reports/<run-id>.
 */
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
	// What is to be filled in is no word for a shell.
	const begin = command ? "npx mqbench" : "npx mqbench <scenario>";
	return `${begin} ${commandLine([...words, "--resume", folder ?? own])}`;
}

/** What `--set` was given, in its order. */
export function setsIn(args: readonly string[]): string[] {
	return args.flatMap((arg, i) =>
		args[i - 1] === "--set" ? [arg] : (/^--set=(.*)$/s.exec(arg)?.[1] ?? []),
	);
}

// --- internal ---

function slashes(relative: string): string {
	return relative.split(path.sep).join("/");
}

/**
 * URLs, and values of keys that sound like a secret (--set system.password=...). Those of a broker's own settings (config) have any
 * name, so all but plain values go. Stars of one length: theirs is no one's business.
 */
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

/** A number, a switch, a duration or a size. */
const PLAIN =
	/^\s*(?:-?\d+(?:\.\d+)?\s*(?:%|ns|us|\u00b5s|ms|s|m|min|h|d|b|[kmgt]i?b?)?|true|false|yes|no|on|off)\s*$/i;
