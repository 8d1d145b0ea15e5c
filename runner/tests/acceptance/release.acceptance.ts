import { execFileSync, spawnSync } from "node:child_process";
import {
	chmodSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
} from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { debian12 } from "../../../infra/aws/debian-root.fake.ts";
import { Manifest } from "../../../infra/programs/packed.ts";
import { packageFolder } from "../../package.ts";
import { type BareDebian, makeBareDebian } from "../../tools/release/bare-debian.ts";
import { makeInClone } from "../../tools/release/make-in-clone.ts";
import type { Made } from "../../tools/release/make-packages.ts";
import { openRegistry, type Registry } from "../../tools/release/registry.ts";
import { emptyProject, INSTALLERS, type Installer, tryOut } from "../../tools/release/try-out.ts";
import { scenario } from "../e2e/mqbench.ts";
import { TEST_IMAGE } from "../e2e/test-images.ts";

/** A release of this platform, from a registry of this machine, in a Debian with only Node. */
const VERSION = "99.0.0";
const OWN = `${process.platform}-${process.arch}`;
/** The bases of its image, and the image. */
const MAKER = "mqbench-test/maker:1";
const BARE = "mqbench-test/bare:1";
const IMAGE = "mqbench-test/mqbench:1";
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
			// If more processes than cores want to run, each step gets a share of one.
			const waiting = Math.max(1, (loadavg()[0] ?? 1) / availableParallelism());
			expect(tried.installSeconds + tried.verdictSeconds).toBeLessThan(60 * waiting);
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
	const { modules } = manifest();
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

describe("as an image, whose bases are made of this machine: one with Go, Node and npm to build, one without Go to run", () => {
	beforeAll(() => {
		const bases = [
			`GO_IMAGE=${MAKER}`,
			`NODE_IMAGE=${MAKER}`,
			`BASE_IMAGE=${BARE}`,
			`VERSION=${VERSION}`,
		]
			.map((base) => `--build-arg ${base}`)
			.join(" ");
		makeBases();
		const made = `--tag ${IMAGE} --label ${TEST_IMAGE} --file infra/docker/Dockerfile`;
		docker(`build --network host ${made} ${bases} .`.split(" "), "inherit");
	}, 7_200_000); // compiles everything, which took 50 minutes with the cores shared by twenty

	test("programs are the same, byte for byte, from another system and folder", () => {
		const names = ["k6", "agent", "nats-server"];
		const said = docker([
			..."run --rm --network none --entrypoint sha256sum".split(" "),
			IMAGE,
			...names.map((name) => `/usr/local/bin/${name}`),
		]);
		const sums = said
			.trim()
			.split("\n")
			.map((line) => line.split(/\s+/)[0]);
		expect(Object.fromEntries(names.map((name, i) => [name, sums[i]]))).toEqual(manifest().sha256);
	});

	test("it has mqbench, and the programs of its version", () => {
		const inImage = (...args: string[]) =>
			docker(["run", "--rm", "--network", "none", IMAGE, ...args]);
		expect(inImage("--version").trim()).toBe(VERSION);
		const { programs } = JSON.parse(inImage("--version", "--json"));
		expect(programs).toEqual({ from: "MQBENCH_K6", k6: "/usr/local/bin/k6" });
	});

	test("it measures with nothing but itself: no network, no root", () => {
		const work = path.join(folder, "work");
		mkdirSync(work);
		chmodSync(work, 0o777);
		scenario(work, { duration: "2s" }, { sla: "[lost == 0]" });
		const line = `run --rm --network none --volume ${work}:/work ${IMAGE} scenario.yaml --out out --no-floor`;
		const ended = spawnSync("docker", line.split(" "), { encoding: "utf8", timeout: 120_000 });
		// Next to other tests the generator may be late, and report it.
		expect([0, 4, 6], ended.stderr + ended.stdout).toContain(ended.status);
		const [run = ""] = readdirSync(path.join(work, "out", "runs"));
		expect(run).toContain("nats");
		const result = JSON.parse(readFileSync(path.join(work, "out", "result.json"), "utf8"));
		expect(result.runs[0]).toMatchObject({ intended: 1000, lost: 0 });
	});
});

// --- internal ---

function manifest(): Manifest {
	const file = path.join(folder, "packages", OWN, "manifest.json");
	return Manifest.parse(JSON.parse(readFileSync(file, "utf8")));
}

function docker(args: readonly string[], stderr: "inherit" | "pipe" = "pipe") {
	return execFileSync("docker", args, {
		cwd: path.join(folder, "source"),
		encoding: "utf8",
		env: { ...process.env, DOCKER_BUILDKIT: "0" },
		stdio: ["ignore", "pipe", stderr],
		maxBuffer: 1 << 26,
	});
}

/** Go and npm keep this machine's settings for download addresses and trusted certificates. */
function makeBases(): void {
	const { root, close } = makeBareDebian(debian12(), path.join(folder, "bases"));
	importImage(root, BARE, []);
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

function importImage(root: string, name: string, env: readonly string[]): void {
	const own = ["PATH=/usr/local/bin:/usr/bin:/bin", "LD_LIBRARY_PATH=/usr/lib/of-node"];
	const changes = [...[...own, ...env].map((pair) => `ENV ${pair}`), `LABEL ${TEST_IMAGE}`].flatMap(
		(change) => ["--change", change],
	);
	const line = 'tar -C "$0" -c . | docker import "$@"';
	execFileSync("sh", ["-c", line, root, ...changes, "-", name], {
		stdio: ["ignore", "ignore", "inherit"],
	});
}
