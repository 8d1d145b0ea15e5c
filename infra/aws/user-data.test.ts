import { spawn, spawnSync } from "node:child_process";
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { once } from "../../runner/once.ts";
import { findOnPath } from "../local/program.ts";
import { testFolder } from "../test-folder.fake.ts";
import { USER_DATA_LIMIT, type UserData, userData, withHostKey } from "./user-data.ts";

const BROKER: UserData = {
	ttlMinutes: 120,
	role: "broker",
	packages: ["redis-server"],
	user: "admin",
	volume: false,
};
const CLIENT: UserData = { ...BROKER, role: "client", packages: [] };

describe("the text", () => {
	test("arms the end of the machine's time before anything else", () => {
		const [first, second] = userData({ ...BROKER, ttlMinutes: 61 }).split("\n");
		expect(first).toBe("#!/bin/bash");
		expect(second).toMatch(/^shutdown -h \+61 \|\| /);
		// Should that not work: the same time.
		expect(second).toContain("sleep 3660 && poweroff");
	});

	test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
		"refuses to end a machine after %s minutes",
		(ttlMinutes) => {
			expect(() => userData({ ...BROKER, ttlMinutes })).toThrow(
				`ttlMinutes must be a whole number of minutes, got ${ttlMinutes}`,
			);
		},
	);

	test("has the host key beside it where one was made, small enough for EC2, in parts that cloud-init takes apart", () => {
		const script = userData({ ...BROKER, packages: Array(20).fill("x".repeat(20)) });
		const key = {
			private: `-----BEGIN OPENSSH PRIVATE KEY-----\n${"A".repeat(400)}\n-----END OPENSSH PRIVATE KEY-----\n`,
			public: "ssh-ed25519 AAAA mqbench-x",
		};
		const text = withHostKey(script, key);
		expect(Buffer.byteLength(text)).toBeLessThan(USER_DATA_LIMIT);
		const [, boundary = ""] = /; boundary="(.+)"$/m.exec(text) ?? [];
		const [head, config = "", main = "", end] = text.split(`--${boundary}`);
		expect(head).toBe(
			`MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${boundary}"\n\n`,
		);
		expect(end).toBe("--\n");
		const [, type, body = ""] = /^\nContent-Type: text\/(\S+);.*\n\n(.*)\n$/.exec(config) ?? [];
		expect(type).toBe("cloud-config");
		expect(JSON.parse(body)).toEqual({
			ssh_deletekeys: true,
			ssh_keys: { ed25519_private: key.private, ed25519_public: key.public },
		});
		expect(main).toBe(`\nContent-Type: text/x-shellscript; charset="us-ascii"\n\n${script}\n`);
		// The charset that the parts name.
		expect(text).toMatch(/^[\n\t -~]+$/);
	});

	test("is the same for the same machine, and a script that bash can read", () => {
		const text = userData(BROKER);
		expect(userData({ ...BROKER })).toBe(text);
		expect(userData(CLIENT)).not.toBe(text);
		const read = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
		expect(read).toMatchObject({ status: 0, stderr: "" });
	});
});

