import { readdirSync } from "node:fs";
import path from "node:path";
import { packageFolder } from "./package.ts";

/** For tests of the sources: all of TypeScript but tests and fakes, which stand beside the code and may use what they like. */
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
