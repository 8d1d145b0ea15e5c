import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
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
 * The set-up of rented machines, for real but for EC2 and systemd: Debian 12 by debootstrap, each in namespaces of its own, a loop device
 * as its NVMe, time from a server that answers at Amazon's address (`infra/aws/debian-root.fake.ts` says what is not there). After the
 * first time on a machine Debian and its packages are kept in the folder for temporary files.
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

		test("end themselves after another start, when the moment on their disk has passed", () => {
			const { host } = client;
			const [, line = ""] =
				/^ExecStart=(.*)$/m.exec(client.read("/etc/systemd/system/mqbench-ttl.service")) ?? [];
			const [program, file, boot] = line.split(" ");
			expect(boot).toBe(one("/proc/sys/kernel/random/boot_id"));
			const start = (deadlineS: number) =>
				host.run(`timeout 2 ${program} ${file} another-boot 999999999 ${deadlineS} || true`);
			const nowS = Math.floor(Date.now() / 1000);
			start(nowS + 60);
			expect(client.asked()).not.toContain("systemctl poweroff");
			start(nowS);
			expect(client.asked()).toContain("systemctl poweroff");
		});

		test("a broker has its disk: xfs, for its user alone, and back after a start; a client has a folder", () => {
			const { host, disk } = broker;
			expect(host.run("findmnt -no SOURCE,FSTYPE,OPTIONS /var/lib/mqbench/store")).toMatch(
				new RegExp(`^${disk} +xfs +rw,noatime,`),
			);
			expect(host.run("stat -c '%U %a' /var/lib/mqbench/store")).toBe("admin 700\n");
			expect(factsOf(broker).disk).toEqual({
				device: disk,
				model: null,
				bytes: 4 * GIB,
				fs: "xfs",
				disks: [path.basename(disk ?? "")],
			});
			// As at the next start: by its line in fstab.
			host.run("umount /var/lib/mqbench/store");
			const uuid = host.run(`blkid -p -o value -s UUID ${disk}`).trim();
			expect(host.run("cat /etc/fstab")).toContain(
				`UUID=${uuid} /var/lib/mqbench/store xfs noatime,nofail 0 0\n`,
			);
			// Without udev nobody keeps a folder of UUIDs.
			host.run(
				`mkdir -p /dev/disk/by-uuid && ln -sf ${disk} /dev/disk/by-uuid/${uuid} && mount /var/lib/mqbench/store`,
			);
			const file = "/var/lib/mqbench/store/a";
			expect(overSsh("h1", `echo kept >${file} && cat ${file} && rm ${file}`)).toBe("kept");
			// A client has a folder.
			expect(client.host.run("stat -c '%U %a' /var/lib/mqbench/store")).toBe("admin 700\n");
			expect(factsOf(client).disk).toMatchObject({ fs: "overlay" });
		});

		test("packages are there, and none of their servers runs or comes up with the machine", () => {
			const { host } = broker;
			const facts = factsOf(broker);
			expect(Object.keys(facts.packages)).toEqual([...PACKAGES, "chrony", "ethtool", "xfsprogs"]);
			for (const [name, version] of Object.entries(facts.packages))
				expect(host.run(`dpkg-query -W -f '\${Version}' ${name}`)).toBe(version);
			expect(Object.keys(factsOf(client).packages)).toEqual(["chrony", "ethtool"]);
			for (const program of ["redis-server", "rabbitmq-server", "java"])
				expect(host.run(`command -v ${program}`)).toContain(program);
			for (const unit of ["redis-server", "rabbitmq-server", "cron"])
				expect(stateOf(broker, unit)).toBe("disabled");
			expect(stateOf(broker, "chrony")).toBe("enabled");
			const names = host.processes().map(({ name }) => name);
			expect(names.filter((name) => /redis|beam|epmd|java/.test(name))).toEqual([]);
			expect(host.run("ls /usr/sbin/policy-rc.d 2>&1 || true")).toContain("No such file");
		});

		test("the facts are what this machine is", () => {
			for (const [name, machine] of [
				["h1", broker],
				["h2", client],
			] as const) {
				const facts = factsOf(machine);
				expect(facts.kernel).toBe(release());
				expect(facts.governor).toBe(one("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
				expect(facts.hugePages).toBe(one("/sys/kernel/mm/transparent_hugepage/enabled"));
				for (const [key, value] of Object.entries(facts.sysctl)) {
					// A kubelet of another test on this machine sets it.
					if (key === "vm.overcommit_memory") continue;
					expect(
						machine.host
							.run(`cat /proc/sys/${key.replaceAll(".", "/")} || true`)
							.trim()
							.replaceAll("\t", " "),
						key,
					).toBe(value ?? "");
				}
				// Its network is its own, and so are these.
				expect(facts.sysctl).toMatchObject({
					"net.core.somaxconn": "65535",
					"net.ipv4.tcp_slow_start_after_idle": "0",
				});
				// What a login over SSH may open; sshd itself has 1024.
				expect(facts.nofile).toBeGreaterThan(1024);
				expect(overSsh(name, "ulimit -n")).toBe(String(facts.nofile));
				expect(overSsh(name, "cat /var/lib/mqbench/state")).toBe("ready");
			}
		});

		test("the clock follows Amazon's, with a true bound; without it that is said, and no mistake", () => {
			const { chrony } = factsOf(broker);
			expect(chrony.source).toBe("169.254.169.123");
			// What the server says of itself: half of 30.5 us, and 30.5 us.
			expect(chrony.boundNs).toBeGreaterThan(45_700);
			expect(factsOf(client).chrony).toBeNull();
			expect(String(factsOf(client).remarks)).toContain(
				"the clock did not synchronise within a minute (Not synchronised)",
			);
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
			const { nofile } = JSON.parse(machine.read("/var/lib/mqbench/facts.json"));
			let allowed: string | undefined;
			await until(() => {
				const redis = host.processes().find(({ name }) => name === "redis-server");
				allowed = /^Max open files +(\d+)/m.exec(one(`/proc/${redis?.pid}/limits`) ?? "")?.[1];
				return allowed !== undefined;
			}, "redis-server runs");
			expect(allowed).toBe(String(nofile));
			const { code, out, err } = await mqbench.ended;
			// It measures there; a machine that others use, too, may not carry the figures (4).
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
			/^failed: disk: no empty NVMe of its own \(\/dev\/loop\d+ holds ext4\)/,
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
			// It stays until its time is over, so that people can look.
			expect(machine.asked()[0]).toBe("shutdown -h +120");
			expect(machine.asked().filter((line) => /poweroff/.test(line))).toEqual([]);
			// shutdown goes by a clock that may be set, so it is cancelled where the service runs, and nowhere else.
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
