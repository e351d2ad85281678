import { positionOf } from '../syntax/errors.ts';
import { shortNumber } from '../syntax/numbers.ts';
import { quoted } from '../syntax/quotes.ts';
import type { Position } from '../syntax/tree.ts';

/** Annotations that Prometheus returns with an answer: warnings, and less severe infos. */
interface Annotation {
  readonly kind: 'warning' | 'info';
  readonly place: Position;
  /** Summary of all occurrences, appended to the text. */
  readonly details?: Details;
}

interface Details {
  text(): string;
  merge(other: Details): void;
}

/** Steps where the counts of a classic histogram's buckets decreased, although they can only increase. */
export class NonMonotonicBuckets implements Details {
  #fromMs: number;
  #toMs: number;
  #lowest: number;
  #highest: number;
  #maxDifference: number;
  #count = 1;

  constructor(timeMs: number, lowest: number, highest: number, maxDifference: number) {
    this.#fromMs = timeMs;
    this.#toMs = timeMs;
    this.#lowest = lowest;
    this.#highest = highest;
    this.#maxDifference = maxDifference;
  }

  merge(other: NonMonotonicBuckets): void {
    this.#fromMs = Math.min(this.#fromMs, other.#fromMs);
    this.#toMs = Math.max(this.#toMs, other.#toMs);
    this.#lowest = Math.min(this.#lowest, other.#lowest);
    this.#highest = Math.max(this.#highest, other.#highest);
    this.#maxDifference = Math.max(this.#maxDifference, other.#maxDifference);
    this.#count += other.#count;
  }

  text(): string {
    const time = (ms: number) => new Date(Math.trunc(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
    const buckets = `from buckets ${shortNumber(this.#lowest)} to ${shortNumber(this.#highest)}`;
    const samples = `over ${this.#count} samples from ${time(this.#fromMs)} to ${time(this.#toMs)}`;
    return `, ${buckets}, with a max diff of ${shortNumber(this.#maxDifference, 2)}, ${samples}`;
  }
}

/** Number of samples that began before the previous one ended. */
class Occurrences implements Details {
  #count = 1;

  merge(other: Occurrences): void {
    this.#count += other.#count;
  }

  text(): string {
    return this.#count > 1 ? ` (${this.#count} occurrences)` : '';
  }
}

const forMetric = (metric: string): string => (metric === '' ? '' : ` for metric name ${quoted(metric)}`);

/** Collects annotations of one query; equal texts are stored once. */
export class Annotations {
  readonly #all = new Map<string, Annotation>();

  warn(text: string, place: Position, details?: Details): void {
    this.#add('warning', text, place, details);
  }

  inform(text: string, place: Position, details?: Details): void {
    this.#add('info', text, place, details);
  }

  #add(kind: Annotation['kind'], text: string, place: Position, details?: Details): void {
    const known = this.#all.get(text);
    if (known === undefined) this.#all.set(text, { kind, place, ...(details && { details }) });
    else if (details !== undefined) known.details?.merge(details);
  }

  /** Returns the texts with positions in the expression, as Prometheus returns them. */
  texts(expression: string): { warnings: string[]; infos: string[] } {
    const texts = (requestedKind: Annotation['kind']) =>
      [...this.#all]
        .filter(([, { kind }]) => kind === requestedKind)
        .map(
          ([text, { place, details }]) =>
            `PromQL ${requestedKind}: ${text}${details?.text() ?? ''} (${positionOf(expression, place)})`,
        );
    return { warnings: texts('warning'), infos: texts('info') };
  }

  mixedFloatsHistograms(metric: string, place: Position): void {
    this.warn(`encountered a mix of histograms and floats for metric name ${quoted(metric)}`, place);
  }

  mixedSchemas(metric: string, place: Position): void {
    this.warn(
      `vector contains a mix of histograms with exponential and custom buckets schemas for metric name ${quoted(metric)}`,
      place,
    );
  }

  reconciled(operation: 'addition' | 'subtraction' | 'aggregation', place: Position): void {
    this.inform(`mismatched custom buckets were reconciled during ${operation}`, place);
  }

  collision(operation: 'addition' | 'subtraction' | 'aggregation', place: Position): void {
    this.warn(`conflicting counter resets during histogram ${operation}`, place);
  }

  notCounter(metric: string, place: Position): void {
    this.warn(`this native histogram metric is not a counter: ${quoted(metric)}`, place);
  }

  notGauge(metric: string, place: Position): void {
    this.warn(`this native histogram metric is not a gauge: ${quoted(metric)}`, place);
  }

  ignoredInRange(metric: string, place: Position): void {
    this.inform(
      `ignored histograms in a range containing both floats and histograms for metric name ${quoted(metric)}`,
      place,
    );
  }

  ignoredInAggregation(operator: string, place: Position): void {
    this.inform(`ignored histogram in ${operator} aggregation`, place);
  }

  quantile(value: number, place: Position): void {
    this.warn(`quantile value should be between 0 and 1, got ${shortNumber(value)}`, place);
  }

  badBucket(metric: string, label: string, place: Position): void {
    this.warn(`bucket label "le" is missing or has a malformed value of ${quoted(label)}${forMetric(metric)}`, place);
  }

  mixedHistograms(metric: string, place: Position): void {
    this.warn(`vector contains a mix of classic and native histograms${forMetric(metric)}`, place);
  }

  nanObservations(note: string, metric: string, place: Position): void {
    const texts: Readonly<Record<string, string>> = {
      'nan-result': 'input to histogram_quantile has NaN observations, result is NaN',
      'nan-skew': 'input to histogram_quantile has NaN observations, result is skewed higher',
      'nan-fraction': 'input to histogram_fraction has NaN observations, which are excluded from all fractions',
    };
    this.inform(`${texts[note]}${forMetric(metric)}`, place);
  }

  notMonotonic(metric: string, place: Position, details: NonMonotonicBuckets): void {
    const text =
      'input to histogram_quantile needed to be fixed for monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)';
    this.inform(`${text}${forMetric(metric)}`, place, details);
  }

  overlap(metric: string, place: Position): void {
    const text = `sample has start time that overlaps with previous sample timestamp for metric ${quoted(metric)}`;
    this.warn(text, place, new Occurrences());
  }
}
