/** Recurring jumps of similar size at irregular times, such as the drops of a sawtooth. */
import { at, numberAt, type ScorerState } from './state.ts';

/** Minimum size of a jump, in units of deviation. */
const minStrays = 8;
/** Number of points after a jump that belong to it. */
const settling = 12;
/** Number of jumps that form a habit; half of the count decays in two weeks. */
const enough = 6;
const forgettingMs = 3 * 604_800_000;
/** Maximum mean spread of the logarithms of jump sizes, and maximum distance of a habitual jump from their mean. */
const maxSpread = 0.12;
const normalSpread = (spread: number): number => 3 * spread + 0.1;

const placeOf = (by: number): number => (by > 0 ? at.habitUp : at.habitDown);
const isJump = (by: number, stray: number): boolean => Math.abs(by) >= minStrays * stray;

/** Returns whether a deviation of this size from the expected value is habitual. */
export const isRecurringJump = ({ numbers: n }: ScorerState, by: number, stray: number): boolean => {
  const place = placeOf(by);
  const spread = numberAt(n, place + 2);
  if (!isJump(by, stray) || numberAt(n, place) < enough || spread >= maxSpread) return false;
  return Math.abs(Math.log(Math.abs(by)) - numberAt(n, place + 1)) < normalSpread(spread);
};

/** Learns the frequency and size of jumps. */
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
