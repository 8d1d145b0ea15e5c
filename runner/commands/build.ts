import { access, constants, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { buildFurther } from "../../infra/programs/further.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
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
			"link a further k6 extension, a folder or module@version; may be repeated. <out>.lock/ pins all versions for the next build",
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
	// Keep the pins of the user's extensions; without any, go.mod pins our own.
	const pinned = further.length > 0;
	let temporary: string | null = null;
	try {
		await access(path.dirname(out), constants.W_OK);
		if (!pinned) temporary = await mkdtemp(path.join(tmpdir(), "mqbench-k6-"));
		const what = ["mqbench's extensions", ...further].join(" and ");
		progress.say(`Building k6 with ${what}, which takes a minute or two the first time.`);
		const replaced = await buildFurther({
			extensions: path.join(packageFolder, "extensions"),
			bundle: path.join(packageFolder, "dist", "inside-k6.js"),
			version: packageVersion,
			out,
			lock: temporary ?? `${out}.lock`,
			further: further.map((one) => (/@v/.test(one) ? one : path.resolve(world.cwd, one))),
			env: world.env,
			stop: world.stop,
			onProgress: (phase, done, all) => progress.build.step(phase, done, all),
		});
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
