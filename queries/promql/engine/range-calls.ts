import { PromqlExecutionError } from '../syntax/errors.ts';
import type { Call, Expression, MatrixSelector, Subquery, VectorSelector } from '../syntax/tree.ts';
import { changeFunctions } from './changes.ts';
import { type Evaluation, getReferenceTime } from './context.ts';
import { LabelSet } from './labels.ts';
import { overTimeFunctions } from './over-time.ts';
import { rates } from './rate.ts';
import { absent, duplicateLabelsMessage, getStepTimeMs, Row, type Steps } from './rows.ts';
import { cellsPerSample, rowToSamples, type Samples, toSamples } from './samples.ts';
import { trends } from './trends.ts';
import { type RangeCall, type RangeFunction, Window } from './window.ts';

const rangeFunctions: Readonly<Record<string, RangeFunction>> = {
  ...rates,
  ...overTimeFunctions,
  ...changeFunctions,
  ...trends,
};

const anchoredFunctions = ['changes', 'delta', 'increase', 'rate', 'resets'];
const smoothedFunctions = ['delta', 'increase', 'rate'];

/** Returns the range among the arguments of a call; undefined for none. */
export const findRangeArgument = (call: Call): MatrixSelector | Subquery | undefined =>
  call.args.find((argument) => argument.kind === 'range' || argument.kind === 'subquery');

function* iterateSamples(evaluation: Evaluation, range: MatrixSelector | Subquery): Generator<Samples> {
  if (range.kind === 'range') {
    for (const series of evaluation.read(range.selector)) yield toSamples(series);
    return;
  }
  const { counts } = evaluation;
  const { steps, rows } = evaluation.subquery(range);
  // Samples of one row are held at a time.
  counts.reserveCells(steps.count * cellsPerSample);
  for (const row of rows) {
    yield rowToSamples(row, steps);
    counts.release(steps.count);
  }
  counts.release(steps.count * cellsPerSample);
}

const getReferenceNode = (range: MatrixSelector | Subquery): VectorSelector | Subquery =>
  range.kind === 'subquery' ? range : (range.selector as VectorSelector);

const requireSupportedModifier = (name: string, call: RangeCall): void => {
  const modifier = call.isAnchored ? 'anchored' : 'smoothed';
  const supportedFunctions = call.isAnchored ? anchoredFunctions : smoothedFunctions;
  if ((call.isAnchored || call.isSmoothed) && !supportedFunctions.includes(name))
    throw new PromqlExecutionError(
      `${modifier} modifier can only be used with: ${supportedFunctions.join(', ')} - not with ${name}`,
    );
};

const buildRangeCall = (evaluation: Evaluation, node: Call, range: MatrixSelector | Subquery): RangeCall => {
  const selector = range.kind === 'range' ? (range.selector as VectorSelector) : undefined;
  const first = node.args[0] as Expression;
  return {
    annotations: evaluation.annotations,
    // Prometheus replaces a subquery by a selector without a position, so annotations refer to the start.
    position: first.kind === 'subquery' ? { start: 0, end: 0 } : first,
    rangeMs: range.rangeMs,
    isAnchored: selector?.anchored ?? false,
    isSmoothed: selector?.smoothed ?? false,
    usesStartTimes:
      evaluation.options.startTimestamps && ['rate', 'irate', 'increase', 'resets'].includes(node.signature.name),
  };
};

/** State shared by all series of one call. */
class RangeEvaluation {
  readonly #evaluation: Evaluation;
  readonly #name: string;
  readonly #range: MatrixSelector | Subquery;
  readonly #call: RangeCall;
  readonly #function: RangeFunction;
  readonly #scalars: readonly Float64Array[];
  readonly #preservesName: boolean;
  #heldSamples = 0;

