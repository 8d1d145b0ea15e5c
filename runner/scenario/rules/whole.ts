import path from "node:path";
import { isImaged, targets, targetsThat } from "../../model/targets.ts";
import { didYouMean } from "../../suggest.ts";
import { formatBytes, formatCount } from "../../units.ts";
import { caseProblems, type ResolvedCases } from "../cases.ts";
import type { Context } from "../context.ts";
import type { Parts } from "../parts.ts";
import { quoted } from "../place.ts";
import type { Problem } from "../problem.ts";
import { hasHosts } from "../rig.ts";
import type { Clients, Scenario } from "../scenario.ts";
import { problemsBy } from "./rule.ts";

/** More than anybody waits for; all of them are planned in memory before the first one starts. */
const MOST_RUNS = 10_000;

/** The generator holds the file in memory, beside its histograms. */
const MOST_PAYLOAD_BYTES = 256 * 1024 ** 2;

/** A scenario that repeats more runs than can be planned. */
export function tooManyRuns(repeat = 1, cases: number, systems: number): Problem[] {
	const runs = repeat * cases * systems;
	const [key, write] =
		repeat > 1 ? ["repeat", "write a smaller repeat"] : ["systems", "remove some"];
	const most = formatCount(MOST_RUNS);
	return problemsBy((wrong) => {
		if (runs > MOST_RUNS)
			wrong(key, "too-many-runs", { systems, cases, repeat, runs, most, write });
	});
}

/** Payload files that are not there, or of no use. */
export function unreadablePayloads(
	cases: ResolvedCases,
	{ folder, fileBytes }: Pick<Context, "folder" | "fileBytes">,
): Problem[] {
	const at = ["payload", "file"] as const;
	return caseProblems(cases, ({ message }, wrong) => {
		if (message.file === null) return;
		const bytes = fileBytes(message.file);
		const file = path.relative(folder, message.file) || ".";
		const largest = MOST_PAYLOAD_BYTES;
		if (bytes === null) wrong(at, "payload-missing", { file });
		else if (bytes === "folder" || bytes === 0) wrong(at, "payload-without-content", { file });
		else if (bytes > largest)
			wrong(at, "payload-too-large", {
				file,
				size: formatBytes(bytes),
				most: formatBytes(largest),
			});
	});
}

/** CPUs for the whole scenario. On the target that the command line chose, settings of others are left aside. */
export function resolvePin(
	written: Parts["pin"],
	{ target, targetChosen, platform, rig }: Context,
	clients: Clients["kind"],
): { pin: Scenario["pin"]; problems: Problem[] } {
	const { generator = null, brokers = null } = written ?? {};
	const place = target && targets[target].place;
	const hosts = place === "host" || hasHosts(rig);
	const theirs = place === null && !hosts;
	// Clients elsewhere are Linux. Containers of target docker live on a Linux of their own where this machine is none, and so do hosts.
	const elsewhere = clients === "rented" || clients === "ssh" || clients === "pods";
	const here =
		(elsewhere ? null : generator) ?? (isImaged(place ?? null) || hosts ? null : brokers);
	const problems = problemsBy((wrong) => {
		if (here !== null && platform !== "linux") wrong("pin", "pin-needs-linux");
		if (brokers !== null && theirs && !targetChosen)
			wrong(["pin", "brokers"], "pin-of-yours", {
				target,
				targets: targetsThat(({ place }) => place !== null),
			});
	});
	return {
		pin: { generator, brokers: theirs ? null : brokers },
		problems: problems.map((one) => (one.path.length === 1 ? { ...one, at: "key" } : one)),
	};
}

/**
 * What `baseline` of a scenario names: a system of it, else a file or folder, which counts from the scenario's `folder`. `keys`:
 * of all systems. Whether there is such a file is asked when it is read: a scenario is also checked where it is not.
 */
export function resolveBaseline(
	written: string | undefined,
	keys: readonly string[],
	folder: string,
): { baseline: Scenario["baseline"]; problems: Problem[] } {
	if (written === undefined) return { baseline: null, problems: [] };
	const system = keys.includes(written);
	const file = !system && /[/\\]|\.json$/.test(written);
	const problems = problemsBy((wrong) => {
		if (system && keys.length === 1) wrong("baseline", "baseline-alone");
		if (!system && !file)
			wrong("baseline", "unknown-baseline", {
				word: quoted(written),
				meant: didYouMean(written, keys),
				written,
			});
	});
	if (problems.length > 0) return { baseline: null, problems };
	return {
		baseline: system
			? { system: written, path: null }
			: { system: null, path: path.resolve(folder, written) },
		problems,
	};
}
