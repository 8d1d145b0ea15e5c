import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { packageFolder } from "../../package.ts";
import { displayWidth } from "../../terminal/columns.ts";
import { type Screen, screen } from "../../terminal/screen.fake.ts";
import { flat, scenario, temporaryFolder, type Words } from "./mqbench.ts";

/**
 * Runs a command under a pseudo-terminal; writes what it wrote to argv[1]. After `keys` seconds, if any, Ctrl-C is typed. At the end it says
 * how the command ended, and whether the terminal's settings are what they were.
 */
const PTY = `
import fcntl, json, os, pty, select, signal, struct, sys, termios, time
out, columns, rows, keys = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2): os.dup2(slave, fd)
    os.execvp(sys.argv[5], sys.argv[5:])
said, began, typed, code = b"", time.time(), keys == 0, None
while code is None or select.select([master], [], [], 0)[0]:
    if select.select([master], [], [], 0.05)[0]: said += os.read(master, 65536)
    if not typed and b" left" in said and time.time() - began > keys:
        os.write(master, b"\\x03")
        typed = True
    if code is None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended: code = os.waitstatus_to_exitcode(status)
    if time.time() - began > 45: os.kill(pid, signal.SIGKILL)
open(out, "wb").write(said)
print(json.dumps({"code": code, "same": termios.tcgetattr(slave) == before}))
`;

const hasPython =
	process.platform !== "win32" && spawnSync("python3", ["-c", "import pty"]).status === 0;

/** A run on a terminal of so many columns, to its end. */
function onTerminal(
	workload: Words,
	{ columns = 80, interruptAfter = 0 } = {},
): Screen & { code: number; same: boolean; folder: string } {
	const folder = temporaryFolder();
	const [pty, out] = [path.join(folder, "terminal.py"), path.join(folder, "said")];
	writeFileSync(pty, PTY);
	const file = scenario(folder, workload);
	const terminal = [pty, out, `${columns}`, "40", `${interruptAfter}`];
	const cli = path.join(packageFolder, "dist/runner/cli.js");
	const ended = spawnSync(
		"python3",
		[...terminal, process.execPath, cli, file, "--no-floor", "--out", path.join(folder, "out")],
		{ encoding: "utf8", env: { ...process.env, TERM: "xterm", LANG: "C.UTF-8", NO_COLOR: "1" } },
	);
	if (ended.status !== 0) throw new Error(ended.stderr);
	return { ...JSON.parse(ended.stdout), ...screen(readFileSync(out, "utf8")), folder };
}

// Never silently, and never where it counts.
const skipped = !hasPython && process.env.CI !== "true";

describe.skipIf(skipped)("on a real terminal (needs python3)", () => {
	test("there is a python3 to make one", () => {
		expect(hasPython, "CI needs it").toBe(true);
	});

	test("a run is rewritten in place, and leaves its report and a clean screen", () => {
		const columns = 40;
		const all = onTerminal({ duration: "3s", warmup: "1s" }, { columns });
		expect(all).toMatchObject({ code: 0, same: true, visible: true });
		expect(all.unknown).toEqual([]);
		const live = all.frames.filter((lines) =>
			lines.some((line) => /measuring, \d+s left/.test(line)),
		);
		expect(live.length).toBeGreaterThanOrEqual(3);
		// A path is never broken: it could not be opened any more.
		for (const lines of [...all.frames, all.lines])
			for (const line of lines)
				if (!line.includes(all.folder)) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
		const left = all.lines.join("\n");
		expect(left).not.toContain("s left");
		expect(flat(left)).toMatch(/response of 1 500 messages: p50 /);
		expect(left).toMatch(/every SLA is met/i);
		expect(all.lines.at(-1)).toBe("");
	});

	test("Ctrl-C in mid-run leaves a usable terminal", { tags: "long" }, () => {
		const all = onTerminal({ duration: "30s" }, { interruptAfter: 2 });
		expect(all).toMatchObject({ code: 130, same: true, visible: true });
		expect(all.unknown).toEqual([]);
		const left = all.lines.join("\n");
		expect(left).not.toContain("s left");
		expect(left).toMatch(/INTERRUPTED/);
		expect(all.cursor).toEqual({ row: all.lines.length - 1, column: 0 });
	});
});
