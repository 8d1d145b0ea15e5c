import type { Command } from "commander";
import { agreed } from "../../infra/ask.ts";
import { type Kept, keptHere } from "../../infra/kept.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import { sum } from "../stats/sum.ts";
import { tell } from "../text/tell.ts";
import { formatBytes, formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import type { Invocation } from "./options.ts";

const EXAMPLES = `
Examples:
  mqbench clean            shows what there is, and asks
  mqbench clean --yes      removes it

Reports stay: they are yours. What is rented is removed by mqbench rigs.
`;

export function declare(program: Command, { world, exit }: Invocation): void {
	program
		.command("clean")
		.description("show and remove what mqbench keeps on this machine")
		.option("-y, --yes", "remove without asking")
		.addHelpText("after", EXAMPLES)
		.action(async (options) => exit(await clean(options, world)));
}

/** `mqbench clean`: builds, fetched programs, calibrations, and what killed commands have left. Exit code 5: something could not be removed. */
export async function clean(
	{ yes = false }: { readonly yes?: boolean | undefined },
	world: World,
	look: typeof keptHere = keptHere,
): Promise<ExitCode> {
	const { kept, notes } = await look(world);
	const say = (text: string) => world.stdout.write(`${text}\n`);
	if (kept.length === 0) say(tell("kept-nothing"));
	for (const one of kept) say(`  ${line(one, world.clock.nowMs())}`);
	const bytes = formatBytes(sum(kept.map((one) => one.bytes ?? 0)));
	if (kept.length > 1) say(tell("kept-all", { bytes }));
	for (const note of notes) say(note);
	if (kept.length === 0) return EXIT.pass;
	if (!yes && world.ask === null) {
		say(tell("kept-how"));
		return EXIT.pass;
	}
	if (!yes && !(await agreed(tell("kept-question"), world))) return EXIT.pass;
	let left = 0;
	for (const one of kept)
		try {
			await one.remove();
		} catch (error) {
			left++;
			world.stderr.write(
				`${tell("kept-stays", { where: one.where, reason: reasonOf(error) })}\n`,
			);
		}
	say(tell("kept-removed", { removed: kept.length - left, bytes }));
	return left > 0 ? EXIT.leftBehind : EXIT.pass;
}

// --- internal ---

function line({ what, where, bytes, usedMs }: Kept, nowMs: number): string {
	const about = [
		...(bytes === null ? [] : [formatBytes(bytes)]),
		...(usedMs === null
			? []
			: [
					tell("kept-used", {
						ago: formatDuration(Math.max(0, nowMs - usedMs) * 1e6),
					}),
				]),
	];
	return `${what}${about.length === 0 ? "" : ` (${about.join(", ")})`}: ${where}`;
}
