import path from "node:path";
import type { ExitCode } from "../errors.ts";
import { buildResult } from "../report/result.ts";
import { renderTerminal } from "../report/terminal.ts";
import { writeReports } from "../report/write.ts";
import { exitCodeOf } from "../verdict/exit.ts";
import type { World } from "../world.ts";

export interface ReportArgs {
	/** Folder of a run, `reports/<run-id>`. */
	readonly folder: string;
}

/** `mqbench report`: recomputes result and reports from a run's files, as `mqbench run` did, and gives its exit code. */
export async function report(
	{ folder }: ReportArgs,
	world: World,
): Promise<ExitCode> {
	const where = path.resolve(world.cwd, folder);
	const result = buildResult(where);
	writeReports(where, result);
	world.stdout.write(
		renderTerminal(result, {
			columns: world.stdout.columns,
			colour: world.stdout.isTTY && !world.env.NO_COLOR,
			folder,
		}),
	);
	return exitCodeOf(result);
}
