import { isImaged, targets, targetsThat } from "../model/targets.ts";
import type { Context } from "./context.ts";
import type { Parts } from "./parts.ts";
import { type Problem, refuse, refuseKey } from "./problem.ts";
import { hasHosts } from "./rig.ts";
import type { Clients, Scenario } from "./scenario.ts";

/** CPUs for the whole scenario. On the target that the command line chose, settings of others are left aside. */
export function resolvePin(
	written: Parts["pin"],
	context: Pick<Context, "target" | "targetChosen" | "platform" | "rig">,
	clients: Clients["kind"],
): { pin: Scenario["pin"]; problems: Problem[] } {
	const { target, targetChosen } = context;
	// All of those are Linux.
	const elsewhere = clients === "rented" || clients === "ssh" || clients === "pods";
	const { generator = null, brokers = null } = written ?? {};
	const problems: Problem[] = [];
	const place = target && targets[target].place;
	const hosts = place === "host" || hasHosts(context.rig);
	// Containers of target docker live on a Linux of their own where this machine is none, and so do hosts.
	const here =
		(elsewhere ? null : generator) ?? (isImaged(place ?? null) || hosts ? null : brokers);
	if (here !== null && context.platform !== "linux")
		problems.push(refuseKey(["pin"], "pin-needs-linux"));
	const theirs = place === null && !hosts;
	if (brokers !== null && theirs && !targetChosen)
		problems.push(
			refuse(["pin", "brokers"], "pin-of-yours", {
				target,
				targets: targetsThat(({ place }) => place !== null),
			}),
		);
	return { pin: { generator, brokers: theirs ? null : brokers }, problems };
}
