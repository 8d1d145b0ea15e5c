import { createHash } from "node:crypto";
import { packageVersion } from "../../runner/package.ts";
import { sha256OfFile } from "../../runner/sha256.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { platformName } from "../platform.ts";
import { type Docker, explainDocker } from "./cli.ts";
import type { Engine } from "./engine.ts";
import { inspectImage } from "./images.ts";
import { LABELS } from "./labels.ts";
import { tar } from "./tar.ts";

/**
 * Images of mqbench's own programs, made of the files that run on this machine: nothing is pulled, and versions cannot differ. The programs
 * are static and need nothing else.
 */
export type OwnImage = keyof typeof CONTENTS;

/** Whether programs of this machine run in the engine's containers. */
export function fitsEngine(engine: Pick<Engine, "platform">): boolean {
	return engine.platform === platformName(process.platform, process.arch);
}

/** Name of the image, which is made if it is missing. Only where it fits the engine. */
export async function ownImage(
	docker: Docker,
	which: OwnImage,
	binaries: Pick<Binaries, "k6" | "agent">,
	world: World,
): Promise<string> {
	const programs = CONTENTS[which];
	const hash = createHash("sha256").update(FORM);
	for (const program of programs)
		hash.update(await sha256OfFile(binaries[program])).update(program);
	const name = `mqbench-${which}:${hash.digest("hex").slice(0, 16)}`;
	if (await inspectImage(docker, name)) return name;
	try {
		await docker.run(
			[
				"import",
				"--change",
				`ENV PATH=/${FOLDER}`,
				"--change",
				`LABEL ${LABELS.version}=${packageVersion} ${MADE}=${which}`,
				"-",
				name,
			],
			{
				stop: world.stop,
				input: tar([
					{ name: "usr", mode: 0o755, from: null },
					{ name: "usr/local", mode: 0o755, from: null },
					{ name: FOLDER, mode: 0o755, from: null },
					{ name: "tmp", mode: 0o1777, from: null },
					...programs.map((program) => ({
						name: `${FOLDER}/${program}`,
						mode: 0o755,
						from: binaries[program],
					})),
				]),
			},
		);
	} catch (error) {
		throw explainDocker(error, `make the image ${name}`);
	}
	// Removes those of older programs; images in use stay.
	await docker
		.run([
			"image",
			"prune",
			"--all",
			"--force",
			"--filter",
			`label=${MADE}=${which}`,
			"--filter",
			"until=720h",
		])
		.catch(() => {});
	return name;
}

// --- internal ---

/** client makes load; tools tests the disk of a volume. */
const CONTENTS = { client: ["k6", "agent"], tools: ["agent"] } as const;

const MADE = "mqbench.image";
const FOLDER = "usr/local/bin";
/** Changes with the rest of the images' contents. */
const FORM = "1";
