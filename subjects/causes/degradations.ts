/**
 * Detects whether and since when requests are degraded, by a comparison of minutes before and after, as for
 * deployments.
 */
import {
  type AspectComparison,
  aspects,
  compare,
  maxFalseAlarmRate,
  minDifferences,
  studentTProbability,
} from '../services/comparison.ts';
import { type MinuteActivity, minuteMs } from './incident-context.ts';

/** Number of compared minutes before and after a time. */
const comparedMinutes = { before: 60, after: 30 };
/** Maximum number of minutes between the onset of a symptom and its detection by an alert. */
const maxDetectionMinutes = 30;
const maxOnsetDelayMinutes = 3;
const minimum = { minutes: 3, requests: 50 };
/** What a symptom that has just begun needs: requests since then, and minutes before to compare with */
const youngMinimum = { requests: 20, minutesBefore: 15 };

export interface Degradation {
  readonly aspect: AspectComparison['aspect'];
  readonly compared: AspectComparison;
}

export const selectMinutes = (minutes: readonly MinuteActivity[], fromMs: number, toMs: number): MinuteActivity[] =>
  minutes.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);

const countRequests = (minutes: readonly MinuteActivity[]): number =>
  minutes.reduce((sum, { requests }) => sum + requests, 0);

const hasEnoughRequests = (minutes: readonly MinuteActivity[]): boolean =>
  minutes.length >= minimum.minutes && countRequests(minutes) >= minimum.requests;

/** Returns whether there are enough requests on both sides, of which the later one may be young. */
const canCompare = (before: readonly MinuteActivity[], after: readonly MinuteActivity[]): boolean => {
  if (!hasEnoughRequests(before)) return false;
  return isYoung(before, after) ? countRequests(after) >= youngMinimum.requests : hasEnoughRequests(after);
};

const isYoung = (before: readonly MinuteActivity[], after: readonly MinuteActivity[]): boolean =>
  after.length > 0 && after.length < minimum.minutes && before.length >= youngMinimum.minutesBefore;

/** Returns whether all requests since then are worse than those of every minute before: bursts come again and again. */
const isRecord = (
  before: readonly MinuteActivity[],
  after: readonly MinuteActivity[],
  score: keyof typeof minuteScores,
): boolean => {
  const add = (name: 'requests' | 'errors' | 'durationSum'): number =>
    after.reduce((sum, minute) => sum + minute[name], 0);
  const together = { requests: add('requests'), errors: add('errors'), durationSum: add('durationSum') };
  return minuteScores[score](together) > Math.max(...before.map(minuteScores[score]));
};

interface ComparedRange {
  readonly untilMs: number;
  readonly fromMs?: number;
}

const selectSides = (
  minutes: readonly MinuteActivity[],
  atMs: number,
  { untilMs, fromMs = atMs - comparedMinutes.before * minuteMs }: ComparedRange,
): readonly [before: MinuteActivity[], after: MinuteActivity[]] => [
  selectMinutes(minutes, fromMs, atMs),
  selectMinutes(minutes, atMs, Math.min(untilMs, atMs + comparedMinutes.after * minuteMs)),
];

/**
 * Compares requests, and errors in bursts too: errors that come in some minutes only have a large variance between
 * minutes, but more minutes with errors than before.
 */
const compareSides = (before: readonly MinuteActivity[], after: readonly MinuteActivity[]): AspectComparison[] =>
  compare(before, after).map((comparison) => {
    if (comparison.aspect !== 'errors' || comparison.verdict !== 'unknown') return comparison;
    const [errorsBefore, errorsAfter] = [before, after].map((side) => side.map(minuteScores.errors)) as [
      number[],
      number[],
    ];
    const p = compareRanks(errorsBefore, errorsAfter);
    const isWorse =
      p * aspects.length < maxBurstRate &&
      comparison.after >= 3 * comparison.before &&
      comparison.difference >= minBurstDifference;
    return isWorse ? { ...comparison, p, confidence: 1 - p * aspects.length, verdict: 'worse' } : comparison;
  });

/**
 * Minimum increase of the share of errors in bursts, and maximum probability of chance. The onset is the time with the
 * largest difference, so a test of ranks at it needs more certainty.
 */
const minBurstDifference = 0.04;
const maxBurstRate = maxFalseAlarmRate / 4;

/**
 * Returns the probability that values are as much higher than others by chance: the test of Mann and Whitney, with the
 * correction of its variance for equal values.
 */
