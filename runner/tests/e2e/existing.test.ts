import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandLines } from "../../../infra/processes.fake.ts";
import { expectNowhere, measured, measuring, run, temporaryFolder } from "./mqbench.ts";
import { jetStream, Nats, ownNats } from "./own-nats.ts";

/** A line of a stack: words of a bug, not of a sentence. */
const STACK = /^ +at .*:\d+:\d+\)?$/m;

const onOwnTopics = (url: string, topics: string) => ({
	target: "existing",
	system: `{ broker: nats, mode: jetstream, url: "${url}", create: false, topics: [${topics}] }`,
});

describe("topics of one's own", () => {
	test("are measured on, and stay as they were, with what others have in them and nothing else", async () => {
		const { url } = await ownNats(jetStream());
		const nats = await Nats.connect(url);
		await nats.request("$JS.API.STREAM.CREATE.orders", {
			name: "orders",
			subjects: ["orders"],
			storage: "memory",
			retention: "limits",
		});
		let theirs = 0;
		const send = () => nats.request("orders", `theirs ${theirs++}`);
		for (let i = 0; i < 7; i++) await send();
		const before = await nats.inventory();
		// A neighbour that goes on while we measure.
		const neighbour = setInterval(() => void send(), 50);
		onTestFinished(() => clearInterval(neighbour));

		const { out, err, result } = await measured(
			{},
			{
				...onOwnTopics(url, "orders"),
				cases:
					"[{ pattern: round-trip }, { pattern: work-queue, consumers: 2 }, { pattern: fan-out, subscriptions: 2 }]",
				sla: "[lost == 0, duplicated == 0]",
			},
			{ exit: [0, 4] },
		);
		clearInterval(neighbour);
		expect(err + out).not.toMatch(/error/i);
		const { runs } = result;
		expect(runs.map(({ received }) => received)).toEqual([500, 500, 1000]);
		for (const one of runs)
			expect(one).toMatchObject({
				state: "complete",
				sent: 500,
				acked: 500,
				lost: 0,
				duplicated: 0,
				foreign: expect.toSatisfy((count: number) => count > 5),
			});

		expect(out).toContain("durability: not known, the topics are yours");

		await expect.poll(async () => (await nats.inventory()).orders?.messages).toBe(theirs + 3 * 500);
		const after = await nats.inventory();
		// What was sent is there as well: nothing of a topic that is not ours is removed.
		expect(after).toEqual({ ...before, orders: { ...before.orders, messages: theirs + 3 * 500 } });
		const first = (await nats.request("$JS.API.STREAM.MSG.GET.orders", { seq: 1 })) as {
			message: { data: string };
		};
		expect(Buffer.from(first.message.data, "base64").toString()).toBe("theirs 0");
	});

	test("that are not there are one sentence, and none is made", { tags: "long" }, async () => {
		const { url } = await ownNats(jetStream());
		const { out, err } = await measured({}, onOwnTopics(url, "ordesr"), { exit: [3] });
		expect(out + err).toMatch(/ordesr/);
		expect(out + err).not.toMatch(STACK);
		expect(await (await Nats.connect(url)).inventory()).toEqual({});
	});
});

test("over TLS, with a password from the environment, no file, no output and no process list holds it", {
	tags: "long",
}, async () => {
	const PASSWORD = "s3cr3t-of-tls";
	const folder = temporaryFolder();
	certificates(folder);
	const { url } = await ownNats(`
tls { cert_file: "${folder}/server.pem", key_file: "${folder}/server.key", timeout: 5 }
authorization { user: bench, password: "${PASSWORD}" }
`);
	const address = url.replace(/^\w+:\/\//, "");
	const env = { BENCH_PASSWORD: PASSWORD };
	const made = await measuring(
		{ duration: "2s" },
		{
			target: "existing",
			system: `{ broker: nats, url: "tls://bench:\${BENCH_PASSWORD}@${address}", tls: { ca: "${folder}/ca.pem", serverName: localhost } }`,
		},
		{ folder, env },
	);
	expect(commandLines().filter((line) => line.includes(PASSWORD))).toEqual([]);
	const { code, out, err } = await made.mqbench.ended;
	expect(err).not.toMatch(/error/i);
	expect([0, 4]).toContain(code);
	expect(made.run).toMatchObject({
		state: "complete",
		sent: 1000,
		received: 1000,
		brokerUrl: `tls://***@${address}`,
	});
	expectNowhere(PASSWORD, made.results, out, err);

	// An untrusted certificate, and a wrong password, are one sentence each, without the password.
	const again = (set: string[], password: string) =>
		run([made.file, ...set], { env: { BENCH_PASSWORD: password }, cwd: folder });
	const wrongCa = await again(["--set", "system.tls.ca=other.pem"], PASSWORD);
	const wrongPassword = await again([], `${PASSWORD}-not`);
	for (const { code, out, err } of [wrongCa, wrongPassword]) {
		expect(code).toBe(3);
		expect(out + err).not.toContain(PASSWORD);
		expect(out + err).not.toMatch(STACK);
	}
	expect(wrongPassword.err).toMatch(/authorization/i);
});

// --- internal ---

/** A CA of the test's own, another one, and a server's certificate for localhost that the first has signed. */
function certificates(folder: string): void {
	writeFileSync(path.join(folder, "names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
	const fresh = "req -newkey rsa:2048 -nodes";
	for (const line of [
		`${fresh} -x509 -subj /CN=ca -days 2 -keyout ca.key -out ca.pem`,
		`${fresh} -x509 -subj /CN=other -days 2 -keyout other.key -out other.pem`,
		`${fresh} -subj /CN=localhost -keyout server.key -out server.csr`,
		"x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -days 2 -out server.pem",
	])
		execFileSync("openssl", line.split(" "), { cwd: folder, stdio: "ignore" });
}
