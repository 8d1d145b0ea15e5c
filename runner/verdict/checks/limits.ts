/**
 * Where the checks of a measurement draw their lines, and why there (reports/README.md, "Is the measurement to be trusted?"). Constants, not options:
 * reports that draw them elsewhere could not be compared.
 */

/** Lag p99 above this part of the tightest limit is worth a warning: it is a tenth of the room that the gate has. */
export const LAG_SHARE = 0.1;

/** Without a latency SLA: 1 ms in the median is more than brokers take. */
export const LAG_P50_NS = 1_000_000;

/** Held by the client library, below which nothing is told from the few that are always on their way to a handler. */
export const HELD_MESSAGES = 10;

/** A hypervisor that takes more of the CPU than this wakes the generator late, and the broker too. */
export const STEAL_SHARE = 0.02;

/**
 * Of the machine's CPU, above which what else runs on it is named: a quarter, as the kernel's own work for sockets and disks counts
 * as others' too.
 */
export const OTHERS_SHARE = 0.25;

/** Of a second of the machine's CPU time: with less idle, whoever becomes ready mostly finds no free core. */
export const IDLE_SHARE = 0.1;

/** Of the time in which generator and broker wanted a core: waiting for more of it than this is seen in latencies. */
export const WAIT_SHARE = 0.1;

/** Of the window, from which on a saturated machine is worth a warning even where no line of the SLA failed by it. */
export const SATURATED_SHARE = 0.1;

/** Above this part of its cores the generator waits for CPU at its own peaks. */
export const OWN_CPU_SHARE = 0.8;

/** Stopped for longer than this part of the window, garbage collection alone can make a p99. */
export const GC_SHARE = 0.01;

/** A drift of the median by more than this part over the window; less is weather. */
export const STEADY_CHANGE = 0.2;

/**
 * A drift by more than this part is worth a warning where no gate depends on it: p50 of half of the window is a quarter off. By less, repeats
 * of the published runs differ anyway (by 16 % in the median case, by 31 % in a quarter of some), and one in five of healthy runs drifts.
 */
export const STEADY_WARNING = 0.5;

/**
 * ... and by more than this part of the tightest response limit: that p50 went from 60us to 90us, as it does on any shared machine,
 * says nothing about 20 ms. (Of 8 quickstarts beside other work one drifted by 56 %, by 34us.)
 */
export const STEADY_LIMIT_SHARE = 0.01;

/** A trend of fewer points says little: of the 28 pairs that 8 points have, at most 5 may point the other way. */
export const STEADY_SECONDS = 8;

/** A rising p50 leaves a gate undecided when the limit is nearer than this factor. */
export const STEADY_MARGIN = 2;

/** A queue that grows by more than this part of the rate: 99.5 % of what is offered is carried. */
export const BACKLOG_SHARE = 0.005;

/** Growth below so many messages is not told from the handful that is always in flight. */
export const BACKLOG_MESSAGES = 10;

/** Samples of the queue, 10 a second, below which its trend is not judged. */
export const BACKLOG_SAMPLES = 30;

/** From this part of the reported p99 on, the floor's own p99 (noop, same rate) is a large part of the number. */
export const FLOOR_SHARE = 1 / 3;

/** A closed load that reaches more than this part of what noop carries spends as much time in the generator as in the system. */
export const CEILING_SHARE = 0.5;

/** No machine is suspended for less; two clocks that are read one after the other differ by less than this. */
export const SUSPENDED_NS = 100_000_000;
