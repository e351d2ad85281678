/** Shifts of a schedule, with the gaps in which no one is on call */
import type { listShifts } from '../../../api/groups/incidents/shifts.ts';
import type { ResponseBody } from '../../client/call.ts';

export type Shifts = ResponseBody<typeof listShifts>;

/** Returns shifts and gaps in time order. */
export const mergeShiftsAndGaps = ({ items, gaps }: Pick<Shifts, 'items' | 'gaps'>) =>
  [
    ...items.map((shift) => ({ ...shift, reason: null })),
    ...gaps.map((gap) => ({ ...gap, userIds: [], layer: null, overrideId: null })),
  ].toSorted((left, right) => Date.parse(left.from) - Date.parse(right.from));

export type ShiftOrGap = ReturnType<typeof mergeShiftsAndGaps>[number];

const toPeople = ({ userIds }: ShiftOrGap): string => userIds.join(' ');

/** Merges consecutive shifts that have the same people, whatever their layers. Overrides remain separate. */
export const mergeSamePeople = (shifts: readonly ShiftOrGap[]): readonly ShiftOrGap[] => {
  const merged: ShiftOrGap[] = [];
  for (const shift of shifts) {
    const last = merged.at(-1);
    const isContinued =
      last !== undefined &&
      Date.parse(last.to) === Date.parse(shift.from) &&
      toPeople(last) === toPeople(shift) &&
      last.overrideId === shift.overrideId;
    if (isContinued) merged[merged.length - 1] = { ...last, to: shift.to };
    else merged.push(shift);
  }
  return merged;
};

/** Returns the shifts and gaps that are partly or completely between two instants. */
export const selectShifts = <Shift extends { readonly from: string; readonly to: string }>(
  shifts: readonly Shift[],
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): readonly Shift[] => shifts.filter(({ from, to }) => Date.parse(from) < endMs && Date.parse(to) > startMs);

/**
 * Returns the shift or gap at a time from its first to its last part that has the same people, and the one that takes
 * over. If none does, the shifts continue after the last of them.
 */
export const findHandover = (
  shifts: readonly ShiftOrGap[],
  nowMs: number,
): { readonly current: ShiftOrGap | undefined; readonly next: ShiftOrGap | undefined } => {
  const index = shifts.findIndex(({ to }) => Date.parse(to) > nowMs);
  const shift = shifts[index];
  if (shift === undefined || Date.parse(shift.from) > nowMs) return { current: undefined, next: shift };
  const people = toPeople(shift);
  const firstIndex = shifts.slice(0, index).findLastIndex((earlier) => toPeople(earlier) !== people) + 1;
  const next = shifts.slice(index).find((later) => toPeople(later) !== people);
  const from = shifts[firstIndex]?.from ?? shift.from;
  return { current: { ...shift, from, to: next?.from ?? shifts.at(-1)?.to ?? shift.to }, next };
};
