/** The requested time range of an operation over slices */
import { parseRange } from '../../../queries/range.ts';
import { slicesRetentionDays } from '../../../schemas/slo-slices.ts';
import type { Window } from '../../../subjects/slos/slices/windows.ts';

const dayMs = 86_400_000;

/** Parses a range and limits it to times that can have slices: within the retention, and not in the future. */
export const parseSliceRange = (query: Parameters<typeof parseRange>[0], nowMs: number): Window => {
  const { from, to } = parseRange(query, nowMs);
  return {
    fromMs: Math.max(Number(from / 1_000_000n), nowMs - slicesRetentionDays * dayMs),
    toMs: Math.min(Number(to / 1_000_000n), nowMs),
  };
};
