import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { brokerOf, imageOf } from "../../runner/brokers/index.ts";
import { packageFolder } from "../../runner/package.ts";
import { realBinaries } from "../binaries/real.fake.ts";
import { findDocker } from "./cli.ts";
import { fakeDocker } from "./engine.fake.ts";
import { getImage } from "./images.ts";
import { dockerSystem } from "./systems.fake.ts";

const { agent } = await realBinaries();
const read = (...file: string[]) => readFileSync(path.join(packageFolder, ...file), "utf8");

describe("the image of a system", () => {
	test.each([
		[{ broker: "nats" }, "nats:2.15.2-alpine"],
		[{ broker: "kafka" }, "apache/kafka:4.1.1"],
		[{ broker: "kafka", version: "4.0.0" }, "apache/kafka:4.0.0"],
		[{ broker: "redis", version: "7.4" }, "redis:7.4-alpine"],
		[{ broker: "rabbitmq" }, "rabbitmq:4.2.1-alpine"],
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

/** Gets the image of NATS from such an engine. */
function get(body: string) {
	const { world, calls } = fakeDocker(body);
	const said: string[] = [];
	return {
		calls,
		said,
		image: getImage(
			findDocker(world, agent),
			dockerSystem({ broker: "nats" }),
			world,
			(text) => void said.push(text),
		),
	};
}

describe("an image", () => {
	test("that is there is not pulled, and tells what it is", async () => {
		const { image, calls, said } = get(INSPECT);
		expect(await image).toEqual({
			name: "nats:2.15.2-alpine",
			id: "sha256:abc",
			entrypoint: ["/serve"],
			digest: "sha256:def",
			env: { A: "1=2", B: "" },
		});
		expect(calls().join()).not.toContain("pull");
		expect(said).toEqual([]);
	});

	test("that is not there is pulled, and it is said when that begins and ends", async () => {
		const { image, calls, said } = get(
			`here=$(dirname "$0")/here; case "$*" in pull*) touch "$here"; echo "0123456789ab: Pull complete";; *) [ -e "$here" ] || { ${NONE}; }; ${INSPECT};; esac`,
		);
		expect(await image).toMatchObject({ id: "sha256:abc" });
		expect(calls()).toContain("pull nats:2.15.2-alpine");
		expect(said[0]).toMatch(/^Pulling nats:2\.15\.2-alpine/);
		expect(said.at(-1)).toMatch(/^Pulled in \d+s/);
	});

	test.each([
		[
			"Error response from daemon: manifest for nats:2.15.2-alpine not found: manifest unknown: manifest unknown",
			"image-missing",
			"mine: the image nats:2.15.2-alpine is not on this machine and cannot be pulled there (manifest for nats:2.15.2-alpine not found: manifest unknown: manifest unknown). Try docker pull nats:2.15.2-alpine there, or name an image that it has: image: <name>.",
		],
		[
			"failed to register layer: write /x: no space left on device",
			"docker-disk-full",
			"Docker could not pull nats:2.15.2-alpine, because its disk is full: failed to register layer: write /x: no space left on device. docker system df shows what is on it, docker system prune removes what is unused.",
		],
	])("that cannot be pulled is one sentence: %s", async (words, code, text) => {
		const { image } = get(`case "$*" in pull*) echo "${words}" >&2; exit 1;; esac; ${NONE}`);
		await expect(image).rejects.toMatchObject({ code, message: text, exit: 3 });
	});

	test("that is being pulled when Ctrl-C comes is given up", async () => {
		const stop = new AbortController();
		const { world } = fakeDocker(`case "$*" in pull*) exec sleep 1000;; esac; ${NONE}`);
		const said: string[] = [];
		const image = getImage(
			findDocker(world, agent),
			dockerSystem({ broker: "nats" }),
			{ ...world, stop: stop.signal },
			(text) => {
				said.push(text);
				stop.abort("SIGINT");
			},
		);
		await expect(image).rejects.toMatchObject({ code: "interrupted" });
		expect(said).toHaveLength(1);
	});
});
