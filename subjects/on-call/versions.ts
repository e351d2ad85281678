/** Keeps the versions of schedules: each is in force from its write to the next, so no change rewrites what was. */
import type { Stored, TenantDocuments } from '../../schemas/ports/documents.ts';
import { type OnCallSchedule, onCallVersions } from '../../schemas/resources/on-call-schedule.ts';

/** The later of two times in ISO-8601. Clocks of two processes may differ, and versions follow each other all the same. */
const later = (one: string, other: string): string => (one > other ? one : other);

/** Keeps what a write made of a schedule. `after` is absent for one that was deleted. */
export const saveOnCallVersion = async (
  documents: Pick<TenantDocuments, 'collection'>,
  { before, after }: { readonly before?: OnCallSchedule & Stored; readonly after?: OnCallSchedule & Stored },
): Promise<void> => {
  const versions = documents.collection(onCallVersions);
  const scheduleId = (after ?? before)?.id ?? '';
  const { items } = await versions.list({ filter: { scheduleId, until: null }, limit: 1 });
  const [last] = items;
  let since = after?.updatedAt ?? '';
  if (last !== undefined) {
    // The store says the time; it is not known before a write.
    if (after === undefined) since = (await versions.update(last.id, { scheduleId })).updatedAt;
    since = later(since, last.since);
    await versions.update(last.id, { until: since });
  }
  if (after === undefined) return;
  const { name, description, timeZone, layers, overrides, version: number } = after;
  await versions.insert({
    name,
    description,
    timeZone,
    layers,
    overrides,
    scheduleId,
    number,
    since,
    until: null,
  });
};
