import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import { cloudsWith } from "../../../infra/cloud/cloud.fake.ts";
import { standUpCloud } from "../../../infra/cloud/lifecycle.ts";
import { type CloudSide, theCloud } from "../../../infra/cloud/rent.ts";
import { awsConfig } from "../../../infra/cloud/rigs.fake.ts";
import { type FakeStack, fakeStack } from "../../../infra/cloud/stack.fake.ts";
import { run } from "../../commands/run.ts";
import type { RunArgs } from "../../commands/run-args.ts";
import { explain } from "../../main.ts";
import { fakeWorld } from "../../world.fake.ts";
import { resultOf, temporaryFolder } from "../e2e/mqbench.ts";

const missing = hostsMissing();
const title = (what: string) => `${what}${missing === null ? "" : ` (skipped: ${missing})`}`;

/** A command that rents: all of it is real but AWS and Pulumi, whose machines are hosts behind a switch of this machine. */
async function rented(args: Partial<RunArgs>, onLine: (line: string) => void = () => {}) {
	const hosts = await makeHosts(2);
	onTestFinished(() => hosts.close());
	const [broker, client] = hosts.all;
	if (!broker || !client) throw new Error("two hosts");
	const cwd = temporaryFolder();
	writeFileSync(
		path.join(cwd, "s.yaml"),
		`target: aws
aws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }
system: { broker: nats, mode: jetstream, durability: fsync }
workload: { rate: 500/s, message: 256B, warmup: 1s, duration: 5s }
sla: [p50 < 10s, lost == 0]
`,
	);
	const access = { user: "root", identity: hosts.identity };
	let stack: FakeStack | undefined;
	const cloud: CloudSide = {
		prepare: theCloud.prepare,
		async offer(_, { systems, id }) {
			const { publicKey, identity, hostKey, knownHosts, ...config } = awsConfig({
				id,
				systems,
				clients: { instance: "c6in.xlarge", count: 1, spot: false },
			});
			return {
				cloud: "aws",
				config,
				machines: { "i4i.xlarge": 1, "c6in.xlarge": 1 },
				hourlyUsd: 0.9,
				unpriced: null,
				lines: [],
				warnings: [],
			};
		},
		async confirmOffer() {},
		standUp: (offer, within, options) =>
			standUpCloud(offer, within, {
				...options,
				clouds: cloudsWith({
					async open(folder) {
						stack = fakeStack({
							async up() {
								const known = { ...access, knownHosts: folder.knownHosts, hostKeyKnown: true };
								for (const host of hosts.all)
									host.takeHostKey(readFileSync(folder.hostKey, "utf8"));
								return {
									version: 1,
									id: folder.id,
									target: "aws",
									brokers: [
										{
											system: "nats",
											broker: "nats",
											hosts: [{ host: "h1", address: broker.address, ...known }],
										},
									],
									clients: [{ host: "h2", ...known }],
								};
							},
						});
						return stack;
					},
				}),
			}),
	};
	const state = path.join(cwd, "state");
	const stop = new AbortController();
	const base = fakeWorld({
		cwd,
		env: { ...process.env, MQBENCH_STATE_DIR: state, MQBENCH_SSH_OPTIONS: hosts.sshOptions },
		stop: stop.signal,
		clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
	});
	const world = {
		...base,
		stderr: {
			...base.stderr,
			write(text: string) {
				base.stderr.write(text);
				if (text.includes("3s/6s")) onLine("measuring");
			},
		},
	};
	const out = path.join(cwd, "out");
	const ended = run({ path: "s.yaml", out, floor: false, ...args }, world, cloud)
		.then((code) => code as number)
		.catch((error) => explain(error, world));
	return { ended, stop, world: base, out, state, hosts, stack: () => stack };
}

/** Nothing is remembered, and nothing runs on the machines. */
async function gone(state: string, hosts: Awaited<ReturnType<typeof makeHosts>>) {
	const rigs = path.join(state, "rigs");
	expect(existsSync(rigs) ? readdirSync(rigs) : []).toEqual([]);
	await expect
		.poll(() => hosts.all.flatMap((host) => host.processes()), { timeout: 15_000 })
		.toEqual([]);
}

test.skipIf(missing !== null)(
	title("a run with target aws stands up, measures on those machines and takes down"),
	async () => {
		const { ended, world, out, state, hosts, stack } = await rented({});
		expect(`${await ended}\n${world.err()}`).toMatch(/^0\n/);
		const result = resultOf(out);
		expect(result.runs).toMatchObject([
			{
				received: 2500,
				lost: 0,
				sameHost: false,
				clients: [{ kind: "ssh", name: "root@h2" }],
				brokerSettings: { "jetstream.sync_interval": "always" },
				load: { target: "aws" },
			},
		]);
		expect(result.environment?.rig?.machines).toBe(
			"1 c6in.xlarge, 1 i4i.xlarge (aws eu-central-1)",
		);
		// A broker of its own for the run: nothing is said of one that was not fresh.
		expect(JSON.stringify(result.runs)).not.toContain("was not fresh");
		expect(stack()?.asked).toEqual(["up", "destroy", "remove"]);
		await gone(state, hosts);
	},
);

test.skipIf(missing !== null)(
	title("Ctrl-C in mid-run keeps what was measured, and takes down"),
	async () => {
		let measuring = () => {};
		const begun = new Promise<void>((resolve) => {
			measuring = resolve;
		});
		const { ended, stop, world, out, state, hosts, stack } = await rented({}, () => measuring());
		await Promise.race([begun, ended]);
		stop.abort("SIGINT");
		expect(`${await ended}\n${world.err()}`).toMatch(/^130\n/);
		expect(resultOf(out).verdict).toBe("interrupted");
		expect(stack()?.asked).toEqual(["up", "destroy", "remove"]);
		await gone(state, hosts);
	},
);
