/** State transitions of an anomaly in a series with each point: it begins, becomes worse, or ends. */

import type { AnomalyPoints } from '../../schemas/anomalies.ts';
import { type Direction, getSignDirection } from './scores/anomaly-text.ts';
import type { Scored } from './scores/scorer.ts';
import type { Sign } from './scores/signs.ts';

export type Change = 'begin' | 'worse' | 'end';

/** State of an ongoing anomaly, which is stored as JSON. */
export interface Episode {
  readonly beginMs: number;
  /** Expected value at the start. */
  readonly before: number | null;
  /** Whether it began in history, and was therefore not reported. */
  readonly isOld: boolean;
  /** Highest score, and the most unlikely sign of that point. */
  readonly score: number;
  readonly sign: Sign;
  /** Point with the greatest deviation from the value expected at the start. */
  readonly peak: PeakPoint;
  /** Number of reported changes; 0 if none was reported. */
  readonly told: number;
}
export type PeakPoint = Pick<Scored, 'timeMs' | 'expected' | 'low' | 'high'> & { readonly value: number };

export interface FollowOptions {
  readonly mode: AnomalyPoints['mode'];
  readonly direction: AnomalyPoints['detector']['direction'];
  /** Minimum relevant change and allowed false alarms per week of the series, by direction. */
  readonly minChange: Readonly<Record<Direction, number>>;
  readonly allowedPerWeek: Readonly<Record<Direction, number>>;
}

/** Returns the deviation of an episode from the value expected at its start. */
export const computeChange = ({ before, peak: { value } }: Pick<Episode, 'before' | 'peak'>): number =>
  before === null ? 0 : value - before;

/** Returns the score that random points exceed this many times per week. */
const computeScoreThreshold = (allowedPerWeek: number): number => Math.exp(-allowedPerWeek);

const beginEpisode = (
  scored: Scored & { readonly sign: Sign },
  value: number,
  mode: FollowOptions['mode'],
): Episode => {
  const { timeMs, expected, low, high, score, sign } = scored;
  const peak = { timeMs, value, expected, low, high };
  return { beginMs: timeMs, before: expected, isOld: mode === 'learning', score, sign, peak, told: 0 };
};

const extendEpisode = (episode: Episode, scored: Scored & { readonly sign: Sign }, value: number): Episode => {
  const { timeMs, expected, low, high, score, sign } = scored;
  const isNewPeak = Math.abs(value - (episode.before ?? value)) > Math.abs(computeChange(episode));
  return {
    ...episode,
    ...(score > episode.score && { score, sign }),
    ...(isNewPeak && { peak: { timeMs, value, expected, low, high } }),
  };
};

/** Returns whether an episode is reported, by its direction, rarity and size. */
const isReported = (episode: Episode, { direction, minChange, allowedPerWeek }: FollowOptions): boolean => {
  const episodeDirection = getSignDirection(episode.sign);
  return (
    (direction === 'both' || episodeDirection === direction) &&
    episode.score > computeScoreThreshold(allowedPerWeek[episodeDirection]) &&
    Math.abs(computeChange(episode)) >= minChange[episodeDirection]
  );
};

export interface EpisodeUpdate {
  /** Ongoing anomaly; `undefined` if there is none. */
  readonly episode: Episode | undefined;
  readonly change: Change | undefined;
}

/** Returns the next state of an anomaly after a point with a value. */
export const advanceEpisode = (
  episode: Episode | undefined,
  scored: Scored,
  value: number,
  options: FollowOptions,
): EpisodeUpdate => {
  const { sign } = scored;
  if (!scored.isAnomalous || sign === null)
    return { episode: undefined, change: episode !== undefined && episode.told > 0 ? 'end' : undefined };
  const anomalousPoint = { ...scored, sign };
  const next =
    episode === undefined
      ? beginEpisode(anomalousPoint, value, options.mode)
      : extendEpisode(episode, anomalousPoint, value);
  const isWorse =
    episode !== undefined && scored.score > computeScoreThreshold(options.allowedPerWeek[getSignDirection(sign)]);
  if (options.mode !== 'now') return { episode: next, change: undefined };
  if (next.told > 0)
    return isWorse
      ? { episode: { ...next, told: next.told + 1 }, change: 'worse' }
      : { episode: next, change: undefined };
  if ((next.isOld && !isWorse) || !isReported(next, options)) return { episode: next, change: undefined };
  return { episode: { ...next, isOld: false, told: 1 }, change: 'begin' };
};
