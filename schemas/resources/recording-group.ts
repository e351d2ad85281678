import { defineCollection } from '../ports/documents.ts';

/** One rule: a series for each element of what the expression gives. */
export interface RecordingRule {
  readonly record: string;
  readonly expression: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Its place in the group of a rule file. */
  readonly place?: number | undefined;
}

/**
 * A group of recording rules as it is stored: one document, as its rules are evaluated one after the other. What may stand in it is declared
 * in `subjects/alerts/recording/group.ts`.
 */
export interface RecordingGroup {
  readonly name: string;
  /** Of the rule file that it came from; empty without one. */
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
