import { z } from "zod";
import { imageOf } from "../../runner/brokers/index.ts";
import type { ImageFacts } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import { maskUrls } from "../../runner/secrets.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { type Docker, DockerError, explainDocker } from "./cli.ts";

/**
 * The image, pulled if it is missing. Fails with `image-missing`. A pull may take minutes, so its start and its progress are reported.
 */
export async function getImage(
	docker: Docker,
	system: System,
	world: World,
	say: (text: string) => void,
): Promise<ImageFacts> {
	const image = imageOf(system);
	const there = await inspectImage(docker, image);
	if (there) return there;
	say(
		`Pulling ${docker.host ? `${image} on ${docker.host}` : image}: once, from the registry that its name says (docker pull).`,
	);
	const began = world.clock.monotonicMs();
	await pull(docker, system, image, world, say);
	const pulled = await inspectImage(docker, image);
	if (!pulled)
		throw failure("image-missing", {
			system: system.key,
			host: docker.host ?? "this machine",
			image,
			reason: "it was pulled, and is not there",
		});
	say(`Pulled in ${Math.round((world.clock.monotonicMs() - began) / 1000)}s; Docker keeps it.`);
	return pulled;
}

/** What is known about a local image; null: it is missing. */
export async function inspectImage(docker: Docker, image: string): Promise<ImageFacts | null> {
	let text: string;
	try {
		text = await docker.run(["image", "inspect", "--format", "{{json .}}", image]);
	} catch (error) {
		if (error instanceof DockerError && /no such image/i.test(error.message)) return null;
		throw explainDocker(error, `look for the image ${image}`);
	}
	const { Id, RepoDigests, Config } = Inspected.parse(JSON.parse(text));
	return {
		name: image,
		id: Id,
		digest: RepoDigests?.[0]?.split("@")[1] ?? null,
		env: Object.fromEntries(
			(Config?.Env ?? []).map((line) => {
				const at = line.indexOf("=");
				return [line.slice(0, at), line.slice(at + 1)];
			}),
		),
		entrypoint: Config?.Entrypoint ?? [],
	};
}

// --- internal ---

const Inspected = z.object({
	Id: z.string(),
	RepoDigests: z.array(z.string()).nullish(),
	Config: z
		.object({ Env: z.array(z.string()).nullish(), Entrypoint: z.array(z.string()).nullish() })
		.nullish(),
});

/** How often the progress of a pull is reported. */
const SAY_MS = 10_000;

async function pull(
	docker: Docker,
	system: System,
	image: string,
	world: World,
	say: (text: string) => void,
): Promise<void> {
	const layers = new Map<string, string>();
	const words: string[] = [];
	let saidMs = world.clock.monotonicMs();
	const child = docker.follow(["pull", image], (line) => {
		const layer = /^([0-9a-f]{12}): (.+)$/.exec(line);
		if (!layer?.[1] || !layer[2]) {
			words.push(line);
			return;
		}
		layers.set(layer[1], layer[2]);
		const now = world.clock.monotonicMs();
		if (now - saidMs < SAY_MS) return;
		saidMs = now;
		const done = [...layers.values()].filter((state) =>
			/^(Pull complete|Already exists)/.test(state),
		).length;
		say(`  ${done}/${layers.size} layers`);
	});
	const stop = () => child.abandon();
	world.stop.addEventListener("abort", stop, { once: true });
	if (world.stop.aborted) stop();
	const { code } = await child.ended;
	world.stop.removeEventListener("abort", stop);
	child.abandon();
	orInterrupted(world.stop);
	if (code === 0) return;
	const reason = maskUrls(reasonIn(words));
	if (/no space left on device/i.test(reason))
		throw failure("docker-disk-full", { doing: `pull ${image}`, reason });
	const host = docker.host ?? "this machine";
	throw failure("image-missing", { system: system.key, host, image, reason });
}

/** The engine's last line, without the usual prefix. */
function reasonIn(words: readonly string[]): string {
	const line =
		words.findLast((one) => /error|denied|not found|cannot/i.test(one)) ??
		words.at(-1) ??
		"docker pull said nothing";
	return line
		.replace(/^(error response from daemon|error): /i, "")
		.replace(/\.$/, "")
		.trim();
}
