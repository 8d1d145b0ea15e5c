import { readFileSync } from "node:fs";
import { failure } from "../../runner/errors.ts";
import { cpusOf } from "../../runner/model/field.ts";
import { readOr } from "../read-or.ts";
import { findOnPath } from "./program.ts";

/**
 * The command that runs `argv` on some CPUs only ("0-3,8"; null for any). Fails if that is not possible, because a run on other CPUs than
 * the scenario asks for would not show it.
 */
export function pinned(
	argv: readonly string[],
	cpus: string | null,
	env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
	if (cpus === null) return argv;
	const allowed = allowedCpus();
	if (allowed === null)
		throw failure("pin-impossible", { cpus, reason: "CPUs can be chosen on Linux only" });
	const missing = missingCpus(cpus, allowed);
	if (missing !== null)
		throw failure("pin-impossible", {
			cpus,
			reason: `mqbench may use the CPUs ${allowed} here, and ${missing}`,
		});
	const taskset = findOnPath("taskset", env);
	if (taskset === null)
		throw failure("pin-impossible", {
			cpus,
			reason: "taskset is not on PATH (package util-linux of your distribution)",
		});
	return [taskset, "--cpu-list", cpus, ...argv];
}

/** "4, 5 are not among them": CPUs of one set that another set lacks; null if it has all. */
export function missingCpus(cpus: string, allowed: string): string | null {
	const missing = cpusOf(cpus).filter((cpu) => !cpusOf(allowed).includes(cpu));
	return missing.length === 0
		? null
		: `${missing.join(", ")} ${missing.length > 1 ? "are" : "is"} not among them`;
}

// --- internal ---

/** CPUs that this process may use: its container's, not the machine's. null except on Linux. */
function allowedCpus(): string | null {
	const status = readOr("", () => readFileSync("/proc/self/status", "utf8"));
	return /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? null;
}
