import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { awsFolder, callerOf, openApi, Refused, remedyFor } from "./api.ts";
import { allowedCalls } from "./emulator.fake.ts";

afterEach(() => vi.unstubAllEnvs());

const WHERE = { region: "eu-central-1", profile: null };

/** AWS, as one listener has it. */
async function api(listen: RequestListener, parts: object = {}) {
	const server = createServer(listen);
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	const env = { MQBENCH_AWS_ENDPOINT: `http://127.0.0.1:${port}` };
	return openApi(WHERE, fakeWorld({ env, ...parts }));
}

const answering =
	(status: number, code: string, message: string): RequestListener =>
	(_, response) => {
		const error = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
		const text = `<Response><Errors>${error}</Errors><RequestID>1</RequestID></Response>`;
		response.writeHead(status).end(text);
	};

test("a refusal names the call as IAM does, says what to do, and leaves AWS's blob out", async () => {
	const words = "You are not authorized";
	const blob = `${words}. Encoded authorization failure message: c2VjcmV0`;
	const { ec2 } = await api(answering(403, "UnauthorizedOperation", blob));
	const error = await ec2.describeVpcs({}).catch((error) => error);
	expect(error).toBeInstanceOf(Refused);
	expect(error).toMatchObject({ code: "cloud-unfit", refusal: "UnauthorizedOperation" });
	expect(error.reason).toBe(`ec2:DescribeVpcs: UnauthorizedOperation: ${words}`);
	expect(error.message).toMatch(
		/^ec2:DescribeVpcs: AWS refused \(UnauthorizedOperation: You are not authorized\)\. Give it the policy /,
	);
});

test("what AWS cannot do now is tried again, and then named, by us alone", async () => {
	let calls = 0;
	const warned = vi.spyOn(process, "emitWarning");
	const { ec2 } = await api((request, response) => {
		calls++;
		answering(503, "Unavailable", "busy")(request, response);
	});
	await expect(ec2.describeVpcs({})).rejects.toThrow(/AWS refused \(Unavailable: busy\)\.$/);
	expect(calls).toBe(3);
	expect(warned.mock.calls).toEqual([]);
});

test("Ctrl-C ends a call that AWS never answers", async () => {
	const controller = new AbortController();
	const { signal: stop } = controller;
	const { ec2 } = await api(() => controller.abort("SIGINT"), { stop });
	await expect(ec2.describeVpcs({})).rejects.toThrow("Stopped by SIGINT.");
});

test.each(["localhost:5000", "aws", "ftp://127.0.0.1"])(
	"%s is no address of an emulator",
	async (endpoint) => {
		const opened = openApi(WHERE, fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: endpoint } }));
		await expect(opened).rejects.toThrow(
			`MQBENCH_AWS_ENDPOINT=${endpoint}: write the URL of an emulator of AWS, such as http://`,
		);
	},
);

test.each<Record<string, string>>([
	{},
	{ AWS_PROFILE: "wrok" },
	{ AWS_PROFILE: "wrok", AWS_ACCESS_KEY_ID: "a" },
])("without credentials (%j) it says how to log in, and the SDK says nothing", async (env) => {
	const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
	// Nobody's files and environment are to say anything but what the test says.
	for (const name of Object.keys(process.env)) if (/^AWS_/.test(name)) vi.stubEnv(name, undefined);
	const home = testFolder();
	for (const name of ["HOME", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"])
		vi.stubEnv(name, `${home}/${name}`);
	vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
	for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
	await expect(callerOf(WHERE, fakeWorld({ env: process.env }))).rejects.toMatchObject({
		code: "cloud-unasked",
		message: expect.stringMatching(
			/^sts:GetCallerIdentity: AWS refused \(CredentialsProviderError: .+\)\. Log in \(aws sso login, aws configure\), or set AWS_PROFILE, /,
		),
	});
	expect(warn.mock.calls).toEqual([]);
});

test.each([
	["api error InsufficientInstanceCapacity: We currently do not have", "no such machines free"],
	["VcpuLimitExceeded: You have requested more vCPU", "a higher quota"],
	["UnauthorizedOperation: You are not authorized", "policy.json"],
	["RequestTimeTooSkewed: the difference", "Set the clock"],
	["ExpiredToken: the token", "Log in"],
	["Unsupported: Your requested instance type", "other types or another zone"],
	["connection reset", ""],
])("of %j people are told what to do", (words, remedy) => {
	expect(remedyFor(words) ?? "").toContain(remedy);
});

test("the policy has no wildcard, and the page on permissions names each call", () => {
	const page = readFileSync(path.join(awsFolder, "PERMISSIONS.md"), "utf8");
	const named = (call: string) => page.includes(`\`${call.split(":")[1]}\``);
	expect(allowedCalls().filter((call) => !/^\w+:\w+$/.test(call) || !named(call))).toEqual([]);
});
