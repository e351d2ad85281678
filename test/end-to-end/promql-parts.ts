/** Parts of Prometheus' test files: the samples as remote-write sends them, and the evaluations over them. */
import { type Histogram, toNative } from '../../queries/promql/histograms/histogram.ts';
import type { ResetHint } from '../../queries/promql/series.ts';
import type { Command, Evaluation } from '../cases/promql-language/commands.ts';
import { type Sample, Store } from '../cases/promql-language/store.ts';
import type { TimeSeries, Tree } from './conformance.ts';

/** Evaluations over the same samples. */
export interface Part {
  readonly series: readonly TimeSeries[];
  readonly evaluations: Evaluation[];
}

const resetHints: Readonly<Record<ResetHint, number>> = { unknown: 0, reset: 1, 'not-reset': 2, gauge: 3 };

const histogramOf = (histogram: Histogram): Tree => {
  const { count, sum, schema, zeroThreshold, zeroCount, customValues, resetHint, ...buckets } = toNative(histogram);
  return {
    countFloat: count,
    sum,
    schema,
    zeroThreshold,
    zeroCountFloat: zeroCount,
    resetHint: resetHints[resetHint],
    positiveSpans: buckets.positiveSpans,
    positiveCounts: buckets.positiveBuckets,
    negativeSpans: buckets.negativeSpans,
    negativeCounts: buckets.negativeBuckets,
    ...(customValues && { customValues }),
  };
};

/** The staleness marker of Prometheus. */
const stale = new Float64Array(new BigUint64Array([0x7ff0_0000_0000_0002n]).buffer)[0] as number;

/** Separates numbers and histograms, because remote-write 2.0 refuses series with both. */
const written = (labels: Readonly<Record<string, string>>, samples: ReadonlyMap<number, Sample>): TimeSeries[] => {
  const floats: Tree[] = [];
  const histograms: Tree[] = [];
  for (const [timestamp, { value, startMs }] of samples) {
    const times = { timestamp, startTimestamp: startMs };
    if (typeof value === 'object') histograms.push({ ...histogramOf(value.histogram), ...times });
    else floats.push({ value: value === 'stale' ? stale : value, ...times });
  }
  const own = { labels: Object.entries(labels) };
  return [
    ...(floats.length > 0 ? [{ ...own, samples: floats }] : []),
    ...(histograms.length > 0 ? [{ ...own, histograms }] : []),
  ];
};

/** The parts of a file's commands: a load or clear command starts a new one. */
export const partsOf = (commands: readonly Command[]): Part[] => {
  const store = new Store();
  const parts: Part[] = [];
  let isNew = true;
  for (const command of commands) {
    if (command.kind !== 'eval') isNew = true;
    if (command.kind === 'clear') store.clear();
    else if (command.kind === 'load') store.load(command);
    else {
      if (isNew)
        parts.push({
          series: [...store.all()].flatMap(({ labels, samples }) => written(labels, samples)),
          evaluations: [],
        });
      isNew = false;
      parts.at(-1)?.evaluations.push(command);
    }
  }
  return parts;
};
