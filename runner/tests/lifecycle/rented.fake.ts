import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import type { Hosts } from "../../../infra/clients/hosts.fake.ts";
import { pricesOf } from "../../../infra/cloud/aws/emulator.fake.ts";
import type { TaggedRig } from "../../../infra/cloud/provider.ts";
import { offered } from "../../../infra/cloud/rigs.fake.ts";
import { packageFolder } from "../../package.ts";

// For tests: a small rig, with hosts of this machine for its machines.

export const REGION = "eu-central-1";

export const scenario = (spot = false) => `name: life
target: aws
aws:
  region: ${REGION}
  ttl: 2h
  sshFrom: 203.0.113.7/32
  brokers: { instance: i4i.xlarge }
  clients: { instance: c6in.xlarge, spot: ${spot} }
system: { broker: nats, mode: jetstream, durability: os }
workload: { pattern: round-trip, rate: 500/s, message: 256B, warmup: 1s, duration: 2s }
sla: [lost == 0, p99 < 20s]
`;

export const PRICES = pricesOf({ "i4i.xlarge": "0.4", "c6in.xlarge": "0.4" });

/** Makes a host look as user data leaves a machine: its user, and a set-up that is over. Only the host sees it. */
export const PREPARED = `
cp /etc/passwd ~root/passwd
echo admin:x:0:0::/root:/bin/sh >>~root/passwd
mount --bind ~root/passwd /etc/passwd
echo 'admin:*:20000:0:99999:7:::' >>/etc/shadow
mount -t tmpfs tmpfs /var/lib
mkdir -p /var/lib/mqbench/store
echo ready >/var/lib/mqbench/state
`;

/** A process of its own that stands up the rig demo-1, and then waits. It prints "ready" when it is up. */
export function standUpAlone(env: Readonly<Record<string, string>>): ChildProcess {
	const lifecycle = pathToFileURL(path.join(packageFolder, "dist/infra/cloud/lifecycle.js")).href;
	const program = `
		const { standUpCloud } = await import(${JSON.stringify(lifecycle)});
		const sink = { isTTY: false, columns: 80, write: (text) => process.stderr.write(text) };
		await standUpCloud(${JSON.stringify(offered())}, {
			stdout: sink, stderr: sink, cwd: process.cwd(), env: process.env, ask: null,
			clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
			stop: new AbortController().signal,
		}, { yes: true });
		console.log("ready");
		setInterval(() => {}, 1000);
	`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
		env: { PATH: process.env.PATH, ...env },
		stdio: ["ignore", "pipe", "inherit"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	return child;
}

/** What such a rig is made of. */
export const WHOLE = [
	"VPC",
	"instance",
	"instance",
	"internet-gateway",
	"key-pair",
	"placement-group",
	"route-table",
	"security-group",
	"subnet",
	"volume",
	"volume",
];

export function kindsOf(rig: TaggedRig | undefined): string[] {
	return (rig?.things ?? []).map(({ kind }) => kind).sort();
}

/** As EC2 does it at the first start: the machine has the rig's host key, and who has the rig's other key comes in. */
export async function letIn(hosts: Hosts, state: string, ended: Promise<unknown>): Promise<void> {
	let over = false;
	void ended.then(() => {
		over = true;
	});
	const rigs = path.join(state, "rigs");
	for (; !over; await sleep(200))
		for (const id of existsSync(rigs) ? readdirSync(rigs) : []) {
			const [key = "", own = "", known = ""] = [
				"id_ed25519.pub",
				"host_ed25519",
				"known_hosts",
			].map((name) => path.join(rigs, id, name));
			if (![key, own, known].every((file) => existsSync(file))) continue;
			for (const host of hosts.all) host.takeHostKey(readFileSync(own, "utf8"));
			appendFileSync(`${hosts.identity}.pub`, readFileSync(key));
			return;
		}
}
