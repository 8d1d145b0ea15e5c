import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { failure } from "../../runner/errors.ts";
import type { CloudName } from "../../runner/model/targets.ts";
import { packageFolder } from "../../runner/package.ts";

/** Folder of a cloud's Pulumi project. Only its package.json names the SDKs. */
export function programFolder(cloud: CloudName): string {
	return path.join(packageFolder, "infra", cloud);
}

/**
 * Loads a package that only such a project depends on ("@pulumi/pulumi/automation", "@aws-sdk/client-ec2"), as seen from that folder, so that
 * users without a cloud never download its SDK. The caller says which parts it needs, since the types cannot be imported. Fails with
 * `sdk-missing`, which has the line that installs it.
 */
export async function loadSdk<T>(name: string, folder: string): Promise<T> {
	let file: string;
	try {
		file = createRequire(path.join(folder, "package.json")).resolve(name);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "MODULE_NOT_FOUND" && code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw error;
		throw failure("sdk-missing", { folder });
	}
	const loaded = (await import(pathToFileURL(file).href)) as { default?: T };
	// They are CommonJS; Node does not find all of their names by itself.
	return loaded.default ?? (loaded as T);
}
