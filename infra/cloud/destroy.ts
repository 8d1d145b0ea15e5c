import { EXIT, failure, MqbenchError } from "../../runner/errors.ts";
import { tell } from "../../runner/text/tell.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "./ask.ts";
import { heldBy } from "./hold.ts";
import { machinesText } from "./leftover.ts";
import { type CloudOptions, destroyCloud } from "./lifecycle.ts";
import { forgetUnmade, type KnownRig, knownRig, knownRigs } from "./rigs.ts";

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

/** One after the other; a failure does not stop the next ones. */
export async function destroyAll(
	yes: boolean,
	world: World,
	options: CloudOptions,
): Promise<void> {
	await forgetUnmade(world);
	const free: KnownRig[] = [];
	for (const rig of await knownRigs(world)) {
		const doing = await heldBy(rig.folder);
		if (doing === null) free.push(rig);
		else
			world.stdout.write(`${rig.folder.id} stays: another mqbench ${doing}.\n`);
	}
	if (free.length === 0)
		return void world.stdout.write(tell("no-rig-to-destroy"));
	const names = free.map(nameOf).join(", ");
	if (!yes && !(await agreed(`Take down ${names}?`, world)))
		return void world.stdout.write("Nothing was taken down.\n");
	const failed: unknown[] = [];
	for (const [i, { folder }] of free.entries()) {
		if (world.stop.aborted) {
			const rest = free.slice(i).map((rig) => rig.folder.id);
			failed.push(
				failure("cloud-left", {
					text: tell("destroy-stopped", {
						reason: world.stop.reason,
						rest,
						were: rest.length === 1 ? "was" : "were",
					}),
				}),
			);
			break;
		}
		try {
			await destroyCloud(folder.id, world, { ...options, yes });
			world.stdout.write(downText(folder.id));
		} catch (error) {
			failed.push(error);
		}
	}
	throwAll(failed);
}

// --- internal ---

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
	return `${tell("rig-is-down", { id })}\n`;
}
