import { z } from "zod";
import { formatDuration } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { platformName } from "../platform.ts";
import type { Binaries } from "../programs/resolve.ts";
import { readOr } from "../read-or.ts";
import type { Docker } from "./cli.ts";
import type { Engine } from "./engine.ts";
import { ownImage } from "./images.ts";
import { labelArguments } from "./labels.ts";

/** How long a flush to the disk of a volume takes, in ns: the median of several. */
const Flush = z.object({ calls: z.int().positive(), p50Ns: z.number().positive() });
export type Flush = z.infer<typeof Flush>;

/**
 * Measures a new volume from within a container, as brokers use it: the engine chooses the storage of volumes, which may be memory or a
 * disk that does not really flush. null if it cannot be measured.
 */
export async function measureFlush(
	docker: Docker,
	engine: Pick<Engine, "platform">,
	labels: Readonly<Record<string, string>>,
	binaries: Pick<Binaries, "k6" | "agent">,
	world: World,
): Promise<Flush | null> {
	if (engine.platform !== platformName(process.platform, process.arch)) return null;
	try {
		const image = await ownImage(docker, ["agent"], binaries, world);
		// Half a second: a Ctrl-C waits for this, and must not find its container running. The volume has no name and goes with its container.
		const how = ["--rm", "--network", "none", ...labelArguments(labels), "--entrypoint", "agent"];
		const mount = ["--mount", "type=volume,target=/volume"];
		return parseFlush(await docker.run(["run", ...how, ...mount, image, "disk", "/volume"]));
	} catch (error) {
		if (world.stop.aborted) throw error;
		// A value that cannot be measured is unknown; measure the rest anyway.
		return null;
	}
}

/** The output of `agent disk`; null if it is something else. */
export function parseFlush(text: string): Flush | null {
	return readOr<Flush | null>(null, () => Flush.parse(JSON.parse(text)));
}

/** For people and reports. */
export function flushText(flush: Flush | null): string {
	if (flush === null) return "not measured";
	const figure = `${formatDuration(flush.p50Ns)} (p50 of ${flush.calls})`;
	return flush.p50Ns < LYING_NS ? `${figure}: nothing is on a disk when it is said to be` : figure;
}

/** A warning for users who rely on durability; null if there is none. */
export function flushWarning(
	flush: Flush | null,
	disk = "The disk of Docker's volumes",
): string | null {
	return flush !== null && flush.p50Ns < LYING_NS
		? `${disk} says after ${formatDuration(flush.p50Ns)} that it has flushed, which is too fast for a disk: it is memory, or it lies. These figures do not show what durability costs.`
		: null;
}

// --- internal ---

/** No honest disk flushes faster. Below this it is memory, or a cache that loses data. */
const LYING_NS = 20_000;
