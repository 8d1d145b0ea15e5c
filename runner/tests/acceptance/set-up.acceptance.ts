import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type Debian,
	type Debians,
	debiansMissing,
	makeDebians,
} from "../../../infra/aws/debian-root.fake.ts";
import { type UserData, userData } from "../../../infra/aws/user-data.ts";
import { processes } from "../../brokers/index.ts";
import { measured, scenario, start, temporaryFolder, until } from "../e2e/mqbench.ts";

/**
 * The real set-up of rented machines except for EC2 and systemd: Debian 12 by debootstrap, each in separate namespaces, with a loop device
 * as its NVMe and time from a server at Amazon's address (`infra/aws/debian-root.fake.ts` lists the missing parts). After the first time on
 * a machine, the folder for temporary files keeps Debian and its packages.
 */
const missing = debiansMissing();

const PACKAGES = [...new Set(Object.values(processes).flatMap((broker) => broker?.packages ?? []))];
const BROKER: UserData = {
	ttlMinutes: 120,
	role: "broker",
	packages: PACKAGES,
	user: "admin",
	volume: false,
};
const CLIENT: UserData = { ...BROKER, role: "client", packages: [] };
const GIB = 2 ** 30;

describe.skipIf(missing !== null)(
	`machines that the set-up prepares${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let debians: Debians;
		let broker: Debian;
		let client: Debian;

		beforeAll(async () => {
			debians = await makeDebians([
				{ diskBytes: 4 * GIB, time: true },
				{ diskBytes: null, time: false },
			]);
			[broker, client] = debians.all as [Debian, Debian];
			await Promise.all(
				[BROKER, CLIENT].map(async (input, i) => {
					const machine = debians.all[i] as Debian;
					const { state, code, log } = await machine.setUp(userData(input));
					expect([state, code], log).toEqual(["ready", 0]);
				}),
			);
		}, 900_000);
		afterAll(() => debians?.close());

		const factsOf = (machine: Debian) => JSON.parse(machine.read("/var/lib/mqbench/facts.json"));
		const overSsh = (name: string, line: string) =>
			execFileSync("ssh", [...debians.hosts.sshOptions.split(" "), "-l", "admin", name, line], {
				encoding: "utf8",
			}).trim();

		const stateOf = ({ host }: Debian, unit: string) =>
			host.run(`SYSTEMD_OFFLINE=1 /usr/bin/systemctl is-enabled ${unit} || true`).trim();

		test("had their end armed before anything else", () => {
			for (const machine of [broker, client]) {
				expect(machine.asked()[0]).toBe("shutdown -h +120");
				expect(stateOf(machine, "mqbench-ttl.service")).toBe("enabled");
			}
		});

		test("end themselves, also after another start, when no minute is left on their disk", () => {
			const { host } = client;
			const [, line = ""] =
				/^ExecStart=(.*)$/m.exec(client.read("/etc/systemd/system/mqbench-ttl.service")) ?? [];
			const file = "/var/lib/mqbench/minutes-left";
			host.run(`timeout 2 ${line} || true`);
			expect(client.read(file)).toBe("119\n");
			expect(client.asked()).not.toContain("systemctl poweroff");
			host.run(`echo 0 >${file} && timeout 2 ${line} || true`);
			expect(client.asked()).toContain("systemctl poweroff");
		});

		test("a broker has its disk: xfs, for its user alone; a client has a folder", () => {
			const { host, disk } = broker;
			expect(host.run("findmnt -no SOURCE,FSTYPE,OPTIONS /var/lib/mqbench/store")).toMatch(
				new RegExp(`^${disk} +xfs +rw,noatime,`),
			);
			expect(host.run("stat -c '%U %a' /var/lib/mqbench/store")).toBe("admin 700\n");
			expect(factsOf(broker).disk).toEqual({
				model: "",
				fs: "xfs",
				disks: [path.basename(disk ?? "")],
			});
			const file = "/var/lib/mqbench/store/a";
			expect(overSsh("h1", `echo kept >${file} && cat ${file} && rm ${file}`)).toBe("kept");
			// A client has a folder.
			expect(client.host.run("stat -c '%U %a' /var/lib/mqbench/store")).toBe("admin 700\n");
			expect(factsOf(client).disk).toBeNull();
		});

		test("packages are there, and none of their servers runs", () => {
			const { host } = broker;
			for (const program of ["redis-server", "rabbitmq-server", "java"])
				expect(host.run(`command -v ${program}`)).toContain(program);
			expect(stateOf(broker, "chrony")).toBe("enabled");
			const names = host.processes().map(({ name }) => name);
			expect(names.filter((name) => /redis|beam|epmd|java/.test(name))).toEqual([]);
			expect(host.run("ls /usr/sbin/policy-rc.d 2>&1 || true")).toContain("No such file");
		});

		test("are tuned, or say what could not be set, and a login may open many files", () => {
			for (const [name, machine] of [
				["h1", broker],
				["h2", client],
			] as const) {
				// Its network is its own, and so are these.
				expect(machine.read("/proc/sys/net/core/somaxconn")).toBe("65535\n");
				expect(machine.read("/proc/sys/net/ipv4/tcp_slow_start_after_idle")).toBe("0\n");
				const { governor, remarks } = factsOf(machine);
				expect(governor).toBe(one("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") ?? "");
				// This machine's settings must not change there.
				expect(remarks).toContain("/proc/sys/vm/swappiness cannot be set to 1 here");
				// The limit of open files for a login over SSH; sshd itself has 1024.
				expect(overSsh(name, "ulimit -n")).toBe(nofileOf(machine));
				expect(Number(nofileOf(machine))).toBeGreaterThan(1024);
				expect(overSsh(name, "cat /var/lib/mqbench/state")).toBe("ready");
			}
		});

		test("the clock follows Amazon's; without it that is said, and no mistake", () => {
			expect(broker.host.run("chronyc -c tracking")).toMatch(/^\w+,169\.254\.169\.123,.*,Normal\n/);
			const alone = "the clock did not synchronise within a minute";
			expect(String(factsOf(broker).remarks)).not.toContain(alone);
			expect(String(factsOf(client).remarks)).toContain(alone);
		});

		test("are measured on over SSH: JetStream, Kafka, Redis and RabbitMQ in turn on one, the load from the other", async () => {
			const kinds = { jetstream: "nats", kafka: "kafka", redis: "redis", rabbitmq: "rabbitmq" };
			const { result } = await measured(
				{ rate: "100/s", warmup: "1s", duration: "3s" },
				{
					system: "",
					systems: `{ jetstream: { broker: nats, mode: jetstream, durability: os }, kafka: { broker: kafka, durability: os }, redis: { broker: redis, mode: streams, durability: os }, rabbitmq: { broker: rabbitmq, durability: os } }`,
					sla: "[lost == 0]",
				},
				// Met, or the machine was too busy for a verdict.
				{ args: rigOf(debians, kinds, client), exit: [0, 4, 6, 99] },
			);
			const { runs } = result;
			expect(runs.map(({ system }) => system)).toEqual(Object.keys(kinds));
			for (const one of runs)
				expect(one).toMatchObject({
					state: "complete",
					sent: 300,
					received: 300,
					lost: 0,
					clients: [{ name: `admin@${client.host.address}`, kind: "ssh" }],
				});
			// Nothing of it is left there.
			expect(
				broker.host
					.processes()
					.map(({ name }) => name)
					.filter((name) => /nats-server|java|redis|beam|epmd|agent|k6/.test(name)),
			).toEqual([]);
			expect(broker.host.run("ls -A /var/lib/mqbench/store")).toBe("");
		});
	},
);

test.skipIf(missing !== null)(
	"a machine is waited for while it is being set up, and a broker there may open what the set-up allows",
	async () => {
		const debians = await makeDebians([{ diskBytes: null, time: true }]);
		try {
			const [machine] = debians.all as [Debian];
			const { host } = machine;
			const written = scenario(
				temporaryFolder(),
				{ duration: "5s" },
				{ system: "{ broker: redis, mode: streams }", sla: "[lost == 0]" },
			);
			const mqbench = start([written, ...rigOf(debians, { redis: "redis" })]);
			await mqbench.says(/being set up: not begun yet/, 300_000);
			const { state, log } = await machine.setUp(
				userData({ ...CLIENT, packages: ["redis-server"] }),
			);
			expect(state, log).toBe("ready");
			let allowed: string | undefined;
			await until(() => {
				const redis = host.processes().find(({ name }) => name === "redis-server");
				allowed = /^Max open files +(\d+)/m.exec(one(`/proc/${redis?.pid}/limits`) ?? "")?.[1];
				return allowed !== undefined;
			}, "redis-server runs");
			expect(allowed).toBe(nofileOf(machine));
			const { code, out, err } = await mqbench.ended;
			// It measures there; a shared machine may be too busy for the figures (4).
			expect([0, 4], out + err).toContain(code);
		} finally {
			debians.close();
		}
	},
);

describe.skipIf(missing !== null)("a set-up that fails names its step", () => {
	test.each([
		[
			"a package that does not exist",
			null,
			{ ...CLIENT, packages: ["mqbench-has-no-such-package"] },
			"failed: packages: E: Unable to locate package mqbench-has-no-such-package",
		],
		[
			"a broker whose only disk has a file system",
			["mkfs.ext4", "-q", "-L", "precious"],
			BROKER,
			/^failed: store: no empty NVMe of its own; /,
		],
	] as const)("%s", async (_, prepare, input, said) => {
		const debians = await makeDebians([
			{ diskBytes: prepare === null ? null : GIB / 8, time: false, ...(prepare && { prepare }) },
		]);
		try {
			const [machine] = debians.all as [Debian];
			const { state, code, log } = await machine.setUp(userData(input));
			expect(state, log).toMatch(said);
			expect(code).toBe(1);
			// It stays until its time is over, for people to look at.
			expect(machine.asked()[0]).toBe("shutdown -h +120");
			expect(machine.asked().filter((line) => /poweroff/.test(line))).toEqual([]);
			// shutdown depends on a clock that may be set, so it is cancelled where the service runs, and nowhere else.
			const cancelled = machine.asked().indexOf("shutdown -c");
			expect(cancelled).toBeGreaterThan(
				machine.asked().indexOf("systemctl is-active --quiet mqbench-ttl.service"),
			);
			expect(machine.asked()).toContain("systemctl enable --now mqbench-ttl.service");
			expect(machine.host.run("ls /var/lib/mqbench/facts.json 2>&1 || true")).toContain(
				"No such file",
			);
			if (prepare)
				expect(machine.host.run(`blkid -p -o value -s LABEL ${machine.disk}`)).toBe("precious\n");
		} finally {
			debians.close();
		}
	});
});

// --- internal ---

/** Open files that the set-up allows its user. */
function nofileOf(machine: Debian): string | undefined {
	return /^admin - nofile (\d+)$/m.exec(
		machine.read("/etc/security/limits.d/90-mqbench.conf"),
	)?.[1];
}

/** The first machine as a host of these brokers, and perhaps a client; returns the arguments that name the rig. */
function rigOf(
	{ all, hosts: { identity } }: Debians,
	brokers: Readonly<Record<string, string>>,
	client?: Debian,
): string[] {
	const folder = temporaryFolder();
	const knownHosts = path.join(folder, "known_hosts");
	const access = { user: "admin", identity, knownHosts, setUp: true };
	const at = ({ host: { address } }: Debian) => ({ ...access, host: address, address });
	const rig = {
		version: 1,
		id: "prepared",
		brokers: Object.entries(brokers).map(([system, broker]) => ({
			system,
			broker,
			hosts: all.slice(0, 1).map(at),
		})),
		clients: client ? [{ ...access, host: client.host.address }] : undefined,
	};
	const file = path.join(folder, "rig.json");
	writeFileSync(file, JSON.stringify(rig), { mode: 0o600 });
	return ["--rig", file];
}

function one(file: string): string | null {
	try {
		return readFileSync(file, "utf8").trim();
	} catch {
		return null;
	}
}
