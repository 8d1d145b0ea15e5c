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
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { debian12 } from "../../../infra/aws/debian-root.fake.ts";
import { packageFolder, packageVersion } from "../../package.ts";
import { makeBareDebian } from "../../tools/release/bare-debian.ts";
import { scenario } from "../e2e/mqbench.ts";
import { TEST_IMAGE } from "../e2e/test-images.ts";

/** The Dockerfile, built from bases of this machine: a Debian with Go, Node and npm to make it, and one without Go to run it. */
const MAKER = "mqbench-test/maker:1";
const BARE = "mqbench-test/bare:1";
const IMAGE = "mqbench-test/mqbench:1";
const folder = mkdtempSync(path.join(tmpdir(), "mqbench-image-"));

beforeAll(() => {
	makeBases();
	const bases = [`GO_IMAGE=${MAKER}`, `NODE_IMAGE=${MAKER}`, `BASE_IMAGE=${BARE}`]
		.map((base) => `--build-arg ${base}`)
		.join(" ");
	docker(
		`build --network host --tag ${IMAGE} --label ${TEST_IMAGE} --file infra/docker/Dockerfile ${bases} .`.split(
			" ",
		),
		"inherit",
	);
}, 7_200_000); // compiles everything, which took 40 minutes during a run of npm test

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

/** Go and npm keep this machine's settings for download addresses and trusted certificates. */
function makeBases(): void {
	const { root, close } = makeBareDebian(debian12(), path.join(folder, "debian"));
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
