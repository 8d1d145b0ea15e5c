import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../package.ts";
import { measured, scenario, temporaryFolder } from "../e2e/mqbench.ts";

// With Go's own cache. A build without it is in release.acceptance.ts.
test("the first use builds k6 and nats-server, and says how far it is; the first other system has all drivers built", async () => {
	const folder = temporaryFolder();
	const began = performance.now();
	const env = { MQBENCH_CACHE_DIR: path.join(folder, "cache") };
	const { err } = await measured({}, {}, { folder, env });
	const seconds = (performance.now() - began) / 1000;
	expect(err).toMatch(/modules \d+\/\d+/);
	expect(err).toMatch(/packages \d+\/\d+/);
	const other = await measured({}, { system: "zeromq" }, { env });
	const built = (text: string) => /Built in ([^,]+),/.exec(text)?.[1];
	expect(built(other.err)).toBeDefined();
	process.stdout.write(
		`first use with an empty cache of mqbench: ${seconds.toFixed(0)} s, its build ${built(err)}; build of all drivers after it: ${built(other.err)}\n`,
	);
});

test("from Enter to T0 it takes less than 2.5 s, npx included", async () => {
	const folder = temporaryFolder();
	const file = scenario(folder, { duration: "1s" });
	const took: number[] = [];
	for (let i = 0; i < 5; i++) took.push(await untilT0(file, path.join(folder, `out-${i}`)));
	took.sort((a, b) => a - b);
	process.stdout.write(`Enter to T0: ${took.map((s) => s.toFixed(2)).join(", ")} s\n`);
	// Other programs may use the machine, but not each time; if more processes than cores want to run, each step gets a share of one.
	const waiting = Math.max(1, loadavg()[0] ?? 1) / availableParallelism();
	expect(took[0]).toBeLessThan(2.5 * Math.max(1, waiting));
});

test.each(["darwin", "windows"])("everything compiles for %s", (os) => {
	for (const args of ["build -tags drivers -o /dev/null ./cmd/k6", "vet ./cmd/agent"])
		execFileSync("go", args.split(" "), {
			cwd: path.join(packageFolder, "extensions"),
			env: { ...process.env, GOOS: os, CGO_ENABLED: "0", GOFLAGS: "" },
			stdio: "inherit",
		});
});

// --- internal ---

/** Seconds from Enter (now) to T0, whose wall clock time is in the results. */
async function untilT0(file: string, out: string): Promise<number> {
	const enter = Date.now();
	const child = spawn("npx", ["mqbench", file, "--out", out, "--quiet"], {
		cwd: packageFolder,
		stdio: "ignore",
	});
	await once(child, "close");
	const [run = ""] = readdirSync(path.join(out, "runs"));
	const [first = ""] = readFileSync(path.join(out, "runs", run, "client-0.jsonl"), "utf8").split(
		"\n",
	);
	return (Number(BigInt(JSON.parse(first).t0UnixNs) / 1_000_000n) - enter) / 1000;
}