describe.skipIf(process.platform !== "linux")("the steps", () => {
	test("run in order, to ready", async () => {
		const { code, state, steps, calls } = await whole();
		expect(state).toBe("ready");
		expect(code).toBe(0);
		expect(steps.join(" ")).toBe(
			"ttl user quiet disk packages engine store tuning limits clock facts",
		);
		expect(calls[0]).toBe("shutdown [-h] [+120]");
	});

	test.each([
		[
			"packages",
			"the mirror does not answer, after six tries",
			{
				"apt-get":
					'case "$*" in *update) echo "E: try $(grep -c "update.$" "$CALLS")" >&2; exit 100 ;; esac',
			},
			/^E: try 6$/,
		],
		[
			"store",
			"the disk cannot be formatted",
			{ "mkfs.xfs": "printf 'bad\\tblock\\n\\n' >&2; exit 1" },
			/^bad block$/,
		],
		["store", "a program says nothing", { mount: "exit 32" }, /^exit code 32$/],
		["limits", "nobody can log in any more", { su: "exit 1" }, /^admin cannot log in any more: /],
	] as const)(
		"end with %s when %s, and nothing runs after it",
		async (step, _, programs, words) => {
			const { code, state, steps, facts } = await setUp(BROKER, { programs });
			const [, named, said] = /^failed: (\w+): (.*)$/.exec(state) ?? [];
			expect(named, state).toBe(step);
			expect(said).toMatch(words);
			expect(code).toBe(1);
			expect(steps.at(-1)).toBe(step);
			expect(facts).toBeNull();
		},
	);

	test("do not look as if they went on when somebody ends the script", async () => {
		const { state } = await setUp(BROKER, {
			programs: { "mkfs.xfs": 'kill "$(cat "$MQBENCH_ROOT/pid")"' },
		});
		expect(state).toBe("failed: store: the set-up was ended from outside");
	});

	test("take every input as it is, whatever it means to a shell", async () => {
		const odd = `o'd"d $(touch "$MQBENCH_ROOT/evil") \`x\` ; & \\ *`;
		const { state, calls, file } = await setUp({
			...BROKER,
			user: odd,
			packages: [odd, "--odd two"],
		});
		expect(state).toBe("ready");
		expect(calls).toContain(`id [${odd}]`);
		expect(calls.find((call) => /^apt-get .*\[install\] \[-y\]/.test(call))).toContain(
			`[${odd}] [--odd two] [chrony] [ethtool] [xfsprogs]`,
		);
		expect(file("evil")).toBeNull();
	});

	test("do not begin without somebody who ends the machine, should shutdown not work", async () => {
		const { state, calls } = await setUp(CLIENT, { programs: { shutdown: "exit 1" } });
		expect(state).toBe("ready");
		expect(calls.filter((call) => /^(sleep|poweroff) /.test(call))).toEqual([
			"sleep [7200]",
			"poweroff [--force]",
		]);
	});

	test("hush what would wake up in mid-run", async () => {
		const { calls } = await whole();
		expect(calls).toContain("systemctl [mask] [apt-daily-upgrade.timer]");
		// What a timer has started before runs on without it.
		for (const unit of ["apt-daily", "apt-daily-upgrade"]) {
			const stopped = calls.indexOf(`systemctl [stop] [${unit}.service]`);
			expect(stopped, unit).toBeGreaterThan(calls.indexOf(`systemctl [stop] [${unit}.timer]`));
			expect(calls).toContain(`systemctl [mask] [${unit}.service]`);
		}
	});
});

