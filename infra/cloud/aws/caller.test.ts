import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { fakeWorld } from "../../../runner/world.fake.ts";
import { testFolder } from "../../test-folder.fake.ts";
import { openApi } from "./api.ts";
import { addressOf, callerOf, isPrivate, oneAddress } from "./caller.ts";
import { remedyFor, sentenceOf } from "./refusals.ts";

afterEach(() => vi.unstubAllEnvs());

/** What AWS is asked with, where nobody's files and environment say anything but what a test says. */
async function refusal(env: Record<string, string> = {}): Promise<string> {
	const home = testFolder();
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
	const api = await openApi(
		{ region: "eu-central-1", profile: null },
		fakeWorld({ env: process.env }),
	);
	return callerOf(api).then(() => "", sentenceOf);
}

test.each<Record<string, string>>([{}, { AWS_PROFILE: "wrok" }])(
	"without credentials (%j) it says how to log in",
	async (env) => {
		expect(await refusal(env)).toMatch(
			/^sts:GetCallerIdentity: AWS refused \(CredentialsProviderError: .+\)\. Log in \(aws sso login, aws configure\), or set AWS_PROFILE, /,
		);
	},
);

test("the SDK's own warnings do not reach the terminal", async () => {
	const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
	const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
	vi.stubEnv("MQBENCH_AWS_ENDPOINT", "http://127.0.0.1:2");
	await refusal({ ...keys, AWS_PROFILE: "wrok" });
	expect(warn.mock.calls).toEqual([]);
});

test.each([
	["api error InsufficientInstanceCapacity: We currently do not have", "no such machines free"],
	["VcpuLimitExceeded: You have requested more vCPU", "a higher quota"],
	["UnauthorizedOperation: You are not authorized", "policy.json"],
	["RequestTimeTooSkewed: the difference", "Set the clock"],
	["ExpiredToken: the token", "Log in"],
	["Unsupported: Your requested instance type", "other types or another zone"],
	["connection reset", null],
])("of %j people are told what to do", (words, remedy) => {
	const found = remedyFor(words);
	if (remedy === null) expect(found).toBe(null);
	else expect(found).toContain(remedy);
});

test.each([
	[true, "10.0.0.5 127.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.0.1"],
	[false, "172.15.0.1 172.32.0.1 192.169.0.1 100.63.0.1 100.128.0.1 203.0.113.7"],
])("of a private network: %s, for each of %s", (expected, addresses) => {
	for (const one of addresses.split(" ")) expect(isPrivate(`${one}/32`), one).toBe(expected);
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
