import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { loadScenario } from "../../../runner/scenario/load.ts";
import type { Aws } from "../../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../../runner/world.fake.ts";
import { testFolder } from "../../test-folder.fake.ts";
import { openApi } from "./api.ts";
import { addressOf, isPrivate, oneAddress } from "./caller.ts";
import { preflight } from "./preflight.ts";

afterEach(() => vi.unstubAllEnvs());

const SCENARIO = (profile: string) => `target: aws
system: nats
workload: { rate: 100/s, message: 1KB, duration: 10s }
aws: { region: eu-central-1, ${profile}brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }
`;

/** What AWS is asked with, where nobody's files and environment say anything but what a test says. */
async function asked(profile: string, env: Record<string, string> = {}, config = "") {
	const home = testFolder();
	writeFileSync(`${home}/config`, config);
	vi.stubEnv("HOME", home);
	vi.stubEnv("AWS_CONFIG_FILE", `${home}/config`);
	vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", `${home}/credentials`);
	vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
	for (const name of [
		"AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY",
		"AWS_PROFILE",
		"AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI",
	])
		vi.stubEnv(name, undefined);
	for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
	const aws = loadScenario("s.yaml", SCENARIO(profile)).aws as Aws;
	const world = fakeWorld({ env: process.env });
	const found = await preflight(await openApi(aws, world), aws, process.env);
	return { found, home };
}

test("without any credentials AWS was not asked, and it says how to log in", async () => {
	expect((await asked("")).found).toEqual({
		unasked: expect.stringMatching(
			/^sts:GetCallerIdentity: there are no credentials for AWS \(.+\)\. Log in \(aws sso login, aws configure\), or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\.$/,
		),
	});
});

const EMPTY = "[profile work]\nregion = eu-central-1\n[default]\n";

test.each<[string, Record<string, string>]>([
	["profile: work, ", {}],
	["", { AWS_PROFILE: "work" }],
])("a profile that is named (%j, %j) and has no credentials is wrong", async (profile, env) => {
	expect((await asked(profile, env, EMPTY)).found).toEqual({
		wrong: [
			expect.stringMatching(
				/^sts:GetCallerIdentity: there are no credentials for AWS in the profile work \(.+\)\. Log in \(aws sso login --profile work, aws configure --profile work\), or name another profile\.$/,
			),
		],
	});
});

test.each<[string, string, Record<string, string>]>([
	["aws.profile", "profile: wrok, ", {}],
	["AWS_PROFILE", "", { AWS_PROFILE: "wrok" }],
])("a profile of %s that there is none of is named", async (where, ...how) => {
	const { found, home } = await asked(...how, EMPTY);
	expect(found).toEqual({
		wrong: [
			`${where}: there is no profile wrok in ${home}/config or ${home}/credentials, which have work, default. Name another one, or make it: aws configure --profile wrok`,
		],
	});
});

test("the SDK's own warnings do not reach the terminal", async () => {
	const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
	const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
	await asked("", { ...keys, AWS_PROFILE: "wrok" });
	expect(warn.mock.calls).toEqual([]);
});

test.each([
	["10.0.0.5", true],
	["127.0.0.1", true],
	["172.16.0.1", true],
	["172.31.255.255", true],
	["192.168.1.1", true],
	["100.64.0.1", true],
	["100.127.0.1", true],
	["172.15.0.1", false],
	["172.32.0.1", false],
	["192.169.0.1", false],
	["100.63.0.1", false],
	["100.128.0.1", false],
	["203.0.113.7", false],
])("%s is of a private network: %s", (address, expected) => {
	expect(isPrivate(`${address}/32`)).toBe(expected);
});

test.each([
	["203.0.113.7", "203.0.113.7/32"],
	[" 203.0.113.7/32\n", "203.0.113.7/32"],
	["203.0.113.0/24", null],
	["0.0.0.0/0", null],
	["203.0.113.256", null],
	["2001:db8::1", null],
	["here", null],
])("%j is the one address %j", (text, cidr) => {
	expect(oneAddress(text)).toBe(cidr);
});

test("what a service answers is taken when it is one address", async () => {
	await serving(
		(_, response) => response.end("203.0.113.7\n"),
		async (url) => expect(await addressOf(fakeWorld(), url)).toBe("203.0.113.7"),
	);
});

test.each<[string, RequestListener, string]>([
	[
		"a page to log in on",
		(_, response) => response.end("<html>welcome</html>"),
		'"<html>welcome</html>" is not an IPv4 address',
	],
	[
		"no address of this kind",
		(_, response) => response.end("2001:db8::1\n"),
		'"2001:db8::1" is not an IPv4 address',
	],
	[
		"a mistake",
		(_, response) => response.writeHead(503).end("203.0.113.7"),
		"it answers with HTTP 503",
	],
])("an address is not guessed from %s", async (_, listen, reason) => {
	await serving(listen, (url) => expect(addressOf(fakeWorld(), url)).rejects.toThrow(reason));
});

async function serving(
	listen: RequestListener,
	use: (url: string) => Promise<unknown>,
): Promise<void> {
	const server = createServer(listen);
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	try {
		await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
	} finally {
		server.closeAllConnections();
		server.close();
	}
}
