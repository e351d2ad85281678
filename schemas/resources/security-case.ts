/** Cases: what a team works on together, with its signals, comments and evidence. */
import { defineCollection } from '../ports/documents.ts';

export const caseStates = ['open', 'investigating', 'contained', 'closed'] as const;
export type CaseState = (typeof caseStates)[number];

export const caseSeverities = ['informational', 'low', 'medium', 'high', 'critical'] as const;

/** Why a case was closed. */
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
  /** Id of the user or service account who opened it. */
  readonly openedBy: string;
  /** When its state first changed, or somebody was first assigned; null while neither happened. */
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

/** Evidence of a case. It is never changed; its hash stands in the audit chain besides. */
export interface CaseEvidence {
  readonly caseId: string;
  readonly name: string;
  readonly description: string;
  readonly mediaType: string;
  /** Base64. */
  readonly content: string;
  readonly bytes: number;
  /** SHA-256 of the content's bytes, hexadecimal. */
  readonly sha256: string;
  readonly addedBy: string;
}
export const caseEvidence = defineCollection<CaseEvidence>({ name: 'security-case-evidence', indexes: [['caseId']] });
