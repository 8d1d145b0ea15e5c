import type { RemoteHost } from "../machines/host.ts";
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
		connect: (using, stop, first) => (first ? openSetUp : openLink)(host, using, stop),
	};
}
