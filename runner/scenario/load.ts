import path from "node:path";
import { failure } from "../errors.ts";
import { formatBytesExact } from "../units.ts";
import { type Broker, brokers } from "./brokers.ts";
import { type ResolvedCases, resolveCases } from "./cases.ts";
import { problemsOf } from "./issues.ts";
import { unpromisedOrder } from "./order.ts";
import { applyOverrides, type Overrides } from "./overrides.ts";
import { type Located, type Problem, report } from "./problem.ts";
import type { Scenario } from "./scenario.ts";
import { ScenarioFile, Target } from "./schema.ts";
import { resolveSlaLines } from "./sla-lines.ts";
import { parseSource } from "./source.ts";
import { type PlacedSystem, resolveSystems } from "./systems.ts";

/**
 * Reads a scenario: YAML, then the command line's overrides, then every check that needs no broker. `file` is for
 * messages and the default name. Throws one `scenario-invalid` that shows all mistakes, each with its line.
 */
export function loadScenario(
	file: string,
	text: string,
	overrides: Overrides = {},
	env: Readonly<Record<string, string | undefined>> = {},
): Scenario {
	// Some editors begin files with a byte order mark; columns count without it.
	const yaml = text.replace(/^\ufeff/, "");
	const refuse = (problems: readonly Located[]) =>
		failure("scenario-invalid", { report: report(file, yaml, problems) });

	const parsed = parseSource(yaml);
	if ("problems" in parsed) throw refuse(parsed.problems);
	const { source } = parsed;
	const written = applyOverrides(source.value, overrides);
	const { scenario, problems } = check(written.value, {
		name: nameOf(file),
		targetChosen: written.labelOf(["target"]) !== undefined,
		labelOf: written.labelOf,
		env,
	});
	const located = problems.map(({ path: where, at, message }): Located => {
		const label = written.labelOf(where);
		return label === undefined
			? { offset: source.locate(where, at), message }
			: { label, message };
	});
	if (written.problems.length > 0 || !scenario)
		throw refuse([...written.problems, ...located]);
	return scenario;
}

// --- internal ---

interface Context {
	readonly name: string;
	readonly targetChosen: boolean;
	readonly env: Readonly<Record<string, string | undefined>>;
	labelOf(path: Problem["path"]): string | undefined;
}

/** Schema first, then what it cannot see; both always, so that a person gets all mistakes at once. */
function check(
	written: Readonly<Record<string, unknown>>,
	context: Context,
): { scenario?: Scenario; problems: Problem[] } {
	const file = ScenarioFile.safeParse(written);
	const target = Target.safeParse(written.target ?? "local");
	const {
		systems,
		keys,
		problems: systemProblems,
	} = resolveSystems(written, {
		...context,
		target: target.data,
	});
	const cases = resolveCases(written.workload, written.cases);
	const sla = resolveSlaLines(written.sla, systems, keys, cases.cases);
	const problems = [
		...problemsOf(file.error?.issues ?? [], written),
		...systemProblems,
		...cases.problems,
		...tooLarge(systems, cases),
		...unpromisedOrder(systems, cases),
		...sla.problems,
	];
	const complete = cases.cases.filter((one) => one !== undefined);
	if (problems.length > 0 || !file.success) return { problems };
	return {
		problems,
		scenario: {
			name: file.data.name ?? context.name,
			target: file.data.target,
			systems: systems.map(({ path: _, ...system }) => system),
			cases: complete,
			sla: sla.lines,
			repeat: file.data.repeat,
			strict: file.data.strict,
		},
	};
}

function tooLarge(
	systems: readonly PlacedSystem[],
	{ cases, where }: ResolvedCases,
): Problem[] {
	return cases.flatMap((one, index) =>
		systems.flatMap((system): Problem[] => {
			const { maxMessageBytes }: Broker = brokers[system.broker];
			if (
				!one ||
				maxMessageBytes === null ||
				one.messageBytes <= maxMessageBytes
			)
				return [];
			return [
				{
					path: where(index, "message"),
					at: "value",
					message: `message ${formatBytesExact(one.messageBytes)} is larger than what ${system.key} takes, ${formatBytesExact(maxMessageBytes)}; the envelope is part of it`,
				},
			];
		}),
	);
}

/** "scenarios/steady load.yaml" -> "steady-load". */
function nameOf(file: string): string {
	const base = path.basename(file).replace(/\.[^.]*$/, "");
	const safe = base
		.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
		.replaceAll(/\.{2,}/g, ".")
		.slice(0, 80)
		.replaceAll(/^[^A-Za-z0-9]+|[-.]+$/g, "");
	return safe === "" ? "scenario" : safe;
}
