/** Recurring jumps of similar size at irregular times, such as the drops of a sawtooth. */
import { readSlot, type ScorerState, slots } from './state.ts';

/** Minimum size of a jump, in units of deviation. */
const minJumpDeviations = 8;
/** Number of points after a jump that belong to it. */
const settlingPoints = 12;
/** Minimum number of jumps that count as recurring. The count decays by half in two weeks. */
const minHabitCount = 6;
const forgettingMs = 3 * 604_800_000;
/** Maximum mean spread of the logarithms of jump sizes, and maximum distance of a recurring jump from their mean. */
const maxSpread = 0.12;
const maxHabitDistance = (spread: number): number => 3 * spread + 0.1;

const habitSlot = (change: number): number => (change > 0 ? slots.habitUp : slots.habitDown);
const isJump = (change: number, deviation: number): boolean => Math.abs(change) >= minJumpDeviations * deviation;

/** Returns whether a deviation of this size from the expected value recurs. */
export const isRecurringJump = ({ numbers: n }: ScorerState, change: number, deviation: number): boolean => {
  const slot = habitSlot(change);
  const spread = readSlot(n, slot + 2);
  if (!isJump(change, deviation) || readSlot(n, slot) < minHabitCount || spread >= maxSpread) return false;
  return Math.abs(Math.log(Math.abs(change)) - readSlot(n, slot + 1)) < maxHabitDistance(spread);
};

/** Learns the frequency and size of jumps. */
export const learnHabit = ({ numbers: n }: ScorerState, change: number, deviation: number): void => {
  const decayFactor = Math.max(0, 1 - readSlot(n, slots.stepMs) / forgettingMs);
  for (const slot of [slots.habitUp, slots.habitDown]) n[slot] = readSlot(n, slot) * decayFactor;
  n[slots.sinceJump] = readSlot(n, slots.sinceJump) + 1;
  if (!isJump(change, deviation) || readSlot(n, slots.sinceJump) <= settlingPoints) return;
  n[slots.sinceJump] = 0;
  const slot = habitSlot(change);
  const [count, size] = [readSlot(n, slot), readSlot(n, slot + 1)];
  const difference = Math.log(Math.abs(change)) - size;
  const rate = 1 / (1 + Math.min(count, 12));
  n[slot] = count + 1;
  n[slot + 1] = size + rate * difference;
  if (count > 0) n[slot + 2] = readSlot(n, slot + 2) + rate * (Math.abs(difference) - readSlot(n, slot + 2));
};
