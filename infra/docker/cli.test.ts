import { describe, expect, test } from "vitest";
import { MqbenchError } from "../../runner/errors.ts";
import { FreePortTaken } from "../local/ports.ts";
import { DockerError, explainDocker, findDocker } from "./cli.ts";
import { fakeDocker } from "./engine.fake.ts";

const docker = (body: string, env = {}) =>
	findDocker(fakeDocker(body, env).world, "/nowhere/agent");

async function* megabytes() {
	for (let i = 0; i < 50; i++) yield Buffer.alloc(100_000, "x");
}

describe("the docker command", () => {
	test("is the user's, with all of the environment", async () => {
		const run = docker('echo "$DOCKER_HOST $1"; echo', { DOCKER_HOST: "unix:///mine" });
		expect(await run.run(["ps"])).toBe("unix:///mine ps");
	});

	test("gets what is piped into it, however large; one that does not read it is told by its own words", async () => {
		expect(await docker("wc -c").run(["import"], { input: megabytes() })).toBe("5000000");
		const deaf = docker('exec 0<&-; echo "Error: no room" >&2; exit 1');
		await expect(deaf.run(["import"], { input: megabytes() })).rejects.toThrow("no room");
	});

	test("that hangs is ended, and Ctrl-C does not wait for it", async () => {
		const hangs = docker("exec sleep 1000");
		await expect(hangs.run(["ps"], { limitMs: 200 })).rejects.toThrow(
			"docker did not answer within 0.2s",
		);
		const stop = new AbortController();
		const running = hangs.run(["import"], { stop: stop.signal });
		stop.abort("SIGINT");
		await expect(running).rejects.toMatchObject({ code: "interrupted" });
	});

	test.each([
		[
			"docker: Error response from daemon: no such thing.\nSee 'docker run --help'.",
			"no such thing",
		],
		["Unable to find image 'x' locally\nError response from daemon: denied for x", "denied for x"],
		["WARNING: something\nError: it broke\n", "it broke"],
		["nothing that is known", "nothing that is known"],
		["", "it said nothing"],
	])("says %j: what is wrong is one line", async (said, wrong) => {
		await expect(docker(`cat >&2 <<'X'\n${said}\nX\nexit 1`).run(["x"])).rejects.toThrow(
			new DockerError(wrong),
		);
	});
});

describe("a refusal of the engine", () => {
	test.each([
		[
			"write /x: no space left on device",
			"write /x: no space left on device; docker system df shows what is on its disk, docker system prune removes unused data.",
		],
		["Get https://me:secret@r/v2", "Get https://***@r/v2."],
	])("%s is a sentence without a password, with what to do", (words, rest) => {
		const error = explainDocker(new DockerError(words), "start mine");
		expect(error).toMatchObject({ code: "docker-failed", exit: 3 });
		expect(error.message).toBe(`Docker could not start mine: ${rest}`);
	});

	test("of a port that somebody took in between is a reason to try another", () => {
		const words = "Bind for 127.0.0.1:4001 failed: port is already allocated";
		expect(explainDocker(new DockerError(words), "x")).toBeInstanceOf(FreePortTaken);
	});

	test("that is a sentence already stays, and a mistake of ours is thrown", () => {
		const ours = new MqbenchError("usage", "so", 2);
		expect(explainDocker(ours, "x")).toBe(ours);
		expect(() => explainDocker(new TypeError("oh"), "x")).toThrow("oh");
	});
});
