import { expect, test } from "vitest";
import { type ContainerSpec, containersText, createArguments, mountText } from "./container.ts";

const SPEC: ContainerSpec = {
	name: "mqbench-1",
	image: "sha256:abc",
	labels: { a: "b" },
	network: "net",
	ip: "198.18.0.2",
	hostname: "mqbench-1",
	args: ["-c", "/etc/x"],
	entrypoint: undefined,
	env: {},
	data: null,
	published: [],
	cpus: null,
	memory: null,
	pin: null,
	init: false,
};
const line = (parts: Partial<ContainerSpec>) => createArguments({ ...SPEC, ...parts }).join(" ");

test("a container is made with its own address, log and nothing that is not asked for", () => {
	expect(line({})).toBe(
		"create --name mqbench-1 --hostname mqbench-1 --network net --ip 198.18.0.2 --label a=b --log-driver json-file --log-opt max-size=64m --log-opt max-file=2 --restart no --pull never sha256:abc -c /etc/x",
	);
});

test.each<[Partial<ContainerSpec>, string]>([
	[{ cpus: 0.5 }, "--cpus 0.5"],
	[{ memory: 64 * 1024 ** 2 }, "--memory 67108864b --memory-swap 67108864b"],
	[{ pin: "0-1" }, "--cpuset-cpus 0-1"],
	[{ data: { path: "/data", volume: "v" } }, "--mount type=volume,source=v,target=/data"],
	[{ data: { path: "/data", volume: null } }, "--mount type=tmpfs,target=/data"],
	[{ published: [{ port: 4001, to: 4222 }] }, "--publish 127.0.0.1:4001:4222"],
	[{ init: true }, "--init"],
	[{ entrypoint: "/bin/sh" }, "--entrypoint /bin/sh sha256:abc"],
	[{ env: { A: "1" } }, "--env A=1"],
])("a container with %o has %s", (parts, wanted) => {
	expect(line(parts)).toContain(wanted);
});

const GIB = 1024 ** 3;
test.each([
	[1, null, null, false, "1 container"],
	[1, 2, GIB, false, "1 container, 2 CPUs, 1GiB"],
	[3, null, null, false, "3 containers on 1 host"],
	[3, 0.5, GIB, false, "3 containers on 1 host, 0.5 CPUs, 1GiB each"],
	[3, 1, null, true, "3 containers on 1 host, 1 CPU each, through published ports"],
])(
	"%d nodes with %s CPUs and %s bytes, through ports %s, are: %s",
	(nodes, cpus, memory, hop, text) => {
		expect(containersText(nodes, { cpus, memory }, hop)).toBe(text);
	},
);

test("a mount takes any path", () => {
	expect(mountText("type=bind", "source=/a b", "target=/c")).toBe(
		"type=bind,source=/a b,target=/c",
	);
	expect(mountText("type=bind", 'source=/a,"b', "target=/c")).toBe(
		'type=bind,"source=/a,""b",target=/c',
	);
});
