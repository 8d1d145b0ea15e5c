import { execFileSync, spawn } from "node:child_process";
import {
	chownSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { script, testFolder } from "../test-folder.fake.ts";
import { sweepFolders } from "./folders.ts";
import { linkTo } from "./link.fake.ts";

/** A number that no process has. */
const NOBODY = 2 ** 22 + 1;
const CONTAINER = "mqbench-0123456789ab";

/** A user's login on this machine, whose docker only records its arguments. */
function login() {
	const home = testFolder();
	const runs = path.join(home, ".cache", "mqbench", "runs");
	mkdirSync(runs, { recursive: true });
	const bin = testFolder();
	const told = path.join(bin, "told");
	writeFileSync(told, "");
	script(path.join(bin, "docker"), `echo "$*" >>'${told}'`);
	const link = linkTo({ HOME: home, PATH: `${bin}:${process.env.PATH}` });
	const own = execFileSync("sh", [
		"-c",
		'echo "mqbench+$(uname -n)+$(readlink /proc/self/ns/pid | tr -dc 0-9)+$(cut -c1-8 </proc/sys/kernel/random/boot_id)"',
	])
		.toString()
		.trim();
	return {
		runs,
		home,
		sweep: () => sweepFolders(link),
		docker: () => readFileSync(told, "utf8"),
		/** The folder of an mqbench of this host, with what it says of itself. */
		left(parent: string, files: Record<string, string> = {}, pid = NOBODY) {
			const folder = mkdtempSync(path.join(parent, `${own}@${pid}@`));
			onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
			for (const [name, text] of Object.entries(files))
				writeFileSync(path.join(folder, name), text);
			return folder;
		},
	};
}

/** A process that leads a group, below one that is called agent. */
async function running() {
	const agent = spawn("setsid", ["sh", "-c", "setsid sleep 10 & echo; wait", "agent"], {
		stdio: ["ignore", "pipe", "ignore"],
	});
	await new Promise((resolve) => agent.stdout.once("data", resolve));
	onTestFinished(() => void agent.kill("SIGKILL"));
	return { pid: agent.pid ?? 0, ended: () => agent.exitCode !== null || agent.signalCode !== null };
}

describe("a sweep on a host", () => {
	test("ends what an mqbench that is gone has run, and removes its folders", async () => {
		const { left, runs, sweep, docker } = login();
		const { pid, ended } = await running();
		const folder = left(runs, {
			"agent-1": `${pid}\n`,
			[`container-${CONTAINER}`]: `${CONTAINER}\n`,
		});
		const memory = left("/dev/shm");
		const mine = left(runs, {}, process.pid);
		await sweep();
		expect(ended()).toBe(true);
		expect(docker()).toBe(`rm --force --volumes ${CONTAINER}\n`);
		expect([folder, memory, mine].map(existsSync)).toEqual([false, false, true]);
	});

	test("ends nothing for a folder that was made up in memory, whoever made it", async () => {
		const { left, sweep, docker } = login();
		const { pid, ended } = await running();
		const files = {
			"agent-1": `${pid}`,
			"container-database": "database",
			[`container-${CONTAINER}`]: CONTAINER,
		};
		left("/dev/shm", files);
		const theirs = left("/dev/shm", files);
		const asRoot = process.getuid?.() === 0;
		if (asRoot) chownSync(theirs, 12345, 12345);
		await sweep();
		expect(ended()).toBe(false);
		expect(docker()).toBe("");
		expect(existsSync(theirs)).toBe(asRoot);
	});

	test("ends containers of our names alone, and processes by numbers alone", async () => {
		const { left, runs, sweep, docker } = login();
		left(runs, {
			"agent-1": "self",
			"agent-2": `../${process.pid}`,
			"container-database": "database",
			"container-mqbench-x --all": "database",
		});
		await sweep();
		expect(docker()).toBe("");
	});

	test("removes what is another machine's, in a shared home, when it is a day old", async () => {
		const { runs, sweep } = login();
		const [old, young] = ["aaaaaa", "bbbbbb"].map((name) =>
			path.join(runs, `mqbench+elsewhere+1+1@1@${name}`),
		) as [string, string];
		for (const folder of [old, young]) mkdirSync(folder);
		const before = Date.now() / 1000 - 2 * 86_400;
		utimesSync(old, before, before);
		await sweep();
		expect([old, young].map(existsSync)).toEqual([false, true]);
	});

	test("does not follow links", async () => {
		const { home, runs, left, sweep } = login();
		const mine = path.join(home, "mine");
		mkdirSync(mine);
		writeFileSync(path.join(mine, "file"), "");
		const name = left(runs);
		rmSync(name, { recursive: true, force: true });
		symlinkSync(mine, name);
		await sweep();
		expect(existsSync(path.join(mine, "file"))).toBe(true);
	});
});
