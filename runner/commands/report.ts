import { existsSync } from "node:fs";
import path from "node:path";
import { type Command, Option } from "commander";
import { buildResult } from "../compare/build.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { damageIn } from "../evidence/json.ts";
import { type Theme, writePictures } from "../figures/files.ts";
import type { Result } from "../model/result.ts";
import type { PipelineArgs } from "../pipeline.ts";
import { deliver } from "../render/deliver.ts";
import { FORMATS, writeExport } from "../render/export/write.ts";
import { writeReports } from "../render/write.ts";
import { writeIndex } from "../render/write-index.ts";
import { holdsResult, holdsRuns } from "../result/indexed.ts";
import { REPORT_FILES, type ReporterArgs, reportersOf } from "../result/reporters.ts";
import { readResult } from "../result/result-files.ts";
import { openOrSay } from "../watch/browser.ts";
import type { World } from "../world.ts";
import { type Action, inconclusiveOption, reportOptions } from "./options.ts";

export function declare(command: Command, on: Action): void {
	reportOptions(
		command.argument(
			"<folder...>",
			"reports/<run-id>, or reports for the index; --export takes several",
		),
	)
		.addOption(inconclusiveOption("exit code for an undecided SLA, as in npx mqbench run"))
		.addOption(
			new Option(
				"--svg [folder]",
				"only draw the charts, one file each (default: svg/ in the run's folder)",
			).conflicts(["reporter", "json"]),
		)
		.addOption(
			new Option("--theme <theme>", "colours of the charts: light or dark")
				.choices(["light", "dark"])
				.default("light"),
		)
		.addOption(new Option("--open", "open the report in a browser").conflicts(["svg"]))
		.option("--only <glob>", "charts that --svg draws, by name, e.g. '*-percentiles'")
		.addOption(
			new Option("--export <format>", "only write the figures for another tool")
				.choices(Object.keys(FORMATS))
				.conflicts(["reporter", "json", "svg", "open"]),
		)
		.option(
			"--out <folder>",
			"where --export writes (default: export/<format> in the first folder)",
		)
		.addHelpText(
			"after",
			`
For other tools:
  npx mqbench report reports --export openmetrics
`,
		)
		.action(on(report, "folders"));
}

interface ReportArgs extends ReporterArgs, Pick<PipelineArgs, "out" | "onInconclusive"> {
	readonly folders: readonly string[];
	readonly export?: string | undefined;
	/** true writes into `svg/` of the run's folder. */
	readonly svg?: string | true | undefined;
	readonly theme?: Theme | undefined;
	readonly open?: boolean | undefined;
	readonly only?: string | undefined;
}

/** Recomputes result and reports from a run's files, or reports from result.json only. An index of a folder of runs judges nothing. */
export async function report(args: ReportArgs, world: World): Promise<ExitCode> {
	const { folders, export: format, out, onInconclusive } = args;
	if (format !== undefined) return writeExport({ folders, format, out }, world);
	const [folder = ""] = folders;
	if (folders.length > 1 || out !== undefined)
		throw failure("usage", {
			message: "npx mqbench report takes one folder; several, and --out, are for --export",
		});
	const reporters = reportersOf(args, world);
	const where = path.resolve(world.cwd, folder);
	if (args.svg !== undefined) return pictures(where, args, world);
	const show = async (name: string) =>
		args.open && openOrSay(path.join(where, name), path.join(folder, name), world);
	if (existsSync(where) && !holdsRuns(where) && !holdsResult(where)) {
		writeIndex(where, folder, world);
		await show("index.html");
		return EXIT.pass;
	}
	const { result, from } = resultOf(where);
	writeReports(where, result, onInconclusive, from);
	const code = deliver({ result, folder: where, reporters, onInconclusive }, world);
	await show(REPORT_FILES.html);
	return code;
}

// --- internal ---

function resultOf(where: string): { readonly result: Result; readonly from: "measured" | "read" } {
	if (holdsRuns(where) || !holdsResult(where))
		try {
			return { result: buildResult(where), from: "measured" };
		} catch (error) {
			damageIn(error);
			// No plan is readable, but an earlier result may exist.
			if (!holdsResult(where)) throw error;
		}
	return { result: readResult(where), from: "read" };
}

async function pictures(folder: string, args: ReportArgs, { cwd, stdout }: World) {
	const { svg, theme = "light", only = "*" } = args;
	const out = typeof svg === "string" ? path.resolve(cwd, svg) : undefined;
	const files = await writePictures(resultOf(folder).result, { folder, out, theme, only });
	stdout.write(`${files.map((file) => path.relative(cwd, file)).join("\n")}\n`);
	return EXIT.pass;
}
