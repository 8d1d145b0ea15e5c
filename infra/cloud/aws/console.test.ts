import { expect, vi } from "vitest";
import { fakeWorld } from "../../../runner/world.fake.ts";
import { openApi } from "./api.ts";
import { consoleOf } from "./console.ts";
import { emulated, IMAGES } from "./emulator.fake.ts";

// moto answers with a console of its own, the same for every machine.
const { aws, onAws } = emulated();
vi.setConfig({ testTimeout: 120_000 });

onAws("the console is that of the rig's machine with that address", async () => {
	const world = fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: aws.endpoint } });
	const where = { region: "eu-central-1", profile: null };
	const { ec2 } = await openApi(where, world);
	const { Instances = [] } = await ec2.runInstances({
		ImageId: IMAGES.newest,
		InstanceType: "m5.large",
		MinCount: 1,
		MaxCount: 1,
		TagSpecifications: [
			{ ResourceType: "instance", Tags: [{ Key: "mqbench:run", Value: "demo-1" }] },
		],
	});
	const id = Instances[0]?.InstanceId as string;
	const { Reservations = [] } = await ec2.describeInstances({ InstanceIds: [id] });
	const host = Reservations[0]?.Instances?.[0]?.PublicIpAddress as string;
	const consoleOfRig = (id: string) => consoleOf(host, { id, ...where }, world);
	expect(await consoleOfRig("demo-1")).toContain("Linux version");
	await expect(consoleOfRig("demo-2")).rejects.toMatchObject({ call: "ec2:DescribeInstances" });
	aws.account.denied.add("ec2:GetConsoleOutput");
	await expect(consoleOfRig("demo-1")).rejects.toMatchObject({ code: "UnauthorizedOperation" });
});
