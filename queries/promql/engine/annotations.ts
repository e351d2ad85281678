import { formatPosition } from '../syntax/errors.ts';
import { formatWithExponent } from '../syntax/numbers.ts';
import { quoteText } from '../syntax/quotes.ts';
import type { Position } from '../syntax/tree.ts';

/** An annotation that Prometheus returns with an answer: a warning, or a less severe info. */
interface Annotation {
  readonly kind: 'warning' | 'info';
  readonly position: Position;
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
  #lowestBound: number;
  #highestBound: number;
  #maxDifference: number;
  #count = 1;

  constructor(timeMs: number, lowest: number, highest: number, maxDifference: number) {
    this.#fromMs = timeMs;
    this.#toMs = timeMs;
    this.#lowestBound = lowest;
    this.#highestBound = highest;
    this.#maxDifference = maxDifference;
  }

  merge(other: NonMonotonicBuckets): void {
    this.#fromMs = Math.min(this.#fromMs, other.#fromMs);
    this.#toMs = Math.max(this.#toMs, other.#toMs);
    this.#lowestBound = Math.min(this.#lowestBound, other.#lowestBound);
    this.#highestBound = Math.max(this.#highestBound, other.#highestBound);
    this.#maxDifference = Math.max(this.#maxDifference, other.#maxDifference);
    this.#count += other.#count;
  }

  text(): string {
    const time = (ms: number) => new Date(Math.trunc(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
    const buckets = `from buckets ${formatWithExponent(this.#lowestBound)} to ${formatWithExponent(this.#highestBound)}`;
    const samples = `over ${this.#count} samples from ${time(this.#fromMs)} to ${time(this.#toMs)}`;
    return `, ${buckets}, with a max diff of ${formatWithExponent(this.#maxDifference, 2)}, ${samples}`;
  }
}

/** Number of samples that began before the previous one ended. */
class OccurrenceCount implements Details {
  #count = 1;

  merge(other: OccurrenceCount): void {
    this.#count += other.#count;
  }

  text(): string {
    return this.#count > 1 ? ` (${this.#count} occurrences)` : '';
  }
}

const metricSuffix = (metric: string): string => (metric === '' ? '' : ` for metric name ${quoteText(metric)}`);

/** Collects annotations of one query; equal texts are stored once. */
export class Annotations {
  readonly #byText = new Map<string, Annotation>();

  addWarning(text: string, place: Position, details?: Details): void {
    this.#add('warning', text, place, details);
  }

  addInfo(text: string, place: Position, details?: Details): void {
    this.#add('info', text, place, details);
  }

  #add(kind: Annotation['kind'], text: string, position: Position, details?: Details): void {
    const known = this.#byText.get(text);
    if (known === undefined) this.#byText.set(text, { kind, position, ...(details && { details }) });
    else if (details !== undefined) known.details?.merge(details);
  }

  /** Returns the texts with positions in the expression, as Prometheus returns them. */
  texts(expression: string): { warnings: string[]; infos: string[] } {
    const texts = (requestedKind: Annotation['kind']) =>
      [...this.#byText]
        .filter(([, { kind }]) => kind === requestedKind)
        .map(
          ([text, { position, details }]) =>
            `PromQL ${requestedKind}: ${text}${details?.text() ?? ''} (${formatPosition(expression, position)})`,
        );
    return { warnings: texts('warning'), infos: texts('info') };
  }

  addMixedFloatsHistograms(metric: string, place: Position): void {
    this.addWarning(`encountered a mix of histograms and floats for metric name ${quoteText(metric)}`, place);
  }

  mixedSchemas(metric: string, place: Position): void {
    this.addWarning(
      `vector contains a mix of histograms with exponential and custom buckets schemas for metric name ${quoteText(metric)}`,
      place,
    );
  }

  reconciled(operation: 'addition' | 'subtraction' | 'aggregation', place: Position): void {
    this.addInfo(`mismatched custom buckets were reconciled during ${operation}`, place);
  }

  addResetCollision(operation: 'addition' | 'subtraction' | 'aggregation', place: Position): void {
    this.addWarning(`conflicting counter resets during histogram ${operation}`, place);
  }

  notCounter(metric: string, place: Position): void {
    this.addWarning(`this native histogram metric is not a counter: ${quoteText(metric)}`, place);
  }

  notGauge(metric: string, place: Position): void {
    this.addWarning(`this native histogram metric is not a gauge: ${quoteText(metric)}`, place);
  }

  ignoredInRange(metric: string, place: Position): void {
    this.addInfo(
      `ignored histograms in a range containing both floats and histograms for metric name ${quoteText(metric)}`,
      place,
    );
  }

  ignoredInAggregation(operator: string, place: Position): void {
    this.addInfo(`ignored histogram in ${operator} aggregation`, place);
  }

  quantile(value: number, place: Position): void {
    this.addWarning(`quantile value should be between 0 and 1, got ${formatWithExponent(value)}`, place);
  }

  badBucket(metric: string, label: string, place: Position): void {
    this.addWarning(
      `bucket label "le" is missing or has a malformed value of ${quoteText(label)}${metricSuffix(metric)}`,
      place,
    );
  }

  mixedHistograms(metric: string, place: Position): void {
    this.addWarning(`vector contains a mix of classic and native histograms${metricSuffix(metric)}`, place);
  }

  nanObservations(note: string, metric: string, place: Position): void {
    const texts: Readonly<Record<string, string>> = {
      'nan-result': 'input to histogram_quantile has NaN observations, result is NaN',
      'nan-skew': 'input to histogram_quantile has NaN observations, result is skewed higher',
      'nan-fraction': 'input to histogram_fraction has NaN observations, which are excluded from all fractions',
    };
    this.addInfo(`${texts[note]}${metricSuffix(metric)}`, place);
  }

  notMonotonic(metric: string, place: Position, details: NonMonotonicBuckets): void {
    const text =
      'input to histogram_quantile needed to be fixed for monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)';
    this.addInfo(`${text}${metricSuffix(metric)}`, place, details);
  }

  overlap(metric: string, place: Position): void {
    const text = `sample has start time that overlaps with previous sample timestamp for metric ${quoteText(metric)}`;
    this.addWarning(text, place, new OccurrenceCount());
  }
}
