import { execFileSync, spawn } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { findOnPath } from "../local/program.ts";
import { isAlive } from "../pid.ts";

/** For tests: hosts behind their own switch, which ssh reaches. */
export interface Hosts {
	/** Address of this machine as the hosts reach it. */
	readonly gateway: string;
	/** Value of MQBENCH_SSH_OPTIONS with which `ssh h1` reaches the first of them. */
	readonly sshOptions: string;
	/** File of the private key that all of them let in. */
	readonly identity: string;
	readonly all: readonly Host[];
	/** ssh processes of this machine that hold connections to them. */
	masters(): number[];
	/** Everything that was made is gone afterwards. */
	close(): void;
}

/** A separate network, process table and home, in which sshd accepts root. The kernel is this machine's, and so is the clock. */
export interface Host {
	/** h1, h2, ... */
	readonly name: string;
	readonly address: string;
	/** Root's home there, as a path here. */
	readonly home: string;
	/** Processes there except its sshd and the processes that started it; `pid` is this machine's. */
	processes(): HostProcess[];
	/** Runs a line of sh there as root, and returns its output. */
	run(line: string): string;
	/** The command to start here to run one there as root; or as a process of this machine, only in that network. */
	inside(command: readonly string[]): string[];
	inNetwork(command: readonly string[]): string[];
	/** Gives its sshd another host key, the private half of an ed25519 one. */
	takeHostKey(key: string): void;
	/** Pulls the plug, and puts it back. */
	cut(): void;
	mend(): void;
}

/** A separate system, which a host runs instead of this machine's. */
export interface HostRoot {
	/** Folder that becomes its root. */
	readonly folder: string;
	/** Lines of sh that mount it there; they see this machine's files, and their mounts are visible only to them. */
	readonly mount: readonly string[];
	/** Path in it of the file with the keys that let root and others in. */
	readonly keys: string;
}

export interface HostProcess {
	readonly pid: number;
	readonly name: string;
	readonly command: string;
}

/** Why this machine cannot have such hosts; null if it can. With CI=true it must. */
export function hostsMissing(): string | null {
	const missing = ["ip", "ssh", "ssh-keygen", "sshd", "unshare", "nsenter"].filter(
		(program) => findOnPath(program, process.env) === null,
	);
	const reason =
		process.platform !== "linux"
			? "hosts in network namespaces need Linux"
			: missing.length > 0
				? `${missing.join(", ")} is not on PATH (packages openssh-server, openssh-client, iproute2, util-linux)`
				: mayMakeNetworks()
					? null
					: "network namespaces need root, or sudo without a password";
	if (reason !== null && process.env.CI === "true")
		throw new Error(`${reason}, and CI must not skip these tests`);
	return reason;
}

/** For tests: ssh's options by which it notices soon that a host is cut off. */
export const SOON = "-o ServerAliveInterval=1 -o ServerAliveCountMax=2 -o ConnectTimeout=2";

/** Makes `count` hosts, named h1 and on; those with their own root log in through PAM, as Debian's do. */
export async function makeHosts(count: number, roots: readonly HostRoot[] = []): Promise<Hosts> {
	sweep();
	const id = `${process.pid}${"abcdefgh"[made++ % 8]}`;
	const bridge = `mqb${id}`;
	const subnet = freeSubnet();
	const folder = mkdtempSync(path.join(tmpdir(), `mqbench-hosts-${process.pid}-`));
	chmodSync(folder, 0o755);
	const close = () => {
		remove(id);
		root(["rm", "-rf", folder]);
	};
	// A test that is killed, or fails before it can close.
	process.once("exit", close);
	try {
		root(["ip", "link", "add", bridge, "type", "bridge"]);
		root(["ip", "address", "add", `${subnet}.1/24`, "dev", bridge]);
		root(["ip", "link", "set", bridge, "up"]);
		letThrough(bridge);
		// A switch without any live plug is down itself, and packets for its hosts go elsewhere.
		const [plug, socket] = [`${bridge}k0`, `${bridge}k1`];
		root(["ip", "link", "add", plug, "type", "veth", "peer", "name", socket]);
		root(["ip", "link", "set", socket, "up"]);
		root(["ip", "link", "set", plug, "master", bridge, "up"]);
		keygen(path.join(folder, "key"));
		const all = Array.from({ length: count }, (_, i) =>
			makeHost(`h${i + 1}`, `${subnet}.${i + 11}`, id, bridge, folder, roots[i] ?? null),
		);
		const config = path.join(folder, "ssh_config");
		writeFileSync(config, sshConfig(all, folder));
		for (const { address } of all) await untilListens(address);
		return {
			gateway: `${subnet}.1`,
			sshOptions: `-F ${config}`,
			identity: path.join(folder, "key"),
			all,
			masters: () =>
				readdirSync("/proc")
					.map(Number)
					.filter((pid) => {
						const line = textOf(`/proc/${pid}/cmdline`);
						return line.startsWith("ssh\0-M\0") && line.includes(config);
					}),
			close() {
				process.removeListener("exit", close);
				close();
			},
		};
	} catch (error) {
		process.removeListener("exit", close);
		close();
		throw error;
	}
}

