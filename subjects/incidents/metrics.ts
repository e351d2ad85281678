/** Metrics of incidents; each counts the incidents that the list returns for the same filters */
import type { Incident } from '../../schemas/resources/incident.ts';

export interface Durations {
  /** Number of incidents */
  readonly count: number;
  /** Seconds; `null` if there are no incidents */
  readonly median: number | null;
  readonly mean: number | null;
  readonly p90: number | null;
}

/** Returns a quantile of sorted values, with linear interpolation. */
const computeQuantile = (sorted: readonly number[], share: number): number | null => {
  const rank = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return low === undefined || high === undefined ? null : low + (high - low) * (rank - Math.floor(rank));
};

export const computeDurations = (seconds: readonly number[]): Durations => {
  const sorted = [...seconds].sort((left, right) => left - right);
  const totalSeconds = sorted.reduce((total, duration) => total + duration, 0);
  return {
    count: sorted.length,
    median: computeQuantile(sorted, 0.5),
    p90: computeQuantile(sorted, 0.9),
    mean: sorted.length === 0 ? null : totalSeconds / sorted.length,
  };
};

export interface IncidentMetrics {
  readonly incidents: number;
  readonly open: number;
  readonly acknowledged: number;
  readonly resolved: number;
  readonly merged: number;
  readonly neverAcknowledged: number;
  readonly timeToAcknowledge: Durations;
  readonly timeToResolve: Durations;
}

const toSecondsBetween = (from: string, to: string | null): number[] =>
  to === null ? [] : [(Date.parse(to) - Date.parse(from)) / 1000];

/**
 * Computes metrics of incidents. Merged incidents are counted but excluded from times; the incident into which they
 * were merged is included.
 */
export const computeMetrics = (incidents: readonly Incident[]): IncidentMetrics => {
  const countWithStatus = (status: Incident['status']): number =>
    incidents.filter((incident) => incident.status === status).length;
  const unmergedIncidents = incidents.filter(({ status }) => status !== 'merged');
  return {
    incidents: incidents.length,
    open: countWithStatus('open'),
    acknowledged: countWithStatus('acknowledged'),
    resolved: countWithStatus('resolved'),
    merged: countWithStatus('merged'),
    neverAcknowledged: incidents.filter(({ firstAcknowledgedAt }) => firstAcknowledgedAt === null).length,
    timeToAcknowledge: computeDurations(
      unmergedIncidents.flatMap(({ openedAt, firstAcknowledgedAt }) => toSecondsBetween(openedAt, firstAcknowledgedAt)),
    ),
    timeToResolve: computeDurations(
      unmergedIncidents.flatMap(({ openedAt, resolvedAt }) => toSecondsBetween(openedAt, resolvedAt)),
    ),
  };
};

/** Computes metrics by each value of a key; an incident with several values counts under each. */
export const computeMetricsBy = (
  incidents: readonly Incident[],
  getKeys: (incident: Incident) => readonly string[],
): (IncidentMetrics & { readonly key: string })[] => {
  const groups = new Map<string, Incident[]>();
  for (const incident of incidents)
    for (const key of new Set(getKeys(incident))) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [incident]);
      else group.push(incident);
    }
  return [...groups]
    .map(([key, group]) => ({ key, ...computeMetrics(group) }))
    .sort((left, right) => right.incidents - left.incidents || (left.key < right.key ? -1 : 1));
};
