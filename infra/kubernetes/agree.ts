import path from "node:path";
import { failure } from "../../runner/errors.ts";
import type { Scenario } from "../../runner/scenario/scenario.ts";
import { tell } from "../../runner/text/tell.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "../ask.ts";

export interface CodeOptions {
	/** `--allow-code`: do not ask before manifests are created. */
	readonly allowCode?: boolean | undefined;
}

/** Asks a person whether a scenario's manifests may be created, which may run anything. Fails with `usage` if not. */
export async function agreeToCode(
	{ kubernetes }: Pick<Scenario, "kubernetes">,
	{ allowCode = false }: CodeOptions,
	world: World,
): Promise<void> {
	const files = (kubernetes?.manifests ?? []).map((file) =>
		path.relative(world.cwd, file),
	);
	if (files.length === 0 || allowCode) return;
	if (world.ask === null)
		throw failure("usage", { message: tell("code-unasked", { files }) });
	if (!(await agreed(tell("code-question", { files }), world)))
		throw failure("usage", { message: tell("code-declined", { files }) });
}
