import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hosts } from "../../../infra/clients/hosts.fake.ts";
import type { TaggedRig } from "../../../infra/rent/tagged.ts";

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

/** Makes a host look like a machine after user data: its user, and a finished set-up. Only the host sees it. */
export const PREPARED = `
cp /etc/passwd ~root/passwd
echo admin:x:0:0::/root:/bin/sh >>~root/passwd
mount --bind ~root/passwd /etc/passwd
echo 'admin:*:20000:0:99999:7:::' >>/etc/shadow
mount -t tmpfs tmpfs /var/lib
mkdir -p /var/lib/mqbench/store
echo ready >/var/lib/mqbench/state
`;

/** The parts of such a rig. */
export const WHOLE = [
	"VPC",
	"instance",
	"instance",
	"internet gateway",
	"key pair",
	"placement group",
	"route table",
	"security group",
	"subnet",
	"volume",
	"volume",
];

export function kindsOf(rig: TaggedRig | undefined): string[] {
	const things = rig?.things ?? [];
	return things.map((thing) => /^(.+?) \S+( \(.*\))?$/.exec(thing)?.[1] ?? thing).sort();
}

/** As EC2 does it at the first start: the machine has the rig's host key, and the rig's other key logs in. */
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