describe.skipIf(process.platform !== "linux")("the end of its time", () => {
	const UNIT = "etc/systemd/system/mqbench-ttl.service";
	const PROGRAM = "usr/local/sbin/mqbench-ttl";
	/** What the service is started with: boot, seconds, deadline. */
	const armed = (unit: string | null) =>
		/^ExecStart=\/bin\/sh \/usr\/local\/sbin\/mqbench-ttl (\S+) (\d+) (\d+)$/m
			.exec(unit ?? "")
			?.slice(1) ?? [];

	test("comes also after a kernel panic: the machine starts anew, now and at each boot", async () => {
		const { file } = await whole();
		expect(file("proc/sys/kernel/panic")).toBe("10\n");
		expect(file("etc/sysctl.d/80-mqbench-ttl.conf")).toBe("kernel.panic = 10\n");
	});

	test("is on the disk as a moment before anything else is done, and armed at each boot, whatever else fails in it", async () => {
		const { file, calls } = await setUp(BROKER, { programs: { id: "exit 1" } });
		const unit = file(UNIT);
		const [boot, seconds, deadline] = armed(unit);
		expect([boot, seconds]).toEqual(["boot-1", "7200"]);
		// The machine of these tests is up for 20 s.
		const left = Number(deadline) - Date.now() / 1000;
		expect(left).toBeGreaterThan(7_100);
		expect(left).toBeLessThanOrEqual(7_180);
		expect(calls).toContain("systemctl [enable] [--now] [mqbench-ttl.service]");
		expect(calls.indexOf("sync")).toBeGreaterThan(0);
		for (const line of [
			"WantedBy=sysinit.target",
			"DefaultDependencies=no",
			"IgnoreOnIsolate=yes",
			"Restart=always",
			"OOMScoreAdjust=-1000",
		])
			expect(unit).toContain(`\n${line}\n`);
	});

	test("is the service's alone once that runs: shutdown goes by a clock that may be set", async () => {
		const { calls } = await whole();
		expect(calls.filter((call) => call.startsWith("shutdown "))).toEqual([
			"shutdown [-h] [+120]",
			"shutdown [-c]",
		]);
		const without = await setUp(BROKER, {
			programs: { systemctl: 'case "$1" in is-active) exit 3 ;; esac' },
		});
		expect(without.calls).not.toContain("shutdown [-c]");
	});

	test("is written anew when chrony has set the clock", async () => {
		const { file } = await setUp(CLIENT, {
			programs: {
				date: `case "$*" in +%s) cat "$MQBENCH_ROOT/day" ;; *) echo then ;; esac`,
				systemctl: `case "$*" in "restart chrony") echo 1800000000 >"$MQBENCH_ROOT/day" ;; esac`,
			},
			files: { day: "1000000000\n" },
		});
		expect(armed(file(UNIT))).toEqual(["boot-1", "7200", "1800007180"]);
	});

	const DAY = 86_400;
	const DEADLINE = 1_800_007_200;
	/** A boot, what the clock shows when it begins, and by how much it is set after how many seconds; then: how long the machine is up. */
	const rows: [string, string, number, [number, number] | null, number][] = [
		["in time", "boot-1", DEADLINE - 7200, null, 7200],
		["in time, the clock set back", "boot-1", DEADLINE, [90, -DAY], 7200],
		["in time, the clock set forward", "boot-1", DEADLINE, [90, DAY], 7200],
		["at the moment kept", "boot-2", DEADLINE - 4200, null, 4200],
		["at once, were it off until then", "boot-2", DEADLINE + 9, null, 20],
		["at once, the clock far ahead", "boot-2", DEADLINE + DAY, null, 20],
		["no later than its time, the clock behind", "boot-2", 9, null, 7200],
		["within a minute of a clock that is put right", "boot-2", DEADLINE - DAY, [600, DAY], 600],
	];
	/** Whose set-up has failed: its time is armed all the same. */
	const failed = once(() => setUp(CLIENT, { programs: { id: "exit 1" } }, kept()));
	test.each(rows)("comes %s (%s)", async (_, boot, day, jump, upSeconds) => {
		const root = path.join(testFolder(), "machine");
		cpSync((await failed()).root, root, { recursive: true, verbatimSymlinks: true });
		for (const [name, text] of Object.entries({
			"proc/sys/kernel/random/boot_id": boot,
			"proc/uptime": "20.00 1.00",
			// As the clock shows it 20 s after the boot.
			day: String(day + 20),
			jump: jump === null ? "" : jump.join(" "),
		}))
			writeFileSync(path.join(root, name), `${text}\n`);
		// A folder of its own: names in bin lead to this machine's programs.
		const clock = path.join(root, "made-up-clock");
		mkdirSync(clock);
		for (const [name, body] of Object.entries(MADE_UP_CLOCK))
			writeFileSync(path.join(clock, name), `#!/bin/sh\n${body}\n`, { mode: 0o755, flag: "wx" });
		const { status, stderr } = spawnSync(
			"/bin/sh",
			[path.join(root, PROGRAM), "boot-1", "7200", String(DEADLINE)],
			{ env: { MQBENCH_ROOT: root, PATH: `${clock}:${path.join(root, "bin")}` }, encoding: "utf8" },
		);
		expect([status, stderr]).toEqual([0, ""]);
		const said = readFileSync(path.join(root, "ended"), "utf8");
		const [[ended = "", how = ""] = [], [forced = "", force = ""] = []] = said
			.split("\n")
			.map((line) => line.split(": "));
		expect(how).toBe("systemctl poweroff");
		expect(Number(ended)).toBeGreaterThanOrEqual(upSeconds);
		expect(Number(ended)).toBeLessThanOrEqual(upSeconds + 60);
		if (boot === "boot-1") expect(Number(ended)).toBe(upSeconds);
		// What keeps the machine up does so for five minutes.
		expect(force).toBe("poweroff --force --force");
		expect(Number(forced) - Number(ended)).toBe(300);
	});
});

