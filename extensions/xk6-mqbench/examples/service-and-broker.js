// A service under HTTP load while its broker is measured exactly. Both decide k6's exit code.
//
//   NATS_URL=nats://127.0.0.1:4222 SERVICE_URL=http://127.0.0.1:8080/ ./k6 run service-and-broker.js
import { check } from "k6";
import http from "k6/http";
import mqbench from "k6/x/mqbench";

const run = mqbench.open({
	name: "service-and-broker",
	system: { broker: "nats", url: "${NATS_URL}" },
	workload: { pattern: "round-trip", rate: "1000/s", message: "256B", warmup: "1s", duration: "3s" },
	sla: ["p99 < 250ms", "lost == 0"],
});

export const options = {
	scenarios: {
		broker: { ...run.scenario, exec: "broker" },
		service: { executor: "constant-arrival-rate", rate: 20, duration: "4s", preAllocatedVUs: 5, exec: "service" },
	},
	thresholds: {
		mqbench_valid: ["rate==1"], // the generator kept its schedule
		mqbench_sla: ["rate==1"], // every line of the SLA is met
		http_req_failed: ["rate==0"],
	},
};

export const broker = () => run.slot();

export function service() {
	check(http.get(__ENV.SERVICE_URL), { "the service answers": ({ status }) => status === 200 });
}

export const handleSummary = () => ({ stdout: run.text() });
