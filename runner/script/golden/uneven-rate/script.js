// uneven-rate: noop, case "48B 7/3s", repeat 1 of 1
// round-trip of 48B, 7/3s for 4.5s without warm-up; 1 producer on 1 connection, 1 topic; payload of zeros
import mqbench from 'k6/x/mqbench';
import noop from 'k6/x/mqbench/noop';

export const messagesPerSecond = 2.3333333; // = 100 slots/s x 0.023333333 messages

// plan.json has the exact time of each of the 11 messages, warm-up included. k6 only hands out
// slots, stretches of that schedule; a pacer sends every message at its own time and makes up for ticks that
// k6 drops.
const run = mqbench.load(noop, open('./plan.json'));

// The same for every load: the heartbeat lasts 2 s longer than the schedule, then waits for the drain.
export const options = {
  scenarios: {
    heartbeat: {
      executor: 'constant-arrival-rate',
      rate: 100,
      timeUnit: '1s',
      duration: '6500ms',
      preAllocatedVUs: 4,
      maxVUs: 4,
      gracefulStop: '30250ms',
    },
  },
};

export default () => run.slot();

// Of a k6 that has no --out mqbench=.
export const handleSummary = () => ({ stdout: run.text() });
