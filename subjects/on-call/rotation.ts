/** Rotation periods of a layer, separated by handovers */
import { addMonths } from '../../runtime/calendar.ts';
import { parseWallTime, type WallClock } from '../../runtime/wall-clock.ts';
import type { Layer } from '../../schemas/resources/on-call-schedule.ts';
import type { TimeSlice } from './sorted-slices.ts';

const hourMs = 3_600_000;
const unitMs = { hours: hourMs, days: 24 * hourMs, weeks: 7 * 24 * hourMs };
/** Larger than any clock change; Samoa skipped a full day */
const maxClockChangeMs = 26 * hourMs;

interface HandoverSchedule {
  /** Returns the start of a rotation period; the first is 0. */
  handoverMs(rotationIndex: number): number;
  /** Returns a rotation period near an instant, within `margin` of the correct one. */
  periodNear(atMs: number): number;
  readonly margin: number;
}

const createHandoverSchedule = ({ startsAt, rotation }: Layer, clock: WallClock): HandoverSchedule => {
  const startMs = parseWallTime(startsAt) ?? 0;
  const { every, unit } = rotation;
  if (unit === 'months') {
    const start = new Date(startMs);
    const toMonthNumber = (date: Date): number => date.getUTCFullYear() * 12 + date.getUTCMonth();
    return {
      handoverMs: (rotationIndex) => clock.getInstant(addMonths(startMs, rotationIndex * every)),
      periodNear: (atMs) =>
        Math.floor((toMonthNumber(new Date(clock.getWallTime(atMs))) - toMonthNumber(start)) / every),
      margin: 2,
    };
  }
  const stepMs = every * unitMs[unit];
  if (unit === 'hours' && 24 % every !== 0) {
    const firstMs = clock.getInstant(startMs);
    return {
      handoverMs: (rotationIndex) => firstMs + rotationIndex * stepMs,
      periodNear: (atMs) => Math.floor((atMs - firstMs) / stepMs),
      margin: 1,
    };
  }
  return {
    handoverMs: (rotationIndex) => clock.getInstant(startMs + rotationIndex * stepMs),
    periodNear: (atMs) => Math.floor((clock.getWallTime(atMs) - startMs) / stepMs),
    margin: Math.ceil(maxClockChangeMs / stepMs) + 1,
  };
};

/**
 * Returns the rotation periods between two instants, with their numbers as values. They cover the time since the first
 * handover without gaps. The current period at an instant is the one with the latest handover. If a clock change
 * makes handovers coincide or reverses their order, the period between them is omitted.
 */
export const findRotationPeriods = (
  layer: Layer,
  clock: WallClock,
  fromMs: number,
  toMs: number,
): TimeSlice<number>[] => {
  const { handoverMs, periodNear, margin } = createHandoverSchedule(layer, clock);
  const first = Math.max(0, periodNear(fromMs) - margin);
  const rotationPeriods: TimeSlice<number>[] = [];
  let endMs = Number.POSITIVE_INFINITY;
  for (let rotationIndex = periodNear(toMs) + margin; rotationIndex >= first; rotationIndex -= 1) {
    const startMs = handoverMs(rotationIndex);
    if (startMs >= endMs) continue;
    if (endMs > fromMs && startMs < toMs) rotationPeriods.push({ fromMs: startMs, toMs: endMs, value: rotationIndex });
    endMs = startMs;
  }
  return rotationPeriods.reverse();
};
