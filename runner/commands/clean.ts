import type { Command } from "commander";
import { agreed } from "../../infra/ask.ts";
import { type Kept, keptHere } from "../../infra/kept.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import { sum } from "../stats/sum.ts";
import { formatBytes, formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import type { Action, Flags } from "./options.ts";

const EXAMPLES = `
Examples:
  npx mqbench clean            shows what there is, and asks
  npx mqbench clean --yes      removes it

Reports and calibrations stay: they are yours. What is rented is removed by npx mqbench rigs.
`;

export function declare(command: Command, on: Action): void {
	command
		.option("-y, --yes", "remove without asking")
		.option("--all", "also what a command used within the last minutes")
		.addHelpText("after", EXAMPLES)
		.action(on(clean));
}

/** Removes builds, downloads, and leftovers of killed commands. Exit code 5: something could not be removed. */
export async function clean(
	{ yes, all }: Flags<"yes" | "all">,
	world: World,
	look: typeof keptHere = keptHere,
): Promise<ExitCode> {
	const { kept, notes } = await look(world);
	const say = (text: string) => world.stdout.write(`${text}\n`);
	if (kept.length === 0) say("mqbench keeps nothing on this machine.");
	const stays = (one: Kept) => one.inUse && !all;
	for (const one of kept) {
		const text = line(one, world.clock.nowMs());
		say(
			`  ${stays(one) ? `${text}; a command used it within the last minutes: it stays, or npx mqbench clean --all` : text}`,
		);
	}
	if (kept.length > 1) say(`In all ${bytesOf(kept)}.`);
	for (const note of notes) say(note);
	const old = kept.filter((one) => !stays(one));
	if (old.length === 0) return EXIT.pass;
	if (!yes && world.ask === null) {
		say("Nothing is removed: npx mqbench clean --yes does it.");
		return EXIT.pass;
	}
	if (!yes && !(await agreed("Remove it?", world))) return EXIT.pass;
	const removed: Kept[] = [];
	for (const one of old)
		try {
			await one.remove();
			removed.push(one);
		} catch (error) {
			world.stderr.write(`${one.where} could not be removed: ${reasonOf(error)}\n`);
		}
	say(`Removed: ${removed.length}, ${bytesOf(removed)}.`);
	return removed.length < old.length ? EXIT.leftBehind : EXIT.pass;
}

// --- internal ---

function bytesOf(kept: readonly Kept[]): string {
	return formatBytes(sum(kept.map((one) => one.bytes ?? 0)));
}

function line({ what, where, bytes, usedMs }: Kept, nowMs: number): string {
	const about = [
		bytes !== null && formatBytes(bytes),
		usedMs !== null && `last used ${formatDuration(Math.max(0, nowMs - usedMs) * 1e6)} ago`,
	].filter(Boolean);
	return `${what}${about.length === 0 ? "" : ` (${about.join(", ")})`}: ${where}`;
}
