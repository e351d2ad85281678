/** Past, current and future shifts: one pure function of a schedule's versions, its people and a range */
import { getWallClock } from '../../runtime/wall-clock.ts';
import type { Layer, OnCallVersion, Override } from '../../schemas/resources/on-call-schedule.ts';
import { findActiveSlices } from './restrictions.ts';
import { findRotationPeriods } from './rotation.ts';
import { createReader, splitRange, type TimeSlice } from './sorted-slices.ts';

/** Reasons why nobody is on call. If layers have different reasons, the first of this list is returned. */
export const gapReasons = ['unreachable', 'left', 'restricted', 'no-one'] as const;
export type GapReason = (typeof gapReasons)[number];

/** A period in which a person cannot be on call, regardless of the schedule */
export interface Absence {
  readonly reason: 'left' | 'unreachable';
  readonly fromMs: number;
  /** End of the absence; omitted if it is permanent */
  readonly toMs?: number;
}

/** Absences by user id. An absence has a start, so a user who left today was on call yesterday. */
export type Absences = ReadonlyMap<string, readonly Absence[]>;

/** People on call, or the reason why there are none */
export interface OnCall {
  readonly userIds: readonly string[];
  /** Name of the layer; `undefined` for an override of all layers */
  readonly layer?: string;
  readonly overrideId?: string;
  readonly reason?: GapReason;
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

const createGap = (reason: GapReason): OnCall => ({ userIds: [], reason });
const selectMoreSevere = (left: OnCall, right: OnCall): OnCall =>
  gapReasons.indexOf(left.reason ?? 'no-one') <= gapReasons.indexOf(right.reason ?? 'no-one') ? left : right;

/** Returns whether two values are equal, in which case adjacent slices form one shift. */
const isSame = (left: OnCall, right: OnCall): boolean =>
  left.layer === right.layer &&
  left.overrideId === right.overrideId &&
  left.reason === right.reason &&
  left.userIds.length === right.userIds.length &&
  left.userIds.every((id, index) => id === right.userIds[index]);

const collectEdges = (slices: readonly TimeSlice<unknown>[]): number[] =>
  slices.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);

/** Returns the users who are present at a time, or the reason why nobody is. */
const findPresent = (userIds: readonly string[], absences: Absences, atMs: number, fields: Partial<OnCall>): OnCall => {
  let gap = createGap('no-one');
  const presentUserIds = userIds.filter((userId) => {
    const absence = absences
      .get(userId)
      ?.find(({ fromMs, toMs = Number.POSITIVE_INFINITY }) => atMs >= fromMs && atMs < toMs);
    if (absence !== undefined) gap = selectMoreSevere(createGap(absence.reason), gap);
    return absence === undefined;
  });
  return presentUserIds.length > 0 ? { ...fields, userIds: presentUserIds } : gap;
};

type Reader = (atMs: number) => OnCall;

/** Returns the first reader's value that has users, otherwise the most severe reason. */
const createFirstAvailableReader = (readers: readonly Reader[]): Reader => {
  return (atMs) => {
    let gap = createGap('no-one');
    for (const read of readers) {
      const onCall = read(atMs);
      if (onCall.reason === undefined) return onCall;
      gap = selectMoreSevere(onCall, gap);
    }
    return gap;
  };
};

/** Returns readers of overrides, later ones first. */
const createOverrideReaders = (overrides: readonly Override[], absences: Absences): Reader[] =>
  overrides.toReversed().map(({ id, from, to, userIds, layer }) => {
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    const fields = layer === undefined ? { overrideId: id } : { layer, overrideId: id };
    return (atMs) =>
      atMs >= fromMs && atMs < toMs ? findPresent(userIds, absences, atMs, fields) : createGap('no-one');
  });

