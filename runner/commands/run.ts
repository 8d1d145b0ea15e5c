import path from "node:path";
import { type ExitCode, failure } from "../errors.ts";
import { runPipeline } from "../pipeline.ts";
import { readableJson } from "../report/json.ts";
import { renderTerminal } from "../report/terminal.ts";
import { makeProgress } from "../run/progress.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import { holdsSecret } from "../secrets.ts";
import { exitCodeOf, type OnInconclusive } from "../verdict/exit.ts";
import type { World } from "../world.ts";
import { foresee } from "./foresee.ts";

export interface RunArgs extends Overrides {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--only`: a glob over "system/case". */
	readonly only?: string | undefined;
	/** `--out`: folder for the results. */
	readonly out?: string | undefined;
	/** `--resume`: folder of an interrupted command that is to be gone on with. */
	readonly resume?: string | undefined;
	/** `--json`: result.json on stdout instead of the report. */
	readonly json?: boolean | undefined;
	/** `--quiet`: no progress, no report; the exit code speaks. */
	readonly quiet?: boolean | undefined;
	/** `--no-floor`: false; the floor of the generator is then unknown. */
	readonly floor?: boolean | undefined;
	readonly onInconclusive?: OnInconclusive | undefined;
}

/** `mqbench run`: makes every run of a scenario, prints the verdict, and gives its exit code. */
export async function run(args: RunArgs, world: World): Promise<ExitCode> {
	if (args.out !== undefined && args.resume !== undefined)
		throw failure("usage", {
			message: "--resume goes on in the folder that it names; leave --out away",
		});
	const { scenario, text } = await readScenario(args.path, args, world);
	foresee(scenario, args, world);
	const progress = makeProgress(world, args.quiet ?? false);
	if ([args.url ?? "", ...(args.set ?? [])].some(holdsSecret))
		progress.say(VISIBLE_PASSWORD);
	const { folder, result } = await runPipeline(
		{
			scenario,
			scenarioText: text,
			only: args.only,
			out: args.out,
			resume: args.resume,
			// What is no result needs no floor to compare it with.
			floor: (args.floor ?? true) && !scenario.quick,
			progress,
		},
		world,
	);
	if (args.json) world.stdout.write(`${readableJson(result)}\n`);
	else if (!args.quiet) {
		const here = path.relative(world.cwd, folder);
		world.stdout.write(
			renderTerminal(result, {
				columns: world.stdout.columns,
				colour: world.stdout.isTTY && !world.env.NO_COLOR,
				folder: here.startsWith("..") ? folder : here,
			}),
		);
	}
	return exitCodeOf(result, args.onInconclusive);
}

// --- internal ---

/** We hide our own command line, not those of npx and the shell above us. */
const VISIBLE_PASSWORD =
	// biome-ignore lint/suspicious/noTemplateCurlyInString: that is what a person is to type.
	"There is a password on the command line: whoever lists this machine's processes may have seen it. Better in the environment: NATS_URL=... mqbench ... --url '${NATS_URL}'";
