import { existsSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { extensionNamed, MANIFEST, readExtension } from "../../infra/programs/extension.ts";
import type { World } from "../world.ts";

/** The documentation that a driver from outside carries: "../xk6-mybroker", "github.com/me/xk6-mybroker@v1.2.3". Null for other words. */
export async function extensionPage(topic: string, world: World): Promise<string | null> {
	const named = extensionNamed(topic);
	const isThere = topic !== "" && existsSync(path.resolve(world.cwd, topic, MANIFEST));
	const isPath = isThere || topic.startsWith(".") || path.isAbsolute(topic);
	if ("path" in named && !isPath) return null;
	const { title: driver, sum, manifest } = await readExtension(named, world);
	const { broker, title, description, options, ...facts } = manifest;
	const page = { driver, sum, ...facts, options: options.properties };
	return `${broker}: ${title}. ${description}\n\n${stringify(page)}`;
}
