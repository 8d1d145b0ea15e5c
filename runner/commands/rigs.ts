import { type Command, Option } from "commander";
import { destroyAll, destroyOne } from "../../infra/cloud/destroy.ts";
import type { CloudOptions } from "../../infra/cloud/lifecycle.ts";
import { rigForPrograms, rigsText } from "../../infra/cloud/list.ts";
import type { Clouds } from "../../infra/cloud/providers.ts";
import { pulumiConfig } from "../../infra/cloud/pulumi-config.ts";
import { type CloudSide, offerFor, theCloud } from "../../infra/cloud/rent.ts";
import { cloudRequest } from "../../infra/cloud/request.ts";
import { knownRigs } from "../../infra/cloud/rigs.ts";
import { type SweepArgs, sweepRigs } from "../../infra/cloud/sweep-rigs.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { RENTING, TARGETS, targets } from "../model/targets.ts";
import { expand } from "../plan/expand.ts";
import { readScenario } from "../scenario/read.ts";
import { tell } from "../text/tell.ts";
import type { World } from "../world.ts";
import { type Invocation, onlySystemsOption, setOption } from "./options.ts";

const EXAMPLES = `
Examples:
  mqbench rigs list
  mqbench rigs destroy my-scenario-3f2a9b
  mqbench rigs destroy --all --yes
  mqbench rigs sweep --region eu-central-1
  mqbench rigs list --target kubernetes
  mqbench rigs sweep --region eu-central-1 --id my-scenario-3f2a9b --yes
  mqbench rigs config scenarios/ec2.yaml > config.yaml

Exit code 5: something is left in the cloud, and the commands that remove it are printed.
`;

/** `mqbench rigs`: of what is rented. */
export function declare(program: Command, { world, exit }: Invocation): void {
	const rigs = program
		.command("rigs")
		.description(
			"list or remove what is rented in the cloud, or runs in a cluster",
		)
		.addHelpText("after", EXAMPLES);
	rigs
		.command("list")
		.description("list the rigs that this machine knows, with their price")
		.option("--json", "print them as JSON")
		.addOption(targetOption())
		.addOption(contextOption())
		.addOption(namespaceOption())
		.action(async (options) => exit(await rigsList(world, options)));
	rigs
		.command("destroy")
		.description("remove a rig that this machine knows")
		.argument("[id]", "as shown by mqbench rigs list")
		.option(
			"--all",
			"all rigs; exit code 5 if one stays, also because another mqbench is using it",
		)
		.option("-y, --yes", "ask nothing")
		.addOption(targetOption())
		.addOption(contextOption())
		.addOption(namespaceOption())
		.action(async (id: string | undefined, options) =>
			exit(await rigsDestroy({ id, ...options }, world)),
		);
	rigs
		.command("sweep")
		.description(
			"find rigs in AWS by their tag, and remove those that have expired, or the one given by --id",
		)
		.option(
			"--region <region>",
			"where to look, e.g. eu-central-1 (default: all regions that are enabled)",
		)
		.option("--profile <profile>", "profile of AWS's configuration files")
		.option("--id <id>", "only this rig, whether it has expired or not")
		.option(
			"--owner <owner>",
			"whose expired rigs (default: yours, as AWS names you)",
		)
		.option("-y, --yes", "remove without asking")
		.addOption(targetOption())
		.addOption(contextOption())
		.addOption(namespaceOption())
		.action(async (options) => exit(await rigsSweep(options, world)));
	rigs
		.command("config")
		.description(
			"print the Pulumi configuration of a scenario, for running pulumi up by hand",
		)
		.argument("<scenario>", "path of the YAML file")
		.addOption(setOption())
		.option("--clients <n>", "machines for the load")
		.addOption(onlySystemsOption())
		.action(async (path: string, options) =>
			exit(await rigsConfig({ path, ...options }, world)),
		);
}

/** `mqbench rigs list`: what is rented, as far as this machine remembers. */
export async function rigsList(
	world: World,
	{
		json = false,
		...where
	}: { readonly json?: boolean | undefined } & InCluster = {},
): Promise<ExitCode> {
	if (isCluster(where)) {
		const { podsText, podsThere } = await import(
			"../../infra/kubernetes/left.ts"
		);
		const all = await podsThere(where, world);
		world.stdout.write(
			json
				? `${JSON.stringify(all, null, "\t")}\n`
				: podsText(all, world.clock.nowMs()),
		);
		return EXIT.pass;
	}
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
		...where
	}: {
		readonly id?: string;
		readonly all?: boolean;
		readonly yes?: boolean;
	} & InCluster,
	world: World,
	options: CloudOptions = {},
): Promise<ExitCode> {
	if (isCluster(where) && id !== undefined)
		return (await import("../../infra/kubernetes/left.ts")).removePods(
			...([id, where, world] as const),
		);
	if (all !== (id === undefined))
		throw failure("usage", {
			message: all
				? tell("one-rig-or-all", { id: id ?? "" })
				: tell("which-rig"),
		});
	if (id === undefined) await destroyAll(yes, world, options);
	else await destroyOne(id, yes, world, options);
	return EXIT.pass;
}

/** `mqbench rigs sweep`: finds rigs by their tags, whoever remembers them, and removes them piece by piece. */
export async function rigsSweep(
	args: SweepArgs & InCluster,
	world: World,
	clouds?: Clouds,
): Promise<ExitCode> {
	if (isCluster(args))
		return (await import("../../infra/kubernetes/left.ts")).removePods(
			...([args.id ?? null, args, world] as const),
		);
	await sweepRigs(args, world, clouds);
	return EXIT.pass;
}

/** `--target kubernetes`: what is in a cluster. */
export interface InCluster {
	readonly target?: string | undefined;
	readonly context?: string | undefined;
	readonly namespace?: string | undefined;
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

// --- internal ---

/** False: the cloud is meant. */
function isCluster({ target }: InCluster): boolean {
	if (target === undefined) return false;
	const place = TARGETS.find((name) => name === target);
	if (place !== undefined && targets[place].place === "pod") return true;
	if (place !== undefined && targets[place].rents !== null) return false;
	throw failure("usage", { message: tell("rigs-target", { target }) });
}

function targetOption(): Option {
	return new Option(
		"--target <target>",
		"kubernetes: the pods of mqbench in a cluster",
	);
}

function contextOption(): Option {
	return new Option(
		"--context <context>",
		"target kubernetes: which cluster (default: kubectl's own)",
	);
}

function namespaceOption(): Option {
	return new Option(
		"--namespace <namespace>",
		"target kubernetes: where to look (default: everywhere)",
	);
}
