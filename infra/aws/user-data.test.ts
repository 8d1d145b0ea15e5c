import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findOnPath } from "../local/program.ts";
import { testFolder } from "../test-folder.fake.ts";
import { type UserData, userData, withHostKey } from "./user-data.ts";

const BROKER: UserData = {
	ttlMinutes: 120,
	role: "broker",
	packages: ["redis-server"],
	user: "admin",
	volume: false,
};
/** With a system in containers. */
const IMAGES: UserData = { ...BROKER, packages: ["redis-server", "docker.io"] };
const CLIENT: UserData = { ...BROKER, role: "client", packages: [] };

describe("the text", () => {
	test("is a script that bash can read, which arms the machine's end before anything else", () => {
		const text = userData({ ...BROKER, ttlMinutes: 61 });
		expect(text).toMatch(
			/^#!\/bin\/bash\nshutdown -h \+61 \|\| .*sleep 3660 && poweroff --force.*\n/,
		);
		const read = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
		expect(read).toMatchObject({ status: 0, stderr: "" });
	});

	test("has the host key beside it, small enough for EC2, in parts that cloud-init takes apart", () => {
		const script = userData({ ...BROKER, packages: Array(20).fill("x".repeat(20)) });
		const key = {
			private: `-----BEGIN OPENSSH PRIVATE KEY-----\n${"A".repeat(400)}\n-----END OPENSSH PRIVATE KEY-----\n`,
			public: "ssh-ed25519 AAAA mqbench-x",
		};
		const text = withHostKey(script, key);
		expect(Buffer.byteLength(text)).toBeLessThan(16_384);
		const [head, config = "", main, end] = text.split("--==mqbench==");
		expect(head).toBe(
			'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="==mqbench=="\n\n',
		);
		const [, type, body = ""] = /^\nContent-Type: text\/(\S+);.*\n\n(.*)\n$/.exec(config) ?? [];
		expect(type).toBe("cloud-config");
		expect(JSON.parse(body)).toEqual({
			ssh_deletekeys: true,
			ssh_keys: { ed25519_private: key.private, ed25519_public: key.public },
		});
		expect(main).toBe(`\nContent-Type: text/x-shellscript; charset="us-ascii"\n\n${script}\n`);
		expect(end).toBe("--\n");
		// The charset that the parts name.
		expect(text).toMatch(/^[\n\t -~]+$/);
	});
});