// --- internal ---

let made = 0;

function makeHost(
	name: string,
	address: string,
	id: string,
	bridge: string,
	folder: string,
	system: HostRoot | null,
): Host {
	const space = `mqb-${id}-${name}`;
	const plug = `mqb${id}${name}`;
	const own = path.join(folder, name);
	const home = path.join(own, "home");
	mkdirSync(home, { recursive: true });
	root(["ip", "netns", "add", space]);
	root(["ip", "link", "add", plug, "type", "veth", "peer", "name", "eth0", "netns", space]);
	root(["ip", "link", "set", plug, "master", bridge, "up"]);
	const inside = ["ip", "-n", space];
	root([...inside, "address", "add", `${address}/24`, "dev", "eth0"]);
	root([...inside, "link", "set", "eth0", "up"]);
	root([...inside, "link", "set", "lo", "up"]);
	keygen(path.join(own, "host_key"));
	writeFileSync(
		path.join(own, "sshd_config"),
		`Port 22
ListenAddress ${address}
HostKey ${own}/host_key
AuthorizedKeysFile ${system?.keys ?? `${folder}/key.pub`}
PidFile none
UsePAM ${system === null ? "no" : "yes"}
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
`,
	);
	root(["chown", "-R", "root", own]);
	const shadow = path.join(own, "shadow");
	const sshd = `{ $(command -v sshd || echo /usr/sbin/sshd) -D -E ${own}/sshd.log -f ${own}/sshd_config & wait $!; }`;
	const ownSystem = system && [
		`hostname ${name}`,
		...system.mount,
		`cd ${system.folder}`,
		`mkdir -p .${own} .before ${path.dirname(`.${system.keys}`)}`,
		`mount --bind ${own} .${own}`,
		`cp ${folder}/key.pub .${system.keys}`,
		"pivot_root . .before",
		"cd /",
		"umount -l .before",
		"mkdir -p /run/sshd",
		// As started by systemd: PAM sets the limit of a login.
		"ulimit -Sn 1024",
		sshd,
	];
	// sh is the first process there: it waits for all that lose their parents.
	const start = (
		ownSystem ?? [
			`hostname ${name}`,
			`mount --bind ${home} ~root`,
			"mount -t tmpfs tmpfs /run",
			"mkdir -p /run/sshd",
			// A root account that is locked would not be let in by key either.
			`sed 's/^root:[^:]*:/root:*:/' /etc/shadow >${shadow}`,
			`mount --bind ${shadow} /etc/shadow`,
			sshd,
		]
	).join(" && ");
	const [program = "", ...args] = asRoot([
		"ip",
		"netns",
		"exec",
		space,
		"unshare",
		"--mount",
		"--pid",
		"--fork",
		"--kill-child=SIGKILL",
		"--mount-proc",
		"--uts",
		"sh",
		"-c",
		start,
	]);
	const child = spawn(program, args, { stdio: "ignore", detached: true });
	child.unref();
	const first = () => {
		const pid = pidsIn(space).find((one) => nameOf(one) === "sh" && ownNumber(one) === 1);
		if (pid === undefined) throw new Error(`${name} is not up`);
		return pid;
	};
	return {
		name,
		address,
		home,
		processes: () =>
			pidsIn(space)
				.filter((pid) => ownNumber(pid) !== 1)
				.map((pid) => ({
					pid,
					name: nameOf(pid),
					command: textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim(),
				}))
				.filter(
					(one) =>
						one.name !== "" &&
						!["unshare", "ip", "sudo"].includes(one.name) &&
						!/\[listener\]/.test(one.command),
				),
		run: (line) => root(["nsenter", "-t", String(first()), "-a", "sh", "-c", line]),
		inside: (command) => asRoot(["nsenter", "-t", String(first()), "-a", ...command]),
		inNetwork: (command) => asRoot(["ip", "netns", "exec", space, ...command]),
		takeHostKey(key) {
			const [program = "", ...args] = asRoot(["tee", `${own}/host_key`]);
			execFileSync(program, args, { input: key, stdio: ["pipe", "ignore", 2] });
			// It reads its keys when it starts.
			const listener = pidsIn(space).find((pid) =>
				/^\S*sshd.* \[listener\]/.test(textOf(`/proc/${pid}/cmdline`)),
			);
			root(["kill", "-HUP", String(listener)]);
			// Nothing listens there in the meantime.
			const line = root(["ssh-keygen", "-y", "-f", `${own}/host_key`]);
			const [, taken = "none"] = line.split(" ");
			root([
				"sh",
				"-c",
				`for i in $(seq 100); do ssh-keyscan -T 1 ${address} 2>/dev/null | grep -qF '${taken.trim()}' && exit; sleep 0.1; done; exit 1`,
			]);
		},
		cut: () => void root(["ip", "link", "set", plug, "down"]),
		mend: () => void root(["ip", "link", "set", plug, "up"]),
	};
}

