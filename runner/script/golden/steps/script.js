// steps: nats, case "1KiB 1000/s to 4000/s in 3 steps", repeat 1 of 1
// round-trip of 1KiB, 3 steps from 1000/s to 4000/s for 25s after 2s warm-up; 1 producer on 1 connection, 1 topic; 1000/s for 10s, 2000/s for 10s, 4000/s for 5s
import mqbench from 'k6/x/mqbench';
import nats from 'k6/x/mqbench/nats';

export const messagesPerSecond = 4000; // at most; = 100 slots/s x 40 messages

// plan.json has the exact time of each of the 52 000 messages, warm-up included. k6 only hands out
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
      duration: '29s',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '60s',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
