import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { debian12 } from "../../../infra/aws/debian-root.fake.ts";
import { Manifest } from "../../../infra/programs/packed.ts";
import { packageFolder } from "../../package.ts";
import { type BareDebian, makeBareDebian } from "../../tools/release/bare-debian.ts";
import { makeInClone } from "../../tools/release/make-in-clone.ts";
import type { Made } from "../../tools/release/make-packages.ts";
import { openRegistry, type Registry } from "../../tools/release/registry.ts";
import { emptyProject, INSTALLERS, type Installer, tryOut } from "../../tools/release/try-out.ts";

/** A release of this platform, from a registry of this machine, in a Debian with only Node. */
const VERSION = "99.0.0";
const OWN = `${process.platform}-${process.arch}`;
const folder = mkdtempSync(path.join(tmpdir(), "mqbench-release-"));
let made: Made[];
let registry: Registry;
let debian: BareDebian;

beforeAll(async () => {
	made = makeInClone(VERSION, {
		source: path.join(folder, "source"),
		only: [OWN],
		out: path.join(folder, "packages"),
	});
	registry = await openRegistry(path.join(folder, "registry"));
	for (const { file } of made) registry.publish(file);
	debian = makeBareDebian(debian12(), path.join(folder, "debian"));
}, 1_200_000);

afterAll(() => {
	registry?.close();
	debian?.close();
	rmSync(folder, { recursive: true, force: true });
}, 120_000);

const inDebian = (name: string) => ({
	registry: registry.url,
	version: VERSION,
	within: debian,
	folder: path.join(debian.root, name),
	short: true,
});

describe("where Node is and no Go", () => {
	test.each(Object.keys(INSTALLERS) as Installer[])(
		"%s installs mqbench with its programs, and the first verdict comes in less than a minute",
		(installer) => {
			const tried = tryOut(installer, inDebian(installer.replace(" ", "-")));
			process.stdout.write(
				`${installer}: installed in ${tried.installSeconds} s, a verdict after ${tried.verdictSeconds} s more\n`,
			);
			expect(tried.origin).toBe(`package @mqbench/${OWN} ${VERSION}`);
			expect(["pass", "inconclusive", "invalid"]).toContain(tried.verdict);
			expect(tried.installSeconds + tried.verdictSeconds).toBeLessThan(60);
		},
	);

	test("it works without the registry afterwards, in a project that its user may not write", () => {
		const run = emptyProject("npm", inDebian("read-only"));
		run(["npm", "install", `mqbench@${VERSION}`]);
		run(["npx", "mqbench", "init", "-y", "quickstart"]);
		run(["sed", "-i", "/p99/d", "quickstart.yaml"]);
		// Root may write everywhere, so another user runs it.
		run(["chmod", "-R", "a+rX", "."]);
		const elsewhere =
			"HOME=/tmp/a MQBENCH_CACHE_DIR=/tmp/a/cache npm_config_registry=http://127.0.0.1:9/ npm_config_cache=/tmp/a/npm";
		const said = run([
			..."setpriv --reuid=admin --regid=admin --clear-groups env".split(" "),
			...elsewhere.split(" "),
			"sh",
			"-c",
			"npx mqbench quickstart.yaml --quick --out /tmp/a/out --on-inconclusive pass || [ $? = 4 ]",
		]);
		expect(said).toMatch(/^(?:PASS|INCONCLUSIVE|INVALID) /m);
	});
});

test("every Go module in the programs is named as go.sum has it, with its licence", () => {
	const { modules } = Manifest.parse(
		JSON.parse(readFileSync(path.join(folder, "packages", OWN, "manifest.json"), "utf8")),
	);
	const sums = [".", "servers/nats-server"]
		.map((module) => path.join(packageFolder, "extensions", module, "go.sum"))
		.map((file) => readFileSync(file, "utf8"))
		.join("");
	for (const { path: name, version, sum } of modules)
		if (name !== "std") expect(sums).toContain(`${name} ${version} ${sum}\n`);
	const licenceOf = (name: string) => modules.find((module) => module.path === name)?.licence;
	expect(licenceOf("go.k6.io/k6/v2")).toBe("AGPL-3.0-only");
	expect(licenceOf("github.com/nats-io/nats-server/v2")).toBe("Apache-2.0");
	expect(licenceOf("std")).toBe("BSD-3-Clause");
	expect(modules.length).toBeGreaterThan(100);
});

test("programs are the same, byte for byte, from another folder, home, language and time zone", () => {
	const elsewhere = mkdtempSync(path.join(tmpdir(), "mqbench-again-"));
	onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }), 300_000);
	const go = (name: string) => execFileSync("go", ["env", name], { encoding: "utf8" }).trim();
	const again = makeInClone(VERSION, {
		source: path.join(elsewhere, "deeper/sources"),
		only: [OWN],
		out: path.join(elsewhere, "packages"),
		// Without the first build's compiled files: only its downloads, which go.sum verifies.
		env: {
			...process.env,
			HOME: elsewhere,
			GOCACHE: path.join(elsewhere, "go-build"),
			GOMODCACHE: go("GOMODCACHE"),
			GOPROXY: "off",
			LANG: "C",
			TZ: "Asia/Kathmandu",
		},
	});
	expect(again).toHaveLength(made.length);
	const manifest = (packages: string) =>
		readFileSync(path.join(packages, OWN, "manifest.json"), "utf8");
	expect(manifest(path.join(elsewhere, "packages"))).toBe(manifest(path.join(folder, "packages")));
}, 1_200_000);
