import path from "node:path";
import { EXIT, type ExitCode } from "../../errors.ts";
import { writeWhole } from "../../result/whole-file.ts";
import { plainText } from "../../terminal/columns.ts";
import type { World } from "../../world.ts";
import { exportGithubActionBenchmark } from "./github-action-benchmark.ts";
import { exportOpenMetrics } from "./openmetrics.ts";
import { type Format, readPoints } from "./points.ts";

export const FORMATS: Readonly<Record<string, Format>> = {
	"github-action-benchmark": exportGithubActionBenchmark,
	openmetrics: exportOpenMetrics,
};

interface ExportArgs {
	/** Run folders, or folders that hold some; at least one. */
	readonly folders: readonly string[];
	readonly format: string;
	/** Default: export/<format> in the first folder. */
	readonly out: string | undefined;
}

/** It judges nothing. Nothing to write: exit code 2 without a result, 6 if all runs are undecided, otherwise 4. */
export function writeExport({ folders, format, out }: ExportArgs, world: World): ExitCode {
	const { points, leftOut } = readPoints(folders, world);
	const say = (sentence: string) => world.stderr.write(`${plainText(sentence)}\n`);
	for (const { said } of leftOut) say(said);
	const files = points.length === 0 ? [] : (FORMATS[format]?.(points) ?? []);
	if (files.length === 0) {
		say(`${folders.join(", ")}: nothing to export: no run in there passed or failed`);
		const verdicts = leftOut.flatMap(({ verdict }) => verdict ?? []);
		if (verdicts.length === 0 && points.length === 0) return EXIT.usage;
		const open = points.length === 0 && verdicts.every((verdict) => verdict === "inconclusive");
		return open ? EXIT.inconclusive : EXIT.invalid;
	}
	const [first = "."] = folders;
	const from = path.resolve(world.cwd, first);
	const where = path.resolve(world.cwd, out ?? path.join(first, "export", format));
	for (const { name, text } of files) {
		const file = path.join(where, name);
		writeWhole(file, text, from);
		world.stdout.write(`${path.relative(world.cwd, file).split(path.sep).join("/")}\n`);
	}
	return EXIT.pass;
}
