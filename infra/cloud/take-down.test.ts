import { afterAll, beforeAll, expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { openApi } from "./api.ts";
import {
	type Emulator,
	emulatorMissing,
	IMAGES,
	startEmulator,
} from "./emulator.fake.ts";
import { sweepRig } from "./take-down.ts";

const missing = emulatorMissing();
let aws: Emulator;
beforeAll(async () => {
	if (missing === null) aws = await startEmulator();
}, 240_000);
afterAll(() => aws?.close());

test.skipIf(missing !== null)(
	"a machine that Pulumi does not know of goes by its rig's tag; another rig's stays",
	async () => {
		const world = fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: aws.endpoint } });
		const where = { region: "eu-central-1", profile: null };
		const { ec2 } = await openApi(where, world);
		for (const id of ["demo-1", "demo-2"])
			await ec2.runInstances({
				ImageId: IMAGES.newest,
				InstanceType: "c5.large",
				MinCount: 1,
				MaxCount: 1,
				TagSpecifications: [
					{
						ResourceType: "instance",
						Tags: [
							{ Key: "mqbench:run", Value: id },
							{ Key: "mqbench:owner", Value: "jane" },
						],
					},
				],
			});
		const said: string[] = [];
		const left = await sweepRig(
			{
				...where,
				id: "demo-1",
				provider: "aws",
				owner: "jane",
				machines: {},
				hourlyUsd: null,
				phase: "destroying",
				state: null,
			},
			world,
			(line) => void said.push(line),
		);
		expect(left).toEqual([]);
		expect(said.join()).toMatch(/^demo-1: removing instance i-/);
		const { Reservations = [] } = await ec2.describeInstances({});
		const states = Reservations.flatMap(({ Instances = [] }) => Instances).map(
			({ Tags = [], State }) => [
				Tags.find(({ Key }) => Key === "mqbench:run")?.Value,
				State?.Name,
			],
		);
		expect(Object.fromEntries(states)).toEqual({
			"demo-1": "terminated",
			"demo-2": "running",
		});
	},
);
