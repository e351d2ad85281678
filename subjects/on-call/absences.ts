/** Derives the absences of a person from the audit log; a pure function */
import type { AuditRecord } from '../../schemas/resources/audit-record.ts';
import type { Absence } from './shifts.ts';

/** Fields of an audit record that are read here */
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
const determineCurrentAbsence = (
  openAbsence: Absence | undefined,
  membership: CurrentMembership | undefined,
  nowMs: number,
): Absence | undefined => {
  if (membership === undefined) return openAbsence?.reason === 'left' ? openAbsence : { reason: 'left', fromMs: nowMs };
  const { disabled = false, createdAt, updatedAt } = membership;
  if (disabled) return openAbsence ?? { reason: 'unreachable', fromMs: Date.parse(updatedAt) };
  if (openAbsence === undefined) return undefined;
  return { ...openAbsence, toMs: Date.parse(openAbsence.reason === 'left' ? createdAt : updatedAt) };
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
  const last = determineCurrentAbsence(openAbsence, membership, nowMs);
  return last === undefined ? absences : [...absences, last];
};
