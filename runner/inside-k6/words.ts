import path from "node:path";
import { stringify } from "yaml";
import { buildResult } from "../compare/build.ts";
import { documentOf } from "../document/document.ts";
import { failure } from "../errors.ts";
import { collect } from "../evidence/collect.ts";
import { Plan, runFolder } from "../model/plan.ts";
import type { MetricSummary } from "../model/result.ts";
import { expand, newRunId } from "../plan/expand.ts";
import { mainMetric } from "../plan/samples.ts";
import { renderTerminal } from "../render/terminal.ts";
import { summarise } from "../result/metrics.ts";
import { REPORT_FILES } from "../result/reporters.ts";
import { filesOfResult } from "../result/result-files.ts";
import { loadScenario } from "../scenario/load.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { compile, options } from "../script/compile.ts";
import { maskScenario } from "../secrets.ts";
import { commandLine } from "../shell.ts";
import { factsOf, UNKNOWN } from "../verdict/facts.ts";
import { judgeRun, reasonOf } from "../verdict/run.ts";

/** Functions that extensions/xk6-mqbench/runner calls. Everything crosses as JSON. */
const words = {
	/** Plans the scenario object of `mqbench.open`, which must make one run on an existing broker. */
	open(written: object, env: Readonly<Record<string, string>>) {
		// Inside k6 nothing is started, so an existing broker is the default.
		const text = stringify({ target: "existing", ...written });
		const scenario = loadScenario(FILE, text, {}, env);
		const runId = newRunId(scenario.name, Date.now());
		const [plan, ...more] = expand(scenario, { runId });
		const beyond = beyondScript(scenario, 1 + more.length);
		if (plan === undefined || beyond !== null)
			throw failure("usage", { message: `${FILE}: ${beyond}` });
		const [system] = scenario.systems;
		return {
			...staged(plan, runId),
			/** With the password; "" if the plan's variable has it. */
			url: system?.url ?? "",
			files: {
				"scenario.yaml": maskScenario(text, system?.options.secrets ?? []),
				...filesOf(plan),
			},
		};
	},
	load(written: object) {
		const plan = Plan.parse(written);
		return {
			...staged(plan, newRunId(plan.scenario, Date.now())),
			url: null,
			files: filesOf(plan),
		};
	},
	result(folder: string) {
		const result = buildResult(folder);
		const { [REPORT_FILES.json]: json = "", ...files } = Object.fromEntries(filesOfResult(result));
		const [run] = result.runs;
		const main = run?.metrics[run.main];
		return {
			/** result.json, and the files that it names, by path. */
			json,
			files,
			text: renderTerminal(documentOf(result), {
				/** The width of k6's own summary. */
				columns: 100,
				colour: false,
				report: commandLine(["mqbench", "report", folder]),
			}),
			verdict: result.verdict,
			/** Why it is not PASS, else "". */
			reason: reasonOf({ why: run?.why ?? null, judgements: result.gates }) ?? "",
			/** Percentiles of the window, ns: p50, p99, p999, max. */
			figures: main ? figuresOf(main) : null,
			lost: run?.lost ?? null,
			sla: result.gates.map(({ sla, verdict }) => ({ line: sla, met: verdict === "pass" })),
		};
	},
	/** The result of a run's folder, before its report is made. */
	run(folder: string) {
		const facts = factsOf(collect(folder), UNKNOWN);
		const judged = judgeRun(facts);
		const main = summarise(facts, mainMetric(facts.collected.plan));
		return {
			json: "",
			text: "",
			files: {},
			verdict: judged.verdict,
			reason: reasonOf(judged) ?? "",
			figures: main ? figuresOf(main) : null,
			lost: facts.collected.counters.window?.lost ?? null,
			sla: judged.judgements.map(({ sla, verdict }) => ({ line: sla, met: verdict === "pass" })),
		};
	},
};

Object.assign(globalThis, { words });

// --- internal ---

const FILE = "mqbench.open";

function staged(plan: Plan, runId: string) {
	return {
		plan,
		folder: path.join("reports", runId),
		run: path.join("runs", runFolder(plan)),
		/** k6's scenario that hands out slots. */
		scenario: options(plan).scenarios.heartbeat,
	};
}

function filesOf(plan: Plan): Record<string, string> {
	const { script, planJson } = compile(plan);
	const run = path.join("runs", runFolder(plan));
	return { [path.join(run, "plan.json")]: planJson, [path.join(run, "script.js")]: script };
}

/** The scenario's first setting that is impossible inside k6. */
function beyondScript(scenario: Scenario, runs: number): string | null {
	const { target, clients, faults, baselineSla } = scenario;
	if (target !== "existing")
		return `target: ${target} is for mqbench on the command line: a script starts no broker, and measures one that is there (target: existing, which may be left out)`;
	if (clients.kind !== "local" || clients.count !== 1)
		return "clients are for mqbench on the command line: a script is one client";
	if (faults.length > 0)
		return "faults are for mqbench on the command line: a script cannot stop a broker";
	if (baselineSla.length > 0)
		return "an sla that compares is for mqbench on the command line: a script measures one run at a time";
	return runs === 1
		? null
		: `these are ${runs} runs, and each call makes one: give it one system and one workload without lists, repeat 1, and call it once for each`;
}

function figuresOf({ percentiles, max }: MetricSummary) {
	const figures: Record<string, number> = {};
	for (const { p, value } of percentiles)
		if (value !== null && [50, 99, 99.9].includes(p)) figures[`p${p}`.replace(".", "")] = value;
	if (max !== null) figures.max = max;
	return figures;
}