  constructor(evaluation: Evaluation, node: Call, range: MatrixSelector | Subquery) {
    this.#evaluation = evaluation;
    this.#name = node.signature.name;
    this.#range = range;
    this.#call = buildRangeCall(evaluation, node, range);
    requireSupportedModifier(this.#name, this.#call);
    this.#function = rangeFunctions[this.#name] as RangeFunction;
    this.#scalars = node.args.filter((argument) => argument !== range).map((argument) => evaluation.scalar(argument));
    this.#preservesName = this.#name === 'last_over_time' || this.#name === 'first_over_time';
  }

  evaluateSeries(samples: Samples): Row {
    const { steps, options, counts } = this.#evaluation;
    counts.reserveCells(steps.count);
    const shouldDropName = !this.#preservesName || samples.dropName;
    const labels = shouldDropName && !options.delayedNameRemoval ? samples.labels.withoutMetadata : samples.labels;
    const row = Row.empty(labels, steps.count, shouldDropName);
    const window = new Window(samples);
    for (let step = 0; step < steps.count; step++) this.#evaluateStep(window, row, step, steps);
    counts.retain(this.#heldSamples);
    this.#heldSamples = 0;
    this.#annotateCounterName(samples, row);
    return row;
  }

  #evaluateStep(window: Window, row: Row, step: number, steps: Steps): void {
    const { counts, options } = this.#evaluation;
    const { isAnchored, isSmoothed } = this.#call;
    window.timeMs = getStepTimeMs(steps, step);
    window.rangeEnd = getReferenceTime(getReferenceNode(this.#range), window.timeMs);
    window.rangeStart = window.rangeEnd - this.#range.rangeMs;
    const before = isAnchored || isSmoothed ? options.lookbackMs : 0;
    window.moveTo(window.rangeStart - before, window.rangeEnd + (isSmoothed ? options.lookbackMs : 0));
    if (window.isEmpty) return;
    const sampleCount = window.sampleCount;
    counts.read(sampleCount, step);
    counts.updatePeak(sampleCount + this.#heldSamples);
    for (const [argumentIndex, scalar] of this.#scalars.entries()) window.args[argumentIndex] = scalar[step] as number;
    const value = this.#function(window, this.#call);
    if (value === undefined) return;
    row.setValue(step, value);
    this.#heldSamples += typeof value === 'number' ? 1 : value.sampleEquivalents;
  }

  /** Adds an annotation if the metric of a rate does not appear to be a counter. */
  #annotateCounterName(samples: Samples, row: Row): void {
    if (this.#name !== 'rate' && this.#name !== 'increase') return;
    const { name } = samples;
    if (name === '' || !row.kinds.includes(1)) return;
    const { annotations, options } = this.#evaluation;
    if (options.typeAndUnitLabels) {
      const type = samples.labels.get('__type__');
      if (type !== 'counter' && type !== 'histogram')
        annotations.addInfo(
          `metric might not be a counter, __type__ label is not set to "counter" or "histogram", got "${type}": "${name}"`,
          this.#call.position,
        );
    } else if (!/_(?:total|sum|count|bucket)$/.test(name))
      annotations.addInfo(
        `metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "${name}"`,
        this.#call.position,
      );
  }
}

/** Yields the rows of a range function: each series is read, evaluated at the steps, and released. */
export function* evaluateRangeCall(
  evaluation: Evaluation,
  node: Call,
  range: MatrixSelector | Subquery,
): Iterable<Row> {
  const call = new RangeEvaluation(evaluation, node, range);
  const allowsDuplicates = evaluation.options.delayedNameRemoval || node.signature.name === 'absent_over_time';
  const seenKeys = allowsDuplicates ? undefined : new Set<string>();
  for (const samples of iterateSamples(evaluation, range)) {
    const row = call.evaluateSeries(samples);
    if (row.isEmpty) continue;
    if (seenKeys?.has(row.labels.key)) throw new PromqlExecutionError(duplicateLabelsMessage);
    seenKeys?.add(row.labels.key);
    yield row;
  }
}

/** Returns the labels that a selector matches by equality, for `absent` and `absent_over_time`. */
export const collectEqualityLabels = (node: Expression | undefined): LabelSet => {
  const selector = node?.kind === 'range' ? node.selector : node;
  if (selector?.kind !== 'selector') return LabelSet.empty;
  const labels: Record<string, string> = {};
  const knownNames = new Set<string>();
  for (const { name, op, value } of selector.matchers) {
    if (name === '__name__') continue;
    if (op === '=' && !knownNames.has(name)) {
      labels[name] = value;
      knownNames.add(name);
    } else delete labels[name];
  }
  return LabelSet.from(labels);
};

/** Returns one row with 1 at each step where none of the rows has a value. */
export const evaluateAbsent = (evaluation: Evaluation, rows: Iterable<Row>, labels: LabelSet): Row[] => {
  const row = Row.empty(labels, evaluation.steps.count, true);
  const hasValueByStep = new Uint8Array(evaluation.steps.count);
  for (const { kinds } of rows)
    for (let step = 0; step < hasValueByStep.length; step++)
      hasValueByStep[step] = (hasValueByStep[step] as number) | (kinds[step] as number);
  for (let step = 0; step < hasValueByStep.length; step++) if (hasValueByStep[step] === absent) row.set(step, 1);
  return row.isEmpty ? [] : [row];
};
