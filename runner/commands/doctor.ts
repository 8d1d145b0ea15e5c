import type { Command } from "commander";
import { examine } from "../doctor/examine.ts";
import { renderFindings, worst } from "../doctor/findings-text.ts";
import { type Machine, thisMachine } from "../doctor/this-machine.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { packageVersion } from "../package.ts";
import type { World } from "../world.ts";
import { type Action, type ClusterArgs, clusterOptions, isCluster } from "./options.ts";

export function declare(command: Command, on: Action): void {
	clusterOptions(command).option("--json", "print the findings as JSON").action(on(doctor));
}

/** `mqbench doctor`: what on this machine would bend a measurement, and the remedy. Exit code 3 when something is bad. */
export async function doctor(
	{ json, ...where }: ClusterArgs & { readonly json?: boolean | undefined },
	world: World,
	machine: Machine = thisMachine(world),
): Promise<ExitCode> {
	const { stdout, stderr } = world;
	const watched = stderr.isTTY && !json;
	const started = world.clock.monotonicMs();
	let shown = false;
	const control = stderr.control ?? stderr.write;
	const examined = examine(machine, (name) => {
		// The first second needs no explanation.
		if (!watched || world.clock.monotonicMs() - started < 1000) return;
		shown = true;
		control(`\r\x1b[Kchecking ${name}`);
	});
	const all = isCluster(where)
		? Promise.all([examined, inCluster(where, world)]).then((both) => both.flat())
		: examined;
	const findings = await Promise.race([all, stopped(world.stop)]);
	if (shown) control("\r\x1b[K");
	if (findings === "stopped") throw failure("interrupted", { signal: String(world.stop.reason) });
	const verdict = worst(findings);
	stdout.write(
		json
			? `${JSON.stringify({ schema: 1, mqbench: packageVersion, verdict, findings }, null, "\t")}\n`
			: renderFindings(findings, {
					columns: stdout.columns,
					colour: stdout.isTTY && !world.env.NO_COLOR,
				}),
	);
	return verdict === "bad" ? EXIT.environment : EXIT.pass;
}

// --- internal ---

async function inCluster(where: ClusterArgs, world: World) {
	const { clusterFindings } = await import("../doctor/cluster.ts");
	return clusterFindings(where, world);
}

function stopped(signal: AbortSignal): Promise<"stopped"> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve("stopped");
		signal.addEventListener("abort", () => resolve("stopped"), { once: true });
	});
}
