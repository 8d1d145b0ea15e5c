import type { Said } from "../text/say.ts";
import { backlog, backlogDrain, consumers, producers } from "./checks/backlog.ts";
import type { Check, CheckResult, Finding } from "./checks/check.ts";
import { clock, clockSource } from "./checks/clock.ts";
import {
	clientDropped,
	drain,
	missingMessages,
	offered,
	range,
	reconnects,
	throttled,
} from "./checks/counts.ts";
import { floor } from "./checks/floor.ts";
import { identities } from "./checks/identities.ts";
import { held, lag } from "./checks/lag.ts";
import { cores, cpuQuota, gcPause, others, ownCpu, steal } from "./checks/machine.ts";
import { claim, clients, complete, faults, suspended, warmUp } from "./checks/run.ts";
import { steady } from "./checks/steady.ts";
import type { Facts } from "./facts.ts";
import type { Judgement } from "./judgement.ts";

/** In the order in which a report shows them. */
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

/** All checks that this run can be asked. */
export function checked(facts: Facts, judgements: readonly Judgement[]): Checked[] {
	return CHECKS.filter(({ applies }) => applies?.(facts.collected) ?? true).map(
		({ name, judge }) => ({ check: name, code: name, values: {}, ...judge(facts, judgements) }),
	);
}

/** The same as result.json has them. A remedy that was not needed would only unsettle. */
export function results(all: readonly Checked[]): CheckResult[] {
	return all.map(
		({ check, status, text, figure = null, limit = null, remedy = null, code, values }) => ({
			check,
			status,
			detail: text,
			figure,
			limit,
			remedy: status === "ok" ? null : remedy,
			code,
			values,
		}),
	);
}

/** The names of all checks, as reports have them. */
export function checkNames(): string[] {
	return CHECKS.map(({ name }) => name);
}

/** A finding that says what it is, as what a run is judged by does. */
type Checked = Finding & Said & { readonly check: string };
