/** Stored schedules, their versions and policies of an organization, and who is on call */
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { Filter, StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { type EscalationPolicy, escalationPolicies } from '../../schemas/resources/escalation-policy.ts';
import { onCallVersions, type StoredOnCallVersion } from '../../schemas/resources/on-call-schedule.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { deriveAbsences } from './absences.ts';
import { type Absence, type Absences, computeShifts, type OnCall, onCallAt } from './shifts.ts';
import type { TimeSlice } from './sorted-slices.ts';

type TenantCollections = Pick<TenantDocuments, 'collection'>;

/** Returns the users in the layers and overrides of a version. */
export const listUsers = ({
  layers,
  overrides,
}: Pick<StoredOnCallVersion, 'layers' | 'overrides'>): readonly string[] => [
  ...new Set([
    ...layers.flatMap(({ participants }) => participants.flat()),
    ...overrides.flatMap(({ userIds }) => userIds),
  ]),
];

const iso = (ms: number): string => new Date(ms).toISOString();

const overlapFilter = (fromMs: number, toMs: number): Filter => ({
  $or: [{ until: null }, { until: { $gt: iso(fromMs) } }],
  since: { $lt: iso(toMs) },
});

/** Returns the versions of a schedule that are in force at any time in a range, the oldest first. */
export const readVersions = async (
  documents: TenantCollections,
  scheduleId: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<StoredOnCallVersion[]> => {
  const matchingVersions: StoredOnCallVersion[] = [];
  const filter = { scheduleId, ...overlapFilter(fromMs, toMs) };
  for await (const version of iterateDocuments(documents.collection(onCallVersions), { filter, sort: { number: 1 } }))
    matchingVersions.push(version);
  return matchingVersions;
};

/** Returns the versions of all schedules that are in force at a time, including those of deleted schedules. */
const readVersionsAt = async (documents: TenantCollections, atMs: number): Promise<StoredOnCallVersion[]> => {
  const matchingVersions: StoredOnCallVersion[] = [];
  const filter = overlapFilter(atMs, atMs + 1);
  for await (const version of iterateDocuments(documents.collection(onCallVersions), { filter }))
    matchingVersions.push(version);
  return matchingVersions;
};

/** Maximum number of audit records of a member that are read, the newest first */
const maxRecords = 500;

const readUserAbsences = async (
  documents: TenantCollections,
  userId: string,
  { nowMs, sinceMs }: { readonly nowMs: number; readonly sinceMs: number },
): Promise<readonly Absence[]> => {
  const membership = await documents.collection(memberships).find(userId);
  // Past absences do not affect the future.
  if (sinceMs >= nowMs && membership !== undefined && membership.disabled !== true) return [];
  const filter = { 'resource.id': userId, 'resource.type': 'user' };
  const { items } = await documents
    .collection(auditRecords)
    .list({ filter, sort: { sequence: -1 }, limit: maxRecords });
  return deriveAbsences(items.toReversed(), membership, nowMs);
};

/**
 * Returns the periods in which users had left the organization or were disabled, from the audit log. Absences that
 * ended before `sinceMs` may be omitted.
 */
export const readAbsences = async (
  documents: TenantCollections,
  userIds: Iterable<string>,
  times: { readonly nowMs: number; readonly sinceMs: number },
): Promise<Absences> => {
  const absences = new Map<string, readonly Absence[]>();
  for (const userId of new Set(userIds)) {
    const userAbsences = await readUserAbsences(documents, userId, times);
    if (userAbsences.length > 0) absences.set(userId, userAbsences);
  }
  return absences;
};

/** Returns who is on call in a schedule over a range, as time slices, and all users of its versions. */
export const readShifts = async (
  documents: TenantCollections,
  scheduleId: string,
  { fromMs, toMs, nowMs }: { readonly fromMs: number; readonly toMs: number; readonly nowMs: number },
): Promise<{ readonly slices: readonly TimeSlice<OnCall>[]; readonly userIds: readonly string[] }> => {
  const versions = await readVersions(documents, scheduleId, { fromMs, toMs });
  const userIds = versions.flatMap(listUsers);
  const absences = await readAbsences(documents, userIds, { nowMs, sinceMs: fromMs });
  return { slices: computeShifts(versions, absences, { fromMs, toMs }), userIds };
};

/** Users who are on call in a schedule at a time */
export interface ScheduleOnCall extends OnCall {
  readonly scheduleId: string;
  /** Name of the schedule */
  readonly name: string;
}

/** Returns who is on call at a time in the given schedules, or in all schedules at that time, ordered by name. */
export const readOnCall = async (
  documents: TenantCollections,
  {
    atMs,
    nowMs,
    scheduleId,
  }: { readonly atMs: number; readonly nowMs: number; readonly scheduleId?: string | undefined },
): Promise<ScheduleOnCall[]> => {
  const versions =
    scheduleId === undefined
      ? await readVersionsAt(documents, atMs)
      : await readVersions(documents, scheduleId, { fromMs: atMs, toMs: atMs + 1 });
  const absences = await readAbsences(documents, versions.flatMap(listUsers), { nowMs, sinceMs: atMs });
  return versions
    .map((version) => ({ scheduleId: version.scheduleId, name: version.name, ...onCallAt([version], absences, atMs) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
};

/** Policy of an incident without a policy or with a deleted one: no step has recipients, so the owners are paged */
const ownersOnlyPolicy: EscalationPolicy = {
  name: 'owners',
  steps: [],
  repeat: 0,
  repeatAfterMinutes: 15,
  acknowledgeTimeoutMinutes: null,
  resolveAfterMinutes: 5,
  reopenWithinMinutes: 30,
};

/** Returns a policy of the organization; `undefined` if the id does not exist. */
export const readEscalationPolicy = (
  documents: TenantCollections,
  id: string,
): Promise<(EscalationPolicy & StoredMetadata) | undefined> => documents.collection(escalationPolicies).find(id);

/** Returns the policy of an incident; without one, a policy with the owners and default times. */
export const readPolicyOrOwners = async (documents: TenantCollections, id: string | null): Promise<EscalationPolicy> =>
  (id === null ? undefined : await readEscalationPolicy(documents, id)) ?? ownersOnlyPolicy;
