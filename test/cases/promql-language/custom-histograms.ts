/** Converts classic histograms to native ones with custom buckets, which `load_with_nhcb` adds. */
import { Histogram } from '../../../queries/promql/histograms/histogram.ts';
import type { Labels } from '../../../queries/promql/series.ts';
import { parsePromqlNumber } from '../../../queries/promql/syntax/numbers.ts';
import type { LoadedSeries } from './commands.ts';
import type { Value } from './series-lines.ts';

interface Parts {
  readonly buckets: Map<number, number>;
  count?: number;
  sum?: number;
}

interface Collected {
  readonly labels: Labels;
  readonly steps: Map<number, Parts>;
}

const histogramOf = ({ buckets, count, sum = 0 }: Parts): Histogram => {
  const bounds = [...buckets.keys()].sort((left, right) => left - right);
  const total = count ?? buckets.get(bounds.at(-1) as number) ?? 0;
  if (bounds.at(-1) !== Number.POSITIVE_INFINITY) {
    bounds.push(Number.POSITIVE_INFINITY);
    buckets.set(Number.POSITIVE_INFINITY, total);
  }
  const histogram = new Histogram();
  histogram.schema = -53;
  histogram.count = total;
  histogram.sum = sum;
  histogram.bounds = bounds.slice(0, -1);
  const counts = bounds.map(
    (bound, at) => (buckets.get(bound) as number) - (buckets.get(bounds[at - 1] as number) ?? 0),
  );
  histogram.positive = { indexes: bounds.map((_, at) => at), counts };
  return histogram.compact();
};

const add = (parts: Parts, suffix: string, labels: Labels, value: number): void => {
  if (suffix === 'count') parts.count = value;
  else if (suffix === 'sum') parts.sum = value;
  else {
    const bound = parsePromqlNumber(labels.le ?? '');
    if (bound !== undefined && !parts.buckets.has(bound)) parts.buckets.set(bound, value);
  }
};

/**
 * Returns the labels of the native histogram to which a series belongs, and its part; undefined if it is not part of
 * one.
 */
const partOf = (labels: Labels): { labels: Labels; suffix: string } | undefined => {
  const [, base, suffix] = /^(.*)_(bucket|sum|count)$/.exec(labels.__name__ ?? '') ?? [];
  if (base === undefined || suffix === undefined) return undefined;
  if (suffix === 'bucket' && parsePromqlNumber(labels.le ?? '') === undefined) return undefined;
  const { le: _, ...others } = labels;
  return { labels: { ...others, __name__: base }, suffix };
};

const collect = ({ steps }: Collected, suffix: string, { labels, values }: LoadedSeries): void => {
  for (const [step, value] of values.entries()) {
    if (typeof value !== 'number') continue;
    const parts: Parts = steps.get(step) ?? { buckets: new Map() };
    steps.set(step, parts);
    add(parts, suffix, labels, value);
  }
};

/** Converts classic histograms to series of native histograms. */
export const customHistograms = (series: readonly LoadedSeries[]): LoadedSeries[] => {
  const collected = new Map<string, Collected>();
  for (const each of series) {
    const part = partOf(each.labels);
    if (part === undefined) continue;
    const key = JSON.stringify(Object.entries(part.labels).sort());
    const found: Collected = collected.get(key) ?? { labels: part.labels, steps: new Map() };
    collected.set(key, found);
    collect(found, part.suffix, each);
  }
  return [...collected.values()].map(({ labels, steps }) => {
    const values: Value[] = [];
    for (const [step, parts] of steps) values[step] = { histogram: histogramOf(parts), hasHint: false };
    return { labels, values: Array.from(values), starts: [] };
  });
};
