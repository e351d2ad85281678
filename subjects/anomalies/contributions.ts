/** Breakdown of an anomaly by groups: the change of each group, which add up to the total change. */

import type { QueryReader } from '../../queries/promql/query-reader.ts';
import type { AggregateQuery, MetricQuery, Query } from '../../queries/query.ts';
import { getQueryKind } from '../../queries/query-kind.ts';
import { runWithoutCost } from '../../queries/run.ts';
import type { StoredAnomaly } from './read-anomalies.ts';

export interface Contribution {
  readonly group: string;
  /** Average change per step, compared with the time before. */
  readonly change: number;
  readonly share: number;
}

export interface Contributions {
  /** Grouping field; null if there are no groups, with the reason. */
  readonly by: string | null;
  readonly change: number | null;
  /** Groups with the largest changes; the remainder is `others`. */
  readonly groups: readonly Contribution[];
  readonly others: Contribution | null;
  readonly reason: string | null;
}

/** Candidate fields for the breakdown. The one with the clearest breakdown is used, the first on ties. */
const candidates: Readonly<Record<string, readonly string[]>> = {
  logs: ['service', 'severity', 'host.name', 'k8s.pod.name'],
  traces: ['service', 'name', 'http.route', 'host.name'],
  metrics: ['service', 'host.name', 'http.route', 'k8s.pod.name'],
};
const maxGroups = 1000;
const maxReturnedGroups = 10;
/** Number of compared steps: the maximum during the anomaly, and the minimum before it. */
const stepCounts = { during: 60, min: 10 };

const noContributions = (reason: string): Contributions => ({
  by: null,
  change: null,
  groups: [],
  others: null,
  reason,
});

type SplittableQuery = AggregateQuery | MetricQuery;

/** Returns a query whose groups add up to the total, or the reason why there is none. */
const toSplittableQuery = (query: Query, name: string): SplittableQuery | string => {
  const splitQuery = getQueryKind(query).splittable?.(query, name, maxGroups);
  return splitQuery ?? `queries of kind ${query.kind} cannot be split into contributions`;
};

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

const chooseWindows = (
  { beginMs, endMs, stepMs }: StoredAnomaly,
  upToMs: number,
): { during: Window; before: Window } => {
  const toMs = Math.max(beginMs + stepMs, Math.min(endMs ?? upToMs, upToMs, beginMs + stepCounts.during * stepMs));
  const count = Math.max(stepCounts.min, (toMs - beginMs) / stepMs);
  return { during: { fromMs: beginMs, toMs }, before: { fromMs: beginMs - count * stepMs, toMs: beginMs } };
};

const toFiniteNumber = (value: number | string | null): number => {
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
};

/** Returns the mean value per step of each group within the anomalous series. */
const readGroupMeans = async (
  query: SplittableQuery,
  { labels, stepMs }: StoredAnomaly,
  { fromMs, toMs }: Window,
  options: { readonly by: string; readonly reader: QueryReader; readonly signal: AbortSignal },
): Promise<Map<string, number>> => {
  const splitQuery = { ...query, groupBy: [...query.groupBy, options.by] };
  const range = { from: BigInt(fromMs) * 1_000_000n, to: BigInt(toMs) * 1_000_000n - 1n };
  const { series } = await runWithoutCost(splitQuery, options.reader, { range, stepMs, signal: options.signal });
  const matchingSeries = series.filter((one) =>
    query.groupBy.every((name) => (one.labels[name] ?? '') === (labels[name] ?? '')),
  );
  return new Map(
    matchingSeries.map((one) => [
      one.labels[options.by] ?? '',
      one.points.reduce((sum, [, value]) => sum + toFiniteNumber(value), 0) / ((toMs - fromMs) / stepMs),
    ]),
  );
};

const computeContributions = (by: string, during: Map<string, number>, before: Map<string, number>): Contributions => {
  const changes = [...new Set([...during.keys(), ...before.keys()])].map((group) => ({
    group,
    change: (during.get(group) ?? 0) - (before.get(group) ?? 0),
  }));
  const total = changes.reduce((sum, { change }) => sum + change, 0);
  const sorted = changes.toSorted((left, right) => Math.abs(right.change) - Math.abs(left.change));
  const toContribution = ({ group, change }: { group: string; change: number }): Contribution => ({
    group,
    change,
    share: total === 0 ? 0 : change / total,
  });
  const groups = sorted.slice(0, maxReturnedGroups).map(toContribution);
  const remainingChange = total - groups.reduce((sum, { change }) => sum + change, 0);
  const others = sorted.length > maxReturnedGroups ? toContribution({ group: '', change: remainingChange }) : null;
  return { by, change: total, groups, others, reason: null };
};

/** Clarity of a breakdown: it is highest if one group of several has the entire change. */
const computeClarity = ({ groups, change }: Contributions): number =>
  groups.length < 2 || change === 0 ? 0 : Math.min(1, Math.abs(groups[0]?.share ?? 0));

/** Returns the breakdown of an anomaly by the field with the clearest result. */
export const readContributions = async (
  query: Query,
  anomaly: StoredAnomaly,
  { reader, signal }: { readonly reader: QueryReader; readonly signal: AbortSignal },
): Promise<Contributions> => {
  const splitQuery = toSplittableQuery(query, anomaly.name);
  if (typeof splitQuery === 'string') return noContributions(splitQuery);
  const fields = candidates['signal' in splitQuery ? splitQuery.signal : 'metrics'] ?? [];
  const { during, before } = chooseWindows(anomaly, reader.nowMs);
  const breakdowns: Contributions[] = [];
  for (const by of fields.filter((field) => !splitQuery.groupBy.includes(field))) {
    const options = { by, reader, signal };
    const breakdown = computeContributions(
      by,
      await readGroupMeans(splitQuery, anomaly, during, options),
      await readGroupMeans(splitQuery, anomaly, before, options),
    );
    breakdowns.push(breakdown);
  }
  const [clearest] = breakdowns.toSorted((left, right) => computeClarity(right) - computeClarity(left));
  if (clearest === undefined || computeClarity(clearest) === 0)
    return noContributions('no attribute that is common in the records explains the change');
  return clearest;
};
