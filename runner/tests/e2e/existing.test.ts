import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandLines } from "../../../infra/processes.fake.ts";
import {
	filesOf,
	type Mqbench,
	resultOf,
	run,
	scenario,
	start,
	temporaryFolder,
} from "./mqbench.ts";
import { jetStream, Nats, ownNats } from "./own-nats.ts";

/** A line of a stack: words of a bug, not of a sentence. */
const STACK = /^ +at .*:\d+:\d+\)?$/m;

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
		// A neighbour who goes on while we measure.
		const neighbour = setInterval(() => void send(), 50);
		onTestFinished(() => clearInterval(neighbour));

		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(
			folder,
			{},
			{
				target: "existing",
				system: `{ broker: nats, mode: jetstream, url: "${url}", create: false, topics: [orders] }`,
				cases:
					"[{ pattern: round-trip }, { pattern: work-queue, consumers: 2 }, { pattern: fan-out, subscriptions: 2 }]",
				sla: "[lost == 0, duplicated == 0]",
			},
		);
		const ended = await run([file, "--out", out]);
		clearInterval(neighbour);
		expect(ended.err + ended.out).not.toMatch(/error/i);
		expect([0, 4]).toContain(ended.code);
		const { runs } = resultOf(out);
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

		expect(ended.out).toContain("durability: not known, the topics are yours");

		await expect.poll(async () => (await nats.inventory()).orders?.messages).toBe(theirs + 3 * 500);
		const after = await nats.inventory();
		// What was sent is there as well: nothing of a topic of somebody else's is removed.
		expect(after).toEqual({ ...before, orders: { ...before.orders, messages: theirs + 3 * 500 } });
		const first = (await nats.request("$JS.API.STREAM.MSG.GET.orders", { seq: 1 })) as {
			message: { data: string };
		};
		expect(Buffer.from(first.message.data, "base64").toString()).toBe("theirs 0");
	});

	test("that are not there are one sentence, and none is made", { tags: "long" }, async () => {
		const { url } = await ownNats(jetStream());
		const folder = temporaryFolder();
		const file = scenario(
			folder,
			{},
			{
				target: "existing",
				system: `{ broker: nats, mode: jetstream, url: "${url}", create: false, topics: [ordesr] }`,
			},
		);
		const ended = await run([file, "--out", path.join(folder, "out")]);
		expect(ended.code).toBe(3);
		expect(ended.out + ended.err).toMatch(/ordesr/);
		expect(ended.out + ended.err).not.toMatch(STACK);
		expect(await (await Nats.connect(url)).inventory()).toEqual({});
	});
});

test("over TLS, with a password from the environment, no file, no output and no process list holds it", {
	tags: "long",
}, async () => {
	const PASSWORD = "s3cr3t-of-tls";
	const folder = temporaryFolder();
	const { ca, cert, key } = certificates(folder);
	const { url } = await ownNats(`
tls { cert_file: "${cert}", key_file: "${key}", timeout: 5 }
authorization { user: bench, password: "${PASSWORD}" }
`);
	const out = path.join(folder, "out");
	const address = url.replace(/^\w+:\/\//, "");
	const file = scenario(
		folder,
		{ duration: "2s" },
		{
			target: "existing",
			system: `{ broker: nats, url: "tls://bench:\${BENCH_PASSWORD}@${address}", tls: { ca: "${ca}", serverName: localhost } }`,
		},
	);
	const mqbench: Mqbench = start([file, "--out", out], { env: { BENCH_PASSWORD: PASSWORD } });
	await mqbench.says(/ {2}1s\/2s/);
	expect(commandLines().filter((line) => line.includes(PASSWORD))).toEqual([]);
	const ended = await mqbench.ended;
	expect(ended.err).not.toMatch(/error/i);
	expect([0, 4]).toContain(ended.code);
	expect(resultOf(out).runs[0]).toMatchObject({
		state: "complete",
		sent: 1000,
		received: 1000,
		brokerUrl: `tls://***@${address}`,
	});
	expect(ended.out + ended.err).not.toContain(PASSWORD);
	for (const name of filesOf(out))
		expect(readFileSync(path.join(out, name), "latin1"), name).not.toContain(PASSWORD);

	// A certificate that nobody vouches for, and a wrong password, are one sentence each, without the password.
	const wrongCa = await run([file, "--set", "system.tls.ca=other.pem"], {
		env: { BENCH_PASSWORD: PASSWORD },
		cwd: folder,
	});
	const wrongPassword = await run([file, "--out", path.join(folder, "w")], {
		env: { BENCH_PASSWORD: `${PASSWORD}-not` },
		cwd: folder,
	});
	for (const refused of [wrongCa, wrongPassword]) {
		expect(refused.code).toBe(3);
		expect(refused.out + refused.err).not.toContain(PASSWORD);
		expect(refused.out + refused.err).not.toMatch(STACK);
	}
	expect(wrongPassword.err).toMatch(/authorization/i);
});

// --- internal ---

/** A CA of the test's own, and a server's certificate for localhost that it has signed. */
function certificates(folder: string): Record<"ca" | "cert" | "key", string> {
	const at = path.join(folder, "tls");
	mkdirSync(at);
	const openssl = (...args: string[]) =>
		execFileSync("openssl", args, { cwd: at, stdio: "ignore" });
	const days = ["-days", "2"];
	const fresh = ["req", "-newkey", "rsa:2048", "-nodes"];
	for (const name of ["ca", "other"])
		openssl(
			...fresh,
			"-x509",
			"-subj",
			`/CN=${name}`,
			...days,
			"-keyout",
			`${name}.key`,
			"-out",
			`${name}.pem`,
		);
	openssl(...fresh, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr");
	writeFileSync(path.join(at, "names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
	openssl(
		"x509",
		"-req",
		"-in",
		"server.csr",
		"-CA",
		"ca.pem",
		"-CAkey",
		"ca.key",
		"-CAcreateserial",
		"-extfile",
		"names",
		...days,
		"-out",
		"server.pem",
	);
	writeFileSync(path.join(folder, "other.pem"), readFileSync(path.join(at, "other.pem")));
	return {
		ca: path.join(at, "ca.pem"),
		cert: path.join(at, "server.pem"),
		key: path.join(at, "server.key"),
	};
}
