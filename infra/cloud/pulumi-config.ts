import path from "node:path";
import { stringify } from "yaml";
import { commandLine } from "../../runner/shell.ts";
import type { Offer } from "./provider.ts";
import { programFolder } from "./sdk.ts";

/** The Pulumi program's input for a scenario, and how to run it by hand. */
export function pulumiConfig({ cloud, config }: Offer, scenario: string): string {
	const folder = programFolder(cloud);
	return `# Configuration of Pulumi for ${scenario}. By hand, in ${folder}:
#   npm ci
#   ssh-keygen -t ed25519 -N '' -f id_ed25519
#   ssh-keygen -t ed25519 -N '' -f host_ed25519
#   echo "* $(cat host_ed25519.pub)" >known_hosts
#   pulumi login --local
#   pulumi stack init ${config.id}
# Append what is below to Pulumi.${config.id}.yaml, with the line of id_ed25519.pub as publicKey. Then:
#   pulumi up
#   pulumi stack output rig --json > rig.json
#   ${commandLine(["mqbench", scenario, "--rig", path.join(folder, "rig.json")])}
#   pulumi destroy
# The machines end themselves ${config.ttlMinutes} minutes after their start; expiresAt counts from now.
${stringify({
	config: {
		"mqbench:rig": {
			...config,
			publicKey: "<the line of id_ed25519.pub>",
			identity: "id_ed25519",
			hostKey: path.join(programFolder(cloud), "host_ed25519"),
			knownHosts: "known_hosts",
		},
	},
})}`;
}
