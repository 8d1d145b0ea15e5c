import { expect, test } from "vitest";
import { busiestShare, type Group, idleConsumers } from "./consumers.ts";

const group = (of: Partial<Group>): Group => ({
	consumers: 4,
	topics: 1,
	producers: 1,
	partitions: 1,
	groupsByPartition: true,
	keys: null,
	...of,
});

test.each<[string, Partial<Group>, number, number]>([
	["one partition feeds one of four", {}, 3, 1],
	["a system without partitions feeds all", { groupsByPartition: false }, 0, 1 / 4],
	["as many partitions as consumers", { partitions: 4 }, 0, 1 / 4],
	["six partitions: two consumers have two", { partitions: 6 }, 0, 2 / 6],
	["two keys reach two partitions at most", { partitions: 4, keys: { count: 2 } }, 2, 1 / 2],
	["two topics with two members each", { topics: 2, producers: 2 }, 2, 1 / 2],
	["three topics: one has two members", { topics: 3, producers: 3 }, 1, 1 / 3],
	[
		"more topics than members: one has two topics",
		{ consumers: 2, topics: 3, producers: 3 },
		0,
		2 / 3,
	],
	["more producers on the first topic", { consumers: 2, topics: 2, producers: 3 }, 0, 2 / 3],
	["nobody consumes", { consumers: 0 }, 0, 0],
])("%s", (_, of, idle, share) => {
	expect(idleConsumers(group(of))).toBe(idle);
	expect(busiestShare(group(of))).toBeCloseTo(share, 12);
});
