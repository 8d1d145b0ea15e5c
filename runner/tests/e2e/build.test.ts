import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { run, temporaryFolder } from "./mqbench.ts";

const K6 = "go.k6.io/k6/v2 v2.1.0";

describe("mqbench build", () => {
	test("links further extensions; one that has a name of ours stands in for it, and a second build is the same", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		extension(folder, "hello", "k6/x/hello");
		extension(folder, "other-kafka", "k6/x/kafka");
		writeFileSync(
			path.join(folder, "script.js"),
			`import hello from "k6/x/hello";
import kafka from "k6/x/kafka";
import { Nats } from "k6/x/nats";
export default () => console.log(hello.who(), kafka.who(), typeof Nats);`,
		);
		const args = ["build", "--with", "./hello", "--with", "./other-kafka"];
		const first = await run(args, { cwd: folder });
		expect(first).toMatchObject({ code: 0 });
		expect(first.err).toContain(
			"k6/x/kafka comes from the further extension; mqbench's own is left out.",
		);
		expect(first.out).toContain("./k6 is a k6 with mqbench's extensions");
		expect(k6(folder, "run", "--quiet", "script.js").stderr).toContain(
			"hello other-kafka function",
		);
		expect(k6(folder, "version").stdout).toMatch(/k6\/x\/mqbench\/sqs /);
		const made = readFileSync(path.join(folder, "k6"));
		expect(await run(args, { cwd: folder })).toMatchObject({ code: 0 });
		expect(readFileSync(path.join(folder, "k6")).equals(made)).toBe(true);
		expect(readdirSync(folder).join()).not.toContain(".mqbench-k6-");
	});

	test("refuses an extension of another k6, which would be silent", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		mkdirSync(path.join(folder, "old"));
		writeFileSync(path.join(folder, "old/go.mod"), "module example.com/old\n\ngo 1.26.0\n");
		writeFileSync(path.join(folder, "old/old.go"), "package old\n");
		const { code, err } = await run(["build", "--with", "old"], { cwd: folder });
		expect(code).toBe(2);
		expect(err).toContain("example.com/old registers nothing with this k6");
		expect(readdirSync(folder)).toEqual(["old"]);
	});

	test.each([
		[["--with", "nowhere"], 2, /nowhere: is no k6 extension.*no such file/],
		[["--with", "github.com/x/y@latest"], 2, /module@version/],
		[["--out", "nowhere/k6"], 3, /nowhere\/k6: the k6 cannot be written/],
	])("%j leaves nothing", async (args, exit, words) => {
		const folder = temporaryFolder();
		const { code, err } = await run(["build", ...args], { cwd: folder });
		expect(code).toBe(exit);
		expect(err).toMatch(words);
		expect(readdirSync(folder)).toEqual([]);
	});
});

// --- internal ---

function extension(folder: string, name: string, module: string): void {
	mkdirSync(path.join(folder, name));
	writeFileSync(
		path.join(folder, name, "go.mod"),
		`module example.com/${name}\n\ngo 1.26.0\n\nrequire ${K6}\n`,
	);
	writeFileSync(
		path.join(folder, name, "module.go"),
		`package module

import "go.k6.io/k6/v2/js/modules"

type M struct{}

func (M) Who() string { return "${name}" }

func init() { modules.Register("${module}", M{}) }
`,
	);
}

function k6(folder: string, ...args: string[]) {
	return spawnSync("./k6", args, {
		cwd: folder,
		encoding: "utf8",
		env: { PATH: process.env.PATH, HOME: folder, K6_AUTO_EXTENSION_RESOLUTION: "false" },
	});
}