describe.skipIf(process.platform !== "linux")("the steps", () => {
	test("run in order, to ready, and the facts say what is there", async () => {
		const { code, state, steps, calls, facts, file, root } = await setUp(IMAGES);
		expect([code, state]).toEqual([0, "ready"]);
		expect(steps.join(" ")).toBe("ttl quiet packages engine store tuning limits clock facts");
		expect(calls[0]).toBe("shutdown [-h] [+120]");
		expect(facts).toEqual({
			governor: "performance",
			disk: { model: "Amazon EC2 NVMe Instance Storage", fs: "xfs", disks: ["nvme1n1"] },
			remarks: [],
		});
		expect(calls).toContain(
			`mount [-t] [xfs] [-o] [noatime] [${root}/dev/nvme1n1] [${root}/var/lib/mqbench/store]`,
		);
		expect(calls).toContain(`chown [admin:] [${root}/var/lib/mqbench/store]`);
		expect(file("proc/sys/vm/swappiness")).toBe("1\n");
		expect(file("etc/security/limits.d/90-mqbench.conf")).toMatch(/^admin - nofile \d+\nroot - /);
		expect(file("etc/chrony/conf.d/mqbench.conf")).toMatch(/^server 169\.254\.169\.123 /);
		// What a timer has started before goes, too.
		for (const what of ["stop", "mask"])
			expect(calls.find((call) => call.startsWith(`systemctl [${what}]`))).toContain(
				"[apt-daily-upgrade.timer] [apt-daily.service] [apt-daily-upgrade.service]",
			);
		expect(calls.find((call) => /^apt-get .*\[-y\]/.test(call))).toMatch(
			/ \[redis-server\] \[docker.io\] \[chrony\] \[ethtool\] \[xfsprogs\]$/,
		);
		expect(calls).toEqual(
			expect.arrayContaining(["usermod [-aG] [docker] [admin]", "systemctl [restart] [docker]"]),
		);
		expect(file("etc/docker/daemon.json")).toBe(
			'{"bridge": "none", "iptables": false, "ip-forward": false}\n',
		);
		// Packages may start their servers again.
		expect(file("usr/sbin/policy-rc.d")).toBeNull();
	});

	const ENDED = 'kill "$(cat "$MQBENCH_ROOT/pid")"';
	test.each<[string, string, Record<string, string>, string]>([
		["packages", "a mirror is mute", { "apt-get": 'grep -c update "$CALLS"; exit 100' }, "6"],
		["store", "a disk is bad", { "mkfs.xfs": "printf 'bad\\tblock\\n\\n'; exit 1" }, "bad block"],
		["store", "a program says nothing", { mount: "exit 32" }, "exit code 32"],
		["engine", "Docker is mute", { docker: "exit 1" }, "the Docker engine does not answer; "],
		["store", "somebody ends them", { "mkfs.xfs": ENDED }, "ended from outside"],
	])("end with %s when %s, with the last words", async (step, _, programs, words) => {
		const { state, steps, facts } = await setUp(IMAGES, { programs });
		expect(state).toContain(`failed: ${step}: ${words}`);
		expect(steps.at(-1)).toBe(step);
		expect(facts).toBeNull();
	});

	test("take every input as it is, whatever it means to a shell", async () => {
		const odd = `o'd"d $(touch "$MQBENCH_ROOT/evil") \`x\` ; & \\ *`;
		const input = { ...BROKER, user: odd, packages: [odd, "--odd two"] };
		const { state, calls, file, root } = await setUp(input);
		expect(state).toBe("ready");
		expect(calls).toContain(`chown [${odd}:] [${root}/var/lib/mqbench/store]`);
		expect(calls.find((call) => /^apt-get .*\[-y\]/.test(call))).toContain(
			`[${odd}] [--odd two] [chrony]`,
		);
		expect(file("evil")).toBeNull();
	});

	test("say what this machine does not let anybody set, and that its clock is alone, as JSON", async () => {
		const { facts, state } = await setUp(BROKER, {
			settable: false,
			programs: { chronyc: "exit 1", lsblk: `printf 'a "b"\\\\\\t\\001\\377'` },
		});
		expect(state).toBe("ready");
		expect(facts).toMatchObject({ governor: "", disk: { model: "a b" } });
		expect(facts?.remarks).toContain("/proc/sys/net/core/rmem_max cannot be set to 67108864 here");
		expect(facts?.remarks).toContain(
			"the clock did not synchronise within a minute: times between machines mean nothing",
		);
	});
});

