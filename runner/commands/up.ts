import { existsSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { resolveBinaries } from "../../infra/programs/resolve.ts";
import { readScenario } from "../../infra/read-scenario.ts";
import {
	type CloudSide,
	type RentOptions,
	refuseRentOptions,
	theCloud,
	upInCloud,
} from "../../infra/rent/rent.ts";
import { cloudRequest, rigId } from "../../infra/rent/request.ts";
import { stayUp } from "../../infra/stay-up.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { targets, targetsThat } from "../model/targets.ts";
import { expand } from "../plan/expand.ts";
import { makeProgress } from "../run/progress.ts";
import { commandLine } from "../shell.ts";
import type { World } from "../world.ts";
import { type Action, rentOptions, type ScenarioArgs, systemsOptions } from "./options.ts";

export function declare(command: Command, on: Action): void {
	rentOptions(systemsOptions(command))
		.option("--target <target>", "where to start them: local or aws")
		.option("--clients <n>", "target aws: machines for the load")
		.option("--out <file>", "file to write, for --rig (default: rig.json)")
		.action(on(up, "path"));
}

interface UpArgs extends ScenarioArgs, RentOptions {
	readonly out?: string | undefined;
}

/** Local processes live until Ctrl-C, or until rig.json is gone (`mqbench down`); rented machines until they are removed or end themselves. */
export async function up(
	args: UpArgs,
	world: World,
	cloud: CloudSide = theCloud,
): Promise<ExitCode> {
	const { scenario } = await readScenario(args.path, args, world);
	const { target } = scenario;
	if (!targets[target].stays)
		throw failure("usage", {
			message: `${args.path}: npx mqbench up keeps brokers of target ${targetsThat(({ stays }) => stays)}, not of ${target}. Measure without it: npx mqbench ${commandLine([args.path])}`,
		});
	if (scenario.drivers !== null)
		throw failure("usage", {
			message: `${args.path}: npx mqbench up keeps no brokers from outside (extensions). Start yours, and write target: existing with its url.`,
		});
	const shown = args.out ?? "rig.json";
	const place = { shown, path: path.resolve(world.cwd, shown) };
	if (existsSync(place.path)) throw failure("rig-exists", { path: shown });
	const progress = makeProgress(world, false);
	const plans = expand(scenario, { only: args.only });
	const request = cloudRequest(scenario, plans, args);
	if (request !== null) {
		world.stdout.write(await upInCloud(request, args, place, progress, world, cloud));
		return EXIT.pass;
	}
	refuseRentOptions(args);
	const binaries = await resolveBinaries(world, {
		progress: progress.build,
		yes: args.yes ?? false,
	});
	const what = { id: rigId(scenario.name), scenario, plans, path: args.path, place };
	await stayUp(what, (line) => progress.say(line), world, binaries);
	return EXIT.pass;
}
