import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../package.ts";
import { temporaryFolder } from "../e2e/mqbench.ts";
import { ownNats } from "../e2e/own-nats.ts";

const OURS = "github.com/mqbench/mqbench/extensions";
const EXTENSIONS = path.join(packageFolder, "extensions");

// No version of xk6 that supports k6 v2 could be downloaded for this test. It repeats the steps of xk6 by hand: a main module has k6's
// command, imports the extension, and replaces it by its folder.
test.each(["xk6-nats", "xk6-kafka", "xk6-mqbench"])(
	"%s is an extension that links alone, by what xk6 build --with <folder> does",
	async (extension) => {
		const folder = temporaryFolder();
		const go = (...args: string[]) =>
			execFileSync("go", args, {
				cwd: folder,
				encoding: "utf8",
				env: { ...process.env, GOFLAGS: "", GOWORK: "off", CGO_ENABLED: "0" },
			});
		const k6 = go("list", "-C", EXTENSIONS, "-m", "go.k6.io/k6/v2").trim().split(" ").join("@");
		writeFileSync(
			path.join(folder, "main.go"),
			`package main

import (
	"go.k6.io/k6/v2/cmd"

	_ "${OURS}/${extension}"
)

func main() { cmd.Execute() }
`,
		);
		go("mod", "init", "k6");
		const parts = new Set([extension, "xk6-mqbench"]);
		for (const part of parts) go("mod", "edit", `-replace=${OURS}/${part}=${EXTENSIONS}/${part}`);
		go("mod", "edit", `-require=${k6}`);
		go("mod", "tidy");
		// As mqbench builds k6, whose packages Go has: without a debugger's data.
		go("build", "-trimpath", "-gcflags=all=-dwarf=false", "-o", "k6", ".");
		const run = (args: string[], env = {}) =>
			execFileSync(path.join(folder, "k6"), args, {
				cwd: folder,
				encoding: "utf8",
				env: { ...process.env, K6_AUTO_EXTENSION_RESOLUTION: "false", ...env },
			});
		expect(run(["version"])).toContain(`${OURS}/${extension}`);
		if (extension !== "xk6-nats") return;
		const { url } = await ownNats();
		const example = path.join(EXTENSIONS, "xk6-nats/examples/request.js");
		run(["run", "--no-usage-report", example], { NATS_URL: url });
	},
);
