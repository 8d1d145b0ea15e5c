// commit-log-latency: jetstream-os, case "5KiB", repeat 2 of 3
// round-trip of 5KiB, 50/s for 30s after warm-up until steady (14s to 90s); 1 producer on 1 connection, 1 topic
import mqbench from 'k6/x/mqbench';
import nats from 'k6/x/mqbench/nats';

export const messagesPerSecond = 50; // = 100 slots/s x 0.5 messages

// plan.json has the exact time of each of the 6 000 messages, warm-up included. k6 only hands out
// slots, stretches of that schedule; a pacer sends every message at its own time and makes up for ticks that
// k6 drops.
const run = mqbench.load(nats, open('./plan.json'));

// The same for every load: the heartbeat lasts 2 s longer than the schedule, then waits for the drain.
export const options = {
  scenarios: {
    heartbeat: {
      executor: 'constant-arrival-rate',
      rate: 100,
      timeUnit: '1s',
      duration: '122s',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '40s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
