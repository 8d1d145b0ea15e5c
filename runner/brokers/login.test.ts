import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { started } from "./started.fake.ts";

/** What a client without a password sends, and what a server that wants one answers. */
const NATS = ["CONNECT {}\r\nPING\r\n", ["Authorization Violation"]] as const;
const REDIS = ["PING\r\n", ["-NOAUTH"]] as const;
/** CONNECT of MQTT 3.1.1 as "x"; CONNACK "not authorized" or "bad user name or password". */
const MQTT = [
	"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01x",
	["\x20\x02\x00\x04", "\x20\x02\x00\x05"],
] as const;
/** SASL ANONYMOUS, open and begin of AMQP 1.0. */
const AMQP = [
	[
		"AMQP\x03\x01\x00\x00",
		"\x00\x00\x00\x19\x02\x01\x00\x00\x00\x53\x41\xc0\x0c\x01\xa3\x09ANONYMOUS",
		"AMQP\x00\x01\x00\x00",
		"\x00\x00\x00\x11\x02\x00\x00\x00\x00\x53\x10\xc0\x04\x01\xa1\x01x",
		"\x00\x00\x00\x14\x02\x00\x00\x00\x00\x53\x11\xc0\x07\x04\x40\x43\x52\x0a\x52\x0a",
	].join(""),
	["amqp:unauthorized-access", "amqp:not-allowed", "SD\xc0\x03\x01P\x01"],
] as const;

test.each([
	["nats", {}, NATS],
	["redis", {}, REDIS],
	["mqtt", { server: "mosquitto" }, MQTT],
] as const)(
	"%s %j answers nobody without the password, which is new, and nowhere to be read",
	answersNobody,
);

test.each([
	["nats-streaming", {}, NATS],
	["mqtt", { server: "mochi" }, MQTT],
	["amqp", {}, AMQP],
	["amqp", { server: "classic" }, AMQP],
] as const)("%s %j answers nobody without the password either", { tags: "long" }, answersNobody);

// --- internal ---

async function answersNobody(
	name: string,
	options: Readonly<Record<string, unknown>>,
	[sent, refused]: readonly [string, readonly string[]],
): Promise<void> {
	const broker = await started(name, options);
	const { hostname, port, username, password } = new URL(broker.url);
	const secret = password || username;
	expect(secret).toMatch(/^[0-9a-f]{24}$/);
	const answer = await answerTo(hostname, Number(port), sent, refused);
	expect(
		refused.some((words) => answer.includes(words)),
		answer,
	).toBe(true);
	expect(readFileSync(broker.log, "utf8")).not.toContain(secret);
	expect(JSON.stringify(broker.settings)).not.toContain(secret);
	for (const pid of broker.pids) {
		const words = readFileSync(`/proc/${pid}/cmdline`, "latin1");
		expect(words).not.toContain(secret);
		const [folder] = /\/[^\0:=]*mqbench-\d+-\w+/.exec(words) ?? [];
		for (const file of folder ? filesWith(secret, folder) : [])
			expect(statSync(file).mode & 0o077, file).toBe(0);
	}
	const second = await started(name, options);
	expect(second.url).not.toContain(secret);
}

/** Its answer within 10 s, or until it is as wanted. */
async function answerTo(
	host: string,
	port: number,
	sent: string,
	wanted: readonly string[],
): Promise<string> {
	const socket = connect(port, host);
	onTestFinished(() => void socket.destroy());
	socket.on("error", () => {});
	let answer = "";
	socket.setEncoding("latin1").on("data", (piece) => {
		answer += piece;
	});
	socket.write(sent, "latin1");
	const over = () => wanted.some((words) => answer.includes(words));
	for (let i = 0; i < 200 && !over(); i++) await sleep(50);
	return answer;
}

function filesWith(secret: string, folder: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.map((name) => path.join(folder, name))
		.filter((file) => statSync(file).isFile())
		.filter((file) => readFileSync(file, "latin1").includes(secret));
}
