/** The range of time that an operation over slices was asked for. */
import { parseRange } from '../../../queries/range.ts';
import type { Window } from '../../../queries/slos/windows.ts';
import { slicesRetentionDays } from '../../../schemas/slo-slices.ts';

const dayMs = 86_400_000;

/** The part of the range in which there are slices: as long as they are kept, and not behind now. */
export const rangeOfSlices = (query: Parameters<typeof parseRange>[0], nowMs: number): Window => {
  const { from, to } = parseRange(query, nowMs);
  return {
    fromMs: Math.max(Number(from / 1_000_000n), nowMs - slicesRetentionDays * dayMs),
    toMs: Math.min(Number(to / 1_000_000n), nowMs),
  };
};
