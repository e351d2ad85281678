/**
 * Determines whether the kernel killed a process of a container because it ran out of memory. Kubernetes alone is not
 * sufficient: it reports only the end of a container's first process (kubernetes#69676). Exit code 137 only means
 * SIGKILL, which a failed liveness probe also sends (kubernetes#100483). The verdict therefore uses all available
 * evidence. A pure function without I/O.
 */
import { z } from 'zod';

export const OomVerdict = z.strictObject({
  verdict: z.enum(['yes', 'likely', 'no', 'unknown']),
  reasons: z.array(z.string()).describe('Reasons for the verdict, and data that would make it more certain'),
});
export type OomVerdict = z.output<typeof OomVerdict>;

/** Known facts about a container; `undefined` if unknown */
export interface OomEvidence {
  /** Reason of the last termination */
  readonly lastReason?: string | undefined;
  /** Exit code of the last termination */
  readonly exitCode?: number | undefined;
  /** Current reason why the container waits or has ended */
  readonly currentReason?: string | undefined;
  /** Number of restarts of the container */
  readonly restarts?: number | undefined;
  /** Number of processes that the kernel killed in its cgroup in the range */
  readonly cgroupKills?: number | undefined;
  /** Number of out-of-memory events of its node in the range */
  readonly nodeEvents?: number | undefined;
  /** Peak memory use as a share of its limit in the range */
  readonly peakShare?: number | undefined;
}

const sigkillExitCode = 137;
const nearLimitShare = 0.95;

const counterHint = "cAdvisor's container_oom_events_total would confirm it";
const reasonHint =
  'the k8s_cluster receiver reports the reason if its resource attribute k8s.container.status.last_terminated_reason is enabled (off by default); kube-state-metrics also reports it';

const formatPercent = (share: number): string => `${Math.round(share * 100)} %`;

type Rule = readonly [holds: (evidence: OomEvidence) => boolean, verdict: (evidence: OomEvidence) => OomVerdict];

const ambiguous = 'exit code 137 means SIGKILL, which liveness probes and evictions also send';
const neverTerminated = 'the container never terminated';
const noneCounted = 'the kernel counted no OOM kill in its cgroup in the range';
const otherProcessesHint = `for its other processes, ${counterHint}`;

/** Rules, of which the first that matches decides */
const rules: readonly Rule[] = [
  [
    ({ lastReason, currentReason }) => lastReason === 'OOMKilled' || currentReason === 'OOMKilled',
    () => createVerdict('yes', 'the kubelet reports that the container was OOMKilled'),
  ],
  [
    ({ cgroupKills, exitCode, restarts }) =>
      (cgroupKills ?? 0) > 0 && (exitCode === sigkillExitCode || (restarts ?? 0) > 0),
    (evidence) => createVerdict('yes', describeCgroupKills(evidence)),
  ],
  [
    ({ cgroupKills }) => (cgroupKills ?? 0) > 0,
    (evidence) =>
      createVerdict(
        'yes',
        describeCgroupKills(evidence),
        'it was not the first process of the container, so Kubernetes does not report it',
      ),
  ],
  [
    ({ exitCode, cgroupKills }) => exitCode === sigkillExitCode && cgroupKills === 0,
    () => createVerdict('no', noneCounted, ambiguous),
  ],
  [({ exitCode }) => exitCode === sigkillExitCode, (evidence) => judgeByIndirectEvidence(evidence, ambiguous)],
  [({ cgroupKills }) => cgroupKills === 0, () => createVerdict('no', noneCounted)],
  [
    ({ exitCode }) => exitCode !== undefined,
    ({ exitCode }) => createVerdict('no', `it terminated with exit code ${exitCode}`, otherProcessesHint),
  ],
  [
    ({ lastReason }) => lastReason === 'Completed',
    () => createVerdict('no', 'it terminated by itself: Completed', otherProcessesHint),
  ],
  [
    ({ lastReason }) => lastReason !== undefined,
    (evidence) =>
      judgeByIndirectEvidence(
        evidence,
        `it terminated with the reason ${evidence.lastReason}, and no exit code is reported (kube-state-metrics reports it)`,
      ),
  ],
  [
    ({ restarts, peakShare }) => restarts === 0 && (peakShare ?? 0) >= nearLimitShare,
    ({ peakShare }) => createVerdict('unknown', neverTerminated, describeNearLimit(peakShare ?? 0), counterHint),
  ],
  [({ restarts }) => restarts === 0, () => createVerdict('no', neverTerminated, otherProcessesHint)],
  [
    ({ restarts }) => restarts !== undefined,
    (evidence) => judgeByIndirectEvidence(evidence, `it restarted, and no reason is reported: ${reasonHint}`),
  ],
];

export const judgeOom = (evidence: OomEvidence): OomVerdict => {
  const rule = rules.find(([isMatch]) => isMatch(evidence));
  return (
    rule?.[1](evidence) ??
    createVerdict('unknown', `neither restarts nor the termination reason are reported: ${reasonHint}`, counterHint)
  );
};

const describeCgroupKills = ({ cgroupKills }: OomEvidence): string =>
  `the kernel killed ${Math.round(cgroupKills ?? 0)} of its processes in the range`;

const createVerdict = (value: OomVerdict['verdict'], ...reasons: string[]): OomVerdict => ({ verdict: value, reasons });

const describeNearLimit = (share: number): string => `it used up to ${formatPercent(share)} of its memory limit`;

/**
 * If the termination is inconclusive, memory near the limit or a node without memory makes an out-of-memory kill
 * likely.
 */
const judgeByIndirectEvidence = ({ nodeEvents, peakShare }: OomEvidence, reason: string): OomVerdict => {
  const isNear = peakShare !== undefined && peakShare >= nearLimitShare;
  const hasNodeMemoryEvents = nodeEvents !== undefined && nodeEvents > 0;
  const reasons = [
    reason,
    ...(peakShare === undefined
      ? ['no memory limit or usage is reported to compare with']
      : [describeNearLimit(peakShare)]),
    ...(hasNodeMemoryEvents ? [`its node reported ${nodeEvents} times in the range that memory ran out`] : []),
  ];
  if (isNear || hasNodeMemoryEvents) return createVerdict('likely', ...reasons, counterHint);
  return createVerdict('unknown', ...reasons, 'memory may have run out between two points', counterHint);
};
