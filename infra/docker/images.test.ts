import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { brokerOf, imageOf } from "../../runner/brokers/index.ts";
import { packageFolder } from "../../runner/package.ts";
import { realBinaries } from "../programs/real.fake.ts";
import { findDocker } from "./cli.ts";
import { fakeDocker } from "./engine.fake.ts";
import { getImage, ownImage } from "./images.ts";
import { dockerSystem } from "./systems.fake.ts";

const binaries = await realBinaries();
const read = (...file: string[]) => readFileSync(path.join(packageFolder, ...file), "utf8");

describe("the image of a system", () => {
	test.each([
		[{ broker: "nats" }, "nats:2.15.2-alpine"],
		[{ broker: "kafka", version: "4.0.0" }, "apache/kafka:4.0.0"],
		[{ broker: "redis", version: "7.4" }, "redis:7.4-alpine"],
		[{ broker: "redis", image: "valkey/valkey:8" }, "valkey/valkey:8"],
	] as const)("%o is %s", (written, image) => {
		expect(imageOf(dockerSystem(written))).toBe(image);
	});

	test("without a version is the server that target local has", () => {
		expect(read("extensions", "servers", "nats-server", "go.mod")).toContain(
			`nats-server/v2 v${brokerOf({ broker: "nats" }).image?.version}`,
		);
		expect(read("runner", "brokers", "kafka", "pom.xml")).toContain(
			`<kafka>${brokerOf({ broker: "kafka" }).image?.version}</kafka>`,
		);
	});
});

const INSPECT = `echo '{"Id":"sha256:abc","RepoDigests":["nats@sha256:def"],"Config":{"Env":["A=1=2","B="],"Entrypoint":["/serve"]}}'`;
const NONE = 'echo "Error: No such image: nats" >&2; exit 1';

function fake(body: string, stop?: AbortSignal) {
	const { world, calls } = fakeDocker(body);
	const docker = findDocker(world, binaries.agent);
	return { calls, docker, world: stop ? { ...world, stop } : world };
}

/** Gets the image of NATS from such an engine. */
function get(body: string, stop?: AbortSignal) {
	const { docker, world, calls } = fake(body, stop);
	const said: string[] = [];
	const system = dockerSystem({ broker: "nats" });
	return { calls, said, image: getImage(docker, system, world, (text) => void said.push(text)) };
}

const HERE = `here=$(dirname "$0")/here; case "$*" in pull*) touch "$here";; "image inspect"*) [ -e "$here" ] || { ${NONE}; }; ${INSPECT};; esac`;

describe("an image", () => {
	test("that is not there is pulled, and it is said when that begins and ends; one that is there is not", async () => {
		const { image, calls, said } = get(HERE);
		expect(await image).toEqual({
			name: "nats:2.15.2-alpine",
			id: "sha256:abc",
			entrypoint: ["/serve"],
			digest: "sha256:def",
			env: { A: "1=2", B: "" },
		});
		expect(calls()).toContain("pull --quiet nats:2.15.2-alpine");
		expect(said[0]).toMatch(/^Pulling nats:2\.15\.2-alpine/);
		expect(said.at(-1)).toMatch(/^Pulled in \d+s/);
		const there = get(INSPECT);
		expect(await there.image).toMatchObject({ id: "sha256:abc" });
		expect(there.calls().join()).not.toContain("pull");
		expect(there.said).toEqual([]);
	});

	test("that cannot be pulled is one sentence", async () => {
		const words =
			"Error response from daemon: manifest for nats:2.15.2-alpine not found: manifest unknown";
		const { image } = get(`case "$*" in pull*) echo "${words}" >&2; exit 1;; esac; ${NONE}`);
		await expect(image).rejects.toMatchObject({
			code: "image-missing",
			exit: 3,
			message:
				"mine: the image nats:2.15.2-alpine is not on this machine and cannot be pulled there (manifest for nats:2.15.2-alpine not found: manifest unknown). Try docker pull nats:2.15.2-alpine there, or name an image that it has: image: <name>.",
		});
	});

	test("that is being pulled when Ctrl-C comes is given up", async () => {
		const stop = new AbortController();
		const { image, said } = get(`case "$*" in pull*) exec sleep 1000;; esac; ${NONE}`, stop.signal);
		await expect.poll(() => said).toHaveLength(1);
		stop.abort("SIGINT");
		await expect(image).rejects.toMatchObject({ code: "interrupted" });
	});

	test("of our own programs is made of their files, once", async () => {
		const { docker, world, calls } = fake(HERE.replace("pull*)", "import*) cat >/dev/null;"));
		const made = await ownImage(docker, ["agent"], binaries, world);
		expect(made).toMatch(/^mqbench-agent:[0-9a-f]{16}$/);
		expect(await ownImage(docker, ["agent"], binaries, world)).toBe(made);
		expect(calls().filter((call) => call.startsWith("import"))).toHaveLength(1);
	});
});
