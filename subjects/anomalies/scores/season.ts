/**
 * Profiles of a series by time of day and hour of the week, by the clock of its season: the normal offset from its
 * level, and the usual deviation.
 */
import { hours, quarters, type ScorerState, slots } from './state.ts';

const quarterMs = 900_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Offset of the epoch, a Thursday, from the start of the week. */
const weekOffsetMs = 3 * dayMs;
const deviationResolution = 256;

/** The two adjacent slots of a profile around a time, and the weight of the second. */
export interface ProfileSlots {
  readonly first: number;
  readonly second: number;
  readonly share: number;
}

const toSlots = (timeMs: number, lengthMs: number, length: number, isBetween: boolean): ProfileSlots => {
  if (!isBetween) {
    const only = Math.floor(timeMs / lengthMs) % length;
    return { first: only, second: only, share: 0 };
  }
  const position = timeMs / lengthMs - 0.5;
  const below = Math.floor(position);
  return { first: (below + length) % length, second: (below + 1) % length, share: position - below };
};

export interface SeasonPosition {
  readonly day: ProfileSlots;
  readonly week: ProfileSlots;
  readonly hour: number;
}

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

/** Returns the slot of a time in the day and the week. Steps longer than a slot use one slot only. */
export const toSeasonPosition = (timeMs: number, stepMs: number): SeasonPosition => {
  const inWeek = modulo(timeMs + weekOffsetMs, 7 * dayMs);
  return {
    day: toSlots(inWeek % dayMs, quarterMs, quarters, stepMs <= quarterMs / 2),
    week: toSlots(inWeek, hourMs, hours, stepMs <= hourMs / 2),
    hour: Math.floor(inWeek / hourMs),
  };
};

const interpolate = (profile: Float32Array, { first, second, share }: ProfileSlots): number =>
  (1 - share) * (profile[first] ?? 0) + share * (profile[second] ?? 0);

export const seasonalValue = ({ ofDay, ofWeek }: ScorerState, { day, week }: SeasonPosition): number =>
  interpolate(ofDay, day) + interpolate(ofWeek, week);

/** Returns the deviation that a shift of the season by up to twenty minutes causes, which counts as normal. */
export const edgeOf = (state: ScorerState, timeMs: number, stepMs: number, season: number): number => {
  const reach = Math.max(1_200_000, stepMs);
  const [before, after] = [timeMs - reach, timeMs + reach].map((ms) =>
    seasonalValue(state, toSeasonPosition(ms, stepMs)),
  );
  const [low, high] = [Math.min(before ?? 0, season, after ?? 0), Math.max(before ?? 0, season, after ?? 0)];
  return (high - low) / 4;
};

const move = (profile: Float32Array, { first, second, share }: ProfileSlots, by: number): void => {
  profile[first] = (profile[first] ?? 0) + (1 - share) * by;
  if (share > 0) profile[second] = (profile[second] ?? 0) + share * by;
};

/** Moves the profiles by a part of their error, smaller the more days they have seen. */
export const learnSeason = (state: ScorerState, { day, week }: SeasonPosition, missed: number): void => {
  const { numbers } = state;
  const stepMs = numbers[slots.stepMs] ?? quarterMs;
  const days = ((numbers[slots.count] ?? 0) * stepMs) / dayMs;
  // Points of neighboring times also change a slot, which adds up to two thirds of all changes.
  const inQuarter = Math.max(1, (quarterMs / stepMs) * (2 / 3));
  const inHour = Math.max(1, (hourMs / stepMs) * (2 / 3));
  const ofDay = days < 7 ? 1 / (Math.floor(days) + 2) : 0.02;
  move(state.ofDay, day, missed * (ofDay / inQuarter));
  if (days >= 7) move(state.ofWeek, week, missed * (Math.max(0.25, 1 / Math.floor(days / 7)) / inHour));
};

const centre = (profile: Float32Array): number => {
  const mean = profile.reduce((sum, value) => sum + value, 0) / profile.length;
  for (let place = 0; place < profile.length; place++) profile[place] = (profile[place] ?? 0) - mean;
  return mean;
};

/** Centers both profiles at zero, and returns the increase of the level. */
export const centreSeason = ({ ofDay, ofWeek }: ScorerState): number => centre(ofDay) + centre(ofWeek);

/** Returns the deviation at this hour. */
export const deviationAt = ({ strays }: ScorerState, { hour }: SeasonPosition): number =>
  2 ** ((strays[hour] ?? 0) / deviationResolution);

const maxReachMs = 1_500_000;
/** Returns the deviation within 25 minutes of this time, which covers values that are early or late today. */
export const deviationNear = ({ strays }: ScorerState, timeMs: number, stepMs: number): number => {
  const reach = Math.min(maxReachMs, 5 * stepMs);
  const hourAt = (ms: number): number => strays[Math.floor(modulo(ms + weekOffsetMs, 7 * dayMs) / hourMs)] ?? 0;
  const own = hourAt(timeMs);
  const around = Math.max(hourAt(timeMs - reach), hourAt(timeMs + reach));
  // A small difference to the neighboring hours is random and is ignored.
  return 2 ** (Math.max(own, around - 0.7 * deviationResolution) / deviationResolution);
};

const stored = (stray: number): number =>
  Math.max(-32_000, Math.min(32_000, Math.round(Math.log2(stray) * deviationResolution)));

export const initializeDeviations = ({ strays }: ScorerState, stray: number): void => {
  strays.fill(stored(Math.max(1e-30, stray)));
};

/** Updates the deviation at this hour; in the first week also for the same hour of all days not seen yet. */
export const learnDeviation = ({ strays, numbers }: ScorerState, { hour }: SeasonPosition, ratio: number): void => {
  const stepMs = numbers[slots.stepMs] ?? quarterMs;
  const inHour = Math.max(1, hourMs / stepMs);
  const weeks = ((numbers[slots.count] ?? 0) * stepMs) / (7 * dayMs);
  const seen = Math.floor(weeks) * inHour;
  const by = Math.max(0.02, Math.min(0.08, 1 / (seen + 4))) * (ratio - 1) * deviationResolution * Math.LOG2E;
  const moved = (place: number, share: number): void => {
    strays[place] = Math.max(-32_000, Math.min(32_000, (strays[place] ?? 0) + Math.round(share * by)));
  };
  if (weeks < 1) for (let place = hour % 24; place < hours; place += 24) moved(place, 1);
  else moved(hour, 1);
};
