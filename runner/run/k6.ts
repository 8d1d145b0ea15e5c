import { appendFileSync } from "node:fs";
import path from "node:path";
import { pinned } from "../../infra/local/pinned.ts";
import {
	bareEnvironment,
	describeEnd,
	type Ended,
	startGuarded,
} from "../../infra/process.ts";
import type { Plan } from "../plan/plan.ts";
import { BrokerName, brokers } from "../scenario/brokers.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";
import { type ProgressLine, readProgress } from "./progress-line.ts";
import { sampleResources } from "./resources.ts";

export interface K6Options {
	readonly k6: string;
	readonly guard: string;
	/** The run's folder, which holds script.js and plan.json and gets the results. */
	readonly folder: string;
	readonly plan: Plan;
	/** URL of the broker, password included. */
	readonly url: string;
	/** Processes of the broker, if they are ours: their use of resources is sampled beside k6's. */
	readonly brokerPids: readonly number[];
	/** Told of each line; an SLA that it returns cannot be met any more: k6 is stopped. */
	onProgress(line: ProgressLine): string | null;
}

/** How k6 ended. `error`: why the run could not be made or finished, in k6's words; null: it was. */
export interface K6Result {
	readonly ended: Ended;
	readonly error: string | null;
	/** The SLA because of which k6 was stopped. */
	readonly abortedBy: string | null;
}

/** k6 has this long beyond everything that the plan allows it; then it hangs and is ended. */
const HANGS_MS = 30_000;
/** After mqbench is gone k6 closes its books: a drain of 0.5 s, the broker's connections, the files. */
const GRACE_MS = 10_000;

/**
 * Runs k6 on the plan, in a process group and an environment of its own. `world.stop` gives it one SIGINT: it then closes
 * its books and ends by itself.
 */
export async function runK6(
	options: K6Options,
	world: World,
): Promise<K6Result> {
	const { plan, folder } = options;
	const complaints: string[] = [];
	let unwritable: string | null = null;
	let abortedBy: string | null = null;
	const child = startGuarded({
		guard: options.guard,
		argv: pinned(
			[options.k6, ...k6Arguments(plan)],
			plan.pin.generator,
			world.env,
		),
		cwd: folder,
		env: {
			...bareEnvironment(folder, world.env),
			...secrets(plan, world.env),
			[plan.urlEnv]: options.url,
			K6_AUTO_EXTENSION_RESOLUTION: "false",
		},
		graceMs: GRACE_MS,
		onStdout(line) {
			const progress = readProgress(line);
			if (!progress) return;
			if (progress.mqbench === "tick" && progress.error)
				unwritable = progress.error;
			const hopeless = options.onProgress(progress);
			// One signal only: k6 takes a second one as "at once", and its books would stay open.
			if (hopeless === null || abortedBy !== null || world.stop.aborted) return;
			abortedBy = hopeless;
			child.signal("SIGINT");
		},
		onStderr(line) {
			const masked = maskUrls(line);
			if (/level=(error|fatal)/.test(masked)) complaints.push(words(masked));
			keepLog(folder, plan, masked);
		},
	});
	const sampling = sampleResources(
		path.join(folder, "resources.jsonl"),
		{ generatorPid: child.pid, brokerPids: options.brokerPids },
		() => world.clock.nowMs(),
	);
	const interrupt = () => {
		if (abortedBy === null) child.signal("SIGINT");
	};
	if (world.stop.aborted) interrupt();
	world.stop.addEventListener("abort", interrupt, { once: true });
	let hung = false;
	const { durationNs, gracefulStopNs } = plan.heartbeat;
	const limitMs = (durationNs + gracefulStopNs) / 1e6 + HANGS_MS;
	const watchdog = setTimeout(() => {
		hung = true;
		child.signal("SIGINT");
		setTimeout(() => child.abandon(), GRACE_MS).unref();
		setTimeout(() => child.kill(), 3 * GRACE_MS).unref();
	}, limitMs);
	const ended = await child.ended;
	sampling.stop();
	clearTimeout(watchdog);
	world.stop.removeEventListener("abort", interrupt);
	child.abandon();
	return {
		ended,
		abortedBy,
		error: hung
			? `k6 did not end within ${Math.round(limitMs / 1000)}s and was killed`
			: unwritable
				? `the results could not be written: ${unwritable}`
				: world.stop.aborted || abortedBy !== null || ended.code === 0
					? null
					: `k6 ended with ${describeEnd(ended)}: ${complaints.at(-1) ?? "it said nothing"}`,
	};
}

/** The command line of a run, in its folder. */
export function k6Arguments(plan: Plan): string[] {
	return [
		"run",
		"--quiet",
		"--no-color",
		"--summary-mode=disabled",
		"--no-thresholds",
		"--no-usage-report",
		`--out=mqbench=client-${plan.client.index}`,
		"script.js",
	];
}

// --- internal ---

/** What the driver reads of the user's environment beside the URL. */
function secrets(plan: Plan, env: World["env"]): Record<string, string> {
	const names = brokers[BrokerName.parse(plan.broker)].secretEnv;
	return Object.fromEntries(
		names.flatMap((name: string) => {
			const value = env[name];
			return value === undefined ? [] : [[name, value]];
		}),
	);
}

/** k6's own words are kept beside the results: a run that fails is explained there. */
function keepLog(folder: string, plan: Plan, line: string): void {
	try {
		appendFileSync(
			path.join(folder, `client-${plan.client.index}.log`),
			`${line}\n`,
		);
	} catch {
		// A full disk: the run itself will say so.
	}
}

/** `time=... level=error msg="..."` -> the message. */
function words(line: string): string {
	const found = /msg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
	return (found ?? line).replaceAll('\\"', '"').replaceAll("\\n", " ").trim();
}
