import type { Command } from "commander";
import { rigForPrograms, rigsText } from "../../infra/rent/list.ts";
import { destroyRigs, type SweepArgs, sweepRigs } from "../../infra/rent/remove.ts";
import { knownRigs } from "../../infra/rent/rigs.ts";
import type { CloudOptions } from "../../infra/rent/take-down.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import type { World } from "../world.ts";
import type { Action, Flags, Texts } from "./options.ts";

export function declare(command: Command, on: Action): void {
	const rigs = command.addHelpText(
		"after",
		`
Examples:
  npx mqbench rigs list
  npx mqbench rigs destroy my-scenario-3f2a9b
  npx mqbench rigs destroy --all --yes
  npx mqbench rigs sweep --region eu-central-1
  npx mqbench rigs sweep --region eu-central-1 --id my-scenario-3f2a9b --yes

Exit code 5: something is left in the cloud, and the commands that remove it are printed.
Pods of target kubernetes end by themselves. To list them:
  kubectl get jobs --all-namespaces --selector app.kubernetes.io/managed-by=mqbench
`,
	);
	rigs
		.command("list")
		.description("list the rigs that this machine knows, with their price")
		.option("--json", "print them as JSON")
		.action(on(rigsList));
	rigs
		.command("destroy")
		.description("remove a rig that this machine knows")
		.argument("[id]", "as shown by npx mqbench rigs list")
		.option("--all", "all rigs; exit code 5 if one stays, also because another mqbench is using it")
		.option("-y, --yes", "ask nothing")
		.action(on(rigsDestroy, "id"));
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
		.option("--owner <owner>", "whose expired rigs (default: yours, as AWS names you)")
		.option("-y, --yes", "remove without asking")
		.action(on(rigsSweep));
}

export async function rigsList({ json = false }: Flags<"json">, world: World): Promise<ExitCode> {
	const rigs = await knownRigs(world);
	world.stdout.write(
		json ? `${JSON.stringify(rigs.map(rigForPrograms), null, "\t")}\n` : rigsText(rigs, world),
	);
	return EXIT.pass;
}

export async function rigsDestroy(
	{ id, all = false, yes = false }: Texts<"id"> & Flags<"all" | "yes">,
	world: World,
	options: CloudOptions = {},
): Promise<ExitCode> {
	if (all !== (id === undefined))
		throw failure("usage", {
			message: all
				? `rigs destroy ${id ?? ""} --all: give the name of one rig, or --all`
				: "rigs destroy: which one? npx mqbench rigs list names them; --all takes down all of them",
		});
	await destroyRigs(id, yes, world, options);
	return EXIT.pass;
}

/** Finds rigs by their tags and removes them piece by piece, even those that this machine does not remember. */
export async function rigsSweep(
	args: SweepArgs,
	world: World,
	options: CloudOptions = {},
): Promise<ExitCode> {
	await sweepRigs(args, world, options);
	return EXIT.pass;
}
