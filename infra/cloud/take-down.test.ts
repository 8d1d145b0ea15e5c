import { afterAll, beforeAll, expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { openApi } from "./aws/api.ts";
import { type Emulator, emulatorMissing, IMAGES, startEmulator } from "./aws/emulator.fake.ts";
import { aws as provider } from "./aws/provider.ts";
import { accountTrouble, sweepRig } from "./take-down.ts";

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
		const swept = await sweepRig(
			{
				...where,
				id: "demo-1",
				provider: "aws",
				owner: "jane",
				machines: {},
				hourlyUsd: null,
				state: null,
				account: "123456789012",
				endsAt: null,
			},
			world,
			(line) => void said.push(line),
		);
		expect(swept).toEqual({ removed: 1, stays: [] });
		expect(said.join()).toMatch(/^demo-1: removing instance i-/);
		const { Reservations = [] } = await ec2.describeInstances({});
		const states = Reservations.flatMap(({ Instances = [] }) => Instances).map(
			({ Tags = [], State }) => [Tags.find(({ Key }) => Key === "mqbench:run")?.Value, State?.Name],
		);
		expect(Object.fromEntries(states)).toEqual({ "demo-1": "terminated", "demo-2": "running" });
	},
);

test.skipIf(missing !== null)("the account of the credentials in use is AWS's word", async () => {
	const world = fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: aws.endpoint } });
	const where = { region: "eu-central-1", profile: null };
	expect(await provider.account(where, world)).toBe("123456789012");
	const compare = (account: string | null) =>
		accountTrouble(provider, { ...where, account }, world);
	expect(await compare("123456789012")).toBe(null);
	expect(await compare(null)).toBe(null);
	expect(await compare("111111111111")).toEqual({
		sure: true,
		wrong:
			"it is in account 111111111111 of AWS, and the credentials in use are of account 123456789012, which sees nothing of it; use those of 111111111111 (such as AWS_PROFILE)",
	});
	aws.account.broken.set("sts:GetCallerIdentity", "ExpiredToken");
	expect(await compare("123456789012")).toEqual({
		sure: false,
		wrong: expect.stringMatching(
			/^it is in account 123456789012 of AWS, and mqbench could not find out whose credentials are in use \(/,
		),
	});
	aws.account.broken.clear();
});

test.skipIf(missing !== null)(
	"nothing is swept with the credentials of another account",
	async () => {
		const world = fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: aws.endpoint } });
		aws.calls.length = 0;
		await expect(
			sweepRig(
				{
					region: "eu-central-1",
					profile: null,
					provider: "aws",
					id: "demo-2",
					owner: "jane",
					machines: {},
					hourlyUsd: null,
					state: null,
					endsAt: null,
					account: "111111111111",
				},
				world,
				() => {},
			),
		).rejects.toThrow(/111111111111.*123456789012/);
		expect(aws.calls).toEqual(["sts:GetCallerIdentity"]);
	},
);
