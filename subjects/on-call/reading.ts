/** Schedules, their versions and policies of an organization, as they are stored; who is on call by them. */
import { documentsIn } from '../../runtime/documents-in.ts';
import type { Filter, Stored, TenantDocuments } from '../../schemas/ports/documents.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { type EscalationPolicy, escalationPolicies } from '../../schemas/resources/escalation-policy.ts';
import { onCallVersions, type StoredOnCallVersion } from '../../schemas/resources/on-call-schedule.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { type Absence, type Absences, type OnCall, onCallAt } from './shifts.ts';

type Own = Pick<TenantDocuments, 'collection'>;

/** Who is named by a version: in layers and in overrides. */
export const peopleOf = ({
  layers,
  overrides,
}: Pick<StoredOnCallVersion, 'layers' | 'overrides'>): readonly string[] => [
  ...new Set([
    ...layers.flatMap(({ participants }) => participants.flat()),
    ...overrides.flatMap(({ userIds }) => userIds),
  ]),
];

const iso = (ms: number): string => new Date(ms).toISOString();

const overlapping = (fromMs: number, toMs: number): Filter => ({
  $or: [{ until: null }, { until: { $gt: iso(fromMs) } }],
  since: { $lt: iso(toMs) },
});

/** Versions of a schedule that were, are or will be in force in a range, the oldest first. */
export const readVersions = async (
  own: Own,
  scheduleId: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<StoredOnCallVersion[]> => {
  const found: StoredOnCallVersion[] = [];
  const filter = { scheduleId, ...overlapping(fromMs, toMs) };
  for await (const version of documentsIn(own.collection(onCallVersions), { filter, sort: { number: 1 } }))
    found.push(version);
  return found;
};

/** Versions of all schedules that are in force at a time, those of deleted schedules too. */
const versionsAt = async (own: Own, atMs: number): Promise<StoredOnCallVersion[]> => {
  const found: StoredOnCallVersion[] = [];
  const filter = overlapping(atMs, atMs + 1);
  for await (const version of documentsIn(own.collection(onCallVersions), { filter })) found.push(version);
  return found;
};

/** Records of a member that are looked at for when an absence began. */
const mostRecords = 100;

/** When the last record says that of a member; `fallbackMs` where none is kept. */
const lastRecorded = async (
  own: Own,
  userId: string,
  isIt: (record: { readonly action: string; readonly details: unknown }) => boolean,
  fallbackMs: number,
): Promise<number> => {
  const filter = { 'resource.id': userId, 'resource.type': 'user' };
  const { items } = await own.collection(auditRecords).list({ filter, sort: { sequence: -1 }, limit: mostRecords });
  const found = items.find(isIt);
  return found === undefined ? fallbackMs : Date.parse(found.at);
};

const isDisabling = ({ details }: { readonly details: unknown }): boolean => {
  const { changes = [] } = (details ?? {}) as { changes?: readonly { path: string; after?: unknown }[] };
  return changes.some(({ path, after }) => path === 'disabled' && String(after) === 'true');
};

const absenceOf = async (own: Own, userId: string, nowMs: number): Promise<Absence | undefined> => {
  const membership = await own.collection(memberships).find(userId);
  if (membership === undefined) {
    const fromMs = await lastRecorded(own, userId, ({ action }) => action === 'user.remove', nowMs);
    return { reason: 'left', fromMs };
  }
  if (membership.disabled !== true) return undefined;
  const updatedMs = Date.parse(membership.updatedAt);
  return { reason: 'unreachable', fromMs: await lastRecorded(own, userId, isDisabling, updatedMs) };
};

/** Who of them has left the organization, or is kept out of it, and since when. The audit log says when it began. */
export const readAbsences = async (own: Own, userIds: Iterable<string>, nowMs: number): Promise<Absences> => {
  const absences = new Map<string, readonly Absence[]>();
  for (const userId of new Set(userIds)) {
    const absence = await absenceOf(own, userId, nowMs);
    if (absence !== undefined) absences.set(userId, [absence]);
  }
  return absences;
};

/** Who is on call in a schedule at a time. */
export interface ScheduleOnCall extends OnCall {
  readonly scheduleId: string;
  /** Name of the schedule. */
  readonly name: string;
}

/** Who is on call at a time in these schedules, or in all that there were; by name. */
export const readOnCall = async (
  own: Own,
  {
    atMs,
    nowMs,
    scheduleId,
  }: { readonly atMs: number; readonly nowMs: number; readonly scheduleId?: string | undefined },
): Promise<ScheduleOnCall[]> => {
  const versions =
    scheduleId === undefined
      ? await versionsAt(own, atMs)
      : await readVersions(own, scheduleId, { fromMs: atMs, toMs: atMs + 1 });
  const absences = await readAbsences(own, versions.flatMap(peopleOf), nowMs);
  return versions
    .map((version) => ({ scheduleId: version.scheduleId, name: version.name, ...onCallAt([version], absences, atMs) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
};

/** What holds for an incident without a policy, or whose policy is gone: no step names anybody, so the owners are paged. */
const ownersOnly: EscalationPolicy = {
  ...{ name: 'owners', steps: [], repeat: 0, repeatAfterMinutes: 15, acknowledgeTimeoutMinutes: null },
  ...{ resolveAfterMinutes: 5, reopenWithinMinutes: 30 },
};

/** A policy of the organization; `undefined` where there is none with that id. */
export const readEscalationPolicy = (own: Own, id: string): Promise<(EscalationPolicy & Stored) | undefined> =>
  own.collection(escalationPolicies).find(id);

/** The policy of an incident; the owners and the usual times where there is none. */
export const readPolicyOrOwners = async (own: Own, id: string | null): Promise<EscalationPolicy> =>
  (id === null ? undefined : await readEscalationPolicy(own, id)) ?? ownersOnly;
