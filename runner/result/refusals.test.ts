import { expect, test } from "vitest";
import { refusalAdvice } from "./refusals.ts";
import { fixtureResult } from "./stored.fake.ts";

/**
 * What drivers said of real servers (versions of the README), without what differs from run to run: how the advice begins, and below it
 * url and error of each that gets it.
 */
const COLLECTED = String.raw`
# Another protocol answers, or hangs up, or is silent.
correct the port of the url: what answers at h:7302 is not Redis
	redis://h:7302 redis: connect: redis: can't parse map reply: "INFO {...
correct the port of the url: what answers at h:7302 is not Kafka
	kafka://h:7302 kafka: connect: invalid large response size 1229866575 > limit 268435456: response exceeds BrokerMaxReadBytes
correct the port
	amqp://h:7302 rabbitmq: connect: Exception (501) Reason: "Exception (501) Reason: \"frame size exceeds negotiated frame_max\""
	amqp://h:7501 amqp: connect: unexpected protocol version 0.9.1
	amqp://h:7302 amqp: connect: unexpected protocol "INFO"
	mqtt://h:7302 mqtt: connect: invalid Prop type 34 for packet 4
	nsq://h:7103 nsq: connect: unexpected protocol: it does not answer as nsqd does
	http://h:7302 sqs: connect: malformed HTTP status code "{..."
	nats://h:80 nats: connect: nats: protocol exception, INFO not received
	http://h:7702 sqs: connect: operation error SQS: ListQueues, https response error StatusCode: 403, RequestID: , api error UnknownError: TLS_REQUIRED
correct the port of the url, or write tls: true
	redis://h:7401 redis: connect: EOF
	redis://h:7501 redis: connect: read: connection reset by peer
	mqtt://h:7501 mqtt: connect: read tcp 127.0.0.1:39444->127.0.0.1:7501: read: connection reset by peer
	mqtt://h:7401 mqtt: connect: the server ends the connection instead of an answer; if it speaks MQTT 3.1.1 alone, set protocol: 3.1.1
	mqtt://h:7101 mqtt: connect: context deadline exceeded
	kafka://h:7103 kafka: connect: read tcp 127.0.0.1:39552->127.0.0.1:7103: i/o timeout
	nats://h:7101 nats: connect: read tcp 127.0.0.1:48786->127.0.0.1:7101: i/o timeout
	amqp://h:7103 rabbitmq: connect: Exception (501) Reason: "read i/o timeout"
	amqp://h:7401 rabbitmq: connect: Exception (501) Reason: "EOF"
	nsq://h:7401 nsq: connect: EOF
	http://h:7103 sqs: connect: EOF

# TLS on one side only, or with a certificate of nobody that is known here.
correct the port of the url, or write tls: true
	redis://h:7102 redis: connect: read: connection reset by peer
	amqp://h:7602 amqp: connect: context deadline exceeded
write tls: true in the system: h:7403 speaks TLS
	kafka://h:7403 kafka: connect: invalid large response size 352518912 > limit 268435456; the first three bytes received appear to be a tls alert record for TLS v1.2; is this a plaintext connection speaking to a tls endpoint?
write tls: true
	nsq://h:7701 nsq: connect: the server requires TLS
correct the port of the url, or remove TLS from the system
	rediss://h:7103 redis: connect: context deadline exceeded
	mqtts://h:7203 mqtt: connect: read tcp 127.0.0.1:41266->127.0.0.1:7203: read: connection reset by peer
write a url that begins with nats://, and no tls in the system: h:7301 does not speak TLS
	tls://h:7301 nats: connect: nats: secure connection not available
write a url that begins with amqp://
	amqps://u@h:7501 rabbitmq: connect: tls: first record does not look like a TLS handshake
write a url that begins with kafka://, and no tls
	kafka://h:7401 kafka: connect: broker closed the connection immediately after a dial, which often happens if the client is using TLS when the broker is not expecting it: is TLS misconfigured on the client or the broker?
write tls: { ca: ca.pem }
	rediss://h:7102 redis: connect: tls: failed to verify certificate: x509: certificate signed by unknown authority
	nats://h:7303 nats: connect: nats: tls error: tls: failed to verify certificate: x509: certificate signed by unknown authority

# Login: none, a wrong one, one of another kind, one that nobody asked for.
write REDIS_PASSWORD=... before the command
	redis://h:7101/2 redis: connect: NOAUTH Authentication required.
check user and password: h:7101 refused them
	redis://***@h:7101 redis: connect: WRONGPASS invalid username-password pair or user is disabled.
write NATS_PASSWORD=...
	nats://h:7301 nats: connect: nats: Authorization Violation
check user and password: a:1,b:2 refused them
	nats://***@a:1,b:2 nats: connect: nats: Authorization Violation
write MQTT_PASSWORD=...
	mqtt://h:7201 mqtt: connect: not authorized (reason code 135)
check user and password
	mqtt://***@h:7201 mqtt: connect: not authorized (reason code 135)
write KAFKA_PASSWORD=...
	kafka://h:7402 kafka: connect: broker closed the connection immediately after a request was issued, which often happens when SASL is required but not provided: is SASL missing?
check user and password
	kafka://***@h:7402 kafka: connect: SASL_AUTHENTICATION_FAILED: SASL Authentication failed.: Authentication failed: Invalid username or password
	amqp://***@h:7501 rabbitmq: connect: Exception (403) Reason: "username or password not allowed"
	amqp://***@h:7601 amqp: connect: SASL PLAIN auth failed with code 0x1: 
write a mechanism that the broker offers in the system: sasl:
	kafka://***@h:7402 kafka: connect: UNSUPPORTED_SASL_MECHANISM: The broker does not support the requested SASL mechanism.
remove user and password from the url, or use
	kafka://***@h:7401 kafka: connect: ILLEGAL_SASL_STATE: Request is not valid given the current SASL state.

# Rights, and what is not there.
give this user the right
	redis://***@h:7101 redis: consume "mqbench.x.1.0": NOPERM this user has no permissions to access one of the channels used as arguments
	redis://***@h:7101 redis: connect: NOPERM this user has no permissions to run the 'client|setname' command
	nats://***@h:7301 nats: subscribe to "mqbench.x.1.0": nats: permissions violation: Permissions Violation for Subscription to "mqbench.x.1.0"
	kafka://***@h:7402 kafka: look up topics: TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics: [Topic authorization failed.]
	mqtt://***@h:7201 mqtt: a message of 256 bytes: mqtt: the server refuses the message: not authorized (reason code 135)
	amqp://***@h:7501 rabbitmq: prepare topics: delete queue "mqbench.x.1.0": Exception (403) Reason: "ACCESS_REFUSED - access to queue 'mqbench.x.1.0' in vhost '/' refused for user 'narrow'"
	amqp://***@h:7501 rabbitmq: connect: Exception (530) Reason: "NOT_ALLOWED - access to vhost '/' refused for user 'novhost'"

# Limits of connections and files.
raise the limit of connections at h:7302, or lower workload.connections
	nats://h:7302 nats: connect: connection 2 of 3: nats: maximum connections exceeded
raise the limit of connections
	nats://h:7302 nats: connect: connection 2 of 3: write tcp 127.0.0.1:40008->127.0.0.1:7302: write: broken pipe
	redis://h:7103 redis: connection 3 of 9: connect: write tcp 127.0.0.1:42316->127.0.0.1:7103: write: broken pipe
	redis://h:7103 redis: consume "mqbench.x.1.0": connect: failed to initialize connection options: write tcp 127.0.0.1:42364->127.0.0.1:7103: write: broken pipe
	amqp://***@h:7501 rabbitmq: connect: connection 2 of 3: Exception (530) Reason: "NOT_ALLOWED - connection refused for user 'few': user connection limit (1) is reached"
correct advertised.listeners of the broker, or raise its max.connections: it sends clients to 127.0.0.1:7404
	kafka://h:7404 kafka: look up topics: unable to dial: dial tcp 127.0.0.1:7404: i/o timeout
allow more open files before mqbench starts (ulimit -n
	amqp://***@h:7501 rabbitmq: connect: connection 250 of 300: dial tcp 127.0.0.1:7501: socket: too many open files
`;

let advice = "";
const ROWS = COLLECTED.split("\n").flatMap((line) => {
	const [, url = "", error = ""] = /^\t(\S+) (.*)$/.exec(line) ?? [];
	if (url !== "") return [[url, error, advice] as const];
	advice = line;
	return [];
});

test.each(ROWS)("%s: %s", (brokerUrl, error, advice) => {
	const why = `k6 ended with exit code 255: open ${error.replace(/:.*/s, "")}: ${error}`;
	const text = refusalAdvice(why, runAt(brokerUrl, error));
	expect(text?.slice(0, advice.length)).toBe(advice);
});

test("an error that says what to do, or what is wrong, gets no advice of its own", () => {
	for (const error of [
		"kafka: topic nope does not exist (the cluster knows no topic of this name); make it, or drop create: false",
		"nats: the server has no JetStream: start it with -js, or use mode core",
		"300 connections need at least 332 open files, and this machine allows 256 (ulimit -H -n); raise that limit, or use fewer connections",
		'kafka: create topic "x": INVALID_REPLICATION_FACTOR: Replication factor is below 1 or larger than the number of available brokers.',
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
