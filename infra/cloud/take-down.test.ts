import { expect } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { emulated } from "./aws/emulator.fake.ts";
import { aws as provider } from "./aws/provider.ts";
import { accountTrouble, sweepRig } from "./take-down.ts";

const { aws, onAws } = emulated();

onAws("the account of the credentials in use is AWS's word", async () => {
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

onAws("nothing is swept with the credentials of another account", async () => {
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
});
