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
