/** Where brokers and load come from, and what is done to them. Durations and sizes are given as they are written. */
export const places = {
	"rig-brokers-stay": (d: { rig: string; fresh: readonly string[] }) =>
		`rig ${d.rig}: its brokers stay up, and each run has topics of its own${d.fresh.length === 0 ? "" : `; those on hosts are started anew for each run (${d.fresh.join(", ")})`}`,
	"rig-hosts-stay": (d: { rig: string }) =>
		`rig ${d.rig}: its hosts stay up, brokers are fresh for each run`,
	"rented-machines": (d: { where: string; machines: readonly string[]; ttl: string }) =>
		`machines of EC2 in ${d.where}: ${d.machines.join(", ")}; they end themselves after ${d.ttl}`,
	"nodes-on-hosts": (d: { nodes: number }) => `${d.nodes} nodes on ${d.nodes} hosts`,
	"existing-topics": (d: { topics: readonly string[] }) =>
		`uses ${d.topics.join(", ")}; makes and removes nothing, and counts what others send there as foreign`,
	"without-server": (d: { system: string }) =>
		`${d.system}: no server, its clients are connected to each other`,
	"clients-here": (d: { clients: number }) => `clients: ${d.clients} processes of this machine`,
	"clients-rented": (d: { clients: number }) =>
		`clients: ${d.clients} ${d.clients === 1 ? "machine" : "machines"}`,
	"clients-in-containers": (d: { clients: number }) =>
		`clients: ${d.clients} ${d.clients === 1 ? "container" : "containers"}`,
	"clients-in-pods-there": (d: { clients: number; where: string }) =>
		`clients: ${d.clients} ${d.clients === 1 ? "pod" : "pods"} in ${d.where}`,
	"pods-of-cluster": (d: { where: string }) => `pods of Kubernetes (${d.where})`,
	"clients-on-hosts": (d: { hosts: readonly string[] }) =>
		`clients: ${d.hosts.join(", ")}, over SSH`,
};
