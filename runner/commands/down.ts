import path from "node:path";
import { takeDown } from "../../infra/standing-up.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "../errors.ts";
import type { Cloud, RigFile } from "../scenario/rig-file.ts";
import { readRig, removeRig } from "../scenario/rig-store.ts";
import type { World } from "../world.ts";
import type { SweepSide } from "./rigs.ts";

export interface DownArgs {
	/** Path of the rig.json. */
	readonly file: string;
}

/** The cloud's side (infra/cloud); tests pass a fake. */
export interface DownCloud {
	readonly destroy: (id: string, world: World) => Promise<void>;
	readonly find: SweepSide["find"];
	readonly account: SweepSide["account"];
}

/** `mqbench down`: takes a rig down that mqbench up has stood up, and removes its file. What is gone already is no mistake. */
export async function down(
	{ file }: DownArgs,
	world: World,
	side: Partial<DownCloud> = {},
): Promise<ExitCode> {
	const cloud = { ...theCloud, ...side };
	const place = { shown: file, path: path.resolve(world.cwd, file) };
	const rig = await readRig(place);
	if (rig === null) {
		world.stdout.write(
			`${file}: there is no such file, so nothing was taken down; mqbench rigs list shows what is rented.\n`,
		);
		return EXIT.pass;
	}
	if (rig.target === "aws") {
		await downRented(rig, file, world, cloud);
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

/** Loaded when something is rented. */
const theCloud: DownCloud = {
	async destroy(id, world) {
		const { destroyCloud } = await import("../../infra/cloud/lifecycle.ts");
		await destroyCloud(id, world);
	},
	async find(asked, world) {
		const { findTagged } = await import("../../infra/cloud/sweep.ts");
		return findTagged(asked, world);
	},
	async account(where, world) {
		const { accountInUse } = await import("../../infra/cloud/account.ts");
		return accountInUse(where, world);
	},
};

/** Returns when nothing of it is left. */
async function downRented(
	rig: RigFile,
	file: string,
	world: World,
	cloud: DownCloud,
): Promise<void> {
	const state = rig.cloud?.state ?? null;
	// Its state is not ours, and neither is taking it down.
	if (rig.cloud === null || state === null)
		throw failure("usage", {
			message: `${file}: the machines of ${rig.id} were stood up by hand, and go the same way: pulumi destroy where pulumi up was run`,
		});
	// That of whoever stood it up, which may have been told another MQBENCH_STATE_DIR.
	const folder = path.dirname(path.dirname(state));
	const there = { ...world, env: { ...world.env, MQBENCH_STATE_DIR: folder } };
	for (const at of [there, world])
		try {
			return await cloud.destroy(rig.id, at);
		} catch (error) {
			if (!(error instanceof MqbenchError && error.code === "no-such-rig"))
				throw error;
		}
	await orLeft(rig.id, rig.cloud, state, world, cloud);
}

/** Nobody remembers it any more: AWS alone knows whether it is there. Fails with `cloud-left` unless it is not. */
async function orLeft(
	id: string,
	{ region, profile, account, owner }: Cloud,
	state: string,
	world: World,
	cloud: DownCloud,
): Promise<void> {
	const { accountTrouble } = await import("../../infra/cloud/account.ts");
	const left = (what: string) =>
		failure("cloud-left", {
			text: `The rig ${id} is not remembered any more (${state} is gone), and ${what}.\nFind it by its tag:   mqbench rigs sweep --region ${region} --id ${id}${profile === null ? "" : ` --profile ${profile}`}`,
		});
	if (account === null)
		throw left(
			"whether it is there is not known, as the account that it is in is not",
		);
	const trouble = await accountTrouble(
		{ account, region, profile },
		world,
		cloud.account,
	);
	if (trouble !== null)
		throw left(`whether it is there is not known: ${trouble.wrong}`);
	const found = await cloud
		.find({ region, profile, owner, id }, world)
		.catch((error: Error) => {
			throw left(
				`whether it is there could not be asked: ${error.message.replace(/\.$/, "")}`,
			);
		});
	const count = found.reduce((sum, { things }) => sum + things.length, 0);
	if (count > 0)
		throw left(
			`${count} ${count === 1 ? "thing" : "things"} of it ${count === 1 ? "is" : "are"} there in ${region}`,
		);
}
