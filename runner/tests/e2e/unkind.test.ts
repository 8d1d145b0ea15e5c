import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
	filesOf,
	resultOf,
	run,
	scenario,
	script,
	shell,
	start,
	temporaryFolder,
} from "./mqbench.ts";

test("a scenario of garbage is refused without a stack, and not even an empty reports/ is left", async () => {
	const folder = temporaryFolder();
	const file = path.join(folder, "scenario.yaml");
	writeFileSync(file, Buffer.alloc(1 << 20, "\u0001{]:&*!|>%@`\t-?,#\n"));
	const ended = await run([file], { cwd: folder });
	expect(ended).toMatchObject({ code: 2, out: "" });
	expect(ended.err).toMatch(/this is not a text file/);
	expect(ended.err).not.toMatch(/^ +at /m);
	expect(readdirSync(folder)).toEqual(["scenario.yaml"]);
});

describe("a port", () => {
	test("that is taken is named, with exit 3", async () => {
		const { port } = await listening();
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(folder, {}, { system: `{ broker: nats, port: ${port} }` });
		const ended = await run([file, "--out", out]);
		expect(ended.code).toBe(3);
		expect(lastLine(ended.err)).toBe(
			`nats: port ${port} is taken on 127.0.0.1. Stop what listens there, or remove port from the scenario to use a free one.`,
		);
		expect(existsSync(out)).toBe(false);
	});

	test("that is taken spoils its own system only", { tags: "long" }, async () => {
		const { port } = await listening();
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(
			folder,
			{},
			{ system: "", systems: `{ taken: { broker: nats, port: ${port} }, free: { broker: nats } }` },
		);
		writeFileSync(file, readFileSync(file, "utf8").replace("system: \n", ""));
		const ended = await run([file, "--out", out]);
		expect(ended.code).toBe(3);
		const { runs } = resultOf(out);
		expect(runs.map((r) => `${r.system} ${r.verdict}`).sort()).toEqual([
			"free pass",
			"taken error",
		]);
		expect(runs.find((r) => r.system === "taken")?.why).toContain(`port ${port} is taken`);
	});

	test("at which nothing listens is named, with exit 3", { tags: "long" }, async () => {
		const { port, server } = await listening();
		await new Promise((resolve) => server.close(resolve));
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const url = `nats://127.0.0.1:${port}`;
		const ended = await run([scenario(folder), "--out", out, "--url", url]);
		expect(ended.code).toBe(3);
		expect(lastLine(ended.err)).toBe(
			`nats: nothing answers at 127.0.0.1:${port} (connection refused). Start the broker there, or correct the url.`,
		);
		expect(existsSync(out)).toBe(false);
	});

	test("at which something else listens ends the run with exit 3", { tags: "long" }, async () => {
		// It takes connections, says what no NATS server says, and hangs up.
		const { port } = await listening((socket) => socket.end("HTTP/1.1 400\r\n"));
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const url = `nats://127.0.0.1:${port}`;
		const ended = await run([scenario(folder), "--out", out, "--url", url]);
		expect(ended.code).toBe(3);
		expect(ended.err).toMatch(/k6 ended with/);
		expect(resultOf(out).verdict).toBe("error");
		// Nothing of mqbench's own: no log of a broker that it has not started.
		expect(ended.out.replaceAll(/\s+/g, " ")).toContain(
			`What to do: correct the port of the url: what answers at 127.0.0.1:${port} is not NATS`,
		);
		expect(ended.out).not.toContain("broker.log");
	});
});

