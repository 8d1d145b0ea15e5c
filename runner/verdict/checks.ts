import { backlog, backlogDrain, consumers, producers } from "./checks/backlog.ts";
import type { Check, CheckResult, Finding } from "./checks/check.ts";
import { clock, clockSource, range } from "./checks/clock.ts";
import {
	clientDropped,
	drain,
	missingMessages,
	offered,
	reconnects,
	throttled,
} from "./checks/counts.ts";
import { floor } from "./checks/floor.ts";
import { held, lag } from "./checks/lag.ts";
import { cores, cpuQuota, gcPause, others, ownCpu, steal } from "./checks/machine.ts";
import { claim, clients, complete, faults, identities, suspended, warmUp } from "./checks/run.ts";
import { steady } from "./checks/steady.ts";
import type { Facts } from "./facts.ts";
import type { Judgement } from "./judgement.ts";

/** All checks that this run can be asked, in the order in which a report shows them. */
export function checked(facts: Facts, judgements: readonly Judgement[]): Checked[] {
	return CHECKS.filter(({ applies }) => applies?.(facts.collected) ?? true).map(
		({ name, judge }) => ({ check: name, ...judge(facts, judgements) }),
	);
}

/** The same as result.json has them. */
export function results(all: readonly Checked[]): CheckResult[] {
	return all.map(({ check, status, said, figure, limit, remedy }) => {
		// A remedy that was not needed would only unsettle.
		const todo = status === "ok" ? null : (remedy ?? null);
		return {
			check,
			status,
			detail: said.text,
			figure: figure ?? null,
			limit: limit ?? null,
			remedy: todo?.text ?? null,
			code: said.code,
			values: said.values,
			...(todo && { remedyCode: todo.code }),
		};
	});
}

/** The names of all checks, as reports have them. */
export function checkNames(): string[] {
	return CHECKS.map(({ name }) => name);
}

type Checked = Finding & { readonly check: string };

// --- internal ---

const CHECKS: readonly Check[] = [
	complete,
	clients,
	identities,
	lag,
	offered,
	clientDropped,
	held,
	claim,
	suspended,
	clock,
	faults,
	reconnects,
	throttled,
	backlog,
	backlogDrain,
	consumers,
	producers,
	warmUp,
	steady,
	drain,
	missingMessages,
	range,
	floor,
	cores,
	cpuQuota,
	steal,
	others,
	ownCpu,
	gcPause,
	clockSource,
];
