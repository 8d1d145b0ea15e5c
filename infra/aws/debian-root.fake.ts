import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
	asRoot,
	type Host,
	type Hosts,
	hostsMissing,
	makeHosts,
	root,
} from "../clients/hosts.fake.ts";
import { findOnPath } from "../local/program.ts";
import { isAlive } from "../pid.ts";

/**
 * For tests: machines with their own Debian 12, made by debootstrap from this machine's mirror, in namespaces behind their own switch
 * (`../clients/hosts.fake.ts`); a loop device is their NVMe. The kernel is this machine's and systemd does not run: stand-ins (below)
 * record its requests, and start chrony. apt, mkfs.xfs, mount, PAM, sshd and chrony are real there.
 */
export interface Debians {
	readonly hosts: Hosts;
	readonly all: readonly Debian[];
	close(): void;
}

export interface Debian {
	readonly host: Host;
	/** Device of its NVMe here and there; null if it has none. */
	readonly disk: string | null;
	/** Runs the script of user data as cloud-init does, once, to its end. */
	setUp(
		userData: string,
	): Promise<{ readonly code: number | null; readonly state: string; readonly log: string }>;
	/** A file there. */
	read(file: string): string;
	/** Its stand-ins' requests, a line each: "shutdown -h +120". */
	asked(): string[];
}

export interface DebianOptions {
	/** Bytes of its NVMe; null if it has none. */
	readonly diskBytes: number | null;
	/** A command that root runs on that disk before, without the device at its end. */
	readonly prepare?: readonly string[];
	/** Amazon's time server answers there. */
	readonly time: boolean;
}

/** Why this machine cannot have them; null if it can. With CI=true it must. */
export function debiansMissing(): string | null {
	const hosts = hostsMissing();
	if (hosts !== null) return hosts;
	const programs = ["debootstrap", "losetup", "pivot_root", "mount"].filter(
		(program) => findOnPath(program, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` }) === null,
	);
	const reason =
		programs.length > 0
			? `${programs.join(", ")} is not on PATH (packages debootstrap, mount, util-linux)`
			: mirrors().length === 0
				? "apt's sources here are not those of Debian 12"
				: !existsSync("/dev/loop-control")
					? "there are no loop devices"
					: null;
	if (reason !== null && process.env.CI === "true")
		throw new Error(`${reason}, and CI must not skip these tests`);
	return reason;
}

/** Makes one machine for each of these; their user is "admin", as on Debian's images. */
export async function makeDebians(wanted: readonly DebianOptions[]): Promise<Debians> {
	const base = debian12();
	sweep();
	const folder = path.join(tmpdir(), `mqbench-debians-${process.pid}-${made++}`);
	mkdirSync(folder);
	const outside = `mqb-outside-${process.pid}-${made}`;
	root(["ip", "netns", "attach", outside, String(process.pid)]);
	const undo: (() => void)[] = [
		() => root(["ip", "netns", "delete", outside]),
		() => root(["rm", "-rf", folder]),
	];
	const close = () => {
		process.removeListener("exit", close);
		for (const one of undo.splice(0).reverse()) one();
	};
	process.once("exit", close);
	try {
		const disks = wanted.map(({ diskBytes, prepare }, i) => {
			if (diskBytes === null) return null;
			const image = path.join(folder, `disk-${i}`);
			execFileSync("truncate", ["-s", String(diskBytes), image]);
			const device = root(["losetup", "-f", "--show", image]).trim();
			undo.push(() => root(["losetup", "-d", device]));
			if (prepare) root([...prepare, device]);
			return device;
		});
		const hosts = await makeHosts(
			wanted.length,
			wanted.map((_, i) => ({
				folder: path.join(folder, `root-${i}`),
				mount: mounts(base, path.join(folder, `root-${i}`), outside, disks[i] ?? null),
				keys: "/etc/ssh/keys-of-this-test",
			})),
		);
		undo.push(() => hosts.close());
		return {
			hosts,
			all: hosts.all.map((host, i) => {
				if (wanted[i]?.time) keepTime(host);
				return debian(host, disks[i] ?? null);
			}),
			close,
		};
	} catch (error) {
		close();
		throw error;
	}
}

// --- internal ---

let made = 0;

function debian(host: Host, disk: string | null): Debian {
	const read = (file: string) => host.run(`cat ${file}`);
	return {
		host,
		disk,
		read,
		asked: () => read(ASKED).split("\n").filter(Boolean),
		async setUp(userData) {
			const script = "/var/lib/cloud/instance/scripts/part-001";
			// Its output goes to a file, so a process that is still running afterwards does not delay this.
			const code = await into(
				host,
				`mkdir -p ${path.dirname(script)} && cat >${script} && chmod 700 ${script} && cd / && exec env -i ${CLOUD_INIT} ${script} >/var/log/cloud-init-output.log 2>&1`,
				userData,
			);
			const there = (file: string) =>
				read(`${file} 2>/dev/null || cat /var/log/cloud-init-output.log`);
			return {
				code,
				state: there("/var/lib/mqbench/state").trim(),
				log: there("/var/lib/mqbench/set-up.log"),
			};
		},
	};
}

/** The environment of cloud-init's scripts. */
const CLOUD_INIT = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8";

/** The folder of a Debian 12, minimal, made once and kept: copy it. */
export function debian12(): string {
	const kept = path.join(tmpdir(), "mqbench-test-debian-12");
	const recipe = JSON.stringify([MAKE, STAND_INS, mirrors()]);
	const name = `root-${createHash("sha256").update(recipe).digest("hex").slice(0, 16)}`;
	const base = path.join(kept, name);
	if (existsSync(base)) {
		root(["touch", base]);
		return base;
	}
	mkdirSync(path.join(kept, "archives"), { recursive: true });
	// Others may be in use.
	for (const other of readdirSync(kept).map((one) => path.join(kept, one)))
		if (Date.now() - statSync(other).mtimeMs > 7 * 86_400_000) root(["rm", "-rf", other]);
	const part = path.join(kept, `root-${process.pid}.part`);
	try {
		root(["sh", "-ec", MAKE, part, mirrors()[0]?.uri ?? ""]);
		const sources = mirrors().map(({ uri, release }) => `deb ${uri} ${release} main\n`);
		write(path.join(part, "etc/apt/sources.list"), sources.join(""));
		for (const [name, body] of Object.entries(STAND_INS)) {
			const file = path.join(part, "usr/local/sbin", name);
			write(file, `#!/bin/sh\necho "${name} $*" >>${ASKED}\n${body}\n`);
			root(["chmod", "755", file]);
		}
		// Unreadable parts belong to root: their owner stays.
		root(["mv", part, base]);
	} finally {
		if (existsSync(part)) root(["rm", "-rf", part]);
	}
	return base;
}

