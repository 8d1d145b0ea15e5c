import { failure } from "../../runner/errors.ts";
import { sshPlaceText } from "../../runner/model/ssh-host.ts";
import { pause } from "../../runner/stop.ts";
import type { Connecting, RemoteHost } from "../machines/host.ts";
import type { Link } from "../machines/link.ts";
import { Unreachable } from "../machines/trouble.ts";
import { byHand, type SshHost } from "./host.ts";
import { openLink } from "./link.ts";

export interface SetUpOptions extends Connecting {
	/** How long a host may take to accept ssh, and then to finish its set-up, and how often to check; for tests. */
	readonly bootMs?: number;
	readonly setUpMs?: number;
	readonly pollMs?: number;
}

/**
 * Connects to a host, and returns when mqbench's set-up script there reports that it is ready, if there is one; `stop` cancels. A machine
 * that was just rented needs time before it accepts logins. Fails with `host-set-up`, or as `openLink` does.
 */
export async function openSetUp(
	host: SshHost,
	options: SetUpOptions,
	stop: AbortSignal,
): Promise<Link> {
	const connect = () => openLink(host, options, stop);
	if (!host.setUp) return connect();
	const { bootMs = (host.bootMinutes ?? BOOT_MINUTES) * 60_000, setUpMs = SET_UP_MS } = options;
	let link: Link | undefined;
	try {
		const opened = await waitFor<Link>(host, options, stop, async (waitedMs) => {
			try {
				return { done: await connect() };
			} catch (error) {
				// A booting host refuses; a wrong key or a missing user stays wrong.
				const boots = error instanceof Unreachable && error.passes;
				if (!boots || waitedMs > bootMs) throw error;
				return { doing: `not up yet: ${error.reason}` };
			}
		});
		link = opened.done;
		const { run } = opened.done;
		const { waited } = await waitFor<null>(host, options, stop, async (waitedMs) => {
			const { out } = await run("head -n 1 /var/lib/mqbench/state 2>/dev/null");
			const doing = doingIn(host, out.trim(), waitedMs > setUpMs ? setUpMs : null);
			return doing === null ? { done: null } : { doing };
		});
		if (!waited) return link;
	} catch (error) {
		await link?.close();
		throw error;
	}
	// The set-up raises the limit of open files; this login came before that.
	await link.close();
	return connect();
}

/** A host that the system's ssh reaches, with the user's configuration, agent and known hosts. */
export function overSsh(host: SshHost): RemoteHost {
	return {
		...host,
		name: sshPlaceText(host),
		connect: (using, stop, first) => (first ? openSetUp : openLink)(host, using, stop),
	};
}

// --- internal ---

const BOOT_MINUTES = 3;
const SET_UP_MS = 15 * 60_000;
/** How often to check, and to report. */
const POLL_MS = 1_000;
const SAY_MS = 10_000;

/** Looks until there is nothing to wait for any more, and reports now and then the reason for waiting. */
async function waitFor<T>(
	host: SshHost,
	{ world: { clock }, say, pollMs = POLL_MS }: SetUpOptions,
	stop: AbortSignal,
	look: (waitedMs: number) => Promise<{ readonly done: T } | { readonly doing: string }>,
): Promise<{ readonly done: T; readonly waited: boolean }> {
	const began = clock.monotonicMs();
	let said = began;
	for (let waited = false; ; waited = true) {
		const found = await look(clock.monotonicMs() - began);
		if ("done" in found) return { ...found, waited };
		const now = clock.monotonicMs();
		if (now - said >= SAY_MS) {
			said = now;
			say(`  ${sshPlaceText(host)}: ${found.doing} (${seconds(now - began)})`);
		}
		await pause(pollMs, stop);
	}
}

/** The current step of its set-up; null if it is ready. Fails when it has failed, or has taken `lateMs`. */
function doingIn(host: SshHost, state: string, lateMs: number | null): string | null {
	if (state === "ready") return null;
	const look = `Its log is /var/lib/mqbench/set-up.log there (${byHand(host)})`;
	const wrong = (reason: string, remedy = look) =>
		failure("host-set-up", { host: sshPlaceText(host), reason, remedy });
	const [, step, words] = /^failed: ([^:]*)(?:: *(.*))?$/.exec(state) ?? [];
	if (step !== undefined)
		throw wrong(`the step ${step} failed${words ? ` (${words.replace(/[.\s]+$/, "")})` : ""}`);
	const doing = /^running: (.*)$/.exec(state)?.[1];
	if (lateMs !== null)
		throw doing === undefined
			? wrong(
					`no set-up script started there within ${seconds(lateMs)}`,
					"Was it made by npx mqbench up? For a host of your own write setUp: false in the rig's file",
				)
			: wrong(`it is still in the step ${doing} after ${seconds(lateMs)}`);
	return `being set up: ${doing ?? "not begun yet"}`;
}

function seconds(ms: number): string {
	return `${Math.round(ms / 1000)} s`;
}
