// dissecting-message-queues: nanomsg, case "latency", repeat 3 of 3
// round-trip of 1KiB, 500/s for 10s after warm-up until steady (14s to 90s); 100 producers on 100 connections, 100 topics
import mqbench from 'k6/x/mqbench';
import nanomsg from 'k6/x/mqbench/nanomsg';

export const messagesPerSecond = 500; // = 100 slots/s x 5 messages

// plan.json has the exact time of each of the 50 000 messages, warm-up included. k6 only hands out
// slots, stretches of that schedule; a pacer sends every message at its own time and makes up for ticks that
// k6 drops.
const run = mqbench.load(nanomsg, open('./plan.json'));

// The same for every load: the heartbeat lasts 2 s longer than the schedule, then waits for the drain.
export const options = {
  scenarios: {
    heartbeat: {
      executor: 'constant-arrival-rate',
      rate: 100,
      timeUnit: '1s',
      duration: '102s',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '40s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
