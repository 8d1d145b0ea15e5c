import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { fakeWorld } from "../../../runner/world.fake.ts";
import { testFolder } from "../../test-folder.fake.ts";
import { openApi } from "./api.ts";
import { sessionOf, sessionTrouble } from "./session.ts";

afterEach(() => vi.unstubAllEnvs());

/** What AWS's SDK finds with such an environment and such a credentials file. */
async function found(env: Record<string, string>, file = "", profile: string | null = null) {
	const home = testFolder();
	writeFileSync(path.join(home, "credentials"), file);
	for (const name of Object.keys(process.env))
		if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
	vi.stubEnv("HOME", home);
	vi.stubEnv("AWS_CONFIG_FILE", path.join(home, "config"));
	vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", path.join(home, "credentials"));
	vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
	for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
	return sessionOf(await openApi({ region: "eu-central-1", profile }, fakeWorld()));
}

const KEYS = { AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "x" };
const END = "2026-01-02T04:00:00Z";

test("a key of its own never ends", async () => {
	expect(await found(KEYS)).toMatchObject({ temporary: false });
});

test("a session in the environment ends, and nobody renews it", async () => {
	const session = { ...KEYS, AWS_SESSION_TOKEN: "t" };
	expect(await found(session)).toEqual({ temporary: true, endsAtMs: null, renewed: false });
	expect(await found({ ...session, AWS_CREDENTIAL_EXPIRATION: END })).toEqual({
		temporary: true,
		endsAtMs: Date.parse(END),
		renewed: false,
	});
});

test("a session that a profile's program gives is renewed, and one that is written there is not known to end", async () => {
	const process = `[p]\ncredential_process = echo '{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"t","Expiration":"2099-01-02T04:00:00Z"}'\n`;
	expect(await found({}, process, "p")).toEqual({
		temporary: true,
		endsAtMs: Date.parse("2099-01-02T04:00:00Z"),
		renewed: true,
	});
	const written = "[p]\naws_access_key_id = A\naws_secret_access_key = s\naws_session_token = t\n";
	expect(await found({}, written, "p")).toMatchObject({ temporary: true, endsAtMs: null });
});

test("without any it is a refusal like that of a call", async () => {
	await expect(found({})).rejects.toMatchObject({ call: "sts:GetCallerIdentity" });
});

const now = Date.parse("2026-01-02T03:00:00Z");
const session = { temporary: true, endsAtMs: Date.parse(END), renewed: false };
const minutes = (n: number) => n * 60e9;

test("credentials that last until the machines are down are nothing to talk of", () => {
	// An hour is left: 50 minutes, and 10 to take them down.
	for (const one of [
		session,
		{ ...session, renewed: true },
		{ ...session, temporary: false, endsAtMs: null },
	])
		expect(sessionTrouble(one, minutes(50), now)).toEqual({ wrong: [], warnings: [] });
	expect(sessionTrouble(session, null, now).wrong).toEqual([]);
});

test("those that end before it, and that nobody renews, are refused", () => {
	expect(sessionTrouble(session, minutes(51), now)).toEqual({
		warnings: [],
		wrong: [
			"AWS_CREDENTIAL_EXPIRATION: the credentials for AWS end at 2026-01-02T04:00:00.000Z (in 1h), and standing the machines up, the runs, and taking them down take up to 1.02h. Without credentials nobody takes the machines down, and they cost money until they end themselves. Log in again for longer, or make fewer runs (--only).",
		],
	});
	// Of machines that stay, until they are up: 20 minutes.
	const late = Date.parse("2026-01-02T03:41:00Z");
	expect(sessionTrouble(session, null, late).wrong).toEqual([
		expect.stringContaining("(in 19min), and standing the machines up takes up to 20min"),
	]);
});

test("those that are renewed, or end nobody knows when, are warned of", () => {
	const renewed = { ...session, renewed: true };
	expect(sessionTrouble(renewed, minutes(51), now)).toEqual({
		wrong: [],
		warnings: [
			expect.stringMatching(
				/^the credentials for AWS end at .* mqbench then asks for new ones, as long as your login lasts/,
			),
		],
	});
	expect(sessionTrouble({ ...session, endsAtMs: null }, minutes(51), now)).toEqual({
		wrong: [],
		warnings: [
			expect.stringMatching(
				/^the credentials for AWS are those of a session \(AWS_SESSION_TOKEN, or aws_session_token of a profile\), and when it ends is not known; .* take up to 1\.02h\./,
			),
		],
	});
});
