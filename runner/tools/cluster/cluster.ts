import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { packageFolder } from "../../package.ts";
import { sha256 } from "../../sha256.ts";
import { brokerImage, clientImage, pauseImage } from "./images.ts";

/**
 * For tests: a real Kubernetes of one node with real pods, built from the project's own modules, in its own network namespace. One at a
 * time. It has no DNS, no NetworkPolicy and no way out.
 */
export interface TestCluster {
	/** Before a command that must run in its network. */
	readonly under: readonly string[];
	readonly env: { readonly KUBECONFIG: string; readonly PATH: string };
	/** Runs kubectl as the administrator to its end; fails with its output. */
	kubectl(args: readonly string[], input?: string): string;
	/** A kubeconfig of a service account, which only has the rights of a namespace's role. */
	kubeconfigOf(namespace: string, account: string): string;
	/** Kills the API server; `start` brings it back. */
	killApiServer(): { start(): void };
	stop(): void;
}

/** Why there can be none here; null if there can. */
export function clusterMissing(): string | null {
	if (process.platform !== "linux") return "needs Linux";
	if (process.getuid?.() !== 0) return "needs root";
	for (const program of ["containerd", "runc", "conntrack", "gcc"])
		if (spawnSync("which", [program], { env: ENV }).status !== 0) return `needs ${program}`;
	for (const file of ["/usr/lib/cni/bridge", "/bin/busybox"])
		if (!existsSync(file)) return `needs ${file}`;
	return null;
}

export async function startCluster(): Promise<TestCluster> {
	const work = mkdtempSync(path.join(tmpdir(), "mqbench-cluster-"));
	const state = path.join(work, "state");
	const KUBECONFIG = path.join(state, "admin.kubeconfig");
	// kubectl is another name of the same program.
	const PATH = `${path.join(work, "bin")}:${ENV.PATH}`;
	const network = `mqcluster-${process.pid}`;
	const under = ["nsenter", `--net=/run/netns/${network}`];
	const run = (argv: readonly string[], input = ""): string =>
		execFileSync(argv[0] ?? "", argv.slice(1), {
			env: { ...ENV, K8S_WORK: work, KUBECONFIG, PATH },
			encoding: "utf8",
			input,
			stdio: ["pipe", "pipe", "pipe"],
		});
	mkdirSync(path.join(work, "bin"));
	mkdirSync(path.join(work, "img"));
	cpSync(program(), path.join(work, "bin/k8s"));
	await pauseImage(path.join(work, "img/pause.tar"));
	await clientImage(path.join(work, "img/client.tar"));
	for (const broker of ["nats", "redis", "kafka", "rabbitmq"] as const)
		await brokerImage(broker, path.join(work, `img/${broker}.tar`));
	run(["ip", "netns", "add", network]);
	run([...under, "ip", "link", "set", "lo", "up"]);
	const stop = () => {
		spawnSync("nsenter", [...under.slice(1), path.join(HERE, "down.sh")], {
			env: { ...ENV, K8S_WORK: work },
			stdio: "ignore",
		});
		spawnSync("ip", ["netns", "del", network], { env: ENV });
		rmSync(work, { recursive: true, force: true });
	};
	const pids = () =>
		readFileSync(path.join(state, "pids"), "utf8")
			.trim()
			.split("\n")
			.map((line) => line.split(" "));
	try {
		run([...under, path.join(HERE, "up.sh")]);
	} catch (error) {
		stop();
		throw error;
	}
	const kubectl = (args: readonly string[], input?: string) =>
		run([...under, "kubectl", ...args], input);
	return {
		under,
		env: { KUBECONFIG, PATH },
		kubectl,
		kubeconfigOf(namespace, account) {
			const token = kubectl(["create", "token", account, "--namespace", namespace]).trim();
			const file = path.join(work, `${account}.kubeconfig`);
			const admin = readFileSync(KUBECONFIG, "utf8");
			writeFileSync(file, admin.replace(/token: [^}]+/, `token: ${token}`));
			return file;
		},
		killApiServer() {
			const pid = Number(pids().find(([name]) => name === "apiserver")?.[1] ?? 0);
			const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8")
				.split("\0")
				.filter((word) => word !== "");
			process.kill(pid, "SIGKILL");
			return {
				start() {
					const child = spawn("nsenter", [...under.slice(1), ...argv], {
						env: ENV,
						stdio: "ignore",
						detached: true,
					});
					child.unref();
					writeFileSync(
						path.join(state, "pids"),
						`${pids()
							.map(([name, was]) =>
								name === "apiserver" ? `${name} ${child.pid}` : `${name} ${was}`,
							)
							.join("\n")}\n`,
					);
				},
			};
		},
		stop,
	};
}

// --- internal ---

const HERE = path.join(packageFolder, "runner/tools/cluster");

/** Debian has some of them in folders that are not in every PATH. */
const ENV = { ...process.env, PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin` };

/** All of Kubernetes in one program, built once for its sources: some minutes. */
function program(): string {
	const key = sha256(
		["main.go", "go.mod", "go.sum"]
			.map((name) => readFileSync(path.join(HERE, name), "utf8"))
			.join("\n"),
	).slice(0, 16);
	const folder = path.join(
		process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"),
		"mqbench-tests",
	);
	const file = path.join(folder, `kubernetes-${key}`);
	if (existsSync(file)) return file;
	mkdirSync(folder, { recursive: true });
	const version = "k8s.io/component-base/version";
	execFileSync(
		"go",
		[
			"build",
			"-trimpath",
			"-mod=readonly",
			"-gcflags=all=-dwarf=false", // -s would remove them anyway
			"-o",
			`${file}.part`,
			"-ldflags",
			`-s -w -X ${version}.gitVersion=v1.34.1 -X ${version}.gitMajor=1 -X ${version}.gitMinor=34`,
			".",
		],
		{ cwd: HERE, env: ENV, stdio: ["ignore", "inherit", "inherit"] },
	);
	renameSync(`${file}.part`, file);
	return file;
}
