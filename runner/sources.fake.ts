import { readdirSync } from "node:fs";
import path from "node:path";
import { packageFolder } from "./package.ts";

/** All TypeScript but tests and fakes, which may import what they like. */
export function sources(): string[] {
	return ["runner", "infra"]
		.flatMap((top) =>
			readdirSync(path.join(packageFolder, top), { recursive: true }).map((file) =>
				path.posix.join(top, String(file).replaceAll("\\", "/")),
			),
		)
		.filter(
			(file) =>
				file.endsWith(".ts") &&
				!/\.(test|fake|config|d)\.ts$|\/node_modules\/|\/fixtures\//.test(file),
		);
}
