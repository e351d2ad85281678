/** Recurring jumps of similar size at irregular times, such as the drops of a sawtooth. */
import { readSlot, type ScorerState, slots } from './state.ts';

/** Minimum size of a jump, in units of deviation. */
const minJumpDeviations = 8;
/** Number of points after a jump that belong to it. */
const settlingPoints = 12;
/** Number of jumps that form a habit. The count decays by half in two weeks. */
const minHabitCount = 6;
const forgettingMs = 3 * 604_800_000;
/** Maximum mean spread of the logarithms of jump sizes, and maximum distance of a habitual jump from their mean. */
const maxSpread = 0.12;
const maxHabitDistance = (spread: number): number => 3 * spread + 0.1;

const habitSlot = (by: number): number => (by > 0 ? slots.habitUp : slots.habitDown);
const isJump = (by: number, stray: number): boolean => Math.abs(by) >= minJumpDeviations * stray;

/** Returns whether a deviation of this size from the expected value is habitual. */
export const isRecurringJump = ({ numbers: n }: ScorerState, change: number, stray: number): boolean => {
  const place = habitSlot(change);
  const spread = readSlot(n, place + 2);
  if (!isJump(change, stray) || readSlot(n, place) < minHabitCount || spread >= maxSpread) return false;
  return Math.abs(Math.log(Math.abs(change)) - readSlot(n, place + 1)) < maxHabitDistance(spread);
};

/** Learns the frequency and size of jumps. */
export const learnHabit = ({ numbers: n }: ScorerState, by: number, stray: number): void => {
  const decayFactor = Math.max(0, 1 - readSlot(n, slots.stepMs) / forgettingMs);
  for (const place of [slots.habitUp, slots.habitDown]) n[place] = readSlot(n, place) * decayFactor;
  n[slots.sinceJump] = readSlot(n, slots.sinceJump) + 1;
  if (!isJump(by, stray) || readSlot(n, slots.sinceJump) <= settlingPoints) return;
  n[slots.sinceJump] = 0;
  const place = habitSlot(by);
  const [count, size] = [readSlot(n, place), readSlot(n, place + 1)];
  const difference = Math.log(Math.abs(by)) - size;
  const pace = 1 / (1 + Math.min(count, 12));
  n[place] = count + 1;
  n[place + 1] = size + pace * difference;
  if (count > 0) n[place + 2] = readSlot(n, place + 2) + pace * (Math.abs(difference) - readSlot(n, place + 2));
};
