import { describe, expect, test } from "vitest";
import { MqbenchError } from "../../runner/errors.ts";
import { DockerError, explainDocker, findDocker } from "./cli.ts";
import { fakeDocker } from "./engine.fake.ts";

const docker = (body: string, env = {}) =>
	findDocker(fakeDocker(body, env).world, "/nowhere/agent");

describe("the docker command", () => {
	test("is the user's, with all of the environment", async () => {
		const said = await docker('echo "$DOCKER_HOST $1"; echo', { DOCKER_HOST: "unix:///mine" }).run([
			"ps",
		]);
		expect(said).toBe("unix:///mine ps");
	});

	test("gets what is piped into it, however large", async () => {
		async function* megabytes() {
			for (let i = 0; i < 50; i++) yield Buffer.alloc(100_000, "x");
		}
		expect(await docker("wc -c").run(["import"], { input: megabytes() })).toBe("5000000");
	});

	test("that does not read what is piped into it is told by its own words", async () => {
		async function* much() {
			for (let i = 0; i < 50; i++) yield Buffer.alloc(100_000, "x");
		}
		await expect(
			docker('exec 0<&-; echo "Error: no room" >&2; exit 1').run(["import"], { input: much() }),
		).rejects.toThrow("no room");
	});

	test("hands lines on as they come", async () => {
		const lines: string[] = [];
		await docker("echo one; printf 'two'; echo three >&2").run(["pull"], {
			onLine: (line) => void lines.push(line),
		});
		expect(lines.sort()).toEqual(["one", "three", "two"]);
	});

	test("that hangs is ended", async () => {
		await expect(docker("exec sleep 1000").run(["ps"], { limitMs: 200 })).rejects.toThrow(
			"docker ps did not end within 0.2s",
		);
	});

	test("is ended by a Ctrl-C", async () => {
		const stop = new AbortController();
		const running = docker("exec sleep 1000").run(["pull"], { stop: stop.signal });
		stop.abort("SIGINT");
		await expect(running).rejects.toMatchObject({ code: "interrupted" });
	});

	test.each([
		[
			"docker: Error response from daemon: no such thing.\nSee 'docker run --help'.",
			"no such thing",
		],
		[
			"Unable to find image 'x' locally\nError response from daemon: pull access denied for x",
			"pull access denied for x",
		],
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
		["no space left on device", "docker-disk-full"],
		["something else", "docker-failed"],
	])("%s is %s", (words, code) => {
		const error = explainDocker(new DockerError(words), "start mine");
		expect(error).toMatchObject({ code, exit: 3 });
		expect(error.message).toMatch(/^Docker could not start mine/);
		expect(error.message).toContain(words);
	});

	test("keeps no password", () => {
		expect(
			explainDocker(new DockerError("Get https://me:secret@r/v2"), "pull x").message,
		).not.toContain("secret");
	});

	test("that is a sentence already stays, and a mistake of ours is thrown", () => {
		const ours = new MqbenchError("usage", "so", 2);
		expect(explainDocker(ours, "x")).toBe(ours);
		expect(() => explainDocker(new TypeError("oh"), "x")).toThrow("oh");
	});
});
