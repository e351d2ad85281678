/** Jumps that a series makes again and again by about as much, whenever they come: the drops of a saw tooth. */
import { at, kept, type ScorerState } from './state.ts';

/** What moves less far, in strays, is no jump. */
const leastStrays = 8;
/** Points after a jump that are a part of it. */
const settling = 12;
/** So many are a habit; of those that come no more half are forgotten in two weeks. */
const enough = 6;
const forgettingMs = 3 * 604_800_000;
/** How far the logarithms of their sizes may lie apart on average, and how far a usual one from their mean. */
const mostApart = 0.12;
const usualApart = (apart: number): number => 3 * apart + 0.1;

const placeOf = (by: number): number => (by > 0 ? at.habitUp : at.habitDown);
const isJump = (by: number, stray: number): boolean => Math.abs(by) >= leastStrays * stray;

/** Whether it is usual that a value lies so far from what was expected. */
export const isHabit = ({ numbers: n }: ScorerState, by: number, stray: number): boolean => {
  const place = placeOf(by);
  const apart = kept(n, place + 2);
  if (!isJump(by, stray) || kept(n, place) < enough || apart >= mostApart) return false;
  return Math.abs(Math.log(Math.abs(by)) - kept(n, place + 1)) < usualApart(apart);
};

/** Learns how often jumps come, and how large they are. */
export const learnHabit = ({ numbers: n }: ScorerState, by: number, stray: number): void => {
  const remembered = Math.max(0, 1 - kept(n, at.stepMs) / forgettingMs);
  for (const place of [at.habitUp, at.habitDown]) n[place] = kept(n, place) * remembered;
  n[at.sinceJump] = kept(n, at.sinceJump) + 1;
  if (!isJump(by, stray) || kept(n, at.sinceJump) <= settling) return;
  n[at.sinceJump] = 0;
  const place = placeOf(by);
  const [count, size] = [kept(n, place), kept(n, place + 1)];
  const apart = Math.log(Math.abs(by)) - size;
  const pace = 1 / (1 + Math.min(count, 12));
  n[place] = count + 1;
  n[place + 1] = size + pace * apart;
  if (count > 0) n[place + 2] = kept(n, place + 2) + pace * (Math.abs(apart) - kept(n, place + 2));
};