/**
 * In sh: a Debian with the parts of its EC2 images that set-up needs, and this machine's proxies and the like. Its user has a secret
 * password: a locked account could not log in by key either.
 */
const MAKE = `
debootstrap --variant=minbase --include=ca-certificates,chrony,iproute2,openssh-server,procps,systemd bookworm "$0" "$1"
printf '127.0.0.1 localhost\\n::1 localhost ip6-localhost\\n' >"$0/etc/hosts"
apt-config dump | grep -Ei '^Acquire::(http|https|Check-|Retries)' >"$0/etc/apt/apt.conf.d/90machine" || true
chroot "$0" useradd -m -s /bin/bash admin
chroot "$0" usermod -p '*' admin
`;

const ASKED = "/var/log/asked";

/** This machine's network, from which packages come; the hosts' own leads nowhere. */
const OUTSIDE = "/run/outside";

/**
 * Stand-ins for missing programs. systemctl enables and disables for real, without a running systemd; chrony starts as in its unit, but
 * leaves this machine's clock unchanged (-x).
 */
const STAND_INS: Readonly<Record<string, string>> = {
	shutdown: "",
	poweroff: "",
	systemctl: `case "$1 $2" in
"restart chrony") exec /usr/sbin/chronyd -x -F 1 ;;
"stop "* | "daemon-reload "* | "poweroff "*) ;;
"enable --now") shift 2; exec env SYSTEMD_OFFLINE=1 /usr/bin/systemctl enable "$@" ;;
*) exec env SYSTEMD_OFFLINE=1 /usr/bin/systemctl "$@" ;;
esac`,
	// Several share a cache of packages.
	"apt-get": `exec flock /var/cache/apt/archives/.turn nsenter --net=${OUTSIDE} /usr/bin/apt-get "$@"`,
};

