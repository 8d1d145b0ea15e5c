import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { Result } from "../../model/result.ts";
import { packageFolder } from "../../package.ts";
import { listening, resultOf } from "../e2e/mqbench.ts";

/** A copy of mqbench gets an unknown broker, with only the steps in README.md of extensions/ and of runner/brokers/. */

test("a new broker is a definition and a line here, a driver and its lines there, and is measured", async () => {
	const copy = mkdtempSync(path.join(tmpdir(), "mqbench-new-broker-"));
	onTestFinished(() => rm(copy, { recursive: true, force: true }), 120_000);
	for (const part of ["runner", "infra", "extensions", "scenarios"])
		cpSync(path.join(packageFolder, part), path.join(copy, part), {
			recursive: true,
			filter: (file) => !/\/node_modules|\/tests\/(e2e|acceptance)/.test(file),
		});
	for (const file of ["package.json", "tsconfig.json", "README.md"])
		cpSync(path.join(packageFolder, file), path.join(copy, file));
	for (const folder of ["node_modules", "infra/aws/node_modules"])
		symlinkSync(path.join(packageFolder, folder), path.join(copy, folder));

	const made = (from: string, to: string, as: (text: string) => string) =>
		writeFileSync(path.join(copy, to), as(readFileSync(path.join(copy, from), "utf8")));
	// The two rooms.
	cpSync(path.join(copy, "extensions/xk6-noop"), path.join(copy, "extensions/xk6-lines"), {
		recursive: true,
		filter: (file) => !/\.go$/.test(file),
	});
	for (const file of ["go.mod", "register.go"])
		made(`extensions/xk6-noop/${file}`, `extensions/xk6-lines/${file}`, (text) =>
			text.replaceAll("noop", "lines"),
		);
	// The smallest driver that there is, with the option that the definition has.
	made("extensions/xk6-noop/noop.go", "extensions/xk6-lines/lines.go", (text) =>
		text
			.replaceAll("noop", "lines")
			.replace("&struct{}{}", '&struct{ NoDelay bool `json:"noDelay"` }{}'),
	);
	cpSync(path.join(copy, "runner/tests/made-up-broker"), path.join(copy, "runner/brokers/lines"), {
		recursive: true,
	});
	made("runner/tests/made-up-broker/index.ts", "runner/brokers/lines/index.ts", (text) =>
		text.replaceAll("../../brokers/", "../"),
	);
	// Their lines: one each in definitions.ts and drivers_all.go, and a module's lines in go.mod.
	const again = (file: string, line: RegExp) =>
		made(file, file, (text) =>
			text.replaceAll(line, (found) => `${found}${found.replaceAll("noop", "lines")}`),
		);
	again("runner/brokers/definitions.ts", /^.*noop.*\n/gm);
	made("extensions/cmd/k6/drivers_all.go", "extensions/cmd/k6/drivers_all.go", (text) =>
		text.replace(/^.*nsq.*\n/m, (found) => found + found.replace("nsq", "lines")),
	);
	again("extensions/go.mod", /^.*noop.*\n/gm);

	// The broker is served by this process: it waits without blocking.
	const ended = promisify(execFile);
	await ended("npm", ["run", "build"], { cwd: copy });
	writeFileSync(
		path.join(copy, "lines.yaml"),
		`target: existing
system: { broker: lines, url: "lines://127.0.0.1:${await serve()}" }
workload: { pattern: round-trip, rate: 100/s, message: 64B, warmup: 1s, duration: 3s }
sla: [lost == 0]
`,
	);
	await ended(
		process.execPath,
		["dist/runner/cli.js", "lines.yaml", "--out", "out"],
		{ cwd: copy },
		// If other programs use the machine, the run does not count, but is still measured.
	).catch(({ code }) => expect([4, 6]).toContain(code));
	const { runs }: Result = resultOf(path.join(copy, "out"));
	expect(runs).toMatchObject([{ system: "lines", lost: 0 }]);
	expect(runs[0]?.received).toBeGreaterThan(0);
});

// --- internal ---

/** The made-up broker's address, where mqbench checks for a listener. Returns its port. */
function serve(): Promise<number> {
	return listening(net.createServer((from) => from.on("error", () => {}).resume()));
}
