import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AwsConfig } from "../../../infra/aws/config.ts";
import { consoleOf } from "../../../infra/cloud/aws/console.ts";
import {
	allowedCalls,
	type Emulator,
	startEmulator,
} from "../../../infra/cloud/aws/emulator.fake.ts";
import { offer } from "../../../infra/cloud/aws/offer.ts";
import { enabledRegions, findTagged, removeTagged } from "../../../infra/cloud/aws/sweep.ts";
import { packageFolder } from "../../package.ts";
import { loadScenario } from "../../scenario/load.ts";
import { fakeWorld } from "../../world.fake.ts";
import { kindsOf, REGION, WHOLE } from "./rented.fake.ts";

// All calls of a rig's life, recorded before an emulator of AWS: the offer, the resources that the program itself asks for (with Pulumi's
// mocks), made and removed with the provider's calls (pulumi/ec2-calls.mjs), a console, and a sweep.

const SCENARIO = `target: aws
system: { broker: nats, mode: jetstream }
workload: { rate: 1000/s, message: 1KB, duration: 10s }
aws:
  region: ${REGION}
  sshFrom: 203.0.113.7
  brokers: { instance: m6i.xlarge, volume: { type: gp3, size: 100GiB } }
  clients: { instance: c6in.xlarge, spot: true }
`;

let aws: Emulator;
beforeAll(async () => {
	aws = await startEmulator();
	aws.account.spot.set("c6in.xlarge", "0.1");
});
afterAll(() => aws?.close());

test("every call is allowed, and none is allowed that neither is made nor has its reason in PERMISSIONS.md", async () => {
	const world = fakeWorld({
		env: { PATH: process.env.PATH, HOME: process.env.HOME, MQBENCH_AWS_ENDPOINT: aws.endpoint },
	});
	const where = { region: REGION, profile: null, id: null, owner: null };
	const { config } = await offer(
		loadScenario("s.yaml", SCENARIO),
		{
			packages: [],
			systems: [{ system: "nats", broker: "nats", nodes: 1 }],
			id: "calls",
			plannedNs: null,
			rigFile: "rig.json",
		},
		world,
	);

	const resources = await madeBy(
		AwsConfig.parse({
			...config,
			publicKey: `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${"A".repeat(43)}`,
			identity: "id_ed25519",
			knownHosts: "known_hosts",
		}),
	);
	const first = await make(resources);
	const [rig, ...others] = await findTagged(where, world);
	expect(others).toEqual([]);
	// And the broker's own volume.
	expect(kindsOf(rig)).toEqual([...WHOLE, "volume"]);
	const host = first.made.find(({ publicIp }) => publicIp)?.publicIp ?? "";
	await consoleOf(host, { ...where, id: "calls" }, world);
	await first.remove();
	expect(await findTagged(where, world)).toEqual([]);

	await make(resources);
	expect(await enabledRegions(where, world)).toContain(REGION);
	const asked = { ...where, id: "calls" };
	const { left } = await removeTagged(await findTagged(asked, world), asked, world, () => {});
	expect(left).toEqual([]);
	expect(await findTagged(where, world)).toEqual([]);

	const called = new Set(aws.calls);
	const reasons = notCalled();
	expect([...called].sort()).toEqual(allowedCalls().filter((call) => !reasons.includes(call)));
	expect(allowedCalls()).toEqual(expect.arrayContaining(reasons));
});

// --- internal ---

interface Asked {
	readonly type: string;
	readonly name: string;
	readonly inputs: Readonly<Record<string, unknown>>;
}

/** What the program asks Pulumi for, in an order in which it can be made; ids are the names with an end. */
async function madeBy(config: AwsConfig): Promise<readonly Asked[]> {
	// By its path: the types of Pulumi's packages are checked in their own project.
	const fake = pathToFileURL(path.join(packageFolder, "infra/aws/pulumi.fake.ts")).href;
	const { standUp } = (await import(fake)) as {
		standUp(config: AwsConfig): Promise<{ asked: readonly Asked[] }>;
	};
	return (await standUp(config)).asked;
}

interface Made {
	readonly id: string;
	readonly publicIp?: string;
}

interface Calls {
	create(type: string, name: string, inputs: object): Promise<Made>;
	delete(type: string, id: string, inputs: object): Promise<void>;
}

/** Makes them one after the other in the emulator, with the ids that it gives in place of the mocks'. */
async function make(asked: readonly Asked[]) {
	process.env.MQBENCH_TEST_AWS = path.join(packageFolder, "infra/aws");
	const { ec2Calls } = (await import(
		pathToFileURL(path.join(import.meta.dirname, "pulumi/ec2-calls.mjs")).href
	)) as { ec2Calls(options: object): Calls };
	const provider = asked.find(({ type }) => type === "pulumi:providers:aws");
	const given = provider?.inputs.defaultTags;
	const { tags } = typeof given === "string" ? JSON.parse(given) : given;
	const calls = ec2Calls({ region: REGION, endpoint: aws.endpoint, defaultTags: tags });
	const ids = new Map<string, string>();
	const made: Made[] = [];
	const undo: (() => Promise<void>)[] = [];
	for (const { type, name, inputs } of asked) {
		if (!type.startsWith("aws:")) continue;
		const real = JSON.parse(JSON.stringify(inputs), (_, value) =>
			typeof value === "string" ? (ids.get(value) ?? value) : value,
		);
		const one = await calls.create(type, name, real);
		ids.set(`${name}-id`, one.id).set(`${name}-1a2b3c4`, one.id);
		made.push(one);
		undo.unshift(() => calls.delete(type, one.id, real));
	}
	return {
		made,
		async remove() {
			for (const one of undo) await one();
		},
	};
}

/** Calls of the policy that nothing here makes, as PERMISSIONS.md lists them with the reason. */
function notCalled(): string[] {
	const page = readFileSync(path.join(packageFolder, "infra/aws/PERMISSIONS.md"), "utf8");
	const [, list = ""] = /## Allowed, and called by no test\n(.*?)\n## /s.exec(page) ?? [];
	return [...list.matchAll(/^\| `(\w+:\w+)` \|/gm)].map(([, call = ""]) => call);
}
