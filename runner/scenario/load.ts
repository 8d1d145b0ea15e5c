import { readFileSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { failure } from "../errors.ts";
import { targets } from "../model/targets.ts";
import { resolveBackground, withChurn } from "./background.ts";
import { resolveCases } from "./cases.ts";
import { clientCount, resolveClients } from "./clients.ts";
import { resolveFaults } from "./faults.ts";
import { problemsOf } from "./issues.ts";
import { KubernetesFile } from "./kubernetes-schema.ts";
import { applyOverrides, type Overrides } from "./overrides.ts";
import type { Written } from "./place.ts";
import {
	type Context,
	type Located,
	mistakesOf,
	type Problem,
	report,
	type Surroundings,
} from "./problem.ts";
import { checkSystems } from "./rules/system.ts";
import {
	checkPayloads,
	checkRuns,
	checkSockets,
	resolveAws,
	resolveBaseline,
	resolvePin,
} from "./rules/whole.ts";
import type { Scenario } from "./scenario.ts";
import { Extensions, type NamedExtension, scenarioFile } from "./schema.ts";
import { resolveSlaLines } from "./sla-lines.ts";
import { parseSource } from "./source.ts";
import { resolveSystems } from "./systems.ts";
import { fillVariables, variablesIn } from "./variables.ts";

/** Reads YAML, applies overrides and makes every check that needs no broker. Throws one `scenario-invalid` with all mistakes. */
export function loadScenario(
	file: string,
	text: string,
	overrides: Overrides = {},
	env: Readonly<Record<string, string | undefined>> = {},
	surroundings: Surroundings = around(file),
): Scenario {
	// A byte order mark must not count as a column.
	const yaml = text.replace(/^\ufeff/, "");
	const refuse = (problems: readonly Located[]) => {
		const mistakes = mistakesOf(file, yaml, problems);
		return failure("scenario-invalid", { report: report(yaml, mistakes), mistakes });
	};
	const parsed = parseSource(yaml);
	if ("problems" in parsed) throw refuse(parsed.problems);
	const { source } = parsed;
	const written = applyOverrides(source.value, overrides, surroundings.rig);
	const { labelOf } = written;
	const name = safeName(path.basename(file).replace(/\.[^.]*$/, ""), "scenario");
	const targetChosen = labelOf(["target"]) !== undefined;
	const given = { ...surroundings, rig: surroundings.rig ?? null, targetChosen, labelOf, env };
	const { scenario, problems } = check(written.value, name, given);
	if (written.problems.length === 0 && scenario) return scenario;
	const located = problems.map(({ path: where, at, message, code }): Located => {
		const label = labelOf(where);
		return label === undefined
			? { offset: source.locate(where, at), message, code }
			: { label, message, code };
	});
	throw refuse([...written.problems, ...located]);
}

export function around(file: string, cwd = "."): Surroundings {
	return {
		folder: path.dirname(path.resolve(cwd, file)),
		platform: os.platform(),
		fileBytes(path) {
			const stats = statSync(path, { throwIfNoEntry: false });
			if (stats?.isDirectory()) return "folder";
			return stats?.isFile() ? stats.size : null;
		},
		fileText: (path) => readFileSync(path, "utf8"),
	};
}

/** Makes a valid scenario name: "steady load" -> "steady-load". Returns `otherwise` if nothing is left. */
export function safeName(text: string, otherwise: string): string {
	const safe = text
		.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
		.replaceAll(/\.{2,}/g, ".")
		.slice(0, 80)
		.replaceAll(/^[^A-Za-z0-9]+|[-.]+$/g, "");
	return safe === "" ? otherwise : safe;
}

/** As far as they are well-formed: loadScenario reports mistakes. */
export function extensionsIn(text: string, overrides: Overrides): readonly NamedExtension[] {
	const parsed = parseSource(text);
	if ("problems" in parsed) return [];
	const { value } = applyOverrides(parsed.source.value, overrides);
	return Extensions.safeParse(value.extensions).data ?? [];
}

// --- internal ---

/** Checks the schema first, then the rules: each stage shows all its mistakes at once. */
function check(
	asWritten: Written,
	name: string,
	given: Omit<Context, "target" | "secrets" | "problems">,
): { scenario?: Scenario; problems: Problem[] } {
	const problems: Problem[] = [];
	const { value: written, secrets } = fillVariables(asWritten, given.env, problems);
	const outside = (given.drivers?.found ?? []).map(({ broker, manifest }) => [
		manifest.broker,
		broker,
	]);
	const schema = scenarioFile(Object.fromEntries(outside));
	const { data, error } = schema.safeParse(written);
	// A value with an unset variable has no second mistake.
	const unset = new Set(problems.map(({ path }) => path.join("\0")));
	for (const one of problemsOf(error?.issues ?? [], written, schema))
		if (!unset.has(one.path.join("\0"))) problems.push(one);
	const file = data && withChurn(data, problems);
	if (!file || problems.length > 0) return { problems };
	const { target, repeat, strict } = file;
	const context: Context = { ...given, target, secrets, problems };
	const systems = resolveSystems(file, context);
	const clients = resolveClients(written.clients === undefined ? undefined : file.clients, context);
	checkSockets(systems, clients.kind, problems);
	const count = clientCount(clients);
	const settle =
		count === 1 &&
		file.faults.length === 0 &&
		Object.keys(file.background).length === 0 &&
		systems.some(({ traits }) => traits.jvm);
	const mains = resolveCases(file, written, problems, context, settle);
	const resolved = mains && resolveBackground(file, written, mains, context);
	if (!resolved) return { problems };
	const { cases, all } = resolved;
	checkRuns(repeat, all.cases.length, systems.length, context);
	checkPayloads(all, context);
	checkSystems(systems, all, { ...context, clients: count });
	const aws = resolveAws(file.aws, context, clients, systems);
	const pods = clients.kind === "pods" || targets[target].place === "pod";
	const baseline = resolveBaseline(file.baseline, systems, context);
	const sla = resolveSlaLines(file, {
		...context,
		systems,
		cases,
		baseline,
		clients: count,
		repeat,
		faults: file.faults,
	});
	const pin = resolvePin(file.pin, context, clients.kind);
	const faults = resolveFaults(file.faults, context, systems, cases);
	if (problems.length > 0) return { problems };
	return {
		problems,
		scenario: {
			name: file.name ?? name,
			target,
			rig: context.rig?.rig ?? null,
			clients,
			aws,
			kubernetes: pods ? (file.kubernetes ?? KubernetesFile.parse({})) : null,
			systems: systems.map(({ path: _, ...system }) => system),
			cases: cases.cases,
			sla: sla.lines,
			baselineSla: sla.compared,
			baseline,
			repeat,
			faults,
			pin,
			pacing: file.generator?.pacing ?? "auto",
			strict,
			variables: variablesIn([
				asWritten.system,
				asWritten.systems,
				context.rig?.rig.brokers.map(({ url }) => url),
			]),
			drivers: given.drivers ?? null,
			quick: false,
		},
	};
}
