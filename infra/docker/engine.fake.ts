import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type FakeWorld, fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";

/** For tests: why there is no Docker engine here, "" if there is one. Without one tests skip, but never in CI. */
export const noEngine: string = (() => {
	const asked = spawnSync("docker", ["version", "--format", "{{.Server.Os}}"], {
		encoding: "utf8",
	});
	if (asked.error) return "no docker command";
	return asked.stdout.trim() === "linux" ? "" : "no engine answers";
})();

/** For tests: skipped without an engine, with a message; in CI never. */
export const skipWithoutEngine: boolean = noEngine !== "" && process.env.CI !== "true";

export interface FakeDocker {
	readonly world: FakeWorld;
	/** Command lines so far, without the program. */
	calls(): string[];
}

/** For tests: a world whose docker is a piece of sh; `$*` is its command line. */
export function fakeDocker(body: string, env: Readonly<Record<string, string>> = {}): FakeDocker {
	const folder = testFolder();
	const calls = path.join(folder, "calls");
	writeFileSync(calls, "");
	const file = path.join(folder, "docker");
	writeFileSync(file, `#!/bin/sh\necho "$*" >>'${calls}'\n${body}\n`);
	chmodSync(file, 0o755);
	return {
		world: fakeWorld({
			env: { PATH: `${folder}:${process.env.PATH}`, ...env },
			clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
		}),
		calls: () => readFileSync(calls, "utf8").split("\n").filter(Boolean),
	};
}

/** For tests: an engine that answers `docker info` with this. */
export function info(parts: object = {}): string {
	return `case "$*" in info*) cat <<'JSON'
${JSON.stringify({
	ServerVersion: "27.0.1",
	OSType: "linux",
	Architecture: "x86_64",
	OperatingSystem: "Debian GNU/Linux 12",
	KernelVersion: "6.1.0",
	NCPU: 4,
	SecurityOptions: ["name=seccomp"],
	...parts,
})}
JSON
exit 0;; "context inspect"*) echo "\${DOCKER_HOST:-unix:///var/run/docker.sock}"; exit 0;; esac`;
}