const compareRanks = (lower: readonly number[], higher: readonly number[]): number => {
  const sorted = [...lower, ...higher].toSorted((left, right) => left - right);
  const size = sorted.length;
  const computeRank = (value: number): number => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2 + 1;
  const rankSum = higher.reduce((sum, value) => sum + computeRank(value), 0);
  const wins = rankSum - (higher.length * (higher.length + 1)) / 2;
  const ties = [...new Set(sorted)].reduce((sum, value) => {
    const count = sorted.lastIndexOf(value) - sorted.indexOf(value) + 1;
    return sum + count ** 3 - count;
  }, 0);
  const variance = ((lower.length * higher.length) / 12) * (size + 1 - ties / (size * (size - 1)));
  const deviation = (wins - (lower.length * higher.length) / 2 - 0.5) / Math.sqrt(variance);
  return variance <= 0 ? 1 : studentTProbability(deviation, size);
};

/**
 * Returns why it cannot be determined whether requests are degraded; undefined if they are not. "Cannot be determined"
 * is not "not degraded".
 */
export const findUncertainty = (
  minutes: readonly MinuteActivity[],
  atMs: number,
  range: ComparedRange,
): string | undefined => {
  const [before, after] = selectSides(minutes, atMs, range);
  if (minutes.length === 0) return 'it has no requests in the compared range';
  const need = `at least ${minimum.requests} requests in ${minimum.minutes} minutes are needed`;
  if (countRequests(before) === 0) return `there are no requests before to compare with: ${need}`;
  if (!hasEnoughRequests(before)) return `there are too few requests before: ${countRequests(before)}, but ${need}`;
  if (!canCompare(before, after)) return `there are too few requests since then: ${countRequests(after)}, but ${need}`;
  const unclear = compareSides(before, after).find(
    ({ aspect, verdict, difference }) => verdict === 'unknown' && difference >= 2 * minDifferences[aspect],
  );
  if (unclear === undefined) return undefined;
  const toPercent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return unclear.aspect === 'errors'
    ? `${toPercent(unclear.after)} of its requests fail instead of ${toPercent(unclear.before)}, but so irregularly that it may be chance`
    : 'its durations increased, but so irregularly that it may be chance';
};

/** Returns the degradations after a time, most certain first; undefined if there are too few requests. */
export const findDegradations = (
  minutes: readonly MinuteActivity[],
  atMs: number,
  range: ComparedRange,
): Degradation[] | undefined => {
  const [before, after] = selectSides(minutes, atMs, range);
  if (!canCompare(before, after)) return undefined;
  return compareSides(before, after)
    .filter(({ verdict }) => verdict === 'worse')
    .filter(
      ({ aspect }) => !isYoung(before, after) || isRecord(before, after, aspect === 'errors' ? 'errors' : 'latency'),
    )
    .map((comparison) => ({ aspect: comparison.aspect, compared: comparison }))
    .toSorted((left, right) => left.compared.p - right.compared.p);
};

type ScoredRequests = Pick<MinuteActivity, 'requests' | 'errors' | 'durationSum'>;

const minuteScores = {
  errors: ({ requests, errors }: ScoredRequests): number => errors / Math.max(1, requests),
  latency: ({ requests, durationSum }: ScoredRequests): number => Math.log(1 + durationSum / Math.max(1, requests)),
};

/** Minimum gain of a change point, as a share of the best one's, for which it may be the actual one as well. */
const nearBestShare = 0.85;

/**
 * Returns the position that splits values into two parts with the largest difference of means, the range of positions
 * that are almost as good, and the gain of the split: the part of the variance that it explains.
 */
const findChangePoint = (
  values: readonly number[],
): { readonly at: number; readonly earliest: number; readonly latest: number; readonly gain: number } => {
  let [at, gain, sum] = [0, 0, 0];
  const gains: number[] = [];
  const total = values.reduce((partialSum, value) => partialSum + value, 0);
  for (let index = 1; index < values.length; index++) {
    sum += values[index - 1] ?? 0;
    const [left, right] = [sum / index, (total - sum) / (values.length - index)];
    const gainAtIndex = ((index * (values.length - index)) / values.length) * Math.max(0, right - left) ** 2;
    gains.push(gainAtIndex);
    if (gainAtIndex > gain) [at, gain] = [index, gainAtIndex];
  }
  const isNearBest = (gainValue: number): boolean => gainValue >= nearBestShare * gain;
  return { at, earliest: 1 + gains.findIndex(isNearBest), latest: 1 + gains.findLastIndex(isNearBest), gain };
};

