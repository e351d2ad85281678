/**
 * Stores the versions of schedules. Each version is in force until the next one is written, so no change rewrites
 * the past.
 */
import type { StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import { type OnCallSchedule, onCallVersions } from '../../schemas/resources/on-call-schedule.ts';

/**
 * Returns the later of two ISO-8601 times. Clocks of two processes may differ, but versions must have ascending times.
 */
const laterTime = (left: string, right: string): string => (left > right ? left : right);

/** Stores the version that results from a write to a schedule. `after` is `undefined` for a deletion. */
export const saveOnCallVersion = async (
  documents: Pick<TenantDocuments, 'collection'>,
  {
    before,
    after,
  }: { readonly before?: OnCallSchedule & StoredMetadata; readonly after?: OnCallSchedule & StoredMetadata },
): Promise<void> => {
  const versions = documents.collection(onCallVersions);
  const scheduleId = (after ?? before)?.id ?? '';
  const { items } = await versions.list({ filter: { scheduleId, until: null }, limit: 1 });
  const [currentVersion] = items;
  let since = after?.updatedAt ?? '';
  if (currentVersion !== undefined) {
    // The store assigns the time, which is not known before a write.
    if (after === undefined) since = (await versions.update(currentVersion.id, { scheduleId })).updatedAt;
    since = laterTime(since, currentVersion.since);
    await versions.update(currentVersion.id, { until: since });
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
