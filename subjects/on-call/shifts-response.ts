/** Response of the shifts operation: who is on call when, gaps with their reason, and hours per person */
import type { OnCallVersion } from '../../schemas/resources/on-call-schedule.ts';
import { type OnCallHours, sumHoursByUser } from './hours.ts';
import { type Absences, computeShifts, type GapReason } from './shifts.ts';

/** Shifts response; times are ISO-8601 in UTC */
export interface ShiftsResponse {
  readonly items: readonly {
    readonly from: string;
    readonly to: string;
    readonly userIds: readonly string[];
    /** Name of the layer; `null` for an override of all layers */
    readonly layer: string | null;
    readonly overrideId: string | null;
  }[];
  readonly gaps: readonly { readonly from: string; readonly to: string; readonly reason: GapReason }[];
  readonly people: readonly OnCallHours[];
}

/** Maximum length of the range */
export const maxRangeMs = 400 * 86_400_000;

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Returns items and gaps, which cover the range without overlap. Night and weekend hours use the time zone of the
 * newest version.
 */
export const createShiftsResponse = (
  versions: readonly OnCallVersion[],
  absences: Absences,
  range: { readonly fromMs: number; readonly toMs: number },
): ShiftsResponse => {
  const slices = computeShifts(versions, absences, range);
  const isoSlices = slices.map(({ fromMs, toMs, value }) => ({ from: iso(fromMs), to: iso(toMs), value }));
  return {
    items: isoSlices.flatMap(({ from, to, value: { userIds, layer = null, overrideId = null, reason } }) =>
      reason === undefined ? [{ from, to, userIds, layer, overrideId }] : [],
    ),
    gaps: isoSlices.flatMap(({ from, to, value: { reason } }) => (reason === undefined ? [] : [{ from, to, reason }])),
    people: sumHoursByUser(slices, versions.at(-1)?.timeZone ?? 'UTC'),
  };
};

/** Shifts of one layer as if the schedule had no other; times are ISO-8601 in UTC */
export interface LayerShifts {
  readonly name: string;
  readonly items: { from: string; to: string; userIds: string[]; overrideId: string | null }[];
}

const selectLayer = (version: OnCallVersion, name: string): OnCallVersion => ({
  ...version,
  layers: version.layers.filter((layer) => layer.name === name),
  overrides: version.overrides.filter(({ layer }) => layer === name),
});

/** Returns the shifts of each layer of the newest version, the layer with the highest precedence first. */
export const createLayerShifts = (
  versions: readonly OnCallVersion[],
  absences: Absences,
  range: { readonly fromMs: number; readonly toMs: number },
): LayerShifts[] =>
  (versions.at(-1)?.layers ?? []).toReversed().map(({ name }) => ({
    name,
    items: computeShifts(
      versions.map((version) => selectLayer(version, name)),
      absences,
      range,
    ).flatMap(({ fromMs, toMs, value: { userIds, overrideId = null, reason } }) =>
      reason === undefined ? [{ from: iso(fromMs), to: iso(toMs), userIds: [...userIds], overrideId }] : [],
    ),
  }));
