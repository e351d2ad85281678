import { defineCollection } from '../ports/documents.ts';

/** What became of a suggestion. The id is the suggestion's. */
export interface SuggestionMark {
  /** `applying`: its request is made, or was; for as long as that may take no other is. */
  readonly state: 'dismissed' | 'applying';
  /** How much was behind it. */
  readonly weight: number;
  readonly title: string;
  readonly by: string;
  readonly at: string;
}
export const suggestionMarks = defineCollection<SuggestionMark>({ name: 'suggestion-marks' });