describe("the folder for the results", () => {
	test("that exists is never written into", async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		mkdirSync(out);
		const ended = await run([scenario(folder), "--out", out]);
		expect(ended.code).toBe(2);
		expect(ended.err).toMatch(/^\S+out: already exists/);
		expect(readdirSync(out)).toEqual([]);
	});

	test("below a file is refused", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		const file = scenario(folder);
		const ended = await run([file, "--out", path.join(file, "out")]);
		expect(ended.code).toBe(3);
		expect(ended.err).toMatch(/results cannot be written there \(a part of the path is a file\)/);
	});

	test("that is read-only is refused", { tags: "long" }, async (context) => {
		const folder = temporaryFolder();
		const disk = mount(context, folder, "ro,size=64k");
		const out = path.join(disk, "out");
		const ended = await run([scenario(folder), "--out", out]);
		expect(ended.code).toBe(3);
		expect(ended.err).toMatch(/\(the file system is read-only\)/);
	});

	test("on a full disk is refused, and nothing half-written is left", async (context) => {
		const folder = temporaryFolder();
		const disk = mount(context, folder, "size=4k");
		const out = path.join(disk, "out");
		const ended = await run([scenario(folder), "--out", out]);
		expect(ended.code).toBe(3);
		expect(ended.err).toMatch(/\(the disk is full\)/);
		expect(readdirSync(disk)).toEqual([]);
	});

	test("on a disk that fills up in mid-run: the run ends with exit 3 and says why", {
		tags: "long",
	}, async (context) => {
		const folder = temporaryFolder();
		const disk = mount(context, folder, "size=3m");
		const out = path.join(disk, "out");
		const mqbench = start([scenario(folder, { duration: "3s" }), "--out", out]);
		await mqbench.says(/ {2}1s\/3s/);
		const ballast = path.join(disk, "ballast");
		fill(ballast);
		const ended = await mqbench.ended;
		expect(ended.code).toBe(3);
		expect(ended.err).toMatch(/the disk is full|no space left on device/);
		expect(ended.err).not.toMatch(/^ +at /m);
		expect(filesOf(out).join()).toMatch(/client-0\.jsonl/);
		expect(lastLine(ended.err)).toMatch(
			/, so this run is lost\. .*: npx mqbench .*--resume \S+out$/,
		);
		// What had been written is not lost: with room again it can be looked at.
		rmSync(ballast);
		expect((await run(["report", out])).code).toBe(3);
		expect(resultOf(out).verdict).toBe("error");
	});

	test("stdout that cannot be written is an error, though the results are kept", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const line = `"$0" "$1" "$2" --out "$3" --json > /dev/full`;
		const { status, stderr } = shell(line, [scenario(folder), out]);
		expect(status).toBe(3);
		expect(stderr).toContain("The output cannot be written (the disk is full)");
		expect(resultOf(out).verdict).toBe("pass");
	});

	test("a reader of stdout that goes away changes nothing", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const line = `"$0" "$1" "$2" --out "$3" --json 2>/dev/null | head -n 1; exit "\${PIPESTATUS[0]}"`;
		const { status, stdout } = shell(line, [scenario(folder), out]);
		expect({ status, stdout }).toEqual({ status: 0, stdout: "{\n" });
		expect(resultOf(out).verdict).toBe("pass");
	});
});

describe("the environment", () => {
	test("K6_* variables change nothing", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const elsewhere = path.join(folder, "samples.json");
		const ended = await run([scenario(folder), "--out", out], {
			env: {
				K6_VUS: "50",
				K6_ITERATIONS: "1",
				K6_DURATION: "1s",
				K6_OUT: `json=${elsewhere}`,
				K6_CONFIG: "/nowhere",
				K6_THROW: "true",
				GOMAXPROCS: "1",
			},
		});
		expect(ended.code).toBe(0);
		expect(resultOf(out).runs[0]).toMatchObject({ sent: 500, notOffered: 0 });
		expect(existsSync(elsewhere)).toBe(false);
	});

	test("a k6 without our extension is refused", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		const k6 = script(path.join(folder, "k6"), "echo k6 v2.1.0");
		const out = path.join(folder, "out");
		const ended = await run([scenario(folder), "--out", out], { env: { MQBENCH_K6: k6 } });
		expect(ended.code).toBe(3);
		expect(ended.err).toBe(
			`MQBENCH_K6=${k6} cannot be used: it was built without the extension k6/x/mqbench. Unset MQBENCH_K6 to have mqbench build its own, or build that one as extensions/README.md says\n`,
		);
		expect(existsSync(out)).toBe(false);
	});

	test("a cache folder that forbids programs is refused", { tags: "long" }, async (context) => {
		const folder = temporaryFolder();
		const cache = mount(context, folder, "noexec,size=256m");
		const ended = await run([scenario(folder)], { cwd: folder, env: { MQBENCH_CACHE_DIR: cache } });
		expect(ended.code).toBe(3);
		expect(ended.err).toContain("programs may not be executed there");
		expect(readdirSync(path.join(cache, "bin"))).toEqual([]);
	});

	test("without Go and without a cache there is one message, and exit 3", async () => {
		const folder = temporaryFolder();
		const ended = await run([scenario(folder)], {
			cwd: folder,
			env: { MQBENCH_CACHE_DIR: path.join(folder, "cache"), PATH: "/nowhere" },
		});
		expect(ended.code).toBe(3);
		expect(ended.err).toMatch(/There is no Go on PATH/);
		expect(ended.err).not.toMatch(/^ +at /m);
	});
});

