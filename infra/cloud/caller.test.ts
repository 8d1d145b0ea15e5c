import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { loadScenario } from "../../runner/scenario/load.ts";
import type { Aws } from "../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { openApi } from "./api.ts";
import { addressOf, oneAddress } from "./caller.ts";
import { preflight } from "./preflight.ts";

afterEach(() => vi.unstubAllEnvs());

const SCENARIO = (profile: string) => `target: aws
system: nats
workload: { rate: 100/s, message: 1KB, duration: 10s }
aws: { region: eu-central-1, ${profile}brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }
`;

test.each([
	[
		"",
		/^sts:GetCallerIdentity: there are no credentials for AWS \(.+\)\. Log in \(aws sso login, aws configure\), or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\.$/,
	],
	[
		"profile: work, ",
		/^sts:GetCallerIdentity: there are no credentials for AWS in the profile work \(.+\)\. Log in \(aws sso login --profile work, aws configure --profile work\), or name another profile\.$/,
	],
])(
	"without credentials (%j) it says how to log in",
	async (profile, sentence) => {
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
		const aws = loadScenario("s.yaml", SCENARIO(profile)).aws as Aws;
		const api = await openApi(aws, fakeWorld());
		const found = await preflight(api, aws);
		expect("wrong" in found && found.wrong).toEqual([
			expect.stringMatching(sentence),
		]);
	},
);

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
		async (url) =>
			expect(await addressOf(fakeWorld(), url)).toBe("203.0.113.7"),
	);
});

test.each<[string, RequestListener, string]>([
	[
		"a page to log in on",
		(_, response) => response.end("<html>welcome</html>"),
		'"<html>welcome</html>" is no IPv4 address',
	],
	[
		"no address of this kind",
		(_, response) => response.end("2001:db8::1\n"),
		'"2001:db8::1" is no IPv4 address',
	],
	[
		"a mistake",
		(_, response) => response.writeHead(503).end("203.0.113.7"),
		"it answers with HTTP 503",
	],
])("an address is not guessed from %s", async (_, listen, reason) => {
	await serving(listen, (url) =>
		expect(addressOf(fakeWorld(), url)).rejects.toThrow(reason),
	);
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
