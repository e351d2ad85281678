/**
 * Steps of expressions that are asked again while time goes on, as panels are. What a step has follows from the samples in its windows alone,
 * wherever the range begins: so the steps before the first piece of time in which something else landed are as they were, and only those from
 * there on are evaluated. Samples that land late, that are erased, and series that come or get another name all count.
 */
import { RowCache } from '../row-cache.ts';
import { inOrderOfLabels } from './engine/labels.ts';
import type { MatrixSeries } from './engine/result.ts';
import type { EvaluationWindow } from './evaluation/messages.ts';
import { firstChangeMs, type Landed, landedFor, type Read } from './fetch/landed-pieces.ts';
import type { Scope } from './fetch/scope.ts';
import type { Evaluated, ParsedQuery } from './index.ts';
import { type DurationPart, type Expression, everyPartOf } from './syntax/tree.ts';

/** An expression over a window, and what its selectors read for it by what is known now. */
export interface StepsQuestion {
  readonly scope: Scope;
  readonly expression: string;
  readonly window: EvaluationWindow;
  readonly reads: readonly Read[];
}

/** What is known of an expression before it is evaluated. */
interface Expected {
  readonly window: EvaluationWindow;
  /** Which metrics are read, and how they become series. */
  readonly origins: string;
  readonly landed: Landed;
  /** When all of its steps were evaluated last, in the process' own milliseconds. */
  readonly evaluatedMs: number;
}

interface CachedSteps extends Expected {
  readonly series: readonly MatrixSeries[];
}

/** What is known of a question before it is evaluated. */
export interface Steps {
  /** The first step that must be evaluated: the window's first where nothing is kept, behind its end where all is. */
  readonly fromMs: number;
  /** The answer to the question, of what was evaluated from a step on that is not later than `fromMs`. It is kept for the next question. */
  answer(evaluated: Evaluated, fromMs: number): Evaluated;
}

/** Bytes of what is kept, of all organizations. */
const maxBytes = 64 * 1024 * 1024;
/** A piece has so many steps: the fewer, the less is evaluated again, and the more is to be compared. */
const stepsInPiece = 16;
/** Other samples with the same number and sum in one piece would not be seen: what is kept ends after this time, however often it is used. */
const cacheTtlMs = 900_000;

const bytesOf = ({ series, landed }: CachedSteps): number =>
  series.reduce((sum, { times, labels }) => sum + 16 * times.length + 200 + 100 * Object.keys(labels).length, 0) +
  100 * landed.size;

const stepsCache = new RowCache<CachedSteps>(maxBytes, bytesOf);
/** What landed before expressions were asked that another thread evaluates. */
const expected = new RowCache<Expected>(2_000);

type StepsKey = Pick<StepsQuestion, 'scope' | 'expression' | 'window'>;

const keyOf = ({
  scope: { translation, projectId, only },
  expression,
  window: { stepMs, lookbackMs },
}: StepsKey): string => JSON.stringify([stepMs, lookbackMs, expression, translation, projectId, only]);

/** Pieces of time within which what landed is compared. Steps begin at multiples of a step, and so do pieces. */
export const pieceMsOf = ({ stepMs }: EvaluationWindow): number => stepsInPiece * stepMs;

const ofWindow = new Set(['start', 'end', 'range', 'step', 'info']);

const dependsOnWindow = (node: Expression | DurationPart): boolean =>
  ((node.kind === 'selector' || node.kind === 'subquery') && node.at !== undefined) ||
  (node.kind === 'duration' && node.operator === 'range') ||
  (node.kind === 'call' && ofWindow.has(node.signature.name)) ||
  everyPartOf(node).some(dependsOnWindow);

/** Whether each step of an expression is the same in every window that has it. */
export const hasSteadySteps = ({ expression }: ParsedQuery, { startMs, stepMs }: EvaluationWindow): boolean =>
  stepMs > 0 && startMs % stepMs === 0 && !dependsOnWindow(expression);

/** Whether what is read is numbers, or counts of buckets: whether a native histogram continues the one before it depends on what else is read. */
const isNumbers = ({ sources }: Read): boolean =>
  sources.every(({ part, tables }) => part !== 'native' && !(part === 'value' && tables.includes('histograms')));

const originsOf = (reads: readonly Read[]): string =>
  JSON.stringify(
    reads.map(({ sources }) =>
      [
        ...new Set(sources.map(({ metric, part, tables, isDelta }) => JSON.stringify([metric, part, tables, isDelta]))),
      ].sort(),
    ),
  );

const lastStepOf = ({ startMs, endMs, stepMs }: EvaluationWindow): number =>
  startMs + Math.floor((endMs - startMs) / stepMs) * stepMs;

/** What is known of the question now, for what is evaluated next. */
const expectedOf = ({ window, reads }: StepsQuestion, landed: Landed, evaluatedMs: number): Expected => ({
  window,
  evaluatedMs,
  origins: originsOf(reads),
  landed: landedFor(reads, landed, pieceMsOf(window)),
});

