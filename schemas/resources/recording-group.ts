import { defineCollection } from '../ports/documents.ts';

/** One rule: it records a series for each element of the expression's result. */
export interface RecordingRule {
  readonly record: string;
  readonly expression: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Index in the group of a rule file. */
  readonly place?: number | undefined;
}

/**
 * A stored group of recording rules: one document, since its rules are evaluated sequentially.
 * `subjects/alerts/recording/group.ts` declares its schema.
 */
export interface RecordingGroup {
  readonly name: string;
  /** Rule file of origin; empty if there is none. */
  readonly file: string;
  readonly enabled: boolean;
  readonly interval: string;
  readonly delay: string;
  readonly limit: number;
  readonly rules: readonly RecordingRule[];
}

export const recordingGroups = defineCollection<RecordingGroup>({
  name: 'recording-groups',
  unique: [['file', 'name']],
});
