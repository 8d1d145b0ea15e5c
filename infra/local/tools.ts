import type { Tools } from "../../runner/brokers/process.ts";
import type { World } from "../../runner/world.ts";
import { resolveJars } from "../programs/jars.ts";
import type { Binaries } from "../programs/resolve.ts";
import { findOnPath, findProgram } from "./program.ts";

/** This machine's tools for brokers on the platform of the programs in `built`. */
export function toolsOf(world: World, binaries: Binaries): Tools {
	return {
		env: world.env,
		built: (program) => binaries.server(program),
		findOnPath: (name, env = world.env) => findOnPath(name, env),
		findProgram: (system, own) => findProgram(system, world.env, own),
		jars: (asked) => resolveJars({ ...asked, world }),
	};
}
