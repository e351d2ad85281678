/** Whether a host is still heard of, and why it is thought so. No input or output: what is known goes in, a verdict comes out. */

/** When the last record of a signal came, in epoch milliseconds; `undefined`: none in the time that was looked at; a text: why it was not looked for. */
export type LastSeen = number | undefined | string;

export interface HostSigns {
  /** Time at which the state is asked for. */
  readonly atMs: number;
  readonly metrics: LastSeen;
  /** How far apart its metric points usually are. */
  readonly intervalMs: number | undefined;
  readonly logs: LastSeen;
  readonly traces: LastSeen;
  /** The Kubernetes node that it is, and whether its cluster's metrics still name that node; `undefined` where it is none or the cluster says nothing. */
  readonly isStillNode: boolean | undefined;
}

export interface HostState {
  readonly state: 'active' | 'silent';
  readonly reason: string;
  /** Whether it was stopped on purpose, where something says so. */
  readonly wasStopped: { readonly value: boolean | null; readonly reason: string | null };
}

/** Silence is longer than this, and than three of its usual intervals. */
export const minSilenceMs = 300_000;

const spanOf = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
};

const unknownStop =
  'nothing tells OIQ of terminated or scaled down instances; only clusters tell of nodes that were removed';

export const hostStateOf = (signs: HostSigns): HostState => {
  const { atMs, intervalMs } = signs;
  const allowedMs = Math.max(minSilenceMs, 3 * (intervalMs ?? 0));
  const signals = [
    ['metrics', signs.metrics],
    ['logs', signs.logs],
    ['traces', signs.traces],
  ] as const;
  const isFresh = (seen: LastSeen): boolean => typeof seen === 'number' && atMs - seen <= allowedMs;
  const fresh = signals.filter(([, seen]) => isFresh(seen)).map(([name]) => name);
  const stopped = signals.filter(([, seen]) => typeof seen === 'number' && !isFresh(seen));
  const lastSeenText = stopped.map(([name, seen]) => `${name} ${spanOf(atMs - Number(seen))} ago`).join(', ');
  if (fresh.length > 0) {
    const reason = [
      `${fresh.join(' and ')} came within the last ${spanOf(allowedMs)}`,
      ...(stopped.length > 0 ? [`the last of other signals: ${lastSeenText}; their sender stopped, not the host`] : []),
    ].join('; ');
    return { state: 'active', reason: reason, wasStopped: { value: false, reason: null } };
  }
  const uncheckedSignals = signals.flatMap(([name, seen]) =>
    typeof seen === 'string' ? [`${name} not looked at: ${seen}`] : [],
  );
  const pace = intervalMs === undefined ? '' : `; its metrics used to come every ${spanOf(intervalMs)}`;
  const base = lastSeenText === '' ? 'no signal came in the time looked at' : `the last came: ${lastSeenText}${pace}`;
  const cause =
    signs.isStillNode === false
      ? ['its cluster no longer names this node: it was removed']
      : signs.isStillNode === true
        ? ['its cluster still names this node: the sender on it stopped, or the node did']
        : [];
  return {
    state: 'silent',
    reason: [base, ...cause, ...uncheckedSignals].join('; '),
    wasStopped:
      signs.isStillNode === undefined
        ? { value: null, reason: unknownStop }
        : { value: !signs.isStillNode, reason: null },
  };
};
