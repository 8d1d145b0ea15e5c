import { expect, test } from "vitest";
import { refusalAdvice } from "./advice.ts";
import { fixtureResult } from "./stored.fake.ts";

const CHECK = "check the system's url (scheme, host, port, login) and its tls, and how many";
const RIGHT = "give this user the right";

/** What drivers said of real servers (versions of the README), without what differs from run to run, and how the advice begins. */
test.each([
	// Another protocol, TLS on one side only, too many connections.
	["redis://h:7302", "connect: redis: can't parse map reply", CHECK],
	["kafka://h:7403", "connect: invalid large response size 352518912 > limit 268435456", CHECK],
	["mqtts://h:7203", "connect: read tcp 127.0.0.1:41266->127.0.0.1:7203: i/o timeout", CHECK],
	["http://h:7702", "connect: operation error SQS: ListQueues, api error UnknownError", CHECK],
	["rediss://h:7102", "connect: tls: failed to verify certificate: x509", CHECK],
	["nats://h:7302", "connect: connection 2 of 3: nats: maximum connections exceeded", CHECK],
	["kafka://h:7404", "look up topics: unable to dial: dial tcp 127.0.0.1:7404: i/o timeout", CHECK],
	// A login: none, a wrong one, one of another kind.
	[
		"redis://h:7101/2",
		"connect: NOAUTH Authentication required.",
		"write REDIS_PASSWORD=... before",
	],
	[
		"redis://***@h:7101",
		"connect: WRONGPASS invalid",
		"check user and password: h:7101 refused them",
	],
	["nats://h:7301", "connect: nats: Authorization Violation", "write NATS_PASSWORD=..."],
	[
		"nats://***@a:1,b:2",
		"connect: nats: Authorization Violation",
		"check user and password: a:1,b:2",
	],
	["mqtt://h:7201", "connect: not authorized (reason code 135)", "write MQTT_PASSWORD=..."],
	["kafka://h:7402", "connect: when SASL is required but not provided", "write KAFKA_PASSWORD=..."],
	["kafka://***@h:7402", "connect: SASL_AUTHENTICATION_FAILED: SASL", "check user"],
	[
		"amqp://***@h:7501",
		'connect: Exception (403) Reason: "username or password not allowed"',
		"check user",
	],
	["amqp://***@h:7601", "connect: SASL PLAIN auth failed with code 0x1: ", "check user"],
	["kafka://***@h:7402", "connect: UNSUPPORTED_SASL_MECHANISM: The broker", CHECK],
	["kafka://***@h:7401", "connect: ILLEGAL_SASL_STATE: Request is not valid", CHECK],
	// Rights.
	["redis://***@h:7101", "connect: NOPERM this user has no permissions", RIGHT],
	[
		"nats://***@h:7301",
		"nats: permissions violation: Permissions Violation for Subscription",
		RIGHT,
	],
	["kafka://***@h:7402", "look up topics: TOPIC_AUTHORIZATION_FAILED: Not authorized", RIGHT],
	[
		"mqtt://***@h:7201",
		"mqtt: the server refuses the message: not authorized (reason code 135)",
		RIGHT,
	],
	["amqp://***@h:7501", 'prepare topics: Exception (403) Reason: "ACCESS_REFUSED', RIGHT],
	["amqp://***@h:7501", "connect: NOT_ALLOWED - access to vhost '/' refused", RIGHT],
])("%s: %s", (brokerUrl, said, advice) => {
	const scheme = brokerUrl.replace(/:.*/, "");
	const drivers: Record<string, string> = { rediss: "redis", mqtts: "mqtt", http: "sqs" };
	const error = `${drivers[scheme] ?? scheme}: ${said}`;
	const why = `k6 ended with exit code 255: open ${error.replace(/:.*/s, "")}: ${error}`;
	expect(refusalAdvice(why, runAt(brokerUrl, error))?.slice(0, advice.length)).toBe(advice);
});

test("an error that says what to do, or what is wrong, gets no advice of its own", () => {
	for (const error of [
		"kafka: topic nope does not exist (the cluster knows no topic of this name); make it, or drop create: false",
		"nats: the server has no JetStream: start it with -js, or use mode core",
		"300 connections need at least 332 open files, and this machine allows 256 (ulimit -H -n); raise that limit, or use fewer connections",
		'kafka: create topic "x": INVALID_REPLICATION_FACTOR: Replication factor is below 1 or larger than the number of available brokers.',
		"rabbitmq: connect: connection 250 of 300: dial tcp 127.0.0.1:7501: socket: too many open files",
		"nats: calibrate the pacer: context deadline exceeded",
	])
		expect(refusalAdvice(error, runAt("nats://h", error))).toBeNull();
});

// --- internal ---

function runAt(brokerUrl: string, error: string) {
	const [run] = fixtureResult("stall").runs;
	if (run === undefined) throw new Error("another fixture");
	const broker = /^[a-z-]+/.exec(error)?.[0] ?? "nats";
	const load = { ...run.load, broker };
	return { ...run, load, brokerUrl };
}