describe.skipIf(process.platform !== "linux")("the disk", () => {
	const NVME = "nvme-Amazon_EC2_NVMe_Instance_Storage_AWS1";
	const VOLUME = "nvme-Amazon_Elastic_Block_Store_vol0a";
	const formatted = (calls: readonly string[]) =>
		calls.filter((call) => call.startsWith("mkfs.xfs "));

	test("is the machine's own NVMe, by whatever names it has, and belongs to the user alone", async () => {
		const { calls, facts, file, root } = await setUp(BROKER, {
			disks: { nvme0n1: "dos", nvme1n1: "" },
			links: {
				[`${VOLUME}`]: "nvme0n1",
				[NVME]: "nvme1n1",
				[`${NVME}_1`]: "nvme1n1",
				[`${NVME}-part1`]: "nvme0n1",
			},
		});
		expect(formatted(calls)).toEqual([`mkfs.xfs [-q] [${root}/dev/nvme1n1]`]);
		expect(calls).toContain(
			`mount [-t] [xfs] [-o] [noatime] [${root}/dev/nvme1n1] [${root}/var/lib/mqbench/store]`,
		);
		expect(calls).toContain(`chown [admin:] [${root}/var/lib/mqbench/store]`);
		expect(file("etc/fstab")).toBe(
			`UUID=0-1-2 ${root}/var/lib/mqbench/store xfs noatime,nofail 0 0\n`,
		);
		expect(facts?.disk).toEqual({
			device: "/dev/nvme1n1",
			model: "Amazon EC2 NVMe Instance Storage",
			bytes: 937500000000,
			fs: "xfs",
			disks: ["nvme1n1"],
		});
		expect(calls.join()).not.toContain("mdadm");
		expect(facts?.remarks).toEqual([]);
	});

	test("is all of the machine's own that are empty, joined as RAID 0, which the facts say", async () => {
		const { calls, facts, state, root } = await setUp(BROKER, {
			disks: { nvme10n1: "", nvme2n1: "", nvme1n1: "ext4" },
			links: { [`${NVME}a`]: "nvme10n1", [`${NVME}b`]: "nvme2n1", [`${NVME}c`]: "nvme1n1" },
		});
		expect(state).toBe("ready");
		expect(calls.find((call) => /^apt-get .*\[-y\]/.test(call))).toContain("[mdadm]");
		expect(calls).toContain(
			`mdadm [--create] [${root}/dev/md0] [--run] [--level=0] [--raid-devices=2] [${root}/dev/nvme2n1] [${root}/dev/nvme10n1]`,
		);
		expect(formatted(calls)).toEqual([`mkfs.xfs [-q] [${root}/dev/md0]`]);
		expect(calls).toContain(
			`mount [-t] [xfs] [-o] [noatime] [${root}/dev/md0] [${root}/var/lib/mqbench/store]`,
		);
		expect(facts?.disk).toMatchObject({ disks: ["nvme2n1", "nvme10n1"] });
	});

	test("is none when one of several has got something on it since they were chosen", async () => {
		const { calls, state, root } = await setUp(BROKER, {
			disks: { nvme1n1: "", nvme2n1: "" },
			links: { [`${NVME}a`]: "nvme1n1", [`${NVME}b`]: "nvme2n1" },
			programs: { "apt-get": 'printf ext4 >"$MQBENCH_ROOT/dev/nvme2n1"' },
		});
		expect(state).toBe(`failed: store: ${root}/dev/nvme2n1 holds ext4: it is not formatted`);
		expect(calls.filter((call) => /^(mdadm|mkfs)/.test(call))).toEqual([]);
	});

	test("is the volume when one was asked for, also when that comes a little later", async () => {
		const { calls, root } = await setUp(
			{ ...BROKER, volume: true },
			{
				disks: { nvme0n1: "gpt", nvme1n1: "", nvme2n1: "" },
				links: { [`${VOLUME}0`]: "nvme0n1", [NVME]: "nvme1n1" },
				programs: { sleep: `ln -sf ../../nvme2n1 "$MQBENCH_ROOT/dev/disk/by-id/${VOLUME}1"` },
			},
		);
		expect(formatted(calls)).toEqual([`mkfs.xfs [-q] [${root}/dev/nvme2n1]`]);
	});

	test.each([
		["has partitions", { nvme1n1: "gpt" }, {}, "holds gpt"],
		[
			"is mounted",
			{ nvme1n1: "" },
			{ lsblk: 'case "$*" in *MOUNTPOINTS*) printf "\\n/srv\\n" ;; esac' },
			"is mounted at /srv",
		],
		["cannot be read", { nvme1n1: "" }, { head: "exit 1" }, "cannot be read"],
		[
			"may be one thing or the other",
			{ nvme1n1: "" },
			{ blkid: "exit 8" },
			"holds what blkid cannot tell",
		],
		[
			"is not known to lsblk",
			{ nvme1n1: "" },
			{ lsblk: "exit 32" },
			"is mounted at a place unknown",
		],
	] as const)("is never one that %s", async (_, disks, programs, words) => {
		const { calls, state, root } = await setUp(BROKER, {
			disks,
			links: { [NVME]: "nvme1n1" },
			programs,
		});
		expect(state).toBe(
			`failed: disk: no empty NVMe of its own (${root}/dev/nvme1n1 ${words}); choose an instance type that has some (i4i, i3en, m6id, ...), or give the brokers a volume`,
		);
		expect(formatted(calls)).toEqual([]);
	});

	test.each([
		[false, /^failed: disk: no empty NVMe of its own \(none at all\)/, 9],
		[true, /^failed: disk: no empty volume is attached \(none at all\)/, 59],
	])(
		"is missed by a broker within a bounded time (volume: %s)",
		{ tags: "long" },
		async (volume, words, sleeps) => {
			const { state, calls } = await setUp({ ...BROKER, volume }, { disks: {}, links: {} });
			expect(state).toMatch(words);
			expect(calls.filter((call) => call === "sleep [1]")).toHaveLength(sleeps);
		},
	);
});

