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
			version: "27.0.1",
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

	const DOWN =
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?";
	test.each([
		["an old client", `echo '{"ServerErrors":["${DOWN}"]}'`],
		["a new one", `echo '{}'; echo "${DOWN}" >&2; exit 1`],
	])("an engine, by the words of %s", async (_, answer) => {
		expect(
			await refused(`case "$*" in info*) ${answer};; *) echo unix:///var/run/docker.sock;; esac`),
		).toBe(
			"docker-unreachable: No Docker engine answers at unix:///var/run/docker.sock (cannot connect to the Docker daemon). Start it: sudo systemctl start docker, or Docker Desktop; DOCKER_HOST or docker context use choose another. If you may not use it: sudo usermod -aG docker $USER, and log in again.",
		);
	});

	test("the right to use it", async () => {
		expect(
			await refused(
				`case "$*" in info*) echo "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \\"http://%2Fvar%2Frun%2Fdocker.sock/v1.24/info\\": dial unix /var/run/docker.sock: connect: permission denied" >&2; exit 1;; *) echo unix:///var/run/docker.sock;; esac`,
			),
		).toMatch(
			/^docker-unreachable: .* \(permission denied while .*\)\. .* If you may not use it: sudo usermod -aG docker \$USER, /,
		);
	});

	test.each(["ssh://me:secret@far", "tcp://10.0.0.7:2376", "tcp://docker:2375"])(
		"an engine of this machine, when it is %s",
		async (host) => {
			const said = await refused(info(), { DOCKER_HOST: host });
			expect(said).toMatch(/^docker-elsewhere: The Docker engine is on another machine \(.*\)/);
			expect(said).not.toContain("secret");
		},
	);

	test.each(["tcp://127.0.0.1:2375", "tcp://localhost:2375"])(
		"nothing, when it is %s",
		async (host) => {
			expect(await refused(info(), { DOCKER_HOST: host })).toBe("");
		},
	);

	test("containers of Linux", async () => {
		expect(await refused(info({ OSType: "windows" }))).toMatch(
			/^docker-failed: .*its containers are of windows/,
		);
	});
});
