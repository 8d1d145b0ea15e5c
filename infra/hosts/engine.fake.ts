import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Host, hostsMissing } from "../clients/hosts.fake.ts";
import { findOnPath } from "../local/program.ts";

/** Why this machine cannot have hosts with an engine each; null if it can. With CI=true it must. */
export function hostEnginesMissing(): string | null {
	const missing = hostsMissing();
	if (missing !== null) return missing;
	const absent = ["docker", "dockerd"].filter(
		(name) => findOnPath(name, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` }) === null,
	);
	if (absent.length === 0) return null;
	const reason = `${absent.join(", ")} is not on PATH (package docker.io)`;
	if (process.env.CI === "true") throw new Error(`${reason}, and CI must not skip these tests`);
	return reason;
}

/**
 * For tests: a host's own Docker engine, at the usual socket there. It makes neither a bridge nor firewall rules, like the engine of rented
 * machines. `DOCKER_HOST` reaches it from here.
 */
export async function startEngine(
	host: Host,
): Promise<{ readonly DOCKER_HOST: string; close(): void }> {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-engine-"));
	const DOCKER_HOST = `unix://${folder}/sock`;
	const line = [
		...cgroups(),
		'PATH="$PATH:/usr/sbin:/sbin" exec dockerd --host=unix:///var/run/docker.sock --host="$1" --bridge=none --iptables=false --ip-forward=false --storage-driver=vfs --data-root="$2/data" --exec-root="$2/exec" --pidfile="$2/pid" >"$2/log" 2>&1',
	].join("; ");
	const [program = "", ...args] = host.inside(["sh", "-c", line, "sh", DOCKER_HOST, folder]);
	const child = spawn(program, args, { stdio: "ignore", detached: true });
	child.unref();
	const answers = () =>
		spawnSync("docker", ["version"], { env: { ...process.env, DOCKER_HOST } }).status === 0;
	for (let i = 0; !answers(); i++) {
		if (i === 240) throw new Error(readFileSync(path.join(folder, "log"), "utf8"));
		await sleep(500);
	}
	return {
		DOCKER_HOST,
		/** After the host's end. */
		close() {
			execFileSync("rm", ["-rf", folder]);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

// --- internal ---

/** A network namespace has its own /sys, without this machine's control groups. */
function cgroups(): string[] {
	return readFileSync("/proc/self/mounts", "utf8")
		.split("\n")
		.map((line) => line.split(" "))
		.filter(([, at = ""]) => /^\/sys\/fs\/cgroup(\/|$)/.test(at))
		.map(([device, at, kind, options = ""]) => {
			const own = options.split(",").filter((one) => !/^(ro|rw|relatime|no\w+)$/.test(one));
			return `mkdir -p ${at}; mount -t ${kind} -o ${["rw", ...own].join(",")} ${device} ${at}`;
		});
}
