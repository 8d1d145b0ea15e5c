import { z } from "zod";
import { reasonOf } from "../../runner/reason.ts";
import { type Kubectl, KubectlError, reasonIn } from "./kubectl.ts";

/** What a cluster says before anything is made in it. */
export interface Looked {
	readonly context: string;
	readonly namespace: string;
	/** "v1.34.1". */
	readonly version: string;
	/** The first minor version of Kubernetes 1 with which this works is OLDEST. */
	readonly tooOld: boolean;
	/** Rights that mqbench needs and the account lacks: "create pods/exec". */
	readonly missing: readonly string[];
}

/** backoffLimitPerIndex is on by default since then. */
export const OLDEST = 29;

/** Rights that mqbench needs in its namespace (rbac.yaml). */
export const RIGHTS = [
	"create jobs.batch",
	"get jobs.batch",
	"list jobs.batch",
	"watch jobs.batch",
	"delete jobs.batch",
	"get pods",
	"list pods",
	"list events",
	"create pods/exec",
] as const;

/** Asks the cluster, at most a dozen questions. Fails with a KubectlError. */
export async function lookAt(kubectl: Kubectl): Promise<Looked> {
	const stated = View.parse(await kubectl.json(["config", "view", "--minify"]));
	const [context] = stated.contexts;
	const at = kubectl.where.indexOf("--namespace");
	// `kubectl version` also compares itself with it.
	const server = Version.parse(JSON.parse(await kubectl.run(["get", "--raw", "/version"])));
	const missing = await Promise.all(
		RIGHTS.map(async (right) => {
			const [verb = "", what = ""] = right.split(" ");
			const said = await kubectl.run(["auth", "can-i", verb, what]).catch((error) => {
				// "no" is exit code 1, with nothing else on stderr.
				if (error instanceof KubectlError && /^no\b/m.test(error.message)) return "no";
				throw error;
			});
			return said.trim().startsWith("yes") ? [] : [right];
		}),
	);
	const minor = Number.parseInt(server.minor, 10);
	return {
		context: stated["current-context"] ?? "",
		namespace:
			(at < 0 ? undefined : kubectl.where[at + 1]) ?? context?.context.namespace ?? "default",
		version: server.gitVersion,
		tooOld: server.major === "1" && minor < OLDEST,
		missing: missing.flat(),
	};
}

/** Why a cluster cannot be looked at, for people. */
export function whyUnseen(error: unknown): string {
	return error instanceof KubectlError ? reasonIn(error.message) : reasonOf(error);
}

// --- internal ---

const View = z.object({
	"current-context": z.string().optional(),
	contexts: z
		.array(z.object({ context: z.object({ namespace: z.string().optional() }) }))
		.nullish()
		.transform((all) => all ?? []),
});

const Version = z.object({ major: z.string(), minor: z.string(), gitVersion: z.string() });
