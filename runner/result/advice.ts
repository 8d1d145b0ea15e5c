import { brokers, loginUrl } from "../brokers/index.ts";
import { resumeCommand } from "../model/command-file.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { plural } from "../units.ts";
import { ABOVE_FLOOR } from "../verdict/checks/generator.ts";
import { MAX } from "./fields.ts";
import type { Outcome } from "./outcomes.ts";

/** The advice of the first rule for the outcome's verdict that has any. */
export function adviceOn(outcome: Outcome, result: Result): string {
	for (const rule of RULES[outcome.verdict]) {
		const advice = rule(outcome, result);
		if (advice) return advice;
	}
	return "";
}

/** What to do if a server refuses rights, a login or a connection, in its own words. Null if the error is another one. */
export function refusalAdvice(error: string, { brokerUrl, load }: Run): string | null {
	if (RIGHTS.test(error)) return GRANT_RIGHTS;
	const given = brokerUrl ?? "";
	const server = given.replace(/^\w+:\/\/(?:\S*@)?|\/.*$/g, "");
	const broker = brokers[load.broker];
	if (LOGIN.test(error) && broker) {
		const { url, variable } = loginUrl(broker, brokerUrl ?? undefined);
		return given.includes("@")
			? `check user and password: ${server} refused them`
			: `write ${variable}=... before the command and --url '${url}' behind it, with the single quotes`;
	}
	return CONNECTION.test(error)
		? `check the system's url (scheme, host, port, login) and its tls, and how many connections ${server} allows`
		: null;
}

const GRANT_RIGHTS =
	"give this user the right to create, write and read topics whose names begin with mqbench, or name topics that it may use (topics: [...], create: false)";

/** "the system pushed back" */
export function partText(line: Line, run: Run): string | null {
	const part = largestPart(line, run);
	return part && (PARTS[part].split(/[:;]/)[0] ?? null);
}

// --- internal ---

type Rule = (outcome: Outcome, result: Result) => string | false | null | undefined;

const RULES: Readonly<Record<Verdict, readonly Rule[]>> = {
	pass: [],
	interrupted: [
		// A search that had not begun is missing from the result, and cannot be resumed either.
		(_, { searches, command }) =>
			(searches.length > 0 || command?.resumable === false) &&
			"start again: a scenario with a search cannot be resumed",
		(_, { command, runId }) =>
			`continue where it was stopped: ${resumeCommand(command, null, runId)}`,
	],
	error: [
		({ kind }) =>
			kind === "damage" &&
			"copy the file again from where the folder comes from, or use the version of mqbench that made it",
		(_, { errorCause }) =>
			errorCause === "scenario" && "change the SLA line or the load: this run cannot answer it",
		({ run }) => run && refusalAdvice(run.why ?? "", run),
		() =>
			"fix the cause named above and run again; if the run's folder has a broker.log, it may say more",
	],
	invalid: [
		found("invalid"),
		() => "free the machine from other work; npx mqbench doctor shows what disturbs a measurement",
	],
	inconclusive: [
		({ gate, comparison }) =>
			[gate?.code, comparison?.code].includes("clocks") &&
			"keep the clients' clocks more closely in step (chrony, PTP), or use round-trip, where each sender receives its own messages",
		({ gate }) => gate?.code === "floor-over-limit" && ABOVE_FLOOR,
		({ comparison }) =>
			comparison &&
			"measure with more repeats or for longer; npx mqbench calibrate shows which differences this machine can tell (npx mqbench explain baseline)",
		found("inconclusive"),
		({ gate }) =>
			`measure longer (workload.duration), or repeat: ${Math.max(3, (gate?.repeats.length ?? 1) + 2)} (npx mqbench explain inconclusive)`,
	],
	// The scenario's own faults come first, then refusals, then other load on the machine, then the system.
	fail: [
		(outcome, result) =>
			outcome.comparison &&
			(taken(outcome, result) ||
				`measure once more before you believe it${outcome.runs.some(({ confirms }) => confirms) ? "" : " (--confirm)"}; npx mqbench compare <baseline> <this run> shows how far it is from the baseline`),
		({ gate, run }) =>
			gate &&
			run?.failover.some(({ error }) => error === null) &&
			"see in the table Failover what the scenario's own faults cost; to limit how long they show, write e.g. recovered(p99 < 20ms) < 10s (npx mqbench explain failover)",
		warning("throttled"),
		({ run, search }) => run && errorAdvice(run, search !== undefined),
		(outcome, result) => !isCount(outcome) && warning("consumers")(outcome, result),
		found("fail"),
		(outcome, result) => !isCount(outcome) && taken(outcome, result),
		({ search }) =>
			search && "raise the limit (sla), or begin at a lower rate (npx mqbench explain max-rate)",
		(outcome) =>
			isCount(outcome) && "compare that time with the broker's log (npx mqbench explain lost)",
		({ gate, run }) => gate?.metric && run && PARTS[largestPart(gate, run) ?? "service"],
		() =>
			"look at the rates over time in report.html, and find the highest rate with find: max-rate (npx mqbench explain max-rate)",
	],
};

