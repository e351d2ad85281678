/** When a person was away, from what the audit log says of them: pure. */
import type { AuditRecord } from '../../schemas/resources/audit-record.ts';
import type { Absence } from './shifts.ts';

/** What is read of a record. */
export type MemberRecord = Pick<AuditRecord, 'at' | 'action' | 'details'>;

/** How a membership is now; undefined where there is none. */
export interface MembershipNow {
  readonly disabled?: boolean | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What a record says of a person: from then on they are away, or there again. */
const presenceOf = ({ action, details }: MemberRecord): Absence['reason'] | 'present' | undefined => {
  if (action === 'user.remove') return 'left';
  if (action === 'user.join') return 'present';
  const change = details?.changes.find(({ path }) => path === 'disabled');
  if (change === undefined) return undefined;
  return String(change.after) === 'true' ? 'unreachable' : 'present';
};

/** How it stands: what records lack, the membership tells. */
const currentAbsence = (
  open: Absence | undefined,
  membership: MembershipNow | undefined,
  nowMs: number,
): Absence | undefined => {
  if (membership === undefined) return open?.reason === 'left' ? open : { reason: 'left', fromMs: nowMs };
  const { disabled = false, createdAt, updatedAt } = membership;
  if (disabled) return open ?? { reason: 'unreachable', fromMs: Date.parse(updatedAt) };
  if (open === undefined) return undefined;
  return { ...open, toMs: Date.parse(open.reason === 'left' ? createdAt : updatedAt) };
};

/** Absences of a person, those that are over too. Records are the oldest first. */
export const absencesOf = (
  records: readonly MemberRecord[],
  membership: MembershipNow | undefined,
  nowMs: number,
): Absence[] => {
  const absences: Absence[] = [];
  let open: Absence | undefined;
  for (const record of records) {
    const presence = presenceOf(record);
    const atMs = Date.parse(record.at);
    if (presence === undefined || presence === open?.reason) continue;
    if (open !== undefined) absences.push({ ...open, toMs: atMs });
    open = presence === 'present' ? undefined : { reason: presence, fromMs: atMs };
  }
  const last = currentAbsence(open, membership, nowMs);
  return last === undefined ? absences : [...absences, last];
};
