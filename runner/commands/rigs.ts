import { destroyAll, destroyOne } from "../../infra/cloud/destroy.ts";
import type { CloudOptions } from "../../infra/cloud/lifecycle.ts";
import { rigForPrograms, rigsText } from "../../infra/cloud/list.ts";
import { pulumiConfig } from "../../infra/cloud/pulumi-config.ts";
import { type CloudSide, offerFor, theCloud } from "../../infra/cloud/rent.ts";
import { cloudRequest } from "../../infra/cloud/request.ts";
import { forgetUnmade, knownRigs } from "../../infra/cloud/rigs.ts";
import {
	type SweepArgs,
	type SweepSide,
	sweepRigs,
} from "../../infra/cloud/sweep-rigs.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { RENTING } from "../model/targets.ts";
import { expand } from "../plan/expand.ts";
import { readScenario } from "../scenario/read.ts";
import type { World } from "../world.ts";

/** `mqbench rigs list`: what is rented, as far as this machine remembers. */
export async function rigsList(
	world: World,
	{ json = false }: { readonly json?: boolean | undefined } = {},
): Promise<ExitCode> {
	await forgetUnmade(world);
	const rigs = await knownRigs(world);
	world.stdout.write(
		json
			? `${JSON.stringify(await Promise.all(rigs.map(rigForPrograms)), null, "\t")}\n`
			: await rigsText(rigs, world),
	);
	return EXIT.pass;
}

/** `mqbench rigs destroy`: takes down one rig, or all that no other mqbench has. */
export async function rigsDestroy(
	{
		id,
		all = false,
		yes = false,
	}: { readonly id?: string; readonly all?: boolean; readonly yes?: boolean },
	world: World,
	options: CloudOptions = {},
): Promise<ExitCode> {
	if (all !== (id === undefined))
		throw failure("usage", {
			message: all
				? `rigs destroy ${id} --all: give the name of one rig, or --all`
				: "rigs destroy: which one? mqbench rigs list names them; --all takes down all of them",
		});
	if (id === undefined) await destroyAll(yes, world, options);
	else await destroyOne(id, yes, world, options);
	return EXIT.pass;
}

/** `mqbench rigs sweep`: finds rigs by their tags, whoever remembers them, and removes them piece by piece. */
export async function rigsSweep(
	args: SweepArgs,
	world: World,
	side: Partial<SweepSide> = {},
): Promise<ExitCode> {
	await sweepRigs(args, world, side);
	return EXIT.pass;
}

export interface RigsConfigArgs {
	/** Path of the scenario file. */
	readonly path: string;
	readonly set?: readonly string[] | undefined;
	readonly clients?: string | undefined;
	readonly only?: string | undefined;
}

/** `mqbench rigs config`: what the Pulumi program is told for a scenario, for people who run `pulumi up` by hand. Rents nothing. */
export async function rigsConfig(
	args: RigsConfigArgs,
	world: World,
	cloud: CloudSide = theCloud,
): Promise<ExitCode> {
	const asked = { ...args, target: RENTING };
	const { scenario } = await readScenario(args.path, asked, world);
	const plans = expand(scenario, { only: args.only });
	const request = cloudRequest(scenario, plans, args);
	if (request === null) throw new Error(`target ${RENTING} rents machines`);
	const offer = await offerFor(request, world, cloud);
	world.stdout.write(pulumiConfig(offer, args.path));
	return EXIT.pass;
}
