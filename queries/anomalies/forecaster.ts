/** What the next value should be: levels at several paces beside the season, a trend, and levels of the bare value. */
import { at, forecasterCount, numberAt, type ScorerState } from './state.ts';

/** The first four and the trend are beside the season; those from here on know none. */
const bare = 5;
const trend = 4;
const paces = [0.01, 0.06, 0.25, 0.7, 0.2, 0.3, 0.9];
/** Of levels that err up to so much more than the best, the slowest is steady. */
const steadyError = 1.6;

const foreseen = ({ numbers }: ScorerState, way: number, season: number): number => {
  const level = numbers[at.levels + way] ?? 0;
  if (way >= bare) return level;
  return level + season + (way === trend ? numberAt(numbers, at.slope) : 0);
};

export interface Expectation {
  readonly value: number;
  /** How much of it knows the season, from 0 to 1. */
  readonly seasonal: number;
}

/** The foresights together, each by its errors so far. */
export const expectation = (state: ScorerState, season: number): Expectation => {
  let [sum, total, seasonal] = [0, 0, 0];
  for (let way = 0; way < forecasterCount; way++) {
    // One that errs twice as much counts 256 times less.
    const squared = (numberAt(state.numbers, at.errors + way) + 1e-12) ** 2;
    const weight = 1 / (squared * squared * (squared * squared));
    sum += weight * foreseen(state, way, season);
    total += weight;
    if (way < bare) seasonal += weight;
  }
  return { value: sum / total, seasonal: seasonal / total };
};

/**
 * What the slowest level foresees that errs hardly more than the best: a change shows against it for longer than against levels that
 * follow at once.
 */
export const steadyPrediction = (state: ScorerState, season: number, expected: number): number => {
  const way = steadyWay(state);
  return way === undefined ? expected : foreseen(state, way, season);
};

/** Whether that is one of the two slowest levels. */
export const isSteadySlow = (state: ScorerState): boolean => (steadyWay(state) ?? trend) < 2;

const steadyWay = ({ numbers }: ScorerState): number | undefined => {
  let best = Number.MAX_VALUE;
  for (let way = 0; way < forecasterCount; way++) best = Math.min(best, numberAt(numbers, at.errors + way));
  for (let way = 0; way < trend; way++) if (numberAt(numbers, at.errors + way) <= steadyError * best) return way;
  return undefined;
};

/** Learns how far each foresight was off, in strays: more than three of them count as three. */
export const scorePredictions = (
  state: ScorerState,
  season: number,
  value: number,
  stray: number,
  pace: number,
): void => {
  for (let way = 0; way < forecasterCount; way++) {
    const missed = Math.min(3, Math.abs(value - foreseen(state, way, season)) / stray);
    const place = at.errors + way;
    state.numbers[place] = numberAt(state.numbers, place) + pace * (missed - numberAt(state.numbers, place));
  }
};

const clip = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

/** Moves each level towards the value: slow ones by little at once, so that what is brief does not shift them. */
export const learnLevels = (state: ScorerState, season: number, value: number, stray: number, calm: number): void => {
  const n = state.numbers;
  const count = numberAt(n, at.count);
  const limits = count > 40 ? [3, 6].map((strays) => strays * Math.min(stray, 2 * calm)) : [];
  for (const [way, pace] of paces.entries()) {
    const place = at.levels + way;
    const target = way < bare ? value - season : value;
    const off = target - numberAt(n, place);
    if (way === trend) learnTrend(n, off, pace, 6 * stray, count);
    else
      n[place] =
        numberAt(n, place) +
        (way < bare ? Math.max(pace, 1 / (count + 1)) : pace) * clip(off, limits[way] ?? Number.MAX_VALUE);
  }
};

/** A saw tooth drops at once, and its trend goes on from there. */
const learnTrend = (n: Float32Array, fromLevel: number, pace: number, drop: number, count: number): void => {
  const slope = numberAt(n, at.slope);
  const off = fromLevel - slope;
  const isDrop = Math.abs(off) > drop;
  n[at.levels + trend] = numberAt(n, at.levels + trend) + slope + (isDrop ? 1 : pace) * off;
  if (count > 20 && !isDrop) n[at.slope] = slope + 0.01 * off;
};

/** Begins all levels at a value: the first, or the first after a gap, when the slowest remembers what was before. */
export const beginLevels = ({ numbers }: ScorerState, season: number, value: number, isFirst: boolean): void => {
  for (let way = isFirst ? 0 : 1; way < forecasterCount; way++)
    numbers[at.levels + way] = way < bare ? value - season : value;
  numbers[at.slope] = 0;
};

/** All levels go along with a jump that is usual: what comes next begins where it led. */
export const followJump = ({ numbers }: ScorerState, season: number, value: number): void => {
  for (let way = 0; way < forecasterCount; way++) numbers[at.levels + way] = way < bare ? value - season : value;
};

/** The slow levels take over what a faster one has found: the level is a new one. Tells by how much it is higher. */
export const adoptNewLevel = ({ numbers }: ScorerState): number => {
  const [before, after] = [numberAt(numbers, at.levels), numberAt(numbers, at.levels + 2)];
  numbers[at.levels] = after;
  numbers[at.levels + 1] = after;
  return after - before;
};

/** Moves the levels beside the season by what the season's profiles gave up. */
export const raiseLevels = ({ numbers }: ScorerState, by: number): void => {
  for (let way = 0; way < bare; way++) numbers[at.levels + way] = numberAt(numbers, at.levels + way) + by;
};
