import { createHash } from "node:crypto";
import { z } from "zod";
import { imageOf } from "../../runner/brokers/index.ts";
import type { ImageFacts } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import { maskUrls } from "../../runner/secrets.ts";
import { sha256OfFile } from "../../runner/sha256.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { pairsIn } from "../pairs.ts";
import type { Binaries } from "../programs/resolve.ts";
import { type Docker, DockerError, explainDocker, wrongIn } from "./cli.ts";
import { tar } from "./tar.ts";

/** The image, pulled if it is missing, with a message because it may take minutes. Fails with `image-missing`. */
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
	const words: string[] = [];
	const child = docker.follow(["pull", "--quiet", image], (line) => void words.push(line));
	const stop = () => child.abandon();
	world.stop.addEventListener("abort", stop, { once: true });
	if (world.stop.aborted) stop();
	const { code } = await child.ended;
	world.stop.removeEventListener("abort", stop);
	stop();
	orInterrupted(world.stop);
	const pulled = code === 0 ? await inspectImage(docker, image) : null;
	if (pulled === null)
		throw failure("image-missing", {
			system: system.key,
			host: docker.host ?? "this machine",
			image,
			reason: maskUrls(wrongIn(words.join("\n"))),
		});
	say(`Pulled in ${Math.round((world.clock.monotonicMs() - began) / 1000)}s; Docker keeps it.`);
	return pulled;
}

/**
 * The name of an image of these programs, which is made of their files if it is missing: nothing is pulled, and versions cannot differ. The
 * programs are static and need nothing else.
 */
export async function ownImage(
	docker: Docker,
	programs: readonly ("k6" | "agent")[],
	binaries: Pick<Binaries, "k6" | "agent">,
	world: World,
): Promise<string> {
	const kind = programs.join("-");
	const hash = createHash("sha256").update(FORM);
	for (const program of programs)
		hash.update(await sha256OfFile(binaries[program])).update(program);
	const name = `mqbench-${kind}:${hash.digest("hex").slice(0, 16)}`;
	if (await inspectImage(docker, name)) return name;
	const label = `${MADE}=${kind}`;
	const input = tar([
		...["usr", "usr/local", FOLDER].map((name) => ({ name, mode: 0o755, from: null })),
		{ name: "tmp", mode: 0o1777, from: null },
		...programs.map((program) => ({
			name: `${FOLDER}/${program}`,
			mode: 0o755,
			from: binaries[program],
		})),
	]);
	await docker
		.run(["import", "--change", `ENV PATH=/${FOLDER}`, "--change", `LABEL ${label}`, "-", name], {
			stop: world.stop,
			input,
		})
		.catch((error) => {
			throw explainDocker(error, `make the image ${name}`);
		});
	// Removes older programs' images; images in use stay.
	const old = ["--filter", `label=${label}`, "--filter", "until=720h"];
	await docker.run(["image", "prune", "--all", "--force", ...old]).catch(() => {});
	return name;
}

// --- internal ---

const MADE = "mqbench.image";
const FOLDER = "usr/local/bin";
/** Changes with the rest of own images' contents. */
const FORM = "2";

const Inspected = z.object({
	Id: z.string(),
	RepoDigests: z.array(z.string()).nullish(),
	Config: z
		.object({ Env: z.array(z.string()).nullish(), Entrypoint: z.array(z.string()).nullish() })
		.nullish(),
});

/** The facts of a local image; null if it is missing. */
async function inspectImage(docker: Docker, image: string): Promise<ImageFacts | null> {
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
		env: pairsIn(Config?.Env ?? []),
		entrypoint: Config?.Entrypoint ?? [],
	};
}
