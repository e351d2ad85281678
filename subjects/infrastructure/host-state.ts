/** Determines whether a host is still reporting, with the reason. A pure function without I/O. */

/**
 * Time of the last record of a telemetry signal, in epoch milliseconds; `undefined` if there is none in the searched
 * period; a text is the reason why it was not searched
 */
export type LastReceived = number | undefined | string;

export interface HostEvidence {
  /** Time of the evaluation */
  readonly atMs: number;
  readonly metrics: LastReceived;
  /** Typical interval of the host's metric points */
  readonly intervalMs: number | undefined;
  readonly logs: LastReceived;
  readonly traces: LastReceived;
  /**
   * Whether the cluster's metrics still include the host's Kubernetes node; `undefined` if the host is not a node or
   * the cluster sends no metrics
   */
  readonly isStillNode: boolean | undefined;
}

export interface HostState {
  readonly state: 'active' | 'silent';
  readonly reason: string;
  /** Whether the host was stopped on purpose, if known */
  readonly wasStopped: { readonly value: boolean | null; readonly reason: string | null };
}

/** Minimum silence in milliseconds; a host is also silent only after three typical intervals */
export const minSilenceMs = 300_000;

const formatDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
};

const unknownStopReason =
  'terminated or scaled-down instances are not reported to OIQ; only clusters report nodes that were removed';

export const determineHostState = (evidence: HostEvidence): HostState => {
  const { atMs, intervalMs } = evidence;
  const allowedMs = Math.max(minSilenceMs, 3 * (intervalMs ?? 0));
  const signals = [
    ['metrics', evidence.metrics],
    ['logs', evidence.logs],
    ['traces', evidence.traces],
  ] as const;
  const isFresh = (lastReceived: LastReceived): boolean =>
    typeof lastReceived === 'number' && atMs - lastReceived <= allowedMs;
  const freshSignals = signals.filter(([, lastReceived]) => isFresh(lastReceived)).map(([name]) => name);
  const stoppedSignals = signals.filter(
    ([, lastReceived]) => typeof lastReceived === 'number' && !isFresh(lastReceived),
  );
  const lastSeenText = stoppedSignals
    .map(([name, lastReceived]) => `${name} ${formatDuration(atMs - Number(lastReceived))} ago`)
    .join(', ');
  if (freshSignals.length > 0) {
    const reason = [
      `${freshSignals.join(' and ')} were received within the last ${formatDuration(allowedMs)}`,
      ...(stoppedSignals.length > 0
        ? [`last received of other signals: ${lastSeenText}; their sender stopped, not the host`]
        : []),
    ].join('; ');
    return { state: 'active', reason, wasStopped: { value: false, reason: null } };
  }
  const uncheckedSignals = signals.flatMap(([name, lastReceived]) =>
    typeof lastReceived === 'string' ? [`${name} not checked: ${lastReceived}`] : [],
  );
  const intervalText =
    intervalMs === undefined ? '' : `; its metrics typically arrive every ${formatDuration(intervalMs)}`;
  const base =
    lastSeenText === ''
      ? 'no signal was received in the checked period'
      : `last received: ${lastSeenText}${intervalText}`;
  const cause =
    evidence.isStillNode === false
      ? ['its cluster no longer reports this node: it was removed']
      : evidence.isStillNode === true
        ? ['its cluster still reports this node: the sender on it stopped, or the node did']
        : [];
  return {
    state: 'silent',
    reason: [base, ...cause, ...uncheckedSignals].join('; '),
    wasStopped:
      evidence.isStillNode === undefined
        ? { value: null, reason: unknownStopReason }
        : { value: !evidence.isStillNode, reason: null },
  };
};
