import { type Check, type Finding, type Found, unknown } from "./finding.ts";
import { machineChecks } from "./machine-checks.ts";
import { programChecks } from "./programs.ts";
import type { Machine } from "./this-machine.ts";

/** All checks, in the order in which they are reported. */
export const checks: readonly Check[] = [...machineChecks, ...programChecks];

/** How long a check may take, alone or beside the others. */
const ALONE_MS = 1000;
const BESIDE_MS = 2000;

/**
 * Makes every check: first those that measure time, one at a time, then the others together. What a check cannot read is
 * `unknown`; none of them fails.
 */
export async function examine(
	machine: Machine,
	onCheck: (name: string) => void = () => {},
	list: readonly Check[] = checks,
): Promise<Finding[]> {
	const findings = new Map<Check, Finding>();
	for (const check of list.filter(({ alone }) => alone)) {
		onCheck(check.name);
		findings.set(check, await look(check, machine));
	}
	onCheck("programs");
	await Promise.all(
		list
			.filter(({ alone }) => !alone)
			.map(async (check) => findings.set(check, await look(check, machine))),
	);
	return list.flatMap((check) => findings.get(check) ?? []);
}

// --- internal ---

async function look(check: Check, machine: Machine): Promise<Finding> {
	const limitMs = check.alone ? ALONE_MS : BESIDE_MS;
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<Found>((resolve) => {
		timer = setTimeout(() => resolve(unknown(`No answer within ${limitMs / 1000} s.`)), limitMs);
	});
	const looked = (async () => check.look(machine))().catch((error: unknown) =>
		unknown(`The check failed: ${error instanceof Error ? error.message : error}.`),
	);
	try {
		return { check: check.name, ...(await Promise.race([looked, late])) };
	} finally {
		clearTimeout(timer);
	}
}
