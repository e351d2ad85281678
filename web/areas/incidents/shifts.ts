/** Shifts of a schedule, with the gaps in which no one is on call */
import type { listShifts } from '../../../api/groups/incidents/shifts.ts';
import type { ResponseBody } from '../../client/call.ts';

export type Shifts = ResponseBody<typeof listShifts>;

/** Returns shifts and gaps in time order. */
export const mergeShiftsAndGaps = ({ items, gaps }: Shifts) =>
  [
    ...items.map((shift) => ({ ...shift, reason: null })),
    ...gaps.map((gap) => ({ ...gap, userIds: [], layer: null, overrideId: null })),
  ].toSorted((left, right) => Date.parse(left.from) - Date.parse(right.from));

export type ShiftOrGap = ReturnType<typeof mergeShiftsAndGaps>[number];

/**
 * Returns the shift or gap at a time with the end of its last part that has the same people, and the one that takes
 * over.
 */
export const findHandover = (
  shifts: readonly ShiftOrGap[],
  nowMs: number,
): { readonly current: ShiftOrGap | undefined; readonly next: ShiftOrGap | undefined } => {
  const remaining = shifts.filter(({ to }) => Date.parse(to) > nowMs);
  const [first, ...later] = remaining;
  if (first === undefined || Date.parse(first.from) > nowMs) return { current: undefined, next: first };
  const people = first.userIds.join(' ');
  const next = later.find(({ userIds }) => userIds.join(' ') !== people);
  const end = next?.from ?? remaining.at(-1)?.to ?? first.to;
  return { current: { ...first, to: end }, next };
};