function sshConfig(all: readonly Host[], folder: string): string {
	const known = path.join(folder, "known_hosts");
	writeFileSync(
		known,
		all
			.map(({ name, address }) => {
				const [kind, key] = readFileSync(path.join(folder, name, "host_key.pub"), "utf8").split(
					" ",
				);
				return `${address} ${kind} ${key}\n`;
			})
			.join(""),
	);
	return `${all.map(({ name, address }) => `Host ${name}\n  HostName ${address}\n`).join("")}Host *
  User root
  IdentityFile ${folder}/key
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile ${known}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`;
}

function keygen(file: string): void {
	execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file]);
}

/** Removes leftovers of a killed test run. */
function sweep(): void {
	const names = root(["ip", "netns", "list"]);
	const links = root(["ip", "-o", "link"]);
	const ids = [
		...names.matchAll(/^mqb-(\d+[a-h])-h\d+/gm),
		...links.matchAll(/^\d+: mqb(\d+[a-h])[:@]/gm),
	].map(([, id = ""]) => id);
	for (const id of new Set(ids)) if (!isAlive(Number.parseInt(id, 10))) remove(id);
	for (const name of readdirSync(tmpdir())) {
		const pid = /^mqbench-hosts-(\d+)-/.exec(name)?.[1];
		if (pid && !isAlive(Number(pid))) quietly(["rm", "-rf", path.join(tmpdir(), name)]);
	}
}

function remove(id: string): void {
	const names = root(["ip", "netns", "list"]);
	for (const [space] of names.matchAll(new RegExp(`^mqb-${id}-h\\d+`, "gm"))) {
		// The first process there takes all others with it.
		const pids = pidsIn(space);
		if (pids.length > 0) quietly(["kill", "-9", ...pids.map(String)]);
		quietly(["ip", "netns", "delete", space]);
		// The kernel takes its time to remove a namespace and its contents.
		quietly(["ip", "link", "delete", space.replace(/-/g, "")]);
	}
	quietly(rule("-D", `mqb${id}`));
	quietly(["ip", "link", "delete", `mqb${id}k0`]);
	quietly(["ip", "link", "delete", `mqb${id}`]);
}

/** A 10.x.y that nothing here routes to. */
function freeSubnet(): string {
	const routes = root(["ip", "route"]);
	for (let i = 0; i < 1000; i++) {
		const n = (process.pid + i * 7) % 16_384;
		const subnet = `10.${64 + (n >> 8)}.${n & 255}`;
		if (!routes.includes(`${subnet}.`)) return subnet;
	}
	throw new Error("no free subnet");
}

async function untilListens(address: string): Promise<void> {
	const end = Date.now() + 20_000;
	for (;;) {
		const up = await new Promise<boolean>((resolve) => {
			const socket = connect({ host: address, port: 22, timeout: 1000 });
			const done = (answer: boolean) => {
				socket.destroy();
				resolve(answer);
			};
			socket.once("connect", () => done(true));
			socket.once("error", () => done(false));
			socket.once("timeout", () => done(false));
		});
		if (up) return;
		if (Date.now() > end) throw new Error(`no sshd on ${address}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

function pidsIn(space: string): number[] {
	if (!existsSync(`/run/netns/${space}`)) return [];
	return root(["ip", "netns", "pids", space]).split("\n").filter(Boolean).map(Number);
}

/** Its pid in its own process table. */
function ownNumber(pid: number): number {
	const line = /^NSpid:\s*(.*)$/m.exec(textOf(`/proc/${pid}/status`))?.[1];
	return Number(line?.split(/\s+/).at(-1));
}

function nameOf(pid: number): string {
	return textOf(`/proc/${pid}/comm`).trim();
}

function textOf(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}

function mayMakeNetworks(): boolean {
	try {
		root(["ip", "netns", "list"]);
		return true;
	} catch {
		return false;
	}
}

/** For tests: the command to start to run this one as root. */
export function asRoot(command: readonly string[]): string[] {
	return userInfo().uid === 0 ? [...command] : ["sudo", "-n", ...command];
}

/** For tests: runs the command as root, and returns its output. */
export function root(command: readonly string[]): string {
	const [program = "", ...args] = asRoot(command);
	return execFileSync(program, args, {
		encoding: "utf8",
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
	});
}

/** With Docker, a switch's packets go through the machine's own rules, which drop packets between hosts. */
function letThrough(bridge: string): void {
	if (textOf("/proc/sys/net/bridge/bridge-nf-call-iptables").trim() === "1")
		quietly(rule("-I", bridge));
}

function rule(how: "-I" | "-D", bridge: string): string[] {
	return ["iptables", how, "FORWARD", "-i", bridge, "-o", bridge, "-j", "ACCEPT"];
}

/** If it is gone already, nothing is wrong. */
function quietly(command: readonly string[]): void {
	try {
		root(command);
	} catch {
		// It is gone.
	}
}
