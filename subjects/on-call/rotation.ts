/** The turns of a layer: when one hands over to the next. */
import { monthsLater, type WallClock, wallTimeOf } from '../../runtime/wall-clock.ts';
import type { Layer } from '../../schemas/resources/on-call-schedule.ts';
import type { Piece } from './pieces.ts';

const hourMs = 3_600_000;
const unitMs = { hours: hourMs, days: 24 * hourMs, weeks: 7 * 24 * hourMs };
/** No change of the clocks is larger: Samoa left out a whole day. */
const largestChangeMs = 26 * hourMs;

interface HandOvers {
  /** When that turn begins; the first is 0. */
  handOver(rotationIndex: number): number;
  /** A turn near an instant; the right one is not further off than `margin`. */
  near(atMs: number): number;
  readonly margin: number;
}

const handOversOf = ({ startsAt, rotation }: Layer, clock: WallClock): HandOvers => {
  const startMs = wallTimeOf(startsAt) ?? 0;
  const { every, unit } = rotation;
  if (unit === 'months') {
    const start = new Date(startMs);
    const monthOf = (date: Date): number => date.getUTCFullYear() * 12 + date.getUTCMonth();
    return {
      handOver: (rotationIndex) => clock.instantOf(monthsLater(startMs, rotationIndex * every)),
      near: (atMs) => Math.floor((monthOf(new Date(clock.wallAt(atMs))) - monthOf(start)) / every),
      margin: 2,
    };
  }
  const stepMs = every * unitMs[unit];
  if (unit === 'hours' && 24 % every !== 0) {
    const firstMs = clock.instantOf(startMs);
    return {
      handOver: (rotationIndex) => firstMs + rotationIndex * stepMs,
      near: (atMs) => Math.floor((atMs - firstMs) / stepMs),
      margin: 1,
    };
  }
  return {
    handOver: (rotationIndex) => clock.instantOf(startMs + rotationIndex * stepMs),
    near: (atMs) => Math.floor((clock.wallAt(atMs) - startMs) / stepMs),
    margin: Math.ceil(largestChangeMs / stepMs) + 1,
  };
};

/**
 * The turns between two instants; the value is the turn's number. They tile the time since the first hand-over.
 * At an instant the turn is the last one that has been handed over. So where a change of the clocks brings
 * hand-overs together or swaps them, a turn in between is left out.
 */
export const rotationPeriodsOf = (layer: Layer, clock: WallClock, fromMs: number, toMs: number): Piece<number>[] => {
  const { handOver, near, margin } = handOversOf(layer, clock);
  const first = Math.max(0, near(fromMs) - margin);
  const rotationPeriods: Piece<number>[] = [];
  let endMs = Number.POSITIVE_INFINITY;
  for (let rotationIndex = near(toMs) + margin; rotationIndex >= first; rotationIndex -= 1) {
    const startMs = handOver(rotationIndex);
    if (startMs >= endMs) continue;
    if (endMs > fromMs && startMs < toMs) rotationPeriods.push({ fromMs: startMs, toMs: endMs, value: rotationIndex });
    endMs = startMs;
  }
  return rotationPeriods.reverse();
};
