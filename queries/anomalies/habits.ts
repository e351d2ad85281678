/** Jumps that a series makes again and again by about as much, whenever they come: the drops of a saw tooth. */
import { at, numberAt, type ScorerState } from './state.ts';

/** What moves less far, in strays, is no jump. */
const minStrays = 8;
/** Points after a jump that are a part of it. */
const settling = 12;
/** So many are a habit; of those that come no more half are forgotten in two weeks. */
const enough = 6;
const forgettingMs = 3 * 604_800_000;
/** How far the logarithms of their sizes may lie apart on average, and how far a usual one from their mean. */
const maxSpread = 0.12;
const normalSpread = (spread: number): number => 3 * spread + 0.1;

const placeOf = (by: number): number => (by > 0 ? at.habitUp : at.habitDown);
const isJump = (by: number, stray: number): boolean => Math.abs(by) >= minStrays * stray;

/** Whether it is usual that a value lies so far from what was expected. */
export const isHabit = ({ numbers: n }: ScorerState, by: number, stray: number): boolean => {
  const place = placeOf(by);
  const spread = numberAt(n, place + 2);
  if (!isJump(by, stray) || numberAt(n, place) < enough || spread >= maxSpread) return false;
  return Math.abs(Math.log(Math.abs(by)) - numberAt(n, place + 1)) < normalSpread(spread);
};

/** Learns how often jumps come, and how large they are. */
export const learnHabit = ({ numbers: n }: ScorerState, by: number, stray: number): void => {
  const remembered = Math.max(0, 1 - numberAt(n, at.stepMs) / forgettingMs);
  for (const place of [at.habitUp, at.habitDown]) n[place] = numberAt(n, place) * remembered;
  n[at.sinceJump] = numberAt(n, at.sinceJump) + 1;
  if (!isJump(by, stray) || numberAt(n, at.sinceJump) <= settling) return;
  n[at.sinceJump] = 0;
  const place = placeOf(by);
  const [count, size] = [numberAt(n, place), numberAt(n, place + 1)];
  const difference = Math.log(Math.abs(by)) - size;
  const pace = 1 / (1 + Math.min(count, 12));
  n[place] = count + 1;
  n[place + 1] = size + pace * difference;
  if (count > 0) n[place + 2] = numberAt(n, place + 2) + pace * (Math.abs(difference) - numberAt(n, place + 2));
};