function found(status: Run["validity"][number]["status"]): Rule {
	return ({ run }) => {
		const check = run?.validity.find((one) => one.status === status && one.remedy !== null);
		return check && `${check.remedy} (npx mqbench explain ${check.check})`;
	};
}

/** Searches the run that the outcome is about, else all of its runs. */
function warning(...checks: readonly string[]): Rule {
	return ({ run, runs }) => {
		const check = (run ? [run] : runs)
			.flatMap(({ validity }) => validity)
			.find((one) => one.status === "warn" && checks.includes(one.check));
		return (
			check &&
			`first ${check.remedy ?? "see why"}: ${check.detail} (npx mqbench explain ${check.check})`
		);
	};
}

const taken = warning("others", "steal", "cpuQuota", "cores");

/** Lost, failed, duplicated: neither slow consumers nor a busy machine explain them. */
function isCount({ gate }: Outcome): boolean {
	return gate?.tally?.unit === "messages";
}

/** Failed messages count as slower than any limit; a search is meant to reach them. */
function errorAdvice(run: Run, searched: boolean): string | null {
	const [error] = run.errors;
	if (!error) return null;
	// Some servers refuse a user only at the first message.
	if (refusalAdvice(error.message, run) === GRANT_RIGHTS) return GRANT_RIGHTS;
	return searched || !run.failed
		? null
		: `${plural(run.failed, "message")} failed; fix the commonest error first: ${error.message}`;
}

const PARTS = {
	service:
		"the time went in the system, or on the way to it: look at latency over time and at CPU and disk in report.html, and at broker.log in the folder of the run (npx mqbench explain response)",
	queued:
		"the system pushed back: earlier sends blocked, or waited at inFlight; offer less or use more connections (npx mqbench explain response)",
	lag: "the generator itself was late; npx mqbench doctor looks at the machine (npx mqbench explain lag)",
};
type Part = keyof typeof PARTS;

type Line = Pick<Gate, "metric" | "percentile">;

/** The part for which the messages around a percentile (or the maximum, if null) waited most. Null if unknown. */
function largestPart({ metric, percentile }: Line, { breakdown }: Run): Part | null {
	if (metric === "lag" || metric === "queued") return metric;
	const around = breakdown?.find(({ p }) => p === (percentile ?? MAX));
	if (metric !== "response" || !around) return null;
	const of = (part: Part) => around[part] ?? 0;
	return (["queued", "lag"] as const).reduce<Part>((a, b) => (of(b) > of(a) ? b : a), "service");
}

const RIGHTS =
	/NOPERM|_AUTHORIZATION_FAILED|ACCESS_REFUSED|access to vhost|Permissions Violation|message.* not authorized|unauthorized-access/;
/** A mechanism that the server does not have is no matter of the password. */
const LOGIN =
	/NOAUTH|WRONGPASS|Authorization Violation|user ?name or password|not authorized|SASL (?:is|auth|PLAIN)|authentication/i;
const CONNECTION = /connect: (?!.*too many open files)|unable to dial|SASL|api error UnknownError/;
