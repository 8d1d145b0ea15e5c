import { flushText, flushWarning } from "../docker/flush.ts";
import type { Connections } from "./connections.ts";
import type { RunFolders } from "./folders.ts";
import type { BrokerHost } from "./host.ts";

/** How long a flush takes on the measured disks: the slowest one, because a cluster waits for it. */
export async function flushOf(
	sites: readonly { readonly host: BrokerHost; readonly folders: RunFolders }[],
	{ warn }: Connections,
): Promise<Record<string, string>> {
	const all = await Promise.all(sites.map(({ host, folders }) => host.flush(folders.store)));
	for (const [i, flush] of all.entries()) {
		const warning = flushWarning(flush, `The disk of ${sites[i]?.host.name}`);
		if (warning !== null) warn(warning);
	}
	const known = all.filter((one) => one !== null);
	const slowest =
		known.length < all.length ? null : (known.sort((a, b) => b.p50Ns - a.p50Ns)[0] ?? null);
	return {
		"store fdatasync": `${flushText(slowest)}${slowest !== null && sites.length > 1 ? `, the slowest of ${sites.length} hosts` : ""}`,
	};
}
