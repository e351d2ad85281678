/** Cases for collaboration on security incidents, with signals, comments and evidence. */
import { defineCollection } from '../ports/documents.ts';

export const caseStates = ['open', 'investigating', 'contained', 'closed'] as const;
export type CaseState = (typeof caseStates)[number];

export const caseSeverities = ['informational', 'low', 'medium', 'high', 'critical'] as const;

/** Reasons for closing a case. */
export const caseResolutions = [
  'true-positive',
  'benign-true-positive',
  'false-positive',
  'duplicate',
  'other',
] as const;

export interface SecurityCase {
  readonly title: string;
  readonly summary: string;
  readonly severity: (typeof caseSeverities)[number];
  readonly state: CaseState;
  readonly resolution: (typeof caseResolutions)[number] | null;
  readonly assigneeId: string | null;
  readonly signalIds: readonly string[];
  readonly tags: readonly string[];
  /** ID of the user or service account that opened it. */
  readonly openedBy: string;
  /** Time of the first state change or assignment; null before. */
  readonly respondedAt: string | null;
  readonly containedAt: string | null;
  readonly closedAt: string | null;
}

export const securityCases = defineCollection<SecurityCase>({
  name: 'security-cases',
  indexes: [['state'], ['assigneeId'], ['severity']],
});

export interface CaseComment {
  readonly caseId: string;
  readonly text: string;
  readonly authorId: string;
  readonly authorName: string;
}
export const caseComments = defineCollection<CaseComment>({ name: 'security-case-comments', indexes: [['caseId']] });

/** Evidence of a case. Immutable; the audit chain also contains its hash. */
export interface CaseEvidence {
  readonly caseId: string;
  readonly name: string;
  readonly description: string;
  readonly mediaType: string;
  /** Base64. */
  readonly content: string;
  readonly bytes: number;
  /** SHA-256 of the content's bytes, in hexadecimal. */
  readonly sha256: string;
  readonly addedBy: string;
}
export const caseEvidence = defineCollection<CaseEvidence>({ name: 'security-case-evidence', indexes: [['caseId']] });
