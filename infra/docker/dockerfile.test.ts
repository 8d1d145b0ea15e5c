import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder, packageVersion } from "../../runner/package.ts";
import { BUILD_FLAGS } from "../programs/build.ts";
import { FIRST, modulesOf } from "../programs/programs.ts";

const read = (...file: string[]) => readFileSync(path.join(packageFolder, ...file), "utf8");
const dockerfile = read("infra", "docker", "Dockerfile");
/** As a Dockerfile names an argument. */
const arg = (name: string) => `\${${name}}`;
const all = (what: RegExp) => [...dockerfile.matchAll(what)];

test("the image is of this version", () => {
	const versions = all(/^ARG VERSION=(.*)$/gm).map(([, version]) => version);
	expect(versions).toEqual([packageVersion, packageVersion]);
	expect(dockerfile).toContain(`mqbench/mqbench:${packageVersion}`);
});

test("its programs are built as on a machine with Go", () => {
	for (const flag of BUILD_FLAGS) expect(dockerfile).toContain(flag);
	for (const { module, packages } of modulesOf(FIRST)) {
		const within = module === "." ? "" : `-C ${module} `;
		expect(dockerfile).toContain(`go build ${within}"$@" ${packages.join(" ")}`);
	}
	expect(dockerfile).toContain("set -- -tags drivers ");
	expect(dockerfile).toContain(
		`-ldflags "-s -w -X github.com/mqbench/mqbench/extensions/xk6-mqbench.Version=${arg("VERSION")}"`,
	);
	const [, needed] = /^go (\d+\.\d+)/m.exec(read("extensions", "go.mod")) ?? [];
	expect(dockerfile).toContain(`GO_IMAGE=golang:${needed}-`);
});

test("every base can be another one, and its user is not root", () => {
	const bases = all(/^FROM (\S+)/gm).map(([, base]) => base);
	expect(bases).toEqual(["GO_IMAGE", "GO_IMAGE", "NODE_IMAGE", "BASE_IMAGE"].map(arg));
	expect(all(/^USER (.*)$/gm).map(([, user]) => user)).toEqual(["12345"]);
});

test("what it copies is there, and is not held back", () => {
	const ignored = read(".dockerignore").split("\n");
	const sources = all(/^COPY (?!--from=(?:modules|programs))(?:--from=runner )?(.+) \S+$/gm)
		.flatMap(([, list]) => (list ?? "").split(" "))
		.map((file) => file.replace("/src/", ""));
	expect(sources).toContain("extensions");
	for (const file of sources) {
		if (/^dist\//.test(file)) continue;
		expect(existsSync(path.join(packageFolder, file)), file).toBe(true);
		expect(ignored).not.toContain(file);
	}
	// Built in the image, never copied from a machine.
	expect(ignored).toEqual(expect.arrayContaining(["dist", "node_modules", ".git"]));
});
