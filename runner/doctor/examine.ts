import { checks } from "./checks.ts";
import { type Check, type Finding, findingOf, type Reading } from "./finding.ts";
import type { Machine } from "./this-machine.ts";

const LONGEST_MS = 2000;

/** First the checks that measure time, one by one, then the others together. What a check cannot read is `unknown`. */
export async function examine(
	machine: Machine,
	list: readonly Check[] = checks,
): Promise<Finding[]> {
	const findings = new Map<Check, Finding>();
	const look = async (check: Check) => void findings.set(check, await finding(check, machine));
	for (const check of list) if (check.alone) await look(check);
	await Promise.all(list.map((check) => check.alone || look(check)));
	return list.flatMap((check) => findings.get(check) ?? []);
}

// --- internal ---

async function finding(check: Check, machine: Machine): Promise<Finding> {
	const timeout = AbortSignal.timeout(LONGEST_MS);
	const late = new Promise<never>((_, reject) =>
		timeout.addEventListener("abort", () => reject(new Error("no answer within 2 s"))),
	);
	const read = async (): Promise<Reading | null> => check.read(machine);
	return Promise.race([read(), late])
		.catch((error: unknown): Reading => {
			const why = error instanceof Error ? error.message : error;
			return { verdict: "unknown", figure: "unknown", sentence: `The check failed: ${why}.` };
		})
		.then((reading) => findingOf(check, reading));
}
