/** Derives the absences of a person from the audit log; a pure function */
import type { AuditRecord } from '../../schemas/resources/audit-record.ts';
import type { Absence } from './shifts.ts';

/** Used fields of an audit record */
export type MemberRecord = Pick<AuditRecord, 'at' | 'action' | 'details'>;

/** Current state of a membership; `undefined` if there is none */
export interface CurrentMembership {
  readonly disabled?: boolean | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Returns whether a person is absent or present after an audit record. */
const determinePresence = ({ action, details }: MemberRecord): Absence['reason'] | 'present' | undefined => {
  if (action === 'user.remove') return 'left';
  if (action === 'user.join') return 'present';
  const change = details?.changes.find(({ path }) => path === 'disabled');
  if (change === undefined) return undefined;
  return String(change.after) === 'true' ? 'unreachable' : 'present';
};

/** Returns the current absence. The membership supplies what the records lack. */
const currentAbsence = (
  open: Absence | undefined,
  membership: CurrentMembership | undefined,
  nowMs: number,
): Absence | undefined => {
  if (membership === undefined) return open?.reason === 'left' ? open : { reason: 'left', fromMs: nowMs };
  const { disabled = false, createdAt, updatedAt } = membership;
  if (disabled) return open ?? { reason: 'unreachable', fromMs: Date.parse(updatedAt) };
  if (open === undefined) return undefined;
  return { ...open, toMs: Date.parse(open.reason === 'left' ? createdAt : updatedAt) };
};

/** Returns the absences of a person, including past ones. Records must be in ascending time order. */
export const deriveAbsences = (
  records: readonly MemberRecord[],
  membership: CurrentMembership | undefined,
  nowMs: number,
): Absence[] => {
  const absences: Absence[] = [];
  let openAbsence: Absence | undefined;
  for (const record of records) {
    const presence = determinePresence(record);
    const atMs = Date.parse(record.at);
    if (presence === undefined || presence === openAbsence?.reason) continue;
    if (openAbsence !== undefined) absences.push({ ...openAbsence, toMs: atMs });
    openAbsence = presence === 'present' ? undefined : { reason: presence, fromMs: atMs };
  }
  const last = currentAbsence(openAbsence, membership, nowMs);
  return last === undefined ? absences : [...absences, last];
};
