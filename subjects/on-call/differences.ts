/** Differences in on-call shifts between two versions of a schedule */
import type { OnCallVersion } from '../../schemas/resources/on-call-schedule.ts';
import { type Absences, computeShifts } from './shifts.ts';
import { createReader, splitRange } from './sorted-slices.ts';

/** A period in which other people would be on call; times are ISO-8601 in UTC */
export interface OnCallDifference {
  readonly from: string;
  readonly to: string;
  readonly before: string[];
  readonly after: string[];
}

type ScheduleVersion = Omit<OnCallVersion, 'since'>;
const iso = (ms: number): string => new Date(ms).toISOString();
const userKey = (userIds: readonly string[]): string => JSON.stringify([...userIds].sort());

/** Returns the periods of a range in which two versions of a schedule have different people on call. */
export const findDifferences = (
  before: ScheduleVersion,
  after: ScheduleVersion,
  absences: Absences,
  range: { readonly fromMs: number; readonly toMs: number },
): OnCallDifference[] => {
  const [oldSlices, newSlices] = [before, after].map((version) =>
    computeShifts([{ ...version, since: iso(range.fromMs) }], absences, range),
  );
  const [readBefore, readAfter] = [createReader(oldSlices ?? []), createReader(newSlices ?? [])];
  const slices = splitRange(
    range,
    [...(oldSlices ?? []), ...(newSlices ?? [])].map(({ fromMs }) => fromMs),
    (atMs) => ({ before: [...(readBefore(atMs)?.userIds ?? [])], after: [...(readAfter(atMs)?.userIds ?? [])] }),
    (left, right) => userKey(left.before) === userKey(right.before) && userKey(left.after) === userKey(right.after),
  );
  return slices
    .filter(({ value }) => userKey(value.before) !== userKey(value.after))
    .map(({ fromMs, toMs, value }) => ({ from: iso(fromMs), to: iso(toMs), ...value }));
};
