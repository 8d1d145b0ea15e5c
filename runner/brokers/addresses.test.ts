import { expect, test } from "vitest";
import { addresses } from "./addresses.ts";

test.each([
	["one host", "nats://host", ["host:4222"]],
	["its port", "nats://host:4000", ["host:4000"]],
	["a user and password with commas", "nats://me:a,b@host:1", ["host:1"]],
	["a path and a query", "amqp://me@host/v,h?a=b,c", ["host:4222"]],
	["several hosts", "kafka://a:1,b,c:3", ["a:1", "b:4222", "c:3"]],
	["several URLs", "nats://u:p@a:1,nats://u:p@b:2", ["a:1", "b:2"]],
	["IPv6", "nats://[::1]:5,[fe80::1]", ["::1:5", "fe80::1:4222"]],
	["a scheme with a port of its own", "wss://host", ["host:443"]],
	["no scheme", "a:1,b:2", ["a:1", "b:2"]],
	["a Unix socket", "unix://:p@localhost/tmp/a%20b.sock", ["/tmp/a b.sock"]],
])("%s", (_, url, expected) => {
	expect(
		addresses(url, { nats: 4222, wss: 443 }).map(
			({ host, port, path }) => path ?? `${host}:${port}`,
		),
	).toEqual(expected);
});
