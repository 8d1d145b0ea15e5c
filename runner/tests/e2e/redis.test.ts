import { spawn } from "node:child_process";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort, resultOf, run, scenario, temporaryFolder, until } from "./mqbench.ts";

test("a channel that the server refuses ends the run at once, with what to do about it", {
	tags: "long",
}, async () => {
	const port = await freePort();
	const rights = "--user default on nopass ~* resetchannels +@all";
	const options = `--port ${port} --bind 127.0.0.1 --appendonly no ${rights}`.split(" ");
	const server = spawn("redis-server", options, { cwd: temporaryFolder() });
	// Without its folder, which goes first, Redis does not end by SIGTERM: it cannot save.
	onTestFinished(() => void server.kill("SIGKILL"));
	let said = "";
	server.stdout.on("data", (text) => {
		said += text;
	});
	await until(() => said.includes("Ready to accept"), "redis-server is up");
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const began = Date.now();
	const file = scenario(folder, {}, { system: "redis" });
	const args = [file, "--url", `redis://127.0.0.1:${port}`, "--out", out];
	const { code, out: terminal } = await run(args);
	expect(code).toBe(3);
	expect(Date.now() - began).toBeLessThan(25_000);
	expect(resultOf(out).runs[0]?.why).toContain("NOPERM");
	expect(terminal.replaceAll(/\s+/g, " ")).toContain(
		"What to do: give this user the right to create, write and read topics",
	);
});
