import { expect, test } from "vitest";
import { sshHost } from "./host.ts";
import { unreachable } from "./trouble.ts";

test("commands to paste quote what came from a file", () => {
	const host = {
		...sshHost("h:22022"),
		user: "$(id)",
		identity: "a'; id; '",
		knownHosts: "b`id`'",
	};
	const sentence = (words: string) => unreachable(host, words).message;
	expect(sentence("Permission denied")).toContain(
		String.raw`ssh -p 22022 -i 'a'\''; id; '\''' -o 'UserKnownHostsFile=b${"`id`"}'\''' '$(id)@h' true`,
	);
	expect(sentence("REMOTE HOST IDENTIFICATION HAS CHANGED")).toContain(
		String.raw`ssh-keygen -f 'b${"`id`"}'\''' -R '[h]:22022'`,
	);
});