/** Returns the time from which values are higher, around a given time. */
export const findIncreaseOnset = (
  values: readonly (readonly [atMs: number, value: number])[],
  noticedMs: number,
): number => {
  const window = values.filter(
    ([atMs]) =>
      atMs >= noticedMs - (maxDetectionMinutes + comparedMinutes.after) * minuteMs &&
      atMs <= noticedMs + comparedMinutes.after * minuteMs,
  );
  const { at } = findChangePoint(window.map(([, value]) => value));
  return window[at]?.[0] ?? noticedMs;
};

export interface Onset {
  readonly onsetMs: number;
  /** Earliest and latest possible onset. */
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** Returns the onset of a node's degradation, at the latest some minutes after it was noticed. */
export const findOnset = (minutes: readonly MinuteActivity[], noticedMs: number): Onset => {
  const window = selectMinutes(
    minutes,
    noticedMs - (maxDetectionMinutes + comparedMinutes.after) * minuteMs,
    noticedMs + 10 * minuteMs,
  );
  const onsets = (['errors', 'latency'] as const).map((aspect) => {
    const values = window.map(minuteScores[aspect]);
    const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const { at, earliest, latest, gain } = findChangePoint(values);
    const getTime = (index: number): number => window[index]?.atMs ?? noticedMs;
    return {
      atMs: getTime(at),
      earliestMs: getTime(earliest),
      latestMs: getTime(latest),
      explained: variance === 0 ? 0 : gain / variance,
    };
  });
  const [errorOnset, latencyOnset] = onsets as [(typeof onsets)[number], (typeof onsets)[number]];
  const { atMs, earliestMs, latestMs } = errorOnset.explained >= latencyOnset.explained ? errorOnset : latencyOnset;
  const clampToWindow = (ms: number): number =>
    Math.min(noticedMs + maxOnsetDelayMinutes * minuteMs, Math.max(noticedMs - maxDetectionMinutes * minuteMs, ms));
  return { onsetMs: clampToWindow(atMs), earliestMs: clampToWindow(earliestMs), latestMs: clampToWindow(latestMs) };
};

/** Returns the start of a node's degradation in a range, if no other data determines it. */
export const findDegradationStart = (minutes: readonly MinuteActivity[], fromMs: number, toMs: number): number => {
  const window = selectMinutes(minutes, fromMs - maxDetectionMinutes * minuteMs, toMs);
  const [errors, latency] = (['errors', 'latency'] as const).map((aspect) => {
    const values = window.map(minuteScores[aspect]);
    const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
    const { at, gain } = findChangePoint(values);
    return {
      at,
      explained:
        gain /
        Math.max(
          Number.MIN_VALUE,
          values.reduce((sum, value) => sum + (value - mean) ** 2, 0),
        ),
    };
  });
  const best = (errors?.explained ?? 0) >= (latency?.explained ?? 0) ? errors : latency;
  return Math.max(fromMs, window[best?.at ?? 0]?.atMs ?? fromMs);
};

/** Average increase per request: errors, and nanoseconds. */
export interface Excess {
  readonly errors: number;
  readonly duration: number;
}

/**
 * Returns the increase in `minutes` per request in `per`: a node's own requests, or for an edge those of its caller.
 */
export const computeExcess = (
  minutes: readonly MinuteActivity[],
  requestMinutes: readonly MinuteActivity[],
  atMs: number,
  untilMs: number,
): Excess => {
  const averageOver = (fromMs: number, toMs: number): Excess => {
    const requests = selectMinutes(requestMinutes, fromMs, toMs).reduce((sum, minute) => sum + minute.requests, 0);
    const sideMinutes = selectMinutes(minutes, fromMs, toMs);
    return {
      errors: sideMinutes.reduce((sum, minute) => sum + minute.errors, 0) / Math.max(1, requests),
      duration: sideMinutes.reduce((sum, minute) => sum + minute.durationSum, 0) / Math.max(1, requests),
    };
  };
  const before = averageOver(atMs - comparedMinutes.before * minuteMs, atMs);
  const after = averageOver(atMs, Math.min(untilMs, atMs + comparedMinutes.after * minuteMs));
  return { errors: after.errors - before.errors, duration: after.duration - before.duration };
};
