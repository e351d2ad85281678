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
    const singleSlot = Math.floor(timeMs / lengthMs) % length;
    return { first: singleSlot, second: singleSlot, share: 0 };
  }
  const position = timeMs / lengthMs - 0.5;
  const lowerSlot = Math.floor(position);
  return { first: (lowerSlot + length) % length, second: (lowerSlot + 1) % length, share: position - lowerSlot };
};

export interface SeasonPosition {
  readonly day: ProfileSlots;
  readonly week: ProfileSlots;
  readonly hour: number;
}

const modulo = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor;

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

export const getSeasonalValue = ({ dayProfile, weekProfile }: ScorerState, { day, week }: SeasonPosition): number =>
  interpolate(dayProfile, day) + interpolate(weekProfile, week);

/** Returns the deviation that a shift of the season by up to twenty minutes causes, which counts as normal. */
export const computeEdgeDeviation = (state: ScorerState, timeMs: number, stepMs: number, season: number): number => {
  const reach = Math.max(1_200_000, stepMs);
  const [before, after] = [timeMs - reach, timeMs + reach].map((ms) =>
    getSeasonalValue(state, toSeasonPosition(ms, stepMs)),
  );
  const [low, high] = [Math.min(before ?? 0, season, after ?? 0), Math.max(before ?? 0, season, after ?? 0)];
  return (high - low) / 4;
};

const shiftProfile = (profile: Float32Array, { first, second, share }: ProfileSlots, amount: number): void => {
  profile[first] = (profile[first] ?? 0) + (1 - share) * amount;
  if (share > 0) profile[second] = (profile[second] ?? 0) + share * amount;
};

/** Moves the profiles by a part of their error, which shrinks with the number of days seen. */
export const learnSeason = (state: ScorerState, { day, week }: SeasonPosition, seasonError: number): void => {
  const { numbers } = state;
  const stepMs = numbers[slots.stepMs] ?? quarterMs;
  const days = ((numbers[slots.count] ?? 0) * stepMs) / dayMs;
  // Points of neighboring times also change a slot, which adds up to two thirds of all changes.
  const pointsPerQuarter = Math.max(1, (quarterMs / stepMs) * (2 / 3));
  const pointsPerHour = Math.max(1, (hourMs / stepMs) * (2 / 3));
  const dayRate = days < 7 ? 1 / (Math.floor(days) + 2) : 0.02;
  shiftProfile(state.dayProfile, day, seasonError * (dayRate / pointsPerQuarter));
  if (days >= 7)
    shiftProfile(state.weekProfile, week, seasonError * (Math.max(0.25, 1 / Math.floor(days / 7)) / pointsPerHour));
};

const centerProfile = (profile: Float32Array): number => {
  const mean = profile.reduce((sum, value) => sum + value, 0) / profile.length;
  for (let index = 0; index < profile.length; index++) profile[index] = (profile[index] ?? 0) - mean;
  return mean;
};

/** Centers both profiles at zero, and returns the increase of the level. */
export const centerSeason = ({ dayProfile, weekProfile }: ScorerState): number =>
  centerProfile(dayProfile) + centerProfile(weekProfile);

/** Returns the deviation at this hour. */
export const getDeviationAt = ({ hourDeviations }: ScorerState, { hour }: SeasonPosition): number =>
  2 ** ((hourDeviations[hour] ?? 0) / deviationResolution);

const maxReachMs = 1_500_000;
/** Returns the deviation within 25 minutes of this time, which covers values that are early or late today. */
export const getDeviationNear = ({ hourDeviations }: ScorerState, timeMs: number, stepMs: number): number => {
  const reach = Math.min(maxReachMs, 5 * stepMs);
  const getDeviationLog = (ms: number): number =>
    hourDeviations[Math.floor(modulo(ms + weekOffsetMs, 7 * dayMs) / hourMs)] ?? 0;
  const ownDeviation = getDeviationLog(timeMs);
  const neighborDeviation = Math.max(getDeviationLog(timeMs - reach), getDeviationLog(timeMs + reach));
  // A small difference to the neighboring hours is random and is ignored.
  return 2 ** (Math.max(ownDeviation, neighborDeviation - 0.7 * deviationResolution) / deviationResolution);
};

const packDeviation = (deviation: number): number =>
  Math.max(-32_000, Math.min(32_000, Math.round(Math.log2(deviation) * deviationResolution)));

export const initializeDeviations = ({ hourDeviations }: ScorerState, deviation: number): void => {
  hourDeviations.fill(packDeviation(Math.max(1e-30, deviation)));
};

/** Updates the deviation at this hour; in the first week also for the same hour of all days not seen yet. */
export const learnDeviation = (
  { hourDeviations, numbers }: ScorerState,
  { hour }: SeasonPosition,
  ratio: number,
): void => {
  const stepMs = numbers[slots.stepMs] ?? quarterMs;
  const pointsPerHour = Math.max(1, hourMs / stepMs);
  const weeks = ((numbers[slots.count] ?? 0) * stepMs) / (7 * dayMs);
  const pointsSeen = Math.floor(weeks) * pointsPerHour;
  const step = Math.max(0.02, Math.min(0.08, 1 / (pointsSeen + 4))) * (ratio - 1) * deviationResolution * Math.LOG2E;
  const shiftDeviation = (hourIndex: number, share: number): void => {
    hourDeviations[hourIndex] = Math.max(
      -32_000,
      Math.min(32_000, (hourDeviations[hourIndex] ?? 0) + Math.round(share * step)),
    );
  };
  if (weeks < 1) for (let hourIndex = hour % 24; hourIndex < hours; hourIndex += 24) shiftDeviation(hourIndex, 1);
  else shiftDeviation(hour, 1);
};
