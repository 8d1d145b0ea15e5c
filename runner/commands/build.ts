import { access, constants, copyFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { buildFurther } from "../../infra/binaries/further.ts";
import { resolveBinaries } from "../../infra/binaries/resolve.ts";
import { BrokerName } from "../brokers/index.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { packageFolder, packageVersion } from "../package.ts";
import { reasonOf } from "../reason.ts";
import { makeProgress } from "../run/progress.ts";
import { tell } from "../text/tell.ts";
import type { World } from "../world.ts";
import type { Invocation } from "./options.ts";

export function declare(program: Command, { world, exit }: Invocation): void {
	program
		.command("build")
		.description(
			"build a k6 with mqbench's extensions for scripts of your own: k6/x/nats, k6/x/kafka, and what `mqbench compile` prints",
		)
		.option("--out <path>", "where it comes to stand", "k6")
		.option(
			"--with <extension>",
			"link a further k6 extension, a folder or module@version; may be repeated. <out>.lock/ pins all versions for the next build",
			(one: string, all: string[]) => [...all, one],
			[] as string[],
		)
		.action(async (options) => exit(await build(options, world)));
}

export interface BuildArgs {
	/** `--out`: path of the k6. */
	readonly out: string;
	/** `--with`: further extensions. */
	readonly with: readonly string[];
}

/** `mqbench build`: leaves a k6 for people. */
export async function build(args: BuildArgs, world: World): Promise<ExitCode> {
	const out = path.resolve(world.cwd, args.out);
	const progress = makeProgress(world, false);
	const extensions = path.join(packageFolder, "extensions");
	try {
		await access(path.dirname(out), constants.W_OK);
		if (args.with.length === 0) {
			const { k6 } = await resolveBinaries(world, {
				extensions,
				version: packageVersion,
				progress: progress.build,
				systems: BrokerName.options.map((broker) => ({ broker })),
			});
			await copy(k6, out);
		} else {
			progress.say(tell("building-further", { what: args.with.join(" and ") }));
			const { replaced } = await buildFurther({
				extensions,
				version: packageVersion,
				out,
				lock: `${out}.lock`,
				further: args.with.map((one) =>
					/@v/.test(one) ? one : path.resolve(world.cwd, one),
				),
				env: world.env,
				stop: world.stop,
				onProgress: (phase, done, all) => progress.build.step(phase, done, all),
			});
			for (const name of replaced)
				progress.say(tell("extension-replaced", { name }));
		}
	} catch (error) {
		if (typeof (error as NodeJS.ErrnoException).errno === "number")
			throw failure("k6-unwritable", {
				path: args.out,
				reason: reasonOf(error),
			});
		throw error;
	} finally {
		progress.done();
	}
	// As a shell takes it.
	const shown = args.out.includes("/") ? args.out : `./${args.out}`;
	world.stdout.write(`${tell("k6-built", { path: shown })}\n`);
	return EXIT.pass;
}

// --- internal ---

/** A program that runs is not written to, but replaced. */
async function copy(from: string, to: string): Promise<void> {
	const temporary = `${to}.part`;
	try {
		await copyFile(from, temporary);
		await rename(temporary, to);
	} finally {
		await rm(temporary, { force: true });
	}
}
