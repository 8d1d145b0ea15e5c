import os from "node:os";
import { z } from "zod";
import { failure } from "../../runner/errors.ts";
import { maskUrls } from "../../runner/secrets.ts";
import type { World } from "../../runner/world.ts";
import { platformName } from "../platform.ts";
import { readOr } from "../read-or.ts";
import { type Docker, DockerError, findDocker } from "./cli.ts";
import type { Limits } from "./container.ts";

/** Facts about the engine behind the user's command. */
export interface Engine {
	/** The platform of its containers, in Go's words: "linux/amd64". */
	readonly platform: string;
	readonly cores: number;
	readonly kernel: string;
	/** Its containers are processes of this machine's kernel and share its clock. Not so with Docker Desktop, which uses a virtual machine. */
	readonly sameKernel: boolean;
	/** Root in a container is the user, and the user owns its files. */
	readonly rootless: boolean;
	/** User numbers in containers differ from this machine's. */
	readonly remapped: boolean;
	/** Limits that it can enforce; it drops others with a warning. */
	readonly limits: Readonly<Record<keyof Limits, boolean>>;
}

/** The command and the engine behind it. Fails with a sentence that names the missing part. */
export async function findEngine(
	world: World,
	agent: string,
): Promise<{ docker: Docker; engine: Engine }> {
	const docker = findDocker(world, agent);
	const endpoint = await docker
		.run(["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"])
		.catch(() => docker.env.DOCKER_HOST ?? "");
	if (isElsewhere(endpoint)) throw failure("docker-elsewhere", { endpoint: maskUrls(endpoint) });
	try {
		return { docker, engine: await askEngine(docker) };
	} catch (error) {
		if (!(error instanceof DockerError)) throw error;
		const reason = maskUrls(error.message);
		throw failure("docker-unreachable", { endpoint: maskUrls(endpoint), reason });
	}
}

/** The same of an engine that may be anywhere. Fails with a DockerError if none answers. */
export async function askEngine(docker: Docker): Promise<Engine> {
	const answer = await docker.run(["info", "--format", "{{json .}}"], { limitMs: INFO_MS });
	const info = readOr(null, () => Info.parse(JSON.parse(answer)));
	// An engine that does not answer is an error of its command, or of a field of its answer.
	if (!info?.ServerVersion) throw new DockerError(info?.ServerErrors?.[0] ?? "no answer");
	if (info.OSType !== "linux")
		throw failure("docker-failed", {
			doing: "start brokers",
			reason: `its containers are of ${info.OSType}, and the images are for Linux; switch it to Linux containers`,
		});
	const options = info.SecurityOptions ?? [];
	return {
		platform: platformName(info.OSType, info.Architecture),
		cores: info.NCPU,
		kernel: info.KernelVersion,
		sameKernel:
			process.platform === "linux" &&
			info.KernelVersion === os.release() &&
			!/docker desktop/i.test(info.OperatingSystem),
		rootless: options.some((option) => option.includes("name=rootless")),
		remapped: options.some((option) => option.includes("name=userns")),
		limits: { cpus: info.CpuCfsQuota, memory: info.MemoryLimit, pin: info.CPUSet },
	};
}

/** Why the engine cannot enforce a container's limits, as the end of a sentence; null if it can. */
export function cannotLimit(
	{ limits }: Pick<Engine, "limits">,
	asked: Partial<Limits>,
): string | null {
	const keys = (["cpus", "memory", "pin"] as const).filter(
		(key) => (asked[key] ?? null) !== null && !limits[key],
	);
	const all = keys.join(" and ");
	return keys.length === 0
		? null
		: `it cannot hold a container to ${all} (docker info), because it lacks the cgroup for it; remove ${all} from the scenario, or run the engine as root on a kernel that has it`;
}

// --- internal ---

/** Short enough to wait for without a message. */
const INFO_MS = 20_000;

/** Output of `docker info`; if the engine does not answer, most of it is empty or missing. */
const Info = z.object({
	ServerVersion: z.string().default(""),
	ServerErrors: z.array(z.string()).nullish(),
	OSType: z.string().default(""),
	Architecture: z.string().default(""),
	OperatingSystem: z.string().default(""),
	KernelVersion: z.string().default(""),
	NCPU: z.number().default(0),
	SecurityOptions: z.array(z.string()).nullish(),
	// An engine that does not report it warns when the container is made.
	CpuCfsQuota: z.boolean().default(true),
	MemoryLimit: z.boolean().default(true),
	CPUSet: z.boolean().default(true),
});

function isElsewhere(endpoint: string): boolean {
	if (/^ssh:/.test(endpoint)) return true;
	const host = /^(?:tcp|https?):\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/]*)/.exec(endpoint)?.[1];
	return host !== undefined && !/^(|localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)$/.test(host);
}
