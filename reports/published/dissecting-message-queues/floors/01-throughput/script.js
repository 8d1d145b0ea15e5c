// dissecting-message-queues: noop, case "throughput", repeat 1 of 1
// round-trip of 1KiB, 100 000 messages in a closed loop after 10 000 to warm up, at most 3.5s; 1 producer on 1 connection, 1 topic; at most 1 000 000 in flight per producer
import mqbench from 'k6/x/mqbench';
import noop from 'k6/x/mqbench/noop';

export const messages = 110000; // warm-up included; a closed load, as fast as inFlight allows

// Closed loop: once the first slot comes, every producer sends as fast as it may. k6 keeps the time, at most
// 3.5s, and the plan says how many messages there are.
const run = mqbench.load(noop, open('./plan.json'));

// The same for every load: the heartbeat lasts 0.5 s longer than the schedule, then waits for the drain.
export const options = {
  scenarios: {
    heartbeat: {
      executor: 'constant-arrival-rate',
      rate: 100,
      timeUnit: '1s',
      duration: '4s',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '11s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