/** A root over the cached one, with the view of this machine's kernel that a container has: lines of sh. */
function mounts(base: string, folder: string, outside: string, disk: string | null): string[] {
	const dev = `${folder}/dev`;
	const nvme = `${dev}/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_AWS0123456789ABCDEF0`;
	return [
		`mkdir -p ${folder} ${folder}-upper ${folder}-work`,
		`mount -t overlay overlay -o lowerdir=${base},upperdir=${folder}-upper,workdir=${folder}-work ${folder}`,
		`mount -t proc proc ${folder}/proc`,
		`mount --rbind /sys ${folder}/sys`,
		`mount --bind ${path.join(path.dirname(base), "archives")} ${folder}/var/cache/apt/archives`,
		// A test must not change this machine's settings. It may change its network's.
		`for one in vm kernel fs; do mount --bind ${folder}/proc/sys/$one ${folder}/proc/sys/$one; done`,
		`for one in sys proc/sys/vm proc/sys/kernel proc/sys/fs; do mount -o remount,bind,ro ${folder}/$one; done`,
		`for one in run dev; do mount -t tmpfs tmpfs ${folder}/$one; done`,
		`for one in null zero full random urandom tty; do touch ${dev}/$one; mount --bind /dev/$one ${dev}/$one; done`,
		`mkdir -p ${dev}/shm ${dev}/pts ${dev}/disk/by-id`,
		`mount -t tmpfs -o mode=1777 tmpfs ${dev}/shm`,
		`mount -t devpts -o newinstance,ptmxmode=0666 devpts ${dev}/pts`,
		`ln -s pts/ptmx ${dev}/ptmx`,
		`ln -s /proc/self/fd ${dev}/fd`,
		...(disk === null
			? []
			: [
					`touch ${folder}${disk}`,
					`mount --bind ${disk} ${folder}${disk}`,
					`ln -s ${disk} ${nvme}`,
					`ln -s ${disk} ${nvme}_1`,
				]),
		`touch ${folder}${OUTSIDE}`,
		`mount --bind /run/netns/${outside} ${folder}${OUTSIDE}`,
		`cp /etc/resolv.conf ${folder}/etc/resolv.conf`,
	];
}

/** In that network Amazon's address answers with this machine's time, taken from its chrony. */
function keepTime({ run }: Host): void {
	run(
		"ip address add 169.254.169.123/32 dev lo && chronyd -x 'local stratum 1' 'bindaddress 169.254.169.123' allow 'cmdport 0' 'bindcmdaddress /' 'pidfile /run/amazon.pid'",
	);
}

/** Removes leftovers of a killed test run. */
function sweep(): void {
	const gone = (name: string) => {
		const pid = /^mqb(?:ench-debians|-outside)-(\d+)-/.exec(name)?.[1];
		return pid !== undefined && !isAlive(Number(pid));
	};
	for (const name of readdirSync(tmpdir()).filter(gone)) {
		const folder = path.join(tmpdir(), name);
		for (const line of root(["losetup", "-nO", "NAME,BACK-FILE"]).split("\n"))
			if (line.includes(`${folder}/`)) root(["losetup", "-d", line.split(" ")[0] ?? ""]);
		root(["rm", "-rf", folder]);
	}
	for (const line of root(["ip", "netns", "list"]).split("\n")) {
		const [name = ""] = line.split(" ");
		if (gone(name)) root(["ip", "netns", "delete", name]);
	}
}

function into(host: Host, line: string, input: string): Promise<number | null> {
	const [program = "", ...args] = host.inside(["sh", "-c", line]);
	const child = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"] });
	child.stdin.end(input);
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", resolve);
	});
}

/** Into a folder that belongs to root. */
function write(file: string, text: string): void {
	const [program = "", ...args] = asRoot(["tee", file]);
	execFileSync(program, args, { input: text, stdio: ["pipe", "ignore", "inherit"] });
}

function mirrors(): { uri: string; release: string }[] {
	return execFileSync(
		"apt-get",
		[
			"indextargets",
			"--format",
			"$(ORIGIN) $(COMPONENT) $(RELEASE) $(REPO_URI)",
			"Created-By: Packages",
		],
		{ encoding: "utf8" },
	)
		.split("\n")
		.filter((line) => /^Debian main bookworm/.test(line))
		.map((line) => line.split(" "))
		.map(([, , release = "", uri = ""]) => ({ uri, release }))
		.sort((a, b) => (a.release < b.release ? -1 : 1));
}
