import path from "node:path";
import { readExtension } from "../../infra/programs/extension.ts";
import { bareUrl } from "../brokers/index.ts";
import { wrap } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

/** The documentation that a driver from outside carries: "../xk6-mybroker", "github.com/me/xk6-mybroker@v1.2.3". Null for other words. */
export async function extensionPage(topic: string, world: World): Promise<string | null> {
	const [, module, version = ""] = /^([^@]+)@(v.+)$/.exec(topic) ?? [];
	if (module === undefined && !topic.startsWith(".") && !path.isAbsolute(topic)) return null;
	const { title, sum, manifest, broker } = await readExtension(
		module === undefined ? { path: topic } : { module, version },
		world.cwd,
		world,
	);
	const { traits, durability, local, options } = manifest;
	return [
		`${manifest.broker}: ${manifest.title}. ${manifest.description}`,
		`\nDriver: ${title}, ${sum}`,
		`Url: ${bareUrl(broker)}`,
		`Command: ${local?.command.join(" ") ?? "of the scenario"}`,
		`Durability: ${[durability.own, ...factsOf(durability.levels)].join("; ")}`,
		...factsOf(traits),
		"\nOptions:",
		...Object.entries(options.properties).map(
			([name, { description, ...facts }]) =>
				`  ${name}: ${description} (${factsOf(facts).join(", ")})`,
		),
	]
		.flatMap((text) => wrap(text, 80, "    ", ""))
		.concat("")
		.join("\n");
}

// --- internal ---

function factsOf(values: Readonly<Record<string, unknown>>): string[] {
	return Object.entries(values)
		.filter(([, value]) => value !== undefined)
		.map(
			([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
		);
}
