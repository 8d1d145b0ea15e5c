import path from "node:path";
import type { Command } from "commander";
import { downLocal } from "../../infra/local/standing.ts";
import { downInCloud } from "../../infra/rent/remove.ts";
import type { CloudOptions } from "../../infra/rent/take-down.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { targetTraits } from "../model/targets.ts";
import { readRig, removeRig } from "../scenario/rig.ts";
import type { World } from "../world.ts";
import type { Action } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command.argument("<rig>", "the rig.json that npx mqbench up wrote").action(on(down, "file"));
}

/** Stops a rig of mqbench up and removes its file. A missing rig is not an error. */
export async function down(
	{ file }: { readonly file: string },
	world: World,
	options: CloudOptions = {},
): Promise<ExitCode> {
	const say = (line: string) => void world.stdout.write(`${line}\n`);
	const place = { shown: file, path: path.resolve(world.cwd, file) };
	const rig = await readRig(place);
	if (rig === null) {
		say(
			`${file}: there is no such file, so nothing was taken down; npx mqbench rigs list shows what is rented.`,
		);
		return EXIT.pass;
	}
	const { place: runs, rents } = targetTraits(rig.target);
	if (runs === null) {
		say(
			`${file}: the brokers of ${rig.id} were there before mqbench, and stay up; nothing was taken down.`,
		);
		return EXIT.pass;
	}
	if (rents !== null) await downInCloud(rig, file, world, options);
	else {
		// The command that holds a rig's processes ends them when its file is gone.
		await removeRig(place, rig.id);
		await downLocal(rig, world);
	}
	await removeRig(place, rig.id);
	say(`The rig ${rig.id} is down; nothing of it is left.`);
	return EXIT.pass;
}
