import { randomBytes } from "node:crypto";

/** Who may use a broker that mqbench starts. */
export interface Login {
	readonly user: string;
	readonly password: string;
	/** As a URL has them, in front of the address. */
	readonly inUrl: string;
}

/**
 * A new one for each start: whoever else is on the machine, in the cluster or on the network reaches the broker's ports, too. It stands in files
 * that only the broker's user may read, or in its environment, and in the URL that the load generator gets; on no command line, and reports
 * hide it as they hide everybody's.
 */
export function newLogin(): Login {
	const user = "mqbench";
	const password = randomBytes(12).toString("hex");
	return { user, password, inUrl: `${user}:${password}@` };
}
