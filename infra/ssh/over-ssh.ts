import type { RemoteHost } from "../remote/host.ts";
import { type SshHost, sshName } from "./host.ts";
import { openLink } from "./link.ts";
import { openSetUp } from "./set-up.ts";

/** A host that the system's ssh reaches, with the user's configuration, agent and known hosts. */
export function overSsh(host: SshHost): RemoteHost {
	const { broker, setUp } = host;
	return {
		name: sshName(host),
		...(broker === undefined ? {} : { broker }),
		setUp,
		connect: (using, stop, first) =>
			first
				? openSetUp(host, using, stop)
				: openLink(host, { agent: using.agent, ...using.world }, stop),
	};
}
