import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hostsMissing, makeHosts } from "../../../infra/clients/hosts.fake.ts";
import { startEmulator } from "../../../infra/rent/emulator.fake.ts";
import { fakePulumi } from "../../../infra/rent/pulumi.fake.ts";
import { output } from "../../../infra/rent/rent.fake.ts";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import { packageFolder } from "../../package.ts";
import { letIn, PREPARED, scenario } from "./rented.fake.ts";

// The script of a first run on AWS, with an emulator of AWS, a stand-in for the command pulumi, and two hosts on this machine.
const missing = hostsMissing();

test.skipIf(missing !== null)(
	`first-run.sh passes where a rig is as it must be, says which machine does not end itself, and leaves nothing when it is ended${missing === null ? "" : ` (skipped: ${missing})`}`,
	async () => {
		const folder = testFolder();
		const aws = await startEmulator();
		onTestFinished(() => aws.close());
		const hosts = await makeHosts(2);
		onTestFinished(() => hosts.close());
		const [broker, client] = hosts.all;
		if (!broker || !client) throw new Error("two hosts");
		for (const { run } of hosts.all) run(PREPARED + ENDING);
		const access = {
			user: "admin",
			identity: "id_ed25519",
			knownHosts: "known_hosts",
			setUp: true,
			hostKeyKnown: true,
		};
		const pulumi = fakePulumi(folder);
		const { address } = broker;
		pulumi.behave({
			rig: {
				...output(),
				brokers: [
					{ system: "nats", broker: "nats", hosts: [{ host: address, address, ...access }] },
				],
				clients: [{ host: client.address, ...access }],
			},
		});
		writeFileSync(path.join(folder, "x.yaml"), scenario());
		const state = path.join(folder, "state");
		const firstRun = async (name: string, endAt?: string) => {
			const child = spawn(
				"sh",
				[path.join(packageFolder, "infra/aws/first-run.sh"), "x.yaml", name, "5"],
				{
					cwd: folder,
					env: {
						PATH: process.env.PATH,
						HOME: process.env.HOME,
						MQBENCH: `${process.execPath} ${path.join(packageFolder, "dist/runner/cli.js")}`,
						MQBENCH_PULUMI: pulumi.program,
						MQBENCH_AWS_ENDPOINT: aws.endpoint,
						MQBENCH_STATE_DIR: state,
					},
				},
			);
			let said = "";
			for (const stream of [child.stdout, child.stderr])
				stream.on("data", (text) => {
					said += text;
					if (endAt && said.includes(endAt)) child.kill("SIGTERM");
				});
			const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
			await letIn(hosts, state, ended);
			return { code: await ended, said };
		};
		const passed = await firstRun("first");
		expect(passed.said).not.toContain("FAILED");
		expect(passed.code, passed.said).toBe(0);
		expect(passed.said).toContain("passed  nothing with its tag is left");

		client.run("rm /usr/local/bin/systemctl");
		const failed = await firstRun("second");
		expect(failed.said.match(/^FAILED .*/gm)).toEqual([
			`FAILED  admin@${client.address} ends itself`,
		]);
		expect(failed.code).toBe(1);

		const ended = await firstRun("third", " run /");
		expect(ended.code, ended.said).toBe(130);
		expect(readdirSync(path.join(state, "rigs"))).toEqual([]);
	},
);

// --- internal ---

/** And as it leaves the machine's end and its clock. */
const ENDING = `
echo '{ "chrony": { "source": "PHC0", "boundNs": 20000 } }' >/var/lib/mqbench/facts.json
mount -t tmpfs tmpfs /usr/local/bin
printf '#!/bin/sh\\n[ "$*" = "is-active mqbench-ttl.service" ]\\n' >/usr/local/bin/systemctl
chmod 755 /usr/local/bin/systemctl
`;
