// delivery-and-order: nats, case "52B 3000/s", repeat 1 of 1
// round-trip of 52B, 3000/s for 10s after 5s warm-up; 1 producer on 1 connection, 1 topic
import mqbench from 'k6/x/mqbench';
import nats from 'k6/x/mqbench/nats';

export const messagesPerSecond = 3000; // = 100 slots/s x 30 messages

// plan.json has the exact time of each of the 45 000 messages, warm-up included. k6 only hands out
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
      duration: '17s',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '60s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
