// mqbench's generator in a script of your own: what `mqbench compile` writes for you, with the plan in the script.
//
//   K6_AUTO_EXTENSION_RESOLUTION=false MQBENCH_URL=nats://127.0.0.1:4222 \
//     k6 run --out mqbench=client-0 extensions/xk6-mqbench/examples/hand-written.js
import mqbench from "k6/x/mqbench";
import nats from "k6/x/mqbench/nats";

const seconds = 2;
const warmup = 1;
const rate = 1000; // messages per second

const run = mqbench.load(
	nats,
	JSON.stringify({
		schema: 1,
		runNumber: 1, // in every envelope: messages with another number are foreign
		broker: "nats",
		urlEnv: "MQBENCH_URL",
		driverOptions: {},
		acks: false, // core NATS acknowledges nothing
		pattern: "round-trip", // the other ones need more fields: runner/model/plan.ts has them all
		schedule: {
			kind: "constant",
			rate: { messages: rate, perNs: 1e9 },
			warmupNs: warmup * 1e9,
			durationNs: seconds * 1e9,
			warmupMessages: rate * warmup,
			messages: rate * (warmup + seconds),
		},
		drainNs: 5e9,
		timeoutNs: 5e9,
		inFlight: null,
		connections: 1,
		producers: 1,
		topics: ["mqbench.hand-written"],
		message: { bytes: 256, payload: "random", seed: 1 },
		limits: [{ metric: "response", limitNs: 20e6 }],
		heartbeat: { slotsPerSecond: 100 },
		client: { index: 0, count: 1 },
	}),
);

// The heartbeat: 100 slots a second, whatever the rate. It outlasts the schedule by 2 s; gracefulStop is the drain and 10 s.
export const options = {
	scenarios: {
		heartbeat: {
			executor: "constant-arrival-rate",
			rate: 100,
			timeUnit: "1s",
			duration: `${warmup + seconds + 2}s`,
			preAllocatedVUs: 4,
			maxVUs: 4,
			gracefulStop: "15s",
		},
	},
};

export default () => run.slot();
