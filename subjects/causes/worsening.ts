/**
 * Detects whether and since when requests are degraded, by a comparison of minutes before and after, as for
 * deployments.
 */
import { type AspectComparison, compare } from '../services/comparison.ts';
import { type MinuteActivity, minuteMs } from './incident-context.ts';

/** Number of compared minutes before and after a time. */
const comparedMinutes = { before: 60, after: 30 };
/** Maximum number of minutes between the onset of a symptom and its detection by an alert. */
const maxDetectionMinutes = 30;
const maxOnsetDelayMinutes = 3;
const minimum = { minutes: 3, requests: 50 };

export interface Worsening {
  readonly aspect: AspectComparison['aspect'];
  readonly compared: AspectComparison;
}

export const selectMinutes = (minutes: readonly MinuteActivity[], fromMs: number, toMs: number): MinuteActivity[] =>
  minutes.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);

const hasEnoughRequests = (minutes: readonly MinuteActivity[]): boolean =>
  minutes.length >= minimum.minutes && minutes.reduce((sum, { requests }) => sum + requests, 0) >= minimum.requests;

/** Returns the degradations after a time, most certain first; undefined if there are too few requests. */
export const findDegradations = (
  minutes: readonly MinuteActivity[],
  atMs: number,
  {
    untilMs,
    fromMs = atMs - comparedMinutes.before * minuteMs,
  }: { readonly untilMs: number; readonly fromMs?: number },
): Worsening[] | undefined => {
  const before = selectMinutes(minutes, fromMs, atMs);
  const after = selectMinutes(minutes, atMs, Math.min(untilMs, atMs + comparedMinutes.after * minuteMs));
  if (!hasEnoughRequests(before) || !hasEnoughRequests(after)) return undefined;
  return compare(before, after)
    .filter(({ verdict }) => verdict === 'worse')
    .map((comparison) => ({ aspect: comparison.aspect, compared: comparison }))
    .toSorted((left, right) => left.compared.p - right.compared.p);
};

const minuteScores = {
  errors: ({ requests, errors }: MinuteActivity): number => errors / Math.max(1, requests),
  latency: ({ requests, durationSum }: MinuteActivity): number => Math.log(1 + durationSum / Math.max(1, requests)),
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
