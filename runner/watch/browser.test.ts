import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder, script as writeScript } from "../../infra/test-folder.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { openOrSay } from "./browser.ts";

/** A PATH with nothing but this program, a shell script. */
function withProgram(name: string | null, script = ""): string {
	const folder = testFolder();
	if (name !== null) writeScript(join(folder, name), script);
	return folder;
}

async function opened(
	address: string,
	env: Record<string, string>,
	{ shown = "it", platform = "linux" } = {},
): Promise<string> {
	const world = fakeWorld({ env });
	await openOrSay(address, shown, world, platform);
	return world.err();
}

test.each([
	["linux", "xdg-open"],
	["freebsd", "xdg-open"],
	["darwin", "open"],
])("on %s %s gets the address as one word", async (platform, program) => {
	const folder = withProgram(program, 'printf "%s|" "$@" > "$HOME/given"');
	const address = "/tmp/a b/'$(x)'.html";
	const env = { PATH: folder, HOME: folder };
	expect(await opened(address, env, { platform })).toBe("");
	expect(readFileSync(join(folder, "given"), "utf8")).toBe(`${address}|`);
});

test("it gets no secret of the environment", async () => {
	const folder = withProgram("xdg-open", 'printf "%s|" "$PW_TOKEN" "$LANG" > "$HOME/given"');
	const env = { PATH: folder, HOME: folder, PW_TOKEN: "x", LANG: "C" };
	expect(await opened("/x", env)).toBe("");
	expect(readFileSync(join(folder, "given"), "utf8")).toBe("|C|");
});

test("where there is no such program it says what to open by hand", async () => {
	const env = { PATH: withProgram(null) };
	expect(await opened("/secret", env, { shown: "reports/1/report.html" })).toBe(
		"--open: there is no xdg-open here to open a browser with; open reports/1/report.html yourself.\n",
	);
});

test("where it finds no browser it says so", async () => {
	const env = { PATH: withProgram("xdg-open", "exit 3") };
	expect(await opened("/secret", env, { shown: "report.html" })).toBe(
		"--open: xdg-open could not open a browser; open report.html yourself.\n",
	);
});

test("a browser that stays open is not waited for", async () => {
	const folder = withProgram("xdg-open", 'read x < "$HOME/never" || :; : > "$HOME/over"');
	const { execFileSync } = await import("node:child_process");
	execFileSync("mkfifo", [join(folder, "never")]);
	const env = { PATH: folder, HOME: folder };
	expect(await opened("/x", env)).toBe("");
	expect(existsSync(join(folder, "over"))).toBe(false);
	writeFileSync(join(folder, "never"), "\n");
	await expect.poll(() => existsSync(join(folder, "over"))).toBe(true);
});
