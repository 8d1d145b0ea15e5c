import path from "node:path";
import { noBroker } from "../../brokers/index.ts";
import { isImaged, targets, targetsThat, targetTraits } from "../../model/targets.ts";
import { didYouMean } from "../../suggest.ts";
import { formatBytes, formatCount } from "../../units.ts";
import { type Aws, brokerMachines } from "../aws.ts";
import { checkCases, type ResolvedCases } from "../cases.ts";
import { clientCount } from "../clients.ts";
import { quoted } from "../place.ts";
import { type Context, type Problem, reporter } from "../problem.ts";
import { hasHosts } from "../rig.ts";
import type { Clients, Scenario, System } from "../scenario.ts";
import type { ScenarioFile } from "../schema.ts";
import type { PlacedSystem } from "../systems.ts";

/** All runs are planned in memory before the first one starts. */
const MOST_RUNS = 10_000;
/** The generator holds the file in memory next to its histograms. */
const MOST_PAYLOAD_BYTES = 256 * 1024 ** 2;

export function checkRuns(repeat: number, cases: number, systems: number, { problems }: Context) {
	const runs = repeat * cases * systems;
	const [key, write] =
		repeat > 1 ? ["repeat", "write a smaller repeat"] : ["systems", "remove some"];
	const most = formatCount(MOST_RUNS);
	if (runs > MOST_RUNS)
		reporter(problems)(key, "too-many-runs", { systems, cases, repeat, runs, most, write });
}

export function checkPayloads(cases: ResolvedCases, { folder, fileBytes, problems }: Context) {
	const at = ["payload", "file"] as const;
	checkCases(cases, problems, ({ message }, wrong) => {
		if (message.file === null) return;
		const bytes = fileBytes(message.file);
		const file = path.relative(folder, message.file) || ".";
		if (bytes === null) wrong(at, "payload-missing", { file });
		else if (bytes === "folder" || bytes === 0) wrong(at, "payload-without-content", { file });
		else if (bytes > MOST_PAYLOAD_BYTES) {
			const size = formatBytes(bytes);
			wrong(at, "payload-too-large", { file, size, most: formatBytes(MOST_PAYLOAD_BYTES) });
		}
	});
}

/** A Unix socket is a file of this machine. */
export function checkSockets(
	systems: readonly PlacedSystem[],
	clients: Clients["kind"],
	problems: Problem[],
): void {
	for (const { url, path } of systems)
		if (url?.startsWith("unix:") && clients !== "local")
			reporter(problems, (key) => [...path, key])("url", "socket-elsewhere");
}

/** Returns null without rented machines. AWS itself checks the limits of machines and volumes. */
export function resolveAws(
	aws: ScenarioFile["aws"],
	{ target, rig, problems }: Pick<Context, "target" | "rig" | "problems">,
	clients: Clients,
	systems: readonly Pick<System, "broker" | "options">[],
): Aws | null {
	if (targets[target].rents !== "aws" || rig !== null) return null;
	const count = brokerMachines(systems);
	const wrong = reporter(problems);
	if (aws === undefined) wrong("aws", "aws-missing");
	else if (count === 0 && systems.length > 0)
		wrong("target", "aws-without-broker", { broker: systems[0]?.options.broker ?? noBroker });
	if (aws === undefined) return null;
	return {
		...aws,
		brokers: { ...aws.brokers, count },
		clients: { ...aws.clients, count: clientCount(clients) },
	};
}

/** If the command line chose the target, settings for other targets are ignored. */
export function resolvePin(
	written: ScenarioFile["pin"],
	{ target, targetChosen, platform, rig, problems }: Context,
	clients: Clients["kind"],
): Scenario["pin"] {
	const { generator = null, brokers = null } = written ?? {};
	const { place } = targets[target];
	const hosts = place === "host" || hasHosts(rig?.rig);
	const instead = hosts ? undefined : targetTraits(target).without.pin;
	// Remote clients, hosts and Docker's containers run Linux even if this machine does not.
	const elsewhere = clients === "rented" || clients === "ssh" || clients === "pods";
	const here = (elsewhere ? null : generator) ?? (isImaged(place) || hosts ? null : brokers);
	const wrong = reporter(problems);
	if (here !== null && platform !== "linux") wrong("pin", "pin-needs-linux");
	if (brokers !== null && instead !== undefined && !targetChosen)
		wrong(["pin", "brokers"], "needs-target", {
			key: "pin.brokers",
			target,
			targets: targetsThat(({ without }) => without.pin === undefined),
			instead,
		});
	return { generator, brokers: instead === undefined ? brokers : null };
}

/** A system's key, otherwise a path from `folder`. Reading checks that it exists, since a scenario may be validated elsewhere. */
export function resolveBaseline(
	written: string | undefined,
	systems: readonly Pick<System, "key">[],
	{ folder, problems }: Pick<Context, "folder" | "problems">,
): Scenario["baseline"] {
	if (written === undefined) return null;
	const wrong = reporter(problems);
	const keys = systems.map(({ key }) => key);
	if (keys.includes(written)) {
		if (keys.length === 1) wrong("baseline", "baseline-alone");
		return keys.length === 1 ? null : { system: written, path: null };
	}
	if (/[/\\]|\.json$/.test(written)) return { system: null, path: path.resolve(folder, written) };
	wrong("baseline", "unknown-baseline", {
		word: quoted(written),
		meant: didYouMean(written, keys),
		written,
	});
	return null;
}