describe.skipIf(process.platform !== "linux")("packages", () => {
	test("keep a policy that was there", async () => {
		const { file } = await setUp(BROKER, { files: { "usr/sbin/policy-rc.d": "theirs" } });
		expect(file("usr/sbin/policy-rc.d")).toBe("theirs");
	});
});

describe.skipIf(process.platform !== "linux")("the container engine", () => {
	const engineCalls = (calls: readonly string[]) =>
		calls.filter((call) => /docker/.test(call) && !/^apt|^dpkg/.test(call));

	test("is started where it was asked for, without bridge and firewall, and is the user's to use", async () => {
		const { state, calls, file } = await setUp(
			{ ...BROKER, packages: ["ca-certificates", "docker.io"] },
			{ programs: { docker: "", usermod: "" } },
		);
		expect(state).toBe("ready");
		expect(JSON.parse(file("etc/docker/daemon.json") ?? "")).toEqual({
			bridge: "none",
			iptables: false,
			"ip-forward": false,
		});
		expect(engineCalls(calls)).toEqual([
			"usermod [-aG] [docker] [admin]",
			"systemctl [enable] [--now] [docker]",
			"docker [version]",
		]);
	});

	test("does not come where nothing needs it", async () => {
		const { calls, file } = await whole();
		expect(file("etc/docker/daemon.json")).toBeNull();
		expect(engineCalls(calls)).toEqual([]);
	});

	test("is a sentence when it does not answer", async () => {
		const { state } = await setUp(
			{ ...BROKER, packages: ["docker.io"] },
			{ programs: { docker: "exit 1", usermod: "" } },
		);
		expect(state).toBe(
			"failed: engine: the Docker engine does not answer; journalctl -u docker says why",
		);
	});
});

