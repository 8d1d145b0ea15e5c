import { execFileSync, spawnSync } from "node:child_process";
import {
	chmodSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { debian12 } from "../../../infra/aws/debian-root.fake.ts";
import { packageFolder, packageVersion } from "../../package.ts";
import { makeBareDebian } from "../../tools/release/bare-debian.ts";
import { TEST_IMAGE } from "../e2e/test-images.ts";

/** The Dockerfile, built from bases of this machine: a Debian with Go, Node and npm to make it, and Node and busybox alone to run it. */
const MAKER = "mqbench-test/maker:1";
const BARE = "mqbench-test/bare:1";
const IMAGE = "mqbench-test/mqbench:1";
const folder = mkdtempSync(path.join(tmpdir(), "mqbench-image-"));

beforeAll(() => {
	makerImage();
	bareImage();
	docker(
		[
			"build",
			"--network",
			"host",
			"--tag",
			IMAGE,
			"--label",
			TEST_IMAGE,
			"--file",
			"infra/docker/Dockerfile",
			...[`GO_IMAGE=${MAKER}`, `NODE_IMAGE=${MAKER}`, `BASE_IMAGE=${BARE}`].flatMap((arg) => [
				"--build-arg",
				arg,
			]),
			".",
		],
		"inherit",
	);
}, 7_200_000); // all is compiled anew, which took 40 minutes beside a run of npm test

afterAll(() => {
	rmSync(folder, { recursive: true, force: true });
}, 120_000);

test("the image has mqbench, and the programs of its version", () => {
	expect(inImage("--version").trim()).toBe(packageVersion);
	const { programs } = JSON.parse(inImage("--version", "--json"));
	expect(programs).toEqual({ from: "MQBENCH_K6", k6: "/usr/local/bin/k6" });
});

test("it measures with nothing but itself: no network, no root", () => {
	const work = path.join(folder, "work");
	mkdirSync(work);
	chmodSync(work, 0o777);
	writeFileSync(
		path.join(work, "s.yaml"),
		[
			"name: image",
			"system: nats",
			"workload: { pattern: round-trip, rate: 500/s, message: 256B, warmup: 0s, duration: 2s }",
			"sla: [ lost == 0 ]",
		].join("\n"),
	);
	const mount = ["--network", "none", "--volume", `${work}:/work`];
	const ended = spawnSync(
		"docker",
		["run", "--rm", ...mount, IMAGE, "s.yaml", "--out", "out", "--no-floor"],
		{ encoding: "utf8", timeout: 120_000 },
	);
	// Beside other tests the generator may be late, and say so.
	expect([0, 4, 6], ended.stderr + ended.stdout).toContain(ended.status);
	const [run = ""] = readdirSync(path.join(work, "out", "runs"));
	expect(run).toContain("nats");
	const result = JSON.parse(readFileSync(path.join(work, "out", "result.json"), "utf8"));
	expect(result.runs[0]).toMatchObject({ intended: 1000, lost: 0 });
});

// --- internal ---

function inImage(...args: string[]): string {
	return docker(["run", "--rm", "--network", "none", IMAGE, ...args]);
}

function docker(args: readonly string[], stderr: "inherit" | "pipe" = "pipe") {
	return execFileSync("docker", args, {
		cwd: packageFolder,
		encoding: "utf8",
		env: { ...process.env, DOCKER_BUILDKIT: "0" },
		stdio: ["ignore", "pipe", stderr],
		maxBuffer: 1 << 26,
	});
}

/** Where Go and npm fetch from, and whom they trust, is this machine's. */
function makerImage(): void {
	const { root, close } = makeBareDebian(debian12(), path.join(folder, "maker"));
	const goEnv = (name: string) => execFileSync("go", ["env", name], { encoding: "utf8" }).trim();
	cpSync(goEnv("GOROOT"), path.join(root, "usr/local/go"), { recursive: true });
	symlinkSync("../go/bin/go", path.join(root, "usr/local/bin/go"));
	for (const file of ["ssl/certs/ca-certificates.crt", "resolv.conf"]) {
		const to = path.join(root, "etc", file);
		mkdirSync(path.dirname(to), { recursive: true });
		execFileSync("cp", ["--dereference", path.join("/etc", file), to]);
	}
	const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
	const own = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"].flatMap((name) =>
		process.env[name] ? [`${name}=${process.env[name]}`] : [],
	);
	importImage(root, MAKER, [
		...["GOPROXY", "GOSUMDB", "GONOSUMDB"].map((name) => `${name}=${goEnv(name)}`),
		`npm_config_registry=${registry}`,
		...own,
	]);
	close();
}

/** Node, what it is linked with, and busybox as sh and what else a Dockerfile calls. */
function bareImage(): void {
	const root = path.join(folder, "bare");
	const node = realpathSync(process.execPath);
	const libraries = execFileSync("ldd", [node], { encoding: "utf8" });
	for (const [from, to] of [
		[node, "/usr/bin/node"],
		...[...libraries.matchAll(/(\/\S+\.so\S*) \(/g)].map(
			([, file = ""]) => [realpathSync(file), file] as const,
		),
	] as const) {
		mkdirSync(path.join(root, path.dirname(to)), { recursive: true });
		cpSync(from, path.join(root, to));
	}
	for (const where of ["bin", "tmp", "etc", "usr/local/bin"])
		mkdirSync(path.join(root, where), { recursive: true });
	chmodSync(path.join(root, "tmp"), 0o1777);
	cpSync("/bin/busybox", path.join(root, "bin/busybox"));
	for (const name of ["sh", "ln", "mkdir", "chown"])
		symlinkSync("busybox", path.join(root, "bin", name));
	symlinkSync("../../bin/busybox", path.join(root, "usr/bin/env"));
	importImage(root, BARE, []);
}

function importImage(root: string, name: string, env: readonly string[]): void {
	execFileSync(
		"sh",
		[
			"-c",
			'tar -C "$0" -c . | docker import "$@"',
			root,
			...["PATH=/usr/local/bin:/usr/bin:/bin", ...env].flatMap((pair) => [
				"--change",
				`ENV ${pair}`,
			]),
			"--change",
			`LABEL ${TEST_IMAGE}`,
			"-",
			name,
		],
		{ stdio: ["ignore", "ignore", "inherit"] },
	);
}
