/** Shifts as they are answered: who from when to when, where nobody is and why, and what each person carries. */
import type { OnCallVersion } from '../../schemas/resources/on-call-schedule.ts';
import { hoursByPerson, type PersonHours } from './hours.ts';
import { type Absences, type GapReason, piecesOf } from './shifts.ts';

/** Times are ISO-8601 in UTC. */
export interface ShiftsAnswer {
  readonly items: readonly {
    readonly from: string;
    readonly to: string;
    readonly userIds: readonly string[];
    /** `null` for an override of all layers. */
    readonly layer: string | null;
    readonly overrideId: string | null;
  }[];
  readonly gaps: readonly { readonly from: string; readonly to: string; readonly reason: GapReason }[];
  readonly people: readonly PersonHours[];
}

/** The longest range that is answered. */
export const maxRangeMs = 400 * 86_400_000;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Items and gaps tile the range. Hours of nights and weekends are those of the newest version's time zone. */
export const shiftsAnswer = (
  versions: readonly OnCallVersion[],
  absences: Absences,
  range: { readonly fromMs: number; readonly toMs: number },
): ShiftsAnswer => {
  const pieces = piecesOf(versions, absences, range);
  const isoPieces = pieces.map(({ fromMs, toMs, value }) => ({ from: iso(fromMs), to: iso(toMs), value }));
  return {
    items: isoPieces.flatMap(({ from, to, value: { userIds, layer = null, overrideId = null, reason } }) =>
      reason === undefined ? [{ from, to, userIds, layer, overrideId }] : [],
    ),
    gaps: isoPieces.flatMap(({ from, to, value: { reason } }) => (reason === undefined ? [] : [{ from, to, reason }])),
    people: hoursByPerson(pieces, versions.at(-1)?.timeZone ?? 'UTC'),
  };
};
