/**
 * Evaluates a group of recording rules, with Prometheus's semantics. A function of the group, the previous state and
 * the query results.
 */
import { staleMarker } from '../../../queries/promql/fetch/deltas.ts';
import type { Labels, NativeHistogram, Series } from '../../../queries/promql/series.ts';
import { type RecordedSeries, toRecordedNumber } from '../../../schemas/recorded-samples.ts';
import type { RecordingGroup, RecordingRule } from '../../../schemas/resources/recording-group.ts';
import { parseDurationMs } from '../durations.ts';
import { orderInRounds } from './order.ts';

/** Maximum number of series of one group: they are stored between evaluations, to mark those that end. */
const maxRecordedSeries = 50_000;
/** Maximum characters of the labels of one series. */
const maxLabelText = 64 * 1024;

/** Last recorded series by rule, as their labels in JSON. */
export interface RecordingState {
  readonly series: Readonly<Record<string, readonly string[]>>;
}
export const emptyRecording = (): RecordingState => ({ series: {} });

/** Result of an expression at an instant, or its error. */
export type ExpressionResult =
  | { readonly elements: readonly { readonly labels: Labels; readonly value: number | NativeHistogram }[] }
  | { readonly error: string };

/**
 * Evaluates several expressions at the evaluation time. The series `added` are treated as if they were stored. Rejects
 * if no query can run.
 */
export type RunExpressions = (
  expressions: readonly string[],
  added: readonly Series[],
) => Promise<readonly ExpressionResult[]>;

/** Result of one rule. */
export interface RuleOutcome {
  readonly series: number;
  readonly error: string | undefined;
  readonly durationMs: number;
}

export interface GroupEvaluation {
  readonly state: RecordingState;
  /** Timestamp of the samples. */
  readonly atMs: number;
  /** Recorded series, including ended series with the staleness marker. */
  readonly series: readonly RecordedSeries[];
  /** Results in rule order. */
  readonly rules: readonly RuleOutcome[];
}

interface RecordedElement {
  readonly labels: Labels;
  readonly value: number | NativeHistogram | 'stale';
}

const sortLabels = (labels: Labels): Labels =>
  Object.fromEntries(
    Object.entries(labels)
      .filter(([, text]) => text !== '')
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );

const toLabelsKey = (labels: Labels): string => JSON.stringify(labels);

/** Returns the series that a rule records for a result by their labels, or the error. */
const recordSeries = (
  { record, labels: ruleLabels }: RecordingRule,
  result: ExpressionResult,
  { limit, remainingSeries }: { readonly limit: number; readonly remainingSeries: number },
): ReadonlyMap<string, RecordedElement> | string => {
  if ('error' in result) return result.error;
  const { elements } = result;
  const recordedByKey = new Map<string, RecordedElement>();
  for (const { labels: resultLabels, value } of elements) {
    const labels = sortLabels({ ...resultLabels, ...ruleLabels, __name__: record });
    const key = toLabelsKey(labels);
    if (key.length > maxLabelText)
      return `a series has labels of ${key.length} characters; the maximum is ${maxLabelText}`;
    recordedByKey.set(key, { labels, value });
  }
  // The messages of Prometheus.
  if (recordedByKey.size < elements.length)
    return 'vector contains metrics with the same labelset after applying rule labels';
  if (limit > 0 && recordedByKey.size > limit) return `exceeded limit of ${limit} with ${recordedByKey.size} series`;
  if (recordedByKey.size > remainingSeries)
    return `the rules of the group return more than ${maxRecordedSeries} series: split the group, or use expressions that return fewer series`;
  return recordedByKey;
};

const toSeries = ({ labels, value }: RecordedElement, atMs: number): Series => {
  const values = new Float64Array(1);
  if (value === 'stale') values.set(staleMarker);
  else if (typeof value === 'number') values[0] = value;
  return { labels, times: Float64Array.of(atMs), values, ...(typeof value === 'object' && { histograms: [value] }) };
};

const toRecordedSeries = ({ labels, value }: RecordedElement): RecordedSeries => {
  if (value === 'stale') return { labels, value };
  if (typeof value === 'number') return { labels, value: toRecordedNumber(value) };
  const { resetHint: _, positiveSpans, negativeSpans, positiveBuckets, negativeBuckets, customValues, ...rest } = value;
  return {
    labels,
    value: {
      ...rest,
      sum: toRecordedNumber(rest.sum),
      positiveSpans: [...positiveSpans],
      negativeSpans: [...negativeSpans],
      positiveBuckets: [...positiveBuckets],
      negativeBuckets: [...negativeBuckets],
      ...(customValues && { customValues: [...customValues] }),
    },
  };
};

