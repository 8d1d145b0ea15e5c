import { execFileSync } from "node:child_process";
import { failure } from "../errors.ts";
import type { Plan } from "../model/plan.ts";
import { targets } from "../model/targets.ts";

/** Files that a broker has open besides its connections, at least. */
const OWN_FILES = 32;

/**
 * Refuses a broker of this machine that could not take the plan's connections, before it is started: without files each broker fails in a way of
 * its own, or not at all. The load generator, wherever it runs, looks itself (extensions/xk6-mqbench/generator/session.go).
 */
export function enoughFiles(plan: Plan): void {
	if (targets[plan.target].place !== "process") return;
	const connections = plan.connections + plan.consumerConnections;
	const limit = fileLimit();
	if (limit < connections + OWN_FILES)
		throw failure("too-few-files", {
			system: plan.system,
			connections,
			limit,
			needed: connections + OWN_FILES,
		});
}

// --- internal ---

/** The hard limit: programs that we start get it (agent). */
function fileLimit(): number {
	try {
		const said = execFileSync("sh", ["-c", "ulimit -H -n"], { encoding: "utf8" });
		return Number(said) || Number.POSITIVE_INFINITY;
	} catch {
		return Number.POSITIVE_INFINITY;
	}
}
