/** What becomes of an anomaly of a series with each point: it begins, becomes worse, or ends. Pure. */

import { type Direction, directionOf } from '../../queries/anomalies/anomaly-text.ts';
import type { Scored } from '../../queries/anomalies/scorer.ts';
import type { Sign } from '../../queries/anomalies/signs.ts';
import type { AnomalyPoints } from '../../schemas/anomalies.ts';

export type Change = 'begin' | 'worse' | 'end';

/** What is kept of an anomaly while it lasts. JSON. */
export interface Episode {
  readonly beginMs: number;
  /** What was expected where it began. */
  readonly before: number | null;
  /** It began in history, and was not told for that. */
  readonly isOld: boolean;
  /** The highest score, and what was rarest there. */
  readonly score: number;
  readonly sign: Sign;
  /** Where it was furthest from what was expected where it began. */
  readonly peak: Peak;
  /** Changes that were told; 0: nothing was. */
  readonly told: number;
}
export type Peak = Pick<Scored, 'timeMs' | 'expected' | 'low' | 'high'> & { readonly value: number };

export interface FollowOptions {
  readonly mode: AnomalyPoints['mode'];
  readonly direction: AnomalyPoints['detector']['direction'];
  /** The least change that matters, and false alarms a week that are allowed: of the series, by the way that a change goes. */
  readonly least: Readonly<Record<Direction, number>>;
  readonly allowed: Readonly<Record<Direction, number>>;
}

/** How far an episode is from what was expected where it began. */
export const changeOf = ({ before, peak: { value } }: Pick<Episode, 'before' | 'peak'>): number =>
  before === null ? 0 : value - before;

/** A score above it is rarer than so many false alarms a week. */
const scoreOf = (allowedPerWeek: number): number => Math.exp(-allowedPerWeek);

const begun = (scored: Scored & { readonly sign: Sign }, value: number, mode: FollowOptions['mode']): Episode => {
  const { timeMs, expected, low, high, score, sign } = scored;
  const peak = { timeMs, value, expected, low, high };
  return { beginMs: timeMs, before: expected, isOld: mode === 'learning', score, sign, peak, told: 0 };
};

const extended = (episode: Episode, scored: Scored & { readonly sign: Sign }, value: number): Episode => {
  const { timeMs, expected, low, high, score, sign } = scored;
  const isFurther = Math.abs(value - (episode.before ?? value)) > Math.abs(changeOf(episode));
  return {
    ...episode,
    ...(score > episode.score && { score, sign }),
    ...(isFurther && { peak: { timeMs, value, expected, low, high } }),
  };
};

/** Whether an episode is told at all: which way it goes, how rare it is, and how large. */
const matters = (episode: Episode, { direction, least: minChange, allowed }: FollowOptions): boolean => {
  const own = directionOf(episode.sign);
  return (
    (direction === 'both' || own === direction) &&
    episode.score > scoreOf(allowed[own]) &&
    Math.abs(changeOf(episode)) >= minChange[own]
  );
};

export interface Followed {
  /** `undefined`: there is no anomaly, or no more. */
  readonly episode: Episode | undefined;
  readonly change: Change | undefined;
}

/** What becomes of an anomaly by the next point, which has a value. */
export const follow = (
  episode: Episode | undefined,
  scored: Scored,
  value: number,
  options: FollowOptions,
): Followed => {
  const { sign } = scored;
  if (!scored.isAnomalous || sign === null)
    return { episode: undefined, change: episode !== undefined && episode.told > 0 ? 'end' : undefined };
  const known = { ...scored, sign };
  const next = episode === undefined ? begun(known, value, options.mode) : extended(episode, known, value);
  const isWorse = episode !== undefined && scored.score > scoreOf(options.allowed[directionOf(sign)]);
  if (options.mode !== 'now') return { episode: next, change: undefined };
  if (next.told > 0)
    return isWorse
      ? { episode: { ...next, told: next.told + 1 }, change: 'worse' }
      : { episode: next, change: undefined };
  if ((next.isOld && !isWorse) || !matters(next, options)) return { episode: next, change: undefined };
  return { episode: { ...next, isOld: false, told: 1 }, change: 'begin' };
};