describe("what others write reaches the terminal as letters", () => {
	const EVIL = "\u001b[2J\u001b]0;gone\u0007\rPASS \u202e";
	const rows: Readonly<Record<string, (folder: string) => string[]>> = {
		"a key of rig.json": (folder) => {
			const rig = path.join(folder, "rig.json");
			writeFileSync(rig, JSON.stringify({ [EVIL]: 1 }));
			return [scenario(folder), "--rig", rig];
		},
		"a driver of OpenMessaging Benchmark": (folder) => {
			const files = ["workload.yaml", "driver.yaml"].map((name) => path.join(folder, name));
			for (const file of files) writeFileSync(file, JSON.stringify({ driverClass: EVIL }));
			return ["import", "omb", ...files];
		},
		"the last words of a broker": (folder) => {
			const said = path.join(folder, "said");
			writeFileSync(said, `fatal: ${EVIL}\n`);
			const binary = script(
				path.join(folder, "nats-server"),
				`[ "$1" = --version ] && echo "nats-server: v2.11.0" && exit; cat ${said} >&2; exit 1`,
			);
			const system = JSON.stringify({ broker: "nats", binary });
			return [scenario(folder, {}, { system })];
		},
		"the complaint of ssh": (folder) => {
			const said = path.join(folder, "said");
			writeFileSync(said, `ssh: ${EVIL}\n`);
			script(path.join(folder, "ssh"), `cat ${said} >&2; exit 255`);
			const file = scenario(folder, {}, { target: "existing", clients: "[h1]" });
			return [file, "--url", "nats://127.0.0.1:1"];
		},
	};
	test.each(Object.entries(rows))("%s", async (_, make) => {
		const folder = temporaryFolder();
		const args = make(folder);
		const ended = await run(args, {
			env: { PATH: `${folder}:${process.env.PATH}`, FORCE_COLOR: "1" },
		});
		expect(ended.code).not.toBe(0);
		expect(ended.err).toContain("PASS");
		expect(ended.out + ended.err).not.toMatch(
			// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what may not be there.
			/[\u0007\r\u202e]|\u001b(?!\[\d+m)/,
		);
	});
});

// --- internal ---

/** A server on a free loopback port. It is closed when the test is over. */
async function listening(
	greet: (socket: Socket) => void = () => {},
): Promise<{ port: number; server: Server }> {
	const server = createServer((socket) => {
		socket.on("error", () => {});
		greet(socket);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
	onTestFinished(() => void server.close());
	const address = server.address();
	if (typeof address !== "object" || !address) throw new Error("no port");
	return { port: address.port, server };
}

/** A small disk, gone when the test is over. Needs root; only where CI is not set is a test skipped for want of it. */
function mount(context: { skip(note: string): void }, folder: string, options: string): string {
	const disk = path.join(folder, "disk");
	mkdirSync(disk);
	try {
		execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk], { stdio: "pipe" });
	} catch (error) {
		if (process.env.CI) throw error;
		context.skip("a small disk can be mounted by root only");
	}
	onTestFinished(() => void execFileSync("umount", ["-l", disk]));
	return disk;
}

/** Writes until the disk is full. */
function fill(file: string): void {
	for (let size = 64 * 1024; size >= 1; size = Math.floor(size / 2))
		try {
			for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
		} catch {
			// The next smaller piece may still fit.
		}
}

function lastLine(text: string): string {
	return text.trimEnd().split("\n").at(-1) ?? "";
}
