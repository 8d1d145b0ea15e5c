import { expect, test } from "vitest";
import { sharesHost } from "./one-run.ts";

const here = { client: { kind: "local" }, facts: { identity: "here" } } as const;
const there = { client: { kind: "ssh" }, facts: { identity: "h1" } } as const;
const unknown = { client: { kind: "ssh" }, facts: {} } as const;

test.each([
	["a broker of this machine with a client of it", {}, [here], true],
	["with clients of which one is there", {}, [there, here], true],
	["with clients elsewhere", {}, [there], false],
	["a broker elsewhere", { sameHost: false }, [here], false],
	["a node on the client's host", { identities: ["h1"] }, [here, there], true],
	["a node on a host that is this machine", { identities: ["here"] }, [here], true],
	["nodes on other hosts", { identities: ["h2", "h3"] }, [here, there], false],
	["a client of which nothing is known", { identities: ["h1"] }, [unknown], false],
	["nodes of which nothing is known", { identities: [] }, [here], false],
] as const)("%s", (_, broker, clients, shared) => {
	expect(sharesHost({ sameHost: true, ...broker }, clients)).toBe(shared);
});
