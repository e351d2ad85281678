import { formatPosition } from '../syntax/errors.ts';
import { formatWithExponent } from '../syntax/numbers.ts';
import { quoteText } from '../syntax/quotes.ts';
import type { Position } from '../syntax/tree.ts';

/** An annotation that Prometheus returns with a result: a warning, or a less severe info. */
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
    const formatTimeMs = (ms: number) => new Date(Math.trunc(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
    const buckets = `from buckets ${formatWithExponent(this.#lowestBound)} to ${formatWithExponent(this.#highestBound)}`;
    const samples = `over ${this.#count} samples from ${formatTimeMs(this.#fromMs)} to ${formatTimeMs(this.#toMs)}`;
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

const toMetricSuffix = (metric: string): string => (metric === '' ? '' : ` for metric name ${quoteText(metric)}`);

/** Collects annotations of one query; equal texts are stored once. */
export class Annotations {
  readonly #byText = new Map<string, Annotation>();

  addWarning(text: string, position: Position, details?: Details): void {
    this.#add('warning', text, position, details);
  }

  addInfo(text: string, position: Position, details?: Details): void {
    this.#add('info', text, position, details);
  }

  #add(kind: Annotation['kind'], text: string, position: Position, details?: Details): void {
    const existing = this.#byText.get(text);
    if (existing === undefined) this.#byText.set(text, { kind, position, ...(details && { details }) });
    else if (details !== undefined) existing.details?.merge(details);
  }

  /** Returns the texts with positions in the expression, as Prometheus returns them. */
  getTexts(expression: string): { warnings: string[]; infos: string[] } {
    const texts = (requestedKind: Annotation['kind']) =>
      [...this.#byText]
        .filter(([, { kind }]) => kind === requestedKind)
        .map(
          ([text, { position, details }]) =>
            `PromQL ${requestedKind}: ${text}${details?.text() ?? ''} (${formatPosition(expression, position)})`,
        );
    return { warnings: texts('warning'), infos: texts('info') };
  }

  addMixedFloatsHistograms(metric: string, position: Position): void {
    this.addWarning(`encountered a mix of histograms and floats for metric name ${quoteText(metric)}`, position);
  }

  addMixedSchemas(metric: string, position: Position): void {
    this.addWarning(
      `vector contains a mix of histograms with exponential and custom buckets schemas for metric name ${quoteText(metric)}`,
      position,
    );
  }

  addReconciled(operation: 'addition' | 'subtraction' | 'aggregation', position: Position): void {
    this.addInfo(`mismatched custom buckets were reconciled during ${operation}`, position);
  }

  addResetCollision(operation: 'addition' | 'subtraction' | 'aggregation', position: Position): void {
    this.addWarning(`conflicting counter resets during histogram ${operation}`, position);
  }

  addNotCounter(metric: string, position: Position): void {
    this.addWarning(`this native histogram metric is not a counter: ${quoteText(metric)}`, position);
  }

  addNotGauge(metric: string, position: Position): void {
    this.addWarning(`this native histogram metric is not a gauge: ${quoteText(metric)}`, position);
  }

  addIgnoredInRange(metric: string, position: Position): void {
    this.addInfo(
      `ignored histograms in a range containing both floats and histograms for metric name ${quoteText(metric)}`,
      position,
    );
  }

  addIgnoredInAggregation(operator: string, position: Position): void {
    this.addInfo(`ignored histogram in ${operator} aggregation`, position);
  }

  addInvalidQuantile(value: number, position: Position): void {
    this.addWarning(`quantile value should be between 0 and 1, got ${formatWithExponent(value)}`, position);
  }

  addBadBucket(metric: string, label: string, position: Position): void {
    this.addWarning(
      `bucket label "le" is missing or has a malformed value of ${quoteText(label)}${toMetricSuffix(metric)}`,
      position,
    );
  }

  addMixedHistograms(metric: string, position: Position): void {
    this.addWarning(`vector contains a mix of classic and native histograms${toMetricSuffix(metric)}`, position);
  }

  addNanObservations(note: string, metric: string, position: Position): void {
    const texts: Readonly<Record<string, string>> = {
      'nan-result': 'input to histogram_quantile has NaN observations, result is NaN',
      'nan-skew': 'input to histogram_quantile has NaN observations, result is skewed higher',
      'nan-fraction': 'input to histogram_fraction has NaN observations, which are excluded from all fractions',
    };
    this.addInfo(`${texts[note]}${toMetricSuffix(metric)}`, position);
  }

  addNotMonotonic(metric: string, position: Position, details: NonMonotonicBuckets): void {
    const text =
      'input to histogram_quantile needed to be fixed for monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)';
    this.addInfo(`${text}${toMetricSuffix(metric)}`, position, details);
  }

  addOverlap(metric: string, position: Position): void {
    const text = `sample has start time that overlaps with previous sample timestamp for metric ${quoteText(metric)}`;
    this.addWarning(text, position, new OccurrenceCount());
  }
}
