import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { descendant, runs } from "../../../infra/processes.fake.ts";
import { RigFile } from "../../scenario/rig-file.ts";
import { maskUrls } from "../../secrets.ts";
import {
	expectNowhere,
	measured,
	run,
	scenario,
	standing,
	start,
	temporaryFolder,
	until,
} from "./mqbench.ts";
import { jetStream, Nats, ownNats } from "./own-nats.ts";

const TOP = { system: "{ broker: nats, mode: jetstream, durability: os }", sla: "[lost == 0]" };

describe("a rig of this machine", () => {
	test("stays up between runs, which have topics of their own, and is down after mqbench down", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const file = scenario(folder, {}, TOP);
		const up = await standing(folder, file);
		const place = path.join(folder, "rig.json");
		const rig = RigFile.parse(JSON.parse(readFileSync(place, "utf8")));
		expect(statSync(place).mode & 0o777).toBe(0o600);
		expect(rig).toMatchObject({
			target: "local",
			brokers: [
				{
					system: "nats",
					broker: "nats",
					level: "os",
					messageBytes: 256,
					sameHost: true,
					settings: { "jetstream.sync_interval": "24h" },
				},
			],
		});
		const url = rig.brokers[0]?.url ?? "";
		const broker = descendant(up.pid, "nats-server");
		const nats = await Nats.connect(url);
		const topics: string[] = [];
		for (const _ of ["one", "two"]) {
			const made = await measured({}, TOP, { args: ["--rig", place], exit: [0, 4] });
			expect(made.run).toMatchObject({
				state: "complete",
				sent: 500,
				received: 500,
				lost: 0,
				brokerUrl: maskUrls(url),
				brokerSettings: { "jetstream.sync_interval": "24h" },
				sameHost: true,
				notes: [
					`the broker was not fresh: it belongs to the rig ${rig.id}, which stays up, and other runs may have been there before`,
				],
			});
			expect(made.out).toContain("the broker was not fresh");
			topics.push(...JSON.parse(readFileSync(made.ofRun("plan.json"), "utf8")).topics);
			// Nothing of a run is left on it.
			expect(await nats.inventory()).toEqual({});
		}
		expect(new Set(topics).size).toBe(2);
		expect(descendant(up.pid, "nats-server")).toEqual(broker);

		const down = await run(["down", "rig.json"], { cwd: folder });
		expect(down).toMatchObject({ code: 0, err: "" });
		expect(down.out).toBe(`The rig ${rig.id} is down; nothing of it is left.\n`);
		expect((await up.ended).code).toBe(0);
		expect(existsSync(path.join(folder, "rig.json"))).toBe(false);
		expect(broker && runs(broker.pid)).toBe(false);

		const again = await run(["down", "rig.json"], { cwd: folder });
		expect(again).toMatchObject({ code: 0, err: "" });
		expect(again.out).toBe(
			"rig.json: there is no such file, so nothing was taken down; npx mqbench rigs list shows what is rented.\n",
		);
		const late = await run([file, "--rig", "rig.json"], { cwd: folder });
		expect(late.code).toBe(2);
		expect(late.err).toMatch(/^rig\.json: cannot be read \(there is no such file\)/);
	});

	test("ends with Ctrl-C, and leaves neither file nor broker", async () => {
		const folder = temporaryFolder();
		const up = await standing(folder, scenario(folder));
		const broker = descendant(up.pid, "nats-server");
		const second = await run(["up", scenario(folder)], { cwd: folder });
		expect(second.code).toBe(2);
		expect(second.err).toMatch(/^rig\.json: already exists/);
		up.signal("SIGINT");
		const ended = await up.ended;
		expect(ended.code).toBe(0);
		expect(ended.err).toMatch(/The rig e2e-\w+ is down\.\n$/);
		expect(existsSync(path.join(folder, "rig.json"))).toBe(false);
		expect(broker && runs(broker.pid)).toBe(false);
	});

	test("does not touch a rig.json that somebody else has written meanwhile", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const place = path.join(folder, "rig.json");
		const theirs = JSON.stringify({
			version: 1,
			id: "theirs",
			brokers: [{ system: "nats", broker: "nats", url: "nats://127.0.0.1:1" }],
		});
		const late = start(["up", scenario(folder)], { cwd: folder });
		await late.says(/^Standing up/m, 60_000);
		writeFileSync(place, theirs);
		const refused = await late.ended;
		expect(refused.code).toBe(2);
		expect(refused.err).toMatch(/^rig\.json: already exists/m);
		expect(readFileSync(place, "utf8")).toBe(theirs);
		rmSync(place);
		// And one that stands sees that its file is another one's.
		const up = await standing(folder, scenario(folder));
		rmSync(place);
		writeFileSync(place, theirs);
		expect((await up.ended).code).toBe(0);
		expect(readFileSync(place, "utf8")).toBe(theirs);
	});

	test("whose broker dies is taken down as a whole, and says so", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		const two = { system: "", systems: "{ a: nats, b: nats }" };
		const up = await standing(folder, scenario(folder, {}, two));
		const broker = descendant(up.pid, "nats-server");
		if (broker) process.kill(broker.pid, "SIGKILL");
		const ended = await up.ended;
		expect(ended.code).toBe(3);
		expect(ended.err).toMatch(
			/The rig e2e-\w+ is down, because (a|b): .*SIGKILL.*\. Nothing of it is left\.\n$/,
		);
		expect(existsSync(path.join(folder, "rig.json"))).toBe(false);
		await until(() => descendant(up.pid, "nats-server") === undefined, "no nats-server");
	});
});

describe("a rig by hand", () => {
	test("is a url, and its password is in no file and no output", { tags: "long" }, async () => {
		const PASSWORD = "s3cr3t-of-rig";
		const { url } = await ownNats(
			`${jetStream()}\nauthorization { user: me, password: "${PASSWORD}" }`,
		);
		const folder = temporaryFolder();
		const login = url.replace("://", `://me:${PASSWORD}@`);
		const brokers = [{ system: "nats", broker: "nats", url: login }];
		const place = path.join(folder, "rig.json");
		writeFileSync(place, JSON.stringify({ version: 1, id: "x", brokers }));
		const made = await measured({}, {}, { folder, args: ["--rig", place], exit: [0, 4] });
		expect(made.run).toMatchObject({
			state: "complete",
			received: 500,
			brokerUrl: url.replace("://", "://***@"),
		});
		const plan = await run(["plan", made.file, "--rig", "rig.json"], { cwd: folder });
		expect(plan.out).toContain("rig x: its brokers stay up");
		const down = await run(["down", "rig.json"], { cwd: folder });
		expect(down).toMatchObject({
			code: 0,
			out: "rig.json: the brokers of x were there before mqbench, and stay up; nothing was taken down.\n",
		});
		const said = [made, plan, down].map(({ out, err }) => out + err);
		expectNowhere(PASSWORD, made.results, ...said);
	});
});