describe.skipIf(process.platform !== "linux")("the facts", () => {
	test("are JSON, whatever the values hold", async () => {
		const { facts } = await setUp(BROKER, {
			programs: {
				uname: `printf '6.1"\\\\\\t\\001\\377é\\n2'`,
				"dpkg-query": 'case "$*" in *Version*) printf "1:\\"x\\"\\\\\\\\n" ;; *) echo bash ;; esac',
				lsblk: `case "$*" in *MODEL*) echo '  a "b" ' ;; *SIZE*) echo '' ;; esac`,
			},
		});
		expect(facts?.kernel).toBe('6.1"\\  é 2');
		expect(facts?.packages).toEqual({
			"redis-server": '1:"x"\\n',
			chrony: '1:"x"\\n',
			ethtool: '1:"x"\\n',
			xfsprogs: '1:"x"\\n',
		});
		expect(facts?.disk).toMatchObject({ model: 'a "b"', bytes: null });
	});

	test("say what was set, and what this machine does not let anybody set", async () => {
		const { facts, file } = await setUp(BROKER, {
			files: {
				"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
				"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
				"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
				"proc/sys/vm/swappiness": "60\n",
				"proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t67108864\n",
			},
			programs: { su: "echo 20000" },
		});
		expect(facts).toMatchObject({
			governor: "performance",
			hugePages: "madvise",
			nofile: 20000,
			sysctl: {
				"vm.swappiness": "1",
				"net.ipv4.tcp_rmem": "4096 131072 67108864",
				"net.core.rmem_max": null,
			},
		});
		expect(file("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor")).toBe("performance\n");
		expect(facts?.remarks).toContain("/proc/sys/net/core/rmem_max cannot be set to 67108864 here");
		expect(facts?.remarks).not.toContain("/proc/sys/vm/swappiness cannot be set to 1 here");
		expect(facts?.remarks).toContain("admin may open 20000 files at once, not 1048576");
	});
});

describe.skipIf(process.platform !== "linux")("the clock", () => {
	const tracking = (fields: string) => ({ chronyc: `echo '${fields}'` });
	/** Offset -20 us, root delay 200 us, root dispersion 30 us. */
	const GOOD =
		"A9FEA97B,169.254.169.123,4,1763660000.1,-0.000020000,0.000001,0.000002,-1.5,0.0,0.01,0.000200000,0.000030000,16.0,Normal";

	test("is off by no more than its offset, half the way to its source and back, and what that may be off", async () => {
		const { facts, file } = await setUp(BROKER, { programs: tracking(GOOD) });
		expect(facts?.chrony).toEqual({ source: "169.254.169.123", boundNs: 150_000 });
		expect(file("etc/chrony/conf.d/mqbench.conf")).toBe(
			"server 169.254.169.123 prefer iburst minpoll 4 maxpoll 4\n",
		);
		expect(file("etc/chrony/chrony.conf")).toBe("confdir /etc/chrony/conf.d\n");
	});

	test("is waited for until it is near, and taken as it is when it does not come nearer", {
		tags: "long",
	}, async () => {
		const far = GOOD.replace("0.000030000", "0.030000000");
		const { facts, calls } = await setUp(BROKER, { programs: tracking(far) });
		expect(facts?.chrony).toMatchObject({ boundNs: 30_120_000 });
		expect(calls.filter((call) => call === "sleep [1]")).toHaveLength(59);
	});

	test("is the network card's where that has one", async () => {
		const { file } = await setUp(BROKER, {
			files: {
				"sys/class/ptp/ptp0/clock_name": "KVM virtual PTP\n",
				"sys/class/ptp/ptp1/clock_name": "ena-ptp-05\n",
			},
		});
		expect(file("etc/chrony/conf.d/mqbench.conf")).toContain(
			"\nrefclock PHC /dev/ptp1 poll 0 delay 0.000010 prefer\n",
		);
		expect(file("etc/chrony/conf.d/mqbench.conf")).not.toContain("ptp0");
	});

	test.each([
		["has no source", tracking(GOOD.replace("Normal", "Not synchronised"))],
		["has no daemon", { chronyc: "echo '506 Cannot talk to daemon'; exit 1" }],
	])("that %s is null, with the reason, and no mistake", { tags: "long" }, async (_, programs) => {
		const { facts, state } = await setUp(CLIENT, { programs });
		expect(state).toBe("ready");
		expect(facts?.chrony).toBeNull();
		expect(String(facts?.remarks)).toMatch(/the clock did not synchronise within a minute/);
	});
});

