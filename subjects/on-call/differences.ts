/** Differences in on-call shifts between two versions of a schedule */
import type { OnCallVersion } from '../../schemas/resources/on-call-schedule.ts';
import { cut, readerOf } from './pieces.ts';
import { type Absences, piecesOf } from './shifts.ts';

/** A period in which other people would be on call; times are ISO-8601 in UTC */
export interface OnCallDifference {
  readonly from: string;
  readonly to: string;
  readonly before: string[];
  readonly after: string[];
}

type Form = Omit<OnCallVersion, 'since'>;
const iso = (ms: number): string => new Date(ms).toISOString();
const textOf = (userIds: readonly string[]): string => JSON.stringify([...userIds].sort());

/** Returns the periods of a range in which two versions of a schedule have different people on call. */
export const differencesBetween = (
  before: Form,
  after: Form,
  absences: Absences,
  range: { readonly fromMs: number; readonly toMs: number },
): OnCallDifference[] => {
  const [old, next] = [before, after].map((form) => piecesOf([{ ...form, since: iso(range.fromMs) }], absences, range));
  const [wasAt, isAt] = [readerOf(old ?? []), readerOf(next ?? [])];
  const pieces = cut(
    range,
    [...(old ?? []), ...(next ?? [])].map(({ fromMs }) => fromMs),
    (atMs) => ({ before: [...(wasAt(atMs)?.userIds ?? [])], after: [...(isAt(atMs)?.userIds ?? [])] }),
    (one, other) => textOf(one.before) === textOf(other.before) && textOf(one.after) === textOf(other.after),
  );
  return pieces
    .filter(({ value }) => textOf(value.before) !== textOf(value.after))
    .map(({ fromMs, toMs, value }) => ({ from: iso(fromMs), to: iso(toMs), ...value }));
};
