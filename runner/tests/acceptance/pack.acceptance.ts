import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { DetailsFile, type Run } from "../../model/result.ts";
import { sum } from "../../stats/sum.ts";
import { packFiles } from "../../tools/pack/pack.ts";
import { haveImage } from "../e2e/images.ts";
import { resultOf, run, temporaryFolder } from "../e2e/mqbench.ts";
import { ownKafka } from "../e2e/own-kafka.ts";
import { ownNats } from "../e2e/own-nats.ts";

/** Met, breached, undecided, or invalid on a busy machine: but never a mistake, a bug or a broker that does not start. */
const VERDICTS = [0, 99, 6, 4];

/** Addresses of systems that scenarios expect to exist. */
const OWN: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
	"existing-nats": async () => ({ NATS_URL: (await ownNats()).url }),
	"your-own-topic": async () => ({ KAFKA_URL: await ownKafka("orders") }),
};

/** These run with each of their systems. Others on this machine run with one, in turn: tests/e2e tries each system with each pattern. */
const OF_ALL = ["dissecting-message-queues", "logs-side-by-side", "take-it-to-the-limit"];

/** Scenarios with many cases run one of them. */
const CASE: Readonly<Record<string, string>> = {
	"broker-or-no-broker": "20000/s",
	"commit-log-latency": "1KiB*",
	"commit-log-throughput": "1KiB*",
	"dissecting-message-queues": "*latency",
	"fan-out-subscribers": "100 *",
	"four-or-fifty-producers": "500 *",
	"latency-by-in-flight": "100000 *",
	"message-queue-latency": "1MiB*",
	"message-size-limit": "8MiB*",
	"sizes-in-production": "three*",
	"take-it-to-the-limit": "limit + 1B",
	"wildcard-subscriptions": "1000 *",
};

test.each(packFiles().map((file, i) => [path.basename(file, ".yaml"), file, i] as const))(
	"%s comes to a verdict, and every message is accounted for",
	async (name, file, i) => {
		await haveImages(file);
		const out = path.join(temporaryFolder(), "out");
		const env = (await OWN[name]?.()) ?? {};
		const { code, err } = await run(
			["run", file, "--quick", "--no-floor", "--out", out, "--only", only(name, file, i)],
			{ env },
		);
		expect(VERDICTS, err).toContain(code);
		const result = resultOf(out);
		expect(result.quick).toBe(true);
		for (const one of result.runs) {
			accountedFor(one);
			quiet(one, out);
		}
	},
);

// --- internal ---

function only(name: string, file: string, i: number): string {
	const { target, systems = {} } = parse(readFileSync(file, "utf8"));
	const all = Object.keys(systems);
	const whole = OF_ALL.includes(name) || target !== undefined || all.length === 0;
	return `${whole ? "*" : all[i % all.length]}/${CASE[name] ?? "*"}`;
}

/** Makes sure that nothing is pulled: there are images of brokers that run in containers. */
async function haveImages(file: string): Promise<void> {
	const { target, system, systems } = parse(readFileSync(file, "utf8"));
	if (target !== "docker") return;
	for (const one of systems === undefined ? [system] : Object.values(systems)) {
		const { broker, version } = typeof one === "string" ? { broker: one } : one;
		await haveImage(broker, version);
	}
}

/** A broker that logs something for each message is measured logging. Some lines a second, or up to four a connection, do not matter; a node that restarts writes many. */
function quiet(one: Run, out: string): void {
	if (one.details === null || one.sent === null || one.failover.length > 0) return;
	const { brokerLog } = DetailsFile.parse(
		JSON.parse(readFileSync(path.join(out, one.details), "utf8")),
	);
	const { lines = [], more = 0 } = brokerLog ?? {};
	// Subscribers close when everything is received, before the next message would be due: some brokers write a line for each.
	const { pattern, subscriptions, topics } = one.load;
	const closed = pattern === "fan-out" ? subscriptions * topics : 0;
	const connections = pattern === "connect" ? 4 * one.sent : 0;
	expect(
		sum(lines.map(({ times }) => times)) + more,
		`${one.system}, ${one.case}: lines of broker.log in the window`,
	).toBeLessThan(100 + one.sent / 10 + closed + connections);
}

/** Counts that must add up (reports/METHOD.md, "Counts"), in warm-up and window; copies of a fan-out are for every subscriber. */
function accountedFor(one: Run): void {
	const where = `${one.system}, ${one.case}`;
	expect(one.state, where).toBe("complete");
	expect(one.verdict, where).not.toBe("error");
	for (const scope of [one, one.warmup]) {
		const { intended, notOffered, sent, acked, failed, unknown } = scope;
		expect((sent ?? 0) + (notOffered ?? 0), where).toBe(intended);
		if (acked !== null) expect(acked + (failed ?? 0) + (unknown ?? 0), where).toBe(sent);
		const { received, lost } = scope;
		if (received === null || lost === null) continue;
		const promised = acked ?? (sent ?? 0) - (failed ?? 0);
		// Messages that came without their acknowledgement are received as well.
		expect(received + lost, where).toBeGreaterThanOrEqual(promised * one.load.subscriptions);
	}
}
