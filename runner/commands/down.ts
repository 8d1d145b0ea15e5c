import path from "node:path";
import { readRig, removeRig } from "../../infra/rig-store.ts";
import { takeDown } from "../../infra/standing-up.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import type { World } from "../world.ts";

export interface DownArgs {
	/** Path of the rig.json. */
	readonly file: string;
}

/** `mqbench down`: takes a rig down that mqbench up has stood up, and removes its file. What is gone already is no mistake. */
export async function down(
	{ file }: DownArgs,
	world: World,
	destroy: (id: string, world: World) => Promise<void> = destroyRented,
): Promise<ExitCode> {
	const place = { shown: file, path: path.resolve(world.cwd, file) };
	const rig = await readRig(place);
	if (rig === null) {
		world.stdout.write(
			`${file}: there is no such file; a rig that it stood for is down already.\n`,
		);
		return EXIT.pass;
	}
	if (rig.target === "aws") {
		// Its state is not ours, and neither is taking it down.
		if ((rig.cloud?.state ?? null) === null)
			throw failure("usage", {
				message: `${file}: the machines of ${rig.id} were stood up by hand, and go the same way: pulumi destroy where pulumi up was run`,
			});
		await destroy(rig.id, world);
		await removeRig(place, rig.id);
		world.stdout.write(`The rig ${rig.id} is down; nothing of it is left.\n`);
		return EXIT.pass;
	}
	if (rig.target === "existing") {
		world.stdout.write(
			`${file}: the brokers of ${rig.id} were there before mqbench, and stay up; nothing was taken down.\n`,
		);
		return EXIT.pass;
	}
	// Whoever holds processes of a rig ends them when its file is gone.
	if (rig.target === "local") await removeRig(place, rig.id);
	await takeDown(rig, world);
	await removeRig(place, rig.id);
	world.stdout.write(`The rig ${rig.id} is down; nothing of it is left.\n`);
	return EXIT.pass;
}

// --- internal ---

async function destroyRented(id: string, world: World): Promise<void> {
	const { destroyCloud } = await import("../../infra/cloud/lifecycle.ts");
	await destroyCloud(id, world);
}