/** The first step that may differ from those that are kept. */
const firstOf = ({ window, reads }: StepsQuestion, before: CachedSteps, now: Landed): number => {
  const { stepMs, endMs } = window;
  let first = lastStepOf(before.window) + stepMs;
  for (const read of reads) {
    // A step at this time reads up to so much later, or earlier where it is below 0.
    const aheadMs = read.window.toMs - endMs;
    const known = { before: before.landed, beforeToMs: before.window.endMs + aheadMs, now };
    first = Math.min(first, firstChangeMs(read, known, pieceMsOf(window)) - aheadMs);
  }
  return Math.ceil(first / stepMs) * stepMs;
};

/** The samples from one time on and before another. */
const between = (series: MatrixSeries, fromMs: number, toMs: number): MatrixSeries => {
  const placeOf = (timeMs: number): number => {
    const place = series.times.findIndex((time) => time >= timeMs);
    return place < 0 ? series.times.length : place;
  };
  const [from, to] = [placeOf(fromMs), placeOf(toMs)];
  return { ...series, times: series.times.slice(from, to), values: series.values.slice(from, to) };
};

const both = (left: Float64Array, right: Float64Array): Float64Array => {
  const all = new Float64Array(left.length + right.length);
  all.set(left);
  all.set(right, left.length);
  return all;
};

/** Series with what is kept and then what was evaluated, in the order of their labels. */
const mergeCached = (earlier: readonly MatrixSeries[], evaluated: readonly MatrixSeries[]): readonly MatrixSeries[] => {
  const nameOf = ({ labels }: MatrixSeries): string => JSON.stringify(labels);
  const filled = earlier.filter(({ times }) => times.length > 0);
  const all = new Map(filled.map((series) => [nameOf(series), series]));
  const before = all.size;
  for (const series of evaluated) {
    const its = all.get(nameOf(series));
    const times = both(its?.times ?? none, series.times);
    all.set(nameOf(series), { ...series, times, values: both(its?.values ?? none, series.values) });
  }
  return all.size === before ? [...all.values()] : inOrderOfLabels(all.values());
};

const none = new Float64Array(0);

/** Nothing: for a rest of which no step is left to be evaluated. */
export const nothingEvaluated: Evaluated = {
  value: { type: 'matrix', series: [] },
  warnings: [],
  infos: [],
  samples: { total: 0, peak: 0, perStep: none },
};

/** What has warnings is not kept: of which steps they are is not known. Nor are native histograms. */
const storeSteps = (request: StepsKey, known: Expected, { value, warnings }: Evaluated): void => {
  if (value.type !== 'matrix' || warnings.length > 0) return;
  if (value.series.some(({ histograms }) => histograms.length > 0)) return;
  stepsCache.of(request.scope.columns).set(keyOf(request), { ...known, series: value.series });
};

/** Whether something is kept of a question, which may be outdated. */
export const hasCachedSteps = (request: StepsKey): boolean =>
  stepsCache.of(request.scope.columns).get(keyOf(request)) !== undefined;

/** What is kept of a question, if steps of its window are; `landed` is what landed by now. */
const findCached = (
  question: StepsQuestion,
  landed: Landed,
): { readonly before: CachedSteps; readonly fromMs: number } | undefined => {
  const { scope, window, reads } = question;
  const before = stepsCache.of(scope.columns).get(keyOf(question));
  if (before === undefined || performance.now() - before.evaluatedMs >= cacheTtlMs) return undefined;
  if (before.window.startMs > window.startMs || before.origins !== originsOf(reads)) return undefined;
  const fromMs = firstOf(question, before, landed);
  return fromMs > window.startMs ? { before, fromMs } : undefined;
};

/** Looks what is kept of a question. It was asked before what landed, and nothing has been read for its answer. */
export const stepsOf = (question: StepsQuestion, landed: Landed): Steps => {
  const { window, reads } = question;
  if (!reads.every(isNumbers)) return { fromMs: window.startMs, answer: (evaluated) => evaluated };
  const found = findCached(question, landed);
  const known = expectedOf(question, landed, found?.before.evaluatedMs ?? performance.now());
  return {
    fromMs: found?.fromMs ?? window.startMs,
    answer(evaluated, fromMs) {
      const { value } = evaluated;
      const earlier = found?.before.series.map((series) => between(series, window.startMs, fromMs)) ?? [];
      const whole: Evaluated =
        value.type === 'matrix' && fromMs > window.startMs
          ? { ...evaluated, value: { type: 'matrix', series: mergeCached(earlier, value.series) } }
          : evaluated;
      storeSteps(question, known, whole);
      return whole;
    },
  };
};

/** Tells what landed before a question that is going to be asked alone. */
export const expectAlone = (question: StepsQuestion, landed: Landed): void => {
  if (question.reads.every(isNumbers))
    expected.of(question.scope.columns).set(keyOf(question), expectedOf(question, landed, performance.now()));
};

/** What keeps the answer to a question that is asked alone: taken before anything is read for it. */
export const createStepsWriter = (request: StepsKey): ((evaluated: Evaluated) => void) => {
  const known = expected.of(request.scope.columns).get(keyOf(request));
  const isSame = known?.window.startMs === request.window.startMs && known.window.endMs === request.window.endMs;
  return (evaluated) => {
    if (known !== undefined && isSame) storeSteps(request, known, evaluated);
  };
};
