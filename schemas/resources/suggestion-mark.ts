import { defineCollection } from '../ports/documents.ts';

/** Status of a suggestion. The ID is that of the suggestion. */
export interface SuggestionMark {
  /** `applying`: its request was sent or is being sent. In the meantime, no other request is sent. */
  readonly state: 'dismissed' | 'applying';
  /** Weight of the supporting data. */
  readonly weight: number;
  readonly title: string;
  readonly by: string;
  readonly at: string;
}
export const suggestionMarks = defineCollection<SuggestionMark>({ name: 'suggestion-marks' });