/** Returns a key for each rule: its name, and a number that distinguishes rules with the same name. */
const createRuleKeys = (rules: readonly RecordingRule[]): string[] => {
  const occurrences = new Map<string, number>();
  return rules.map(({ record }) => {
    const occurrence = (occurrences.get(record) ?? 0) + 1;
    occurrences.set(record, occurrence);
    return `${record} ${occurrence}`;
  });
};

/** One evaluation in progress. */
class GroupRecording {
  readonly #keys: readonly string[];
  readonly #atMs: number;
  readonly #prior: RecordingState['series'];
  readonly #recorded = new Map<string, RecordedElement>();
  readonly #nextSeries: Record<string, readonly string[]> = {};
  /** Series that a rule recorded before and did not record now. */
  readonly #endedSeries = new Set<string>();

  constructor(rules: readonly RecordingRule[], prior: RecordingState, atMs: number) {
    this.#keys = createRuleKeys(rules);
    this.#atMs = atMs;
    this.#prior = prior.series;
    // Series of rules that are no longer in the group.
    for (const [key, series] of Object.entries(prior.series))
      if (!this.#keys.includes(key)) for (const labelsJson of series) this.#endedSeries.add(labelsJson);
  }

  get size(): number {
    return this.#recorded.size;
  }

  /** Keeps the series of a failed rule, so that none ends. */
  retainSeries(index: number): void {
    const key = this.#keys[index] as string;
    const previousSeries = this.#prior[key];
    if (previousSeries !== undefined) this.#nextSeries[key] = previousSeries;
  }

  recordRule(index: number, recordedSeries: ReadonlyMap<string, RecordedElement>): void {
    const key = this.#keys[index] as string;
    for (const [labels, element] of recordedSeries)
      if (!this.#recorded.has(labels)) this.#recorded.set(labels, element);
    for (const labels of this.#prior[key] ?? []) if (!recordedSeries.has(labels)) this.#endedSeries.add(labels);
    if (recordedSeries.size > 0) this.#nextSeries[key] = [...recordedSeries.keys()];
  }

  /** Returns the series recorded so far, and those that ended. */
  *listElements(): Iterable<RecordedElement> {
    yield* this.#recorded.values();
    const current = new Set(Object.values(this.#nextSeries).flat());
    for (const labels of this.#endedSeries)
      if (!current.has(labels)) yield { labels: JSON.parse(labels) as Labels, value: 'stale' };
  }

  toInputSeries(): Series[] {
    return Array.from(this.listElements(), (element) => toSeries(element, this.#atMs));
  }

  get state(): RecordingState {
    return { series: this.#nextSeries };
  }
}

/** Evaluates the rules of a group for a time. Each rule sees the results of the previous rules for the same time. */
export const evaluateRecordingGroup = async (
  group: Pick<RecordingGroup, 'rules' | 'limit' | 'delay'>,
  {
    prior,
    nowMs,
    runExpressions,
  }: { readonly prior: RecordingState; readonly nowMs: number; readonly runExpressions: RunExpressions },
): Promise<GroupEvaluation> => {
  const { rules } = group;
  const atMs = nowMs - parseDurationMs(group.delay);
  const recording = new GroupRecording(rules, prior, atMs);
  const outcomes: RuleOutcome[] = [];
  for (const round of orderInRounds(rules)) {
    const startMs = performance.now();
    const expressions = round.map((index) => (rules[index] as RecordingRule).expression);
    const results = await runExpressions(expressions, recording.toInputSeries());
    const durationMs = (performance.now() - startMs) / round.length;
    for (const [position, index] of round.entries()) {
      const remainingSeries = maxRecordedSeries - recording.size;
      const result = results[position] ?? { error: 'the expression was not run' };
      const recordedSeries = recordSeries(rules[index] as RecordingRule, result, {
        limit: group.limit,
        remainingSeries,
      });
      if (typeof recordedSeries === 'string') recording.retainSeries(index);
      else recording.recordRule(index, recordedSeries);
      outcomes[index] =
        typeof recordedSeries === 'string'
          ? { series: 0, error: recordedSeries, durationMs }
          : { series: recordedSeries.size, error: undefined, durationMs };
    }
  }
  return {
    state: recording.state,
    atMs,
    series: Array.from(recording.listElements(), toRecordedSeries),
    rules: outcomes,
  };
};

/** Returns the end markers of all last recorded series, for a disabled or deleted group. */
export const createStaleMarkers = ({ series }: RecordingState): RecordedSeries[] =>
  [...new Set(Object.values(series).flat())].map((labels) => ({
    labels: JSON.parse(labels) as Labels,
    value: 'stale',
  }));
