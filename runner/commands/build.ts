import { mkdtemp, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { extensionNamed, findModule, type Module } from "../../infra/programs/extension.ts";
import { buildFurther } from "../../infra/programs/further.ts";
import { EXTENSIONS, HERE, programIn } from "../../infra/programs/programs.ts";
import { goReady } from "../../infra/programs/toolchain.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "../errors.ts";
import { packageFolder, packageVersion } from "../package.ts";
import { reasonOf } from "../reason.ts";
import { makeProgress } from "../run/progress.ts";
import type { World } from "../world.ts";
import { type Action, collect } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command
		.option("--out <path>", "output file", "k6")
		.option(
			"--with <extension>",
			"link a further k6 extension, a folder or module@version; may be repeated",
			collect,
		)
		.action(on(build));
}

export async function build(
	args: { readonly out: string; readonly with?: readonly string[] | undefined },
	world: World,
): Promise<ExitCode> {
	const out = path.resolve(world.cwd, args.out);
	const further = args.with ?? [];
	const progress = makeProgress(world, false);
	let temporary: string | null = null;
	try {
		// Next to the k6, so that the file is renamed when it is complete.
		temporary = await mkdtemp(path.join(path.dirname(out), ".mqbench-k6-"));
		const what = ["mqbench's extensions", ...further].join(" and ");
		progress.say(`Building k6 with ${what}, which takes a minute or two the first time.`);
		const replaced = await buildFurther({
			cwd: EXTENSIONS,
			platform: HERE,
			version: packageVersion,
			folder: temporary,
			bundle: path.join(packageFolder, "dist", "inside-k6.js"),
			env: await goReady(world, { extensions: EXTENSIONS, yes: false, why: null }),
			modules: await Promise.all(further.map((text) => moduleOf(text, world))),
			stop: world.stop,
			onProgress: (phase, done, all) => progress.build.step(phase, done, all),
		});
		await rename(programIn(temporary, "k6"), out);
		for (const name of replaced)
			progress.say(`${name} comes from the further extension; mqbench's own is left out.`);
	} catch (error) {
		if (typeof (error as NodeJS.ErrnoException).errno === "number")
			throw failure("k6-unwritable", { path: args.out, reason: reasonOf(error) });
		throw error;
	} finally {
		progress.done();
		if (temporary) await rm(temporary, { recursive: true, force: true });
	}
	const shown = args.out.includes("/") ? args.out : `./${args.out}`;
	world.stdout.write(`${shown} is a k6 with mqbench's extensions: ${shown} version lists them.\n`);
	return EXIT.pass;
}

// --- internal ---

function moduleOf(text: string, world: World): Promise<Module> {
	return findModule(extensionNamed(text), world).catch((error) => {
		if (error instanceof MqbenchError) throw error;
		throw failure("extension-unreadable", { text, reason: reasonOf(error) });
	});
}
