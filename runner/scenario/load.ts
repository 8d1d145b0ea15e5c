import { statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { failure, type MqbenchError } from "../errors.ts";
import { targets, targetsThat } from "../model/targets.ts";
import { formatBytes } from "../units.ts";
import { beyondAbilities } from "./abilities.ts";
import { resolveAws } from "./aws.ts";
import { resolveBaseline } from "./baseline.ts";
import { type ResolvedCases, resolveCases } from "./cases.ts";
import { clientCount, resolveClients, unshareable } from "./clients.ts";
import { beyondExistingTopics } from "./existing-topics.ts";
import { resolveFaults } from "./faults.ts";
import { problemsOf } from "./issues.ts";
import { applyOverrides, type GivenRig, type Overrides } from "./overrides.ts";
import { type Located, type Path, type Problem, report } from "./problem.ts";
import { beyondRig, hasHosts, untouchable } from "./rig.ts";
import type { Scenario } from "./scenario.ts";
import { ScenarioFile, Target } from "./schema.ts";
import { resolveSlaLines } from "./sla-lines.ts";
import { parseSource, type Source } from "./source.ts";
import { NO_PIN, resolveSystems } from "./systems.ts";
import { fillVariables } from "./variables.ts";

/** What lies around a scenario file: its folder, and the machine. */
export interface Surroundings {
	/** Absolute; paths in the scenario count from here. */
	readonly folder: string;
	/** In Node's words: "linux". */
	readonly platform: string;
	/** What `--rig` names; undefined: nothing. */
	readonly rig?: GivenRig | undefined;
	/** Size of a file; null: there is none that can be read. */
	fileBytes(path: string): number | null;
}

/**
 * Reads a scenario: YAML, then the command line's overrides, then every check that needs no broker. `file` is for
 * messages and the default name. Throws one `scenario-invalid` that shows all mistakes, each with its line.
 */
export function loadScenario(
	file: string,
	text: string,
	overrides: Overrides = {},
	env: Readonly<Record<string, string | undefined>> = {},
	surroundings: Surroundings = around(file),
): Scenario {
	return resolveScenario(
		parseScenario(file, text),
		overrides,
		env,
		surroundings,
	);
}

/** The text of a scenario as values that know their places. */
export interface ParsedScenario {
	readonly file: string;
	readonly source: Source;
	/** The error that shows these mistakes. */
	refuse(problems: readonly Located[]): MqbenchError;
}

/** Throws where the text is not YAML of one map. */
export function parseScenario(file: string, text: string): ParsedScenario {
	// Some editors begin files with a byte order mark; columns count without it.
	const yaml = text.replace(/^\ufeff/, "");
	const refuse = (problems: readonly Located[]) =>
		failure("scenario-invalid", { report: report(file, yaml, problems) });
	const parsed = parseSource(yaml);
	if ("problems" in parsed) throw refuse(parsed.problems);
	return { file, source: parsed.source, refuse };
}

/** The scenario that a parsed text, the command line and the environment come to. */
export function resolveScenario(
	{ file, source, refuse }: ParsedScenario,
	overrides: Overrides,
	env: Readonly<Record<string, string | undefined>>,
	surroundings: Surroundings,
): Scenario {
	const written = applyOverrides(source.value, overrides, surroundings.rig);
	const { scenario, problems } = check(written.value, {
		name: nameOf(file),
		targetChosen: written.labelOf(["target"]) !== undefined,
		labelOf: written.labelOf,
		lineOf: (where) =>
			written.labelOf(where) === undefined ? source.lineOf(where) : null,
		env,
		...surroundings,
		rig: surroundings.rig ?? null,
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

/** The file's own folder, and this machine. */
export function around(file: string, cwd = "."): Surroundings {
	return {
		folder: path.dirname(path.resolve(cwd, file)),
		platform: os.platform(),
		fileBytes(path) {
			const found = statSync(path, { throwIfNoEntry: false });
			return found?.isFile() ? found.size : null;
		},
	};
}

// --- internal ---

interface Context extends Omit<Surroundings, "rig"> {
	readonly name: string;
	readonly targetChosen: boolean;
	readonly rig: GivenRig | null;
	readonly env: Readonly<Record<string, string | undefined>>;
	labelOf(path: Path): string | undefined;
	/** The line of what the file says there; null: the command line says it. */
	lineOf(path: Path): number | null;
}

/** Schema first, then what it cannot see; both always, so that a person gets all mistakes at once. */
function check(
	asWritten: Readonly<Record<string, unknown>>,
	context: Context,
): { scenario?: Scenario; problems: Problem[] } {
	const { value: written, problems: unset } = fillVariables(
		asWritten,
		context.env,
	);
	const file = ScenarioFile.safeParse(written);
	const target = Target.safeParse(written.target ?? "local").data;
	const {
		systems,
		keys,
		problems: systemProblems,
	} = resolveSystems(written, { ...context, target });
	const cases = resolveCases(written, context.folder);
	const baseline = resolveBaseline(written.baseline, keys, context.folder);
	const clients = resolveClients(written.clients, { ...context, target });
	const count = clientCount(clients.clients);
	const aws = resolveAws(written.aws, {
		target,
		rig: context.rig,
		clients: clients.clients,
		systems,
	});
	const sla = resolveSlaLines(
		written,
		systems,
		keys,
		cases,
		baseline.baseline,
		count,
		context.lineOf,
	);
	const pin = resolvePin(written.pin, {
		...context,
		target,
		elsewhere:
			clients.clients.kind === "rented" || clients.clients.kind === "ssh",
	});
	const faults = resolveFaults(
		written.faults,
		{ ...context, target },
		systems,
		cases,
	);
	const isWritten = (path: Path) => valueAt(written, path) !== undefined;
	const problems = [
		...unset,
		...notIn(unset, problemsOf(file.error?.issues ?? [], written)),
		...systemProblems,
		...cases.problems,
		...unreadable(cases, context),
		...beyondAbilities(systems, cases),
		...clients.problems,
		...aws.problems,
		...unshareable(count, systems, cases, isWritten),
		...beyondExistingTopics(systems, cases, isWritten),
		...beyondRig(systems, cases, context.rig),
		...untouchable(written.faults, systems, context.rig),
		...baseline.problems,
		...sla.problems,
		...pin.problems,
		...faults.problems,
	];
	const complete = cases.cases.filter((one) => one !== undefined);
	if (problems.length > 0 || !file.success) return { problems };
	return {
		problems,
		scenario: {
			name: file.data.name ?? context.name,
			target: file.data.target,
			rig: context.rig?.rig ?? null,
			clients: clients.clients,
			aws: aws.aws,
			systems: systems.map(({ path: _, ...system }) => system),
			cases: complete,
			sla: sla.lines,
			baselineSla: sla.compared,
			baseline: baseline.baseline,
			repeat: file.data.repeat,
			faults: faults.faults,
			pin: pin.pin,
			strict: file.data.strict,
			quick: false,
		},
	};
}

function valueAt(value: unknown, path: Path): unknown {
	return path.reduce<unknown>(
		(node, step) =>
			typeof node === "object" && node !== null && Object.hasOwn(node, step)
				? (node as Record<string, unknown>)[step]
				: undefined,
		value,
	);
}

/** A value whose variable is not set has no second mistake. */
function notIn(
	unset: readonly Problem[],
	problems: readonly Problem[],
): Problem[] {
	const places = new Set(unset.map(({ path }) => JSON.stringify(path)));
	return problems.filter(({ path }) => !places.has(JSON.stringify(path)));
}

/** Payload files that are not there, or of no use. */
function unreadable(
	{ cases, where }: ResolvedCases,
	{ folder, fileBytes }: Pick<Surroundings, "folder" | "fileBytes">,
): Problem[] {
	return cases.flatMap((one, index): Problem[] => {
		const file = one?.payload.file ?? null;
		if (file === null) return [];
		const bytes = fileBytes(file);
		const shown = path.relative(folder, file);
		const wrong = (message: string): Problem[] => [
			{ path: [...where(index, "payload"), "file"], at: "value", message },
		];
		if (bytes === null)
			return wrong(
				`payload: there is no file ${shown} in the scenario's folder; paths count from there`,
			);
		if (bytes === 0)
			return wrong(
				`payload: ${shown} is empty; payloads walk through its bytes`,
			);
		return bytes > MOST_PAYLOAD_BYTES
			? wrong(
					`payload: ${shown} has ${formatBytes(bytes)}, and is kept in memory; cut it to ${formatBytes(MOST_PAYLOAD_BYTES)}, which payloads walk through again and again`,
				)
			: [];
	});
}

/** The generator holds the file in memory, beside its histograms. */
const MOST_PAYLOAD_BYTES = 256 * 1024 ** 2;

/** CPUs for the whole scenario. On the target that the command line chose, settings of others are left aside. */
function resolvePin(
	written: unknown,
	context: {
		readonly target: Target | undefined;
		readonly targetChosen: boolean;
		readonly platform: string;
		readonly rig: GivenRig | null;
		/** The load comes from hosts, all of which are Linux. */
		readonly elsewhere: boolean;
	},
): { pin: Scenario["pin"]; problems: Problem[] } {
	const { target, targetChosen, elsewhere } = context;
	const { generator = null, brokers = null } =
		ScenarioFile.shape.pin.safeParse(written).data ?? {};
	const problems: Problem[] = [];
	const place = target && targets[target].place;
	const hosts = place === "host" || hasHosts(context.rig);
	// Containers of target docker live on a Linux of their own where this machine is none, and so do hosts.
	const here =
		(elsewhere ? null : generator) ??
		(place === "container" || hosts ? null : brokers);
	if (here !== null && context.platform !== "linux")
		problems.push({ path: ["pin"], at: "key", message: NO_PIN });
	const theirs = place === null && !hosts;
	if (brokers !== null && theirs && !targetChosen)
		problems.push({
			path: ["pin", "brokers"],
			at: "value",
			message: `pin.brokers is for target ${targetsThat(({ place }) => place !== null)}, where mqbench starts the brokers; pin existing ones where they run, and remove it`,
		});
	return {
		pin: { generator, brokers: theirs ? null : brokers },
		problems,
	};
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
