/** The truth table of out-of-memory kills: evidence about a container, and the verdict. */
import test from 'ava';
import { judgeOom, type OomEvidence, type OomVerdict } from '../../subjects/kubernetes/oom.ts';

const table: readonly [title: string, signs: OomEvidence, verdict: OomVerdict['verdict'], reason: RegExp][] = [
  ['the kubelet reports OOMKilled', { lastReason: 'OOMKilled', exitCode: 137, restarts: 1 }, 'yes', /OOMKilled/],
  ['it is in that state now', { currentReason: 'OOMKilled', restarts: 0 }, 'yes', /OOMKilled/],
  [
    'the kubelet reports it, although the counter was pruned',
    { lastReason: 'OOMKilled', cgroupKills: 0 },
    'yes',
    /OOMKilled/,
  ],
  [
    'a child process was killed and the container lives (kubernetes#69676)',
    { restarts: 0, cgroupKills: 2 },
    'yes',
    /killed 2 .*Kubernetes does not report/,
  ],
  ['a child was killed, and restarts are unknown', { cgroupKills: 1 }, 'yes', /not the first process/],
  [
    'the cgroup counted, and the reason is Error',
    { lastReason: 'Error', exitCode: 137, restarts: 1, cgroupKills: 1 },
    'yes',
    /^the kernel killed 1/,
  ],
  [
    '137 while the cgroup counted none: a liveness probe (kubernetes#100483)',
    { lastReason: 'Error', exitCode: 137, restarts: 3, cgroupKills: 0, peakShare: 0.99 },
    'no',
    /counted no OOM kill/,
  ],
  [
    '137 near the limit, without a counter',
    { lastReason: 'Error', exitCode: 137, restarts: 1, peakShare: 0.98 },
    'likely',
    /98 % of its memory limit/,
  ],
  [
    '137 far from the limit, without a counter (kubernetes#136092)',
    { lastReason: 'Error', exitCode: 137, restarts: 1, peakShare: 0.3, nodeEvents: 0 },
    'unknown',
    /between two points/,
  ],
  [
    '137 without a limit, on a node that ran out',
    { exitCode: 137, restarts: 1, nodeEvents: 1 },
    'likely',
    /its node reported 1 times/,
  ],
  ['137 and nothing else', { exitCode: 137 }, 'unknown', /SIGKILL/],
  ['another exit code', { lastReason: 'Error', exitCode: 1, restarts: 5, peakShare: 0.99 }, 'no', /exit code 1/],
  ['completed', { lastReason: 'Completed', restarts: 2 }, 'no', /Completed/],
  [
    'an error without a code, near the limit',
    { lastReason: 'Error', restarts: 1, peakShare: 0.97 },
    'likely',
    /no exit code is reported/,
  ],
  [
    'an error without a code, far from it',
    { lastReason: 'Error', restarts: 1, peakShare: 0.2 },
    'unknown',
    /no exit code is reported/,
  ],
  ['never ended', { restarts: 0, peakShare: 0.4 }, 'no', /never terminated.*container_oom_events_total/],
  [
    'never ended, near the limit: a child may have been killed',
    { restarts: 0, peakShare: 0.96 },
    'unknown',
    /never terminated.*96 %/,
  ],
  [
    'never ended, and the cgroup counted none',
    { restarts: 0, cgroupKills: 0, peakShare: 0.99 },
    'no',
    /counted no OOM kill/,
  ],
  ['restarted for an unknown reason', { restarts: 4, peakShare: 0.5 }, 'unknown', /last_terminated_reason/],
  ['restarted near the limit', { restarts: 4, peakShare: 1 }, 'likely', /100 %/],
  ['nothing is known', {}, 'unknown', /neither restarts nor/],
];

for (const [title, signs, verdict, reason] of table)
  test(`${title}: ${verdict}`, (t) => {
    const found = judgeOom(signs);
    t.is(found.verdict, verdict, found.reasons.join('; '));
    t.regex(found.reasons.join('; '), reason);
  });

/** Combines each evidence with every value of a field, and with none. */
const each =
  <Field extends keyof OomEvidence>(field: Field, values: readonly OomEvidence[Field][]) =>
  (signs: OomEvidence) => [signs, ...values.map((value) => ({ ...signs, [field]: value }))];

test('every verdict has a reason, whatever data is available', (t) => {
  const all = [{}]
    .flatMap(each('lastReason', ['OOMKilled', 'Error', 'Completed']))
    .flatMap(each('exitCode', [0, 1, 137]))
    .flatMap(each('restarts', [0, 2]))
    .flatMap(each('cgroupKills', [0, 1]))
    .flatMap(each('peakShare', [0.5, 1]));
  t.is(all.length, 4 * 4 * 3 * 3 * 3);
  for (const signs of all) {
    const { verdict, reasons } = judgeOom(signs);
    t.true(reasons.length > 0 && reasons.every((reason) => reason !== ''));
    // A counter above 0 always gives "yes", and a counter of 0 never gives a guess.
    if (signs.cgroupKills === 1) t.is(verdict, 'yes');
    if (signs.cgroupKills === 0 && signs.lastReason !== 'OOMKilled') t.is(verdict, 'no');
  }
});
