import os from "node:os";
import { describe, expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { fakeDocker, info } from "./engine.fake.ts";
import { findEngine } from "./engine.ts";

const AGENT = "/nowhere/agent";
const find = (body: string, env = {}) => findEngine(fakeDocker(body, env).world, AGENT);

describe("an engine", () => {
	test("says what its containers run on", async () => {
		const { engine } = await find(info({ Architecture: "aarch64" }));
		expect(engine).toEqual({
			platform: "linux/arm64",
			cores: 4,
			kernel: "6.1.0",
			sameKernel: false,
			rootless: false,
			remapped: false,
			limits: { cpus: true, memory: true, pin: true },
		});
	});

	test.each([
		["of this machine", {}, process.platform === "linux"],
		["of Docker Desktop", { OperatingSystem: "Docker Desktop" }, false],
		["of another kernel", { KernelVersion: "5.0.0-other" }, false],
	])("%s shares its clock or not", async (_, parts, same) => {
		const { engine } = await find(info({ KernelVersion: os.release(), ...parts }));
		expect(engine.sameKernel).toBe(same);
	});

	test("without root, or with other users, says so", async () => {
		const { engine } = await find(info({ SecurityOptions: ["name=rootless", "name=userns"] }));
		expect(engine).toMatchObject({ rootless: true, remapped: true });
	});
});

describe("what is missing is one sentence that says what to do", () => {
	const refused = async (body: string, env = {}) =>
		find(body, env).then(
			() => "",
			(error) => `${error.code}: ${error.message}`,
		);

	test("the command", async () => {
		await expect(findEngine(fakeWorld({ env: { PATH: "/nowhere" } }), AGENT)).rejects.toMatchObject(
			{
				code: "docker-missing",
				exit: 3,
				message: expect.stringMatching(
					/^Containers need the docker command, and it is not on PATH\. Install Docker/,
				),
			},
		);
	});

	const at = (answer: string) =>
		refused(`case "$*" in info*) ${answer};; *) echo unix:///var/run/docker.sock;; esac`);

	test.each([
		["an old client", `echo '{"ServerErrors":["it is down"]}'`],
		["a new one", `echo '{}'; echo "it is down" >&2; exit 1`],
	])("an engine, by the words of %s", async (_, answer) => {
		expect(await at(answer)).toBe(
			"docker-unreachable: No Docker engine answers at unix:///var/run/docker.sock (it is down). Start it: sudo systemctl start docker, or Docker Desktop; DOCKER_HOST or docker context use choose another. If you may not use it: sudo usermod -aG docker $USER, and log in again.",
		);
	});

	test("nothing that docker would say", async () => {
		expect(await at("echo what")).toMatch(/^docker-unreachable: .* \(no answer\)/);
	});

	test.each(["ssh://me:secret@far", "tcp://10.0.0.7:2376", "tcp://docker:2375"])(
		"an engine of this machine, when it is %s",
		async (host) => {
			const said = await refused(info(), { DOCKER_HOST: host });
			expect(said).toMatch(/^docker-elsewhere: The Docker engine is on another machine \(.*\)/);
			expect(said).not.toContain("secret");
		},
	);

	test("nothing, when it is on loopback", async () => {
		expect(await refused(info(), { DOCKER_HOST: "tcp://127.0.0.1:2375" })).toBe("");
	});

	test("containers of Linux", async () => {
		expect(await refused(info({ OSType: "windows" }))).toMatch(
			/^docker-failed: .*its containers are of windows/,
		);
	});
});
