import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { failure } from "../../runner/errors.ts";
import type { CloudName } from "../../runner/model/targets.ts";
import { packageFolder } from "../../runner/package.ts";

/** Folder of a cloud's Pulumi project, whose package.json alone names its SDKs. */
export function programFolder(cloud: CloudName): string {
	return path.join(packageFolder, "infra", cloud);
}

/**
 * Loads a package that is a dependency of such a project only ("@pulumi/pulumi/automation", "@aws-sdk/client-ec2"), as that folder sees it:
 * who measures on a laptop never downloads a cloud's SDK. The caller says what of it it needs (its types are not there to be imported).
 * Fails with `sdk-missing`, which has the line that installs it.
 */
export async function loadSdk<T>(name: string, folder: string): Promise<T> {
	let file: string;
	try {
		file = createRequire(path.join(folder, "package.json")).resolve(name);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "MODULE_NOT_FOUND" && code !== "ERR_PACKAGE_PATH_NOT_EXPORTED")
			throw error;
		throw failure("sdk-missing", {
			folder,
			project: existsSync(path.join(folder, "package-lock.json")),
		});
	}
	const loaded = (await import(pathToFileURL(file).href)) as { default?: T };
	// They are CommonJS: what Node finds out of their names by itself is not all.
	return loaded.default ?? (loaded as T);
}