// --- internal ---

/** A folder that is gone after all tests. */
function kept(): string {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-test-"));
	folders.push(folder);
	return folder;
}

const folders: string[] = [];
afterAll(() => {
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Nothing is pretended; several tests look at it. */
const whole = once(() => setUp(BROKER, {}, kept()));

interface Pretended {
	/** What each disk holds, as blkid says it, by its name in /dev; "": nothing. Else one empty NVMe. */
	readonly disks?: Readonly<Record<string, string>>;
	/** Names in /dev/disk/by-id. */
	readonly links?: Readonly<Record<string, string>>;
	/** Files of the machine; else those of SETTABLE. */
	readonly files?: Readonly<Record<string, string>>;
	/** Bodies in sh of programs that do something else than those below. */
	readonly programs?: Readonly<Record<string, string>>;
}

/**
 * Runs user data on a pretended machine: its files are in a folder, and its programs are those of HARMLESS and stand-ins for the others,
 * which write down how they were called. Nothing else is on PATH.
 */
async function setUp(input: UserData, pretended: Pretended = {}, root = testFolder()) {
	const {
		disks = { nvme1n1: "" },
		links = { "nvme-Amazon_EC2_NVMe_Instance_Storage_AWS1": "nvme1n1" },
		files,
		programs = {},
	} = pretended;
	const put = (name: string, text: string, mode = 0o644) => {
		const file = path.join(root, name);
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, text, { mode });
	};
	for (const name of ["etc", "usr/sbin", "dev/disk/by-id"])
		mkdirSync(path.join(root, name), { recursive: true });
	for (const [name, holds] of Object.entries(disks)) put(`dev/${name}`, holds);
	for (const [link, name] of Object.entries(links))
		symlinkSync(`../../${name}`, path.join(root, "dev/disk/by-id", link));
	for (const [name, text] of Object.entries({ ...KERNEL, ...(files ?? SETTABLE) })) put(name, text);
	const all: Record<string, string> = { ...STAND_INS, ...programs };
	for (const [name, body] of Object.entries(all))
		put(
			`bin/${name}`,
			`#!/bin/sh\n{ printf %s ${name}; for a; do printf ' [%s]' "$a"; done; echo; } >>"$CALLS"\n${body}\n`,
			0o755,
		);
	for (const name of HARMLESS) {
		const found = findOnPath(name, process.env);
		if (found === null) throw new Error(`no ${name} here`);
		if (!(name in all)) symlinkSync(found, path.join(root, "bin", name));
	}
	const child = spawn("bash", ["-c", 'echo $$ >"$MQBENCH_ROOT/pid"; exec bash'], {
		env: { MQBENCH_ROOT: root, CALLS: path.join(root, "calls"), PATH: path.join(root, "bin") },
		stdio: ["pipe", "ignore", "pipe"],
	});
	child.stdin.end(userData(input));
	const code = await new Promise<number | null>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", resolve);
	});
	const file = (name: string): string | null =>
		existsSync(path.join(root, name)) ? readFileSync(path.join(root, name), "utf8") : null;
	const facts = file("var/lib/mqbench/facts.json");
	const log = file("var/lib/mqbench/set-up.log") ?? "";
	return {
		root,
		code,
		file,
		log,
		state: (file("var/lib/mqbench/state") ?? "").trimEnd(),
		steps: [...log.matchAll(/^--- (\S+) /gm)].map(([, name]) => name),
		calls: (file("calls") ?? "").split("\n").filter(Boolean),
		facts: facts === null ? null : (JSON.parse(facts) as Record<string, unknown>),
	};
}

