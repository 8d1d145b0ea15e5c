import { formatCount as count, formatDuration as duration, plural } from "../units.ts";

/** What to do about an outcome that did not pass. */
export const advice = {
	resume: (d: { command: string }) => `continue where it was stopped: ${d.command}`,
	"search-again": () =>
		"start again: a scenario with a search cannot be resumed, as each run of a search follows from those before",
	"change-the-question": () =>
		"change the SLA line or the load: the run was made, and cannot answer it",
	"copy-again": () =>
		"copy the file again from where the folder comes from, or use the version of mqbench that made it",
	"fix-and-rerun": (d: {
		/** The run's folder has a log of the broker. */
		log: boolean;
	}) =>
		`fix the cause named above and run again${d.log ? "; broker.log is in the run's folder" : ""}`,
	"more-files": () =>
		"allow more open files before mqbench starts (ulimit -n 65536; nofile in /etc/security/limits.conf sets its upper limit), or use fewer connections",
	"fewer-replicas": (d: { replicas: number }) =>
		`write replicas: 1, because the broker has fewer nodes than ${d.replicas} replicas need`,
	"other-mechanism": () =>
		"write a mechanism that the broker offers in the system: sasl: plain, scram-sha-256 or scram-sha-512",
	"no-login-there": (d: Server) =>
		`remove user and password from the url: ${d.server} accepts no login; or use the port of a listener that does`,
	"fewer-connections": (d: Server & { connections: number }) =>
		`raise the limit of connections at ${d.server}${d.connections === 1 ? "" : `, or lower workload.connections (it is ${d.connections}; consumers may have their own)`}`,
	"make-vhost": (d: { vhost: string }) =>
		`create the vhost ${d.vhost} at the broker, or correct the path of the url`,
	"grant-rights": () =>
		"give this user the right to create, write and read topics whose names begin with mqbench, or name topics that it may use (topics: [...], create: false)",
	"other-database": () =>
		"write a database that the server has, as the number at the end of the url",
	"trust-certificate": () =>
		"write tls: { ca: ca.pem } in the system, with the certificate of the authority that signed the broker's",
	"no-tls-there": (d: Server & { scheme: string }) =>
		`write a url that begins with ${d.scheme}://, and no tls in the system: ${d.server} does not speak TLS`,
	"tls-there": (d: Server) => `write tls: true in the system: ${d.server} speaks TLS`,
	"advertised-address": (d: {
		/** "10.0.0.5:9092" */
		address: string;
	}) =>
		`correct advertised.listeners of the broker, or raise its max.connections: it sends clients to ${d.address}, and nothing answers there`,
	"other-protocol": (d: Server & { title: string }) =>
		`correct the port of the url: what answers at ${d.server} is not ${d.title}`,
	"hung-up": (d: Server & { title: string; tls: boolean }) =>
		`correct the port of the url, or ${d.tls ? "remove TLS from the system" : "write tls: true in the system"}: what listens at ${d.server} does not answer like ${d.title} ${d.tls ? "with" : "without"} TLS`,
	"log-in": (d: {
		/** With the variable in it. */
		url: string;
		variable: string;
	}) =>
		`write ${d.variable}=... before the command and --url '${d.url}' behind it, with the single quotes`,
	"login-refused": (d: Server) => `check user and password: ${d.server} refused them`,
	"trust-first": (d: { remedy: string | null }) =>
		`${d.remedy ?? "free the machine from other work; mqbench doctor shows what bends a measurement"} (mqbench explain invalid)`,
	"closer-clocks": () =>
		"keep the clocks of the clients in step more closely (chrony, PTP), or let whoever sends receive its own messages (round-trip): longer runs do not help",
	"decide-first": (d: { remedy: string }) =>
		`${d.remedy}, and measure again (mqbench explain inconclusive)`,
	"more-samples": (d: { repeats: number }) =>
		`measure longer (workload.duration), or repeat: ${d.repeats} (mqbench explain inconclusive)`,
	"slower-or-lower": () =>
		"allow a slower answer (sla), or begin at a lower rate (mqbench explain max-rate)",
	"find-the-rate": (d: { remedy: string | null }) =>
		`${d.remedy ?? "look at the rates over time in report.html"}; find: max-rate in the scenario searches for the rate that it carries (mqbench explain max-rate)`,
	"why-not-counted": (d: { out: number; runs: number }) =>
		`see first why ${d.out} of ${plural(d.runs, "run")} ${d.out === 1 ? "does" : "do"} not count (mqbench explain invalid), then measure again`,
	"more-repeats-noise": (d: { busy: string | null }) =>
		`${d.busy ?? "measure with more repeats or for longer"}; mqbench calibrate says what this machine can tell (mqbench explain baseline)`,
	"see-both-curves": (d: { busy: string | null; again: boolean }) =>
		[
			d.busy,
			"mqbench compare <baseline> <this run> --html compare.html draws both curves",
			d.again ? "measure once more before you believe it (--confirm)" : null,
		]
			.filter((text) => text !== null)
			.join("; "),
	busy: (d: {
		busy: number;
		runs: number;
		/** The baseline was measured in the same command. */
		beside: boolean;
	}) =>
		`the machine was busy in ${d.busy} of ${plural(d.runs, "run")} (see the warnings)${d.beside ? ": free it from other work" : ", and a baseline of another time does not share that: measure both in one command, in turns (baseline: <system>)"}`,
	"busy-first": (d: { checks: readonly string[]; next: string }) =>
		`first free the machine from other work and measure again: ${d.checks.join(" and ")} ${d.checks.length === 1 ? "warns" : "warn"} that generator and broker did not have the CPU for themselves; if it stays, ${d.next}`,
	"machine-first": (d: { remedy: string | null; next: string }) =>
		`first ${d.remedy}, and measure again: no core was free (mqbench explain saturation); if it stays, ${d.next}`,
	"throttled-first": (d: { throttledNs: number; remedy: string }) =>
		`first ${d.remedy}: the broker throttled its clients for ${duration(d.throttledNs)} (mqbench explain throttled)`,
	"consumers-first": (d: { found: string; remedy: string; topic: string }) =>
		`first give the consumers room: ${d.remedy}; ${d.found}, which is the consumers' share and not the broker's (mqbench explain ${d.topic})`,
	"compare-with-log": (d: { remedy: string | null }) =>
		`${d.remedy ?? "compare that time with the broker's log"} (mqbench explain lost)`,
	"rate-too-low": (d: { perSecond: number }) =>
		`raise workload.rate or lower the limit: only ${count(d.perSecond)}/s are scheduled, so no system could reach it`,
	"see-rates": () =>
		"look at offered against achieved rate and at the broker's CPU and disk in report.html; find: max-rate in the scenario searches for the rate that it carries (mqbench explain max-rate)",
	"commonest-error": (d: { failed: number; error: string }) =>
		`${plural(d.failed, "message")} failed; fix the commonest error first: ${d.error}`,
	"own-faults": (d: {
		/** "kill of node 2 (the leader) at 4.004s" */
		faults: readonly string[];
		/** The commonest of what failed; null: nothing did. */
		error: string | null;
		/** A latency line that the faults may have broken; null: another line. */
		latency: string | null;
	}) =>
		[
			`first see what the scenario's own faults cost, in the table Failover (mqbench explain failover): ${d.faults.join(", ")}`,
			...(d.error === null ? [] : [`the commonest error: ${d.error}`]),
			...(d.latency === null
				? []
				: [`to ask how long a fault may show write e.g. recovered(${d.latency}) < 10s`]),
		].join("; "),
	"see-part": (d: { part: Part; topic: string }) => `${PARTS[d.part]} (mqbench explain ${d.topic})`,
	"see-part-around": (d: { part: Name; percentile: number; share: number; topic: string }) =>
		`of the messages around p${d.percentile} ${Math.round(100 * d.share)} % is ${d.part}: ${PARTS[d.part]} (mqbench explain ${d.topic})`,
	"see-part-of-slowest": (d: { part: Name; share: number; topic: string }) =>
		`of the slowest messages ${Math.round(100 * d.share)} % is ${d.part}: ${PARTS[d.part]} (mqbench explain ${d.topic})`,
	"see-largest-part": (d: { part: Name; percentile: number; partNs: number; topic: string }) =>
		`the largest part of p${d.percentile} (${duration(d.partNs)}) is ${d.part}: ${PARTS[d.part]} (mqbench explain ${d.topic})`,
	"see-lag": () => PARTS.lag,
};

// --- internal ---

interface Server {
	/** "10.0.0.5:6379" */
	readonly server: string;
}

const SEE =
	"look at latency over time and at the broker's CPU and disk in report.html, and at the broker's log";

const PARTS = {
	service: `the broker, or the way to it, held them; ${SEE}`,
	queued:
		"the system pushed back, earlier sends blocked or waited at inFlight; look at queued and in flight in report.html, offer less or use more connections",
	lag: "the generator itself was late; mqbench doctor looks at the machine",
	all: SEE,
};
type Part = keyof typeof PARTS;
type Name = Exclude<Part, "all">;
