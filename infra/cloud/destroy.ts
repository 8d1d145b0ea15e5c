import { existsSync } from "node:fs";
import { EXIT, failure, MqbenchError } from "../../runner/errors.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "../ask.ts";
import { machinesText } from "./leftover.ts";
import { type CloudOptions, destroyCloud } from "./lifecycle.ts";
import { type KnownRig, knownRig, knownRigs } from "./rigs.ts";

/** `mqbench rigs destroy <id>`: takes down what this machine remembers of a rig, in whatever state it is, after asking. */
export async function destroyOne(
	id: string,
	yes: boolean,
	world: World,
	options: CloudOptions,
): Promise<void> {
	const rig = await knownRig(id, world);
	if (!yes && !(await agreed(`Take down ${nameOf(rig)}?`, world)))
		return void world.stdout.write("Nothing was taken down.\n");
	await destroyCloud(id, world, { ...options, yes });
	world.stdout.write(downText(id));
}

/** One after the other; a failure does not stop the next ones. Whatever stays is exit code 5. */
export async function destroyAll(yes: boolean, world: World, options: CloudOptions): Promise<void> {
	const rigs = await knownRigs(world);
	const failed: unknown[] = [];
	if (rigs.length === 0) return void world.stdout.write("There is no rig to take down.\n");
	const names = rigs.map(nameOf).join(", ");
	if (!yes && !(await agreed(`Take down ${names}?`, world)))
		return void world.stdout.write("Nothing was taken down.\n");
	for (const [i, { folder }] of rigs.entries()) {
		if (world.stop.aborted) {
			const rest = rigs.slice(i).map((rig) => rig.folder.id);
			failed.push(
				failure("cloud-left", {
					text: `Stopped by ${world.stop.reason} before ${rest.join(", ")} ${rest.length === 1 ? "was" : "were"} taken down.\nTake down what is left: mqbench rigs destroy --all`,
				}),
			);
			break;
		}
		try {
			await destroyCloud(folder.id, world, { ...options, yes });
			world.stdout.write(downText(folder.id));
		} catch (error) {
			// Its folder goes last: another mqbench has taken it down meanwhile. Not so where somebody has removed the folder alone.
			if (existsSync(folder.path) || isLeft(error)) failed.push(error);
			else world.stdout.write(downText(folder.id));
		}
	}
	throwAll(failed);
}

// --- internal ---

function isLeft(error: unknown): boolean {
	return error instanceof MqbenchError && error.exit === EXIT.leftBehind;
}

/** All failures in one; that something is left in the cloud decides the exit code. */
function throwAll(failed: readonly unknown[]): void {
	const known = failed.filter((error) => error instanceof MqbenchError);
	const bug = failed.find((error) => !(error instanceof MqbenchError));
	const worst = known.find(({ exit }) => exit === EXIT.leftBehind) ?? known[0];
	if (worst?.exit !== EXIT.leftBehind && bug !== undefined) throw bug;
	if (worst === undefined) return;
	const text = failed
		.map((error) => (error instanceof Error ? error.message : String(error)))
		.join("\n");
	throw new MqbenchError(worst.code, text, worst.exit);
}

function nameOf({ folder, file, trouble }: KnownRig): string {
	if (file?.cloud == null) return `the rig ${folder.id} (${trouble})`;
	return `the rig ${folder.id} in ${file.cloud.region} (${machinesText(file.cloud.machines)})`;
}

function downText(id: string): string {
	return `The rig ${id} is down; nothing of it is left.\n`;
}