/** What these do to a machine stays in the folder. */
const HARMLESS =
	"bash cat chmod comm cp cut date grep head iconv ln mkdir mv paste readlink rm sed awk sh sort tail timeout touch tr uname wc".split(
		" ",
	);

/** What each kernel has. */
const KERNEL = {
	"proc/uptime": "20.51 10.00\n",
	"proc/sys/kernel/panic": "0\n",
	"proc/sys/kernel/random/boot_id": "boot-1\n",
};

/** A clock that goes on while somebody sleeps, and is set once: "<seconds after the boot> <by>" in the file jump. */
const MADE_UP_CLOCK = {
	date: 'cat "$MQBENCH_ROOT/day"',
	sleep: `cd "$MQBENCH_ROOT"
read -r up _ <proc/uptime
up=$((\${up%.*} + $1))
day=$(($(cat day) + $1))
read -r at by <jump
if [ -n "$at" ] && [ "$up" -ge "$at" ]; then day=$((day + by)); echo >jump; fi
echo "$up.00 1.00" >proc/uptime
echo "$day" >day`,
	...Object.fromEntries(
		["systemctl", "poweroff"].map((name) => [
			name,
			`read -r up _ <"$MQBENCH_ROOT/proc/uptime"; echo "\${up%.*}: ${name} $*" >>"$MQBENCH_ROOT/ended"`,
		]),
	),
};

/** What the kernel lets one set. */
const SETTABLE = Object.fromEntries(
	"core/somaxconn core/netdev_max_backlog core/rmem_max core/wmem_max ipv4/tcp_max_syn_backlog ipv4/tcp_rmem ipv4/tcp_wmem ipv4/tcp_slow_start_after_idle"
		.split(" ")
		.map((name) => `net/${name}`)
		.concat("vm/swappiness", "vm/max_map_count", "vm/overcommit_memory")
		.map((name) => [`proc/sys/${name}`, "0\n"]),
);

const STAND_INS: Readonly<Record<string, string>> = {
	shutdown: "",
	poweroff: "",
	systemctl: "",
	sleep: "",
	sync: "",
	"apt-get": "",
	"dpkg-query": 'case "$*" in *Package*) echo bash ;; *) printf 1.0 ;; esac',
	id: "",
	mountpoint: "exit 1",
	chown: "",
	mdadm: ': >"$2"',
	mount: "",
	"mkfs.xfs": 'for device; do :; done; printf xfs >"$device"',
	blkid: `for device; do :; done
case "$*" in *UUID*) echo 0-1-2 ;; *) [ -s "$device" ] || exit 2; cat "$device"; echo ;; esac`,
	lsblk: `case "$*" in *MODEL*) echo '  Amazon EC2 NVMe Instance Storage  ' ;; *SIZE*) echo '937500000000' ;; esac`,
	findmnt: 'case "$*" in *SOURCE*) echo /dev/nvme1n1 ;; *) echo xfs ;; esac',
	ethtool: "",
	su: "echo 1048576",
	chronyc:
		"echo 'A9FEA97B,169.254.169.123,4,1763660000.1,0.000000100,0,0,0,0,0,0.000100000,0.000020000,16.0,Normal'",
};
