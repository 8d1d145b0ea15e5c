import type { Said } from "../text/say.ts";
import type { Check, CheckResult } from "./checks/check.ts";
import * as generator from "./checks/generator.ts";
import * as machine from "./checks/machine.ts";
import * as messages from "./checks/messages.ts";
import * as run from "./checks/run.ts";
import * as trend from "./checks/trend.ts";
import type { Facts } from "./facts.ts";
import type { Judgement } from "./judgement.ts";

export type Checked = CheckResult & Pick<Said, "code" | "values">;

/** In the order of the report. The first check that makes a run INVALID decides. */
export const CHECKS: readonly Check[] = [
	run.complete,
	run.continued,
	run.clients,
	messages.identities,
	generator.lag,
	generator.offered,
	generator.clientDropped,
	generator.held,
	run.suspended,
	run.clock,
	run.faults,
	messages.reconnects,
	messages.throttled,
	trend.backlog,
	trend.consumers,
	run.warmUp,
	trend.steady,
	messages.drain,
	messages.uncounted,
	messages.range,
	generator.floor,
	machine.cores,
	machine.cpuQuota,
	machine.steal,
	machine.others,
	machine.ownCpu,
	machine.clockSource,
];

export function checked(facts: Facts, judgements: readonly Judgement[]): Checked[] {
	return CHECKS.filter(({ applies }) => applies?.(facts.collected) ?? true).map((check) => {
		const found = check.judge(facts, judgements);
		const { status, text, figure = null, limit = null, remedy = null } = found;
		const { code = check.name, values = {} } = found;
		return {
			check: check.name,
			status,
			detail: text,
			figure,
			limit,
			remedy: status === "ok" ? null : remedy,
			code,
			values,
		};
	});
}

export function checkNames(): string[] {
	return CHECKS.map(({ name }) => name);
}