/** Returns a reader of a layer's rotation without overrides; times must be ascending. */
const createRotationReader = (
  layer: Layer,
  timeZone: string,
  absences: Absences,
  { fromMs, toMs }: Range,
): { readonly edges: readonly number[]; readonly read: Reader } => {
  const rotationPeriods = findRotationPeriods(layer, getWallClock(timeZone), fromMs, toMs);
  const rotationIndexAt = createReader(rotationPeriods);
  const restrictions = layer.restrictions.map((each) => ({ ...each, location: each.location ?? timeZone }));
  const activeSlices = restrictions.length === 0 ? [] : findActiveSlices(restrictions, fromMs, toMs);
  const readIsActive = createReader(activeSlices);
  const { name, participants } = layer;
  const read: Reader = (atMs) => {
    const rotationIndex = rotationIndexAt(atMs);
    const isActive = restrictions.length === 0 || readIsActive(atMs) === true;
    if (rotationIndex === undefined) return createGap('no-one');
    const userIds = participants[rotationIndex % participants.length] ?? [];
    if (isActive || userIds.length === 0) return findPresent(userIds, absences, atMs, { layer: name });
    return createGap('restricted');
  };
  return { edges: [...collectEdges(rotationPeriods), ...collectEdges(activeSlices)], read };
};

/** Returns the time slices of one version of a schedule over a range. */
const computeVersionSlices = (version: OnCallVersion, absences: Absences, range: Range): TimeSlice<OnCall>[] => {
  const { layers, overrides, timeZone } = version;
  const relevantOverrides = overrides.filter(
    ({ from, to }) => Date.parse(from) < range.toMs && Date.parse(to) > range.fromMs,
  );
  const edges = relevantOverrides.flatMap(({ from, to }) => [Date.parse(from), Date.parse(to)]);
  for (const { fromMs, toMs } of [...absences.values()].flat()) edges.push(fromMs, toMs ?? fromMs);
  const readers = layers.toReversed().map((layer) => {
    const { edges: layerEdges, read } = createRotationReader(layer, timeZone, absences, range);
    for (const edge of layerEdges) edges.push(edge);
    return createFirstAvailableReader([
      ...createOverrideReaders(
        relevantOverrides.filter((relevantOverride) => relevantOverride.layer === layer.name),
        absences,
      ),
      read,
    ]);
  });
  const globalOverrides = createOverrideReaders(
    relevantOverrides.filter(({ layer }) => layer === undefined),
    absences,
  );
  return splitRange(range, edges, createFirstAvailableReader([...globalOverrides, ...readers]), isSame);
};

/** Returns who is on call over a range, as contiguous time slices; a slice without users contains the reason. */
export const computeShifts = (
  versions: readonly OnCallVersion[],
  absences: Absences,
  { fromMs, toMs }: Range,
): TimeSlice<OnCall>[] => {
  const slices: TimeSlice<OnCall>[] = [];
  const add = (slice: TimeSlice<OnCall>): void => {
    const last = slices.at(-1);
    if (last !== undefined && isSame(last.value, slice.value)) {
      slices[slices.length - 1] = { ...last, toMs: slice.toMs };
    } else slices.push(slice);
  };
  const firstMs = Math.min(toMs, Date.parse(versions[0]?.since ?? '9999-01-01T00:00:00Z'));
  if (firstMs > fromMs) add({ fromMs, toMs: firstMs, value: createGap('no-one') });
  for (const [index, version] of versions.entries()) {
    const startMs = Math.max(fromMs, Date.parse(version.since));
    const endMs = Math.min(toMs, Date.parse(versions[index + 1]?.since ?? '9999-01-01T00:00:00Z'));
    if (startMs < endMs) computeVersionSlices(version, absences, { fromMs: startMs, toMs: endMs }).forEach(add);
  }
  return slices;
};

/** Returns who is on call at an instant. */
export const onCallAt = (versions: readonly OnCallVersion[], absences: Absences, atMs: number): OnCall =>
  computeShifts(versions, absences, { fromMs: atMs, toMs: atMs + 1 })[0]?.value ?? createGap('no-one');