describe.skipIf(process.platform !== "linux")("the end of its time", () => {
	test("is on the disk and armed at each boot, a kernel panic's too, before anything else is done", async () => {
		const { file, calls } = await setUp(BROKER, { programs: { "apt-get": "exit 1" } });
		expect(file("proc/sys/kernel/panic")).toBe("10\n");
		expect(file("etc/sysctl.d/80-mqbench-ttl.conf")).toBe("kernel.panic = 10\n");
		expect(file("var/lib/mqbench/minutes-left")).toBe("120\n");
		for (const line of [
			"ExecStart=/bin/sh /usr/local/sbin/mqbench-ttl",
			"WantedBy=sysinit.target",
			"DefaultDependencies=no",
			"IgnoreOnIsolate=yes",
			"Restart=always",
			"OOMScoreAdjust=-1000",
		])
			expect(file("etc/systemd/system/mqbench-ttl.service")).toContain(`\n${line}\n`);
		expect(calls.slice(0, 6)).toEqual([
			"shutdown [-h] [+120]",
			"systemctl [daemon-reload]",
			"systemctl [enable] [--now] [mqbench-ttl.service]",
			"sync",
			"systemctl [is-active] [--quiet] [mqbench-ttl.service]",
			// It goes by a clock that may be set.
			"shutdown [-c]",
		]);
	});

	test("stays with shutdown where the service does not run, and with a process where shutdown does not work", async () => {
		const { calls } = await setUp(CLIENT, {
			programs: { shutdown: "exit 1", systemctl: 'case "$1" in is-active) exit 3 ;; esac' },
		});
		expect(calls.filter((call) => /^(shutdown|sleep|poweroff) /.test(call)).sort()).toEqual([
			"poweroff [--force]",
			"shutdown [-h] [+120]",
			"sleep [7200]",
		]);
	});

	/** What is on the disk when the service starts, and what becomes of it until it powers the machine off. */
	test.each([
		["after its minutes", "3\n", "", ["2", "1", "0"]],
		["at once when none is left", "0\n", "", []],
		["at once when nobody knows how many are left", null, "", []],
		["at once when the disk has something else", "x", "", []],
		["also when the disk cannot be written any more", "3\n", "exit 1", ["3", "3", "3"]],
	])("comes %s", async (_, before, mv, left) => {
		const { root, file } = await setUp(CLIENT, { programs: { "apt-get": "exit 1" } });
		const kept = path.join(root, "var/lib/mqbench/minutes-left");
		if (before === null) rmSync(kept);
		else writeFileSync(kept, before);
		const bin = path.join(root, "made-up");
		const note = (line: string) => `echo "${line}" >>"$MQBENCH_ROOT/ended"`;
		mkdirSync(bin);
		for (const [name, body] of Object.entries({
			sleep: note(`sleep $1, $(cat ${kept}) left`),
			systemctl: note("systemctl $*"),
			poweroff: note("poweroff $*"),
			...(mv && { mv }),
		}))
			writeFileSync(path.join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
		const { status } = spawnSync("/bin/sh", [path.join(root, "usr/local/sbin/mqbench-ttl")], {
			env: { MQBENCH_ROOT: root, PATH: `${bin}:${path.join(root, "bin")}` },
		});
		expect(status).toBe(0);
		const minutes = (file("ended") ?? "").trim().split("\n");
		expect(minutes.slice(0, -3)).toEqual(left.map((one) => `sleep 60, ${one} left`));
		expect(minutes.slice(-3)).toEqual([
			"systemctl poweroff",
			expect.stringMatching(/^sleep 300,/),
			"poweroff --force --force",
		]);
	});
});

describe.skipIf(process.platform !== "linux")("the disk", () => {
	const NVME = "nvme-Amazon_EC2_NVMe_Instance_Storage_AWS1";
	const VOLUME = "nvme-Amazon_Elastic_Block_Store_vol0a";

	const NONE =
		"failed: store: no empty NVMe of its own; choose an instance type that has some (i4i, i3en, m6id, ...), or give the brokers a volume";
	test.each<[string, Pretended, boolean, string[], string]>([
		[
			"is the machine's own NVMe, by whatever names it has",
			{
				disks: { nvme0n1: "dos", nvme1n1: "" },
				links: {
					[VOLUME]: "nvme0n1",
					[NVME]: "nvme1n1",
					[`${NVME}_1`]: "nvme1n1",
					[`${NVME}-part1`]: "nvme0n1",
				},
			},
			false,
			["mkfs.xfs [-q] [nvme1n1]"],
			"ready",
		],
		[
			"is all of the machine's own that are empty, joined as RAID 0",
			{
				disks: { nvme10n1: "", nvme2n1: "", nvme1n1: "ext4" },
				links: { [`${NVME}a`]: "nvme10n1", [`${NVME}b`]: "nvme2n1", [`${NVME}c`]: "nvme1n1" },
			},
			false,
			[
				"mdadm [--create] [md0] [--run] [--level=0] [--raid-devices=2] [nvme2n1] [nvme10n1]",
				"mkfs.xfs [-q] [md0]",
			],
			"ready",
		],
		[
			"is the volume, when one was asked for",
			{
				disks: { nvme0n1: "gpt", nvme1n1: "", nvme2n1: "" },
				links: { [`${VOLUME}0`]: "nvme0n1", [NVME]: "nvme1n1", [`${VOLUME}1`]: "nvme2n1" },
			},
			true,
			["mkfs.xfs [-q] [nvme2n1]"],
			"ready",
		],
		["is none with something on it", { disks: { nvme1n1: "gpt" } }, false, [], NONE],
		["is none that cannot be asked", { programs: { blkid: "exit 8" } }, false, [], NONE],
		[
			"is missed within a bounded time",
			{ disks: {}, links: {} },
			true,
			[],
			"failed: store: no empty volume is attached; is it attached in the zone of this machine, and new?",
		],
	])("%s", async (_, machine, volume, made, end) => {
		const { calls, state, facts, root } = await setUp({ ...BROKER, volume }, machine);
		expect(state).toBe(end);
		const used = calls.filter((call) => /^(mdadm|mkfs)/.test(call));
		expect(used.map((call) => call.replaceAll(`${root}/dev/`, ""))).toEqual(made);
		const installed = calls.find((call) => /^apt-get .*\[-y\]/.test(call));
		expect(installed?.includes("[mdadm]")).toBe(made.length > 1);
		if (made.length > 1) expect(facts?.disk).toMatchObject({ disks: ["nvme2n1", "nvme10n1"] });
		expect(calls.filter((call) => call === "sleep [1]")).toHaveLength(end === "ready" ? 0 : 29);
		expect(calls.join()).not.toContain("docker");
	});
});

// --- internal ---

interface Pretended {
	/** What each disk holds, as blkid says it, by its name in /dev; "": nothing. Else one empty NVMe. */
	readonly disks?: Readonly<Record<string, string>>;
	/** Names in /dev/disk/by-id. */
	readonly links?: Readonly<Record<string, string>>;
	/** The kernel lets one set what is in SETTABLE. */
	readonly settable?: boolean;
	/** Bodies in sh of programs that do something else than those below. */
	readonly programs?: Readonly<Record<string, string>>;
}

/**
 * Runs user data on a pretended machine: its files are in a folder, and its programs are those of HARMLESS and stand-ins for the others,
 * which write down how they were called. Nothing else is on PATH.
 */
async function setUp(input: UserData, pretended: Pretended = {}) {
	const root = testFolder();
	const {
		disks = { nvme1n1: "" },
		links = { "nvme-Amazon_EC2_NVMe_Instance_Storage_AWS1": "nvme1n1" },
		settable = true,
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
	for (const name of ["proc/sys/kernel/panic", ...(settable ? SETTABLE : [])]) put(name, "0\n");
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
	return {
		root,
		code,
		file,
		state: (file("var/lib/mqbench/state") ?? "").trimEnd(),
		steps: [...(file("var/lib/mqbench/set-up.log") ?? "").matchAll(/^--- (\S+) /gm)].map(
			([, name]) => name,
		),
		calls: (file("calls") ?? "").split("\n").filter(Boolean),
		facts: facts === null ? null : (JSON.parse(facts) as Record<string, unknown>),
	};
}

/** What these do to a machine stays in the folder. */
const HARMLESS =
	"bash cat chmod cut date grep mkdir mv paste readlink rm sed sh sort tail timeout tr touch wc".split(
		" ",
	);

/** What the kernel lets one set. */
const SETTABLE = [
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	"sys/kernel/mm/transparent_hugepage/enabled",
	..."net/core/somaxconn net/core/netdev_max_backlog net/core/rmem_max net/core/wmem_max net/ipv4/tcp_max_syn_backlog net/ipv4/tcp_rmem net/ipv4/tcp_wmem net/ipv4/tcp_slow_start_after_idle vm/swappiness vm/max_map_count vm/overcommit_memory"
		.split(" ")
		.map((name) => `proc/sys/${name}`),
];

const STAND_INS: Readonly<Record<string, string>> = {
	shutdown: "",
	poweroff: "",
	systemctl: "",
	sleep: "",
	sync: "",
	"apt-get": "",
	chown: "",
	mdadm: "",
	mount: "",
	"mkfs.xfs": "",
	blkid: 'for disk; do :; done; [ -s "$disk" ] || exit 2; cat "$disk"; echo',
	lsblk: "echo 'Amazon EC2 NVMe Instance Storage  '",
	chronyc: "",
	docker: "",
	usermod: "",
};
