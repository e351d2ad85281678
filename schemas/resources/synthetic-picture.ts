import { defineCollection } from '../ports/documents.ts';

export const pictureKinds = ['good', 'failed'] as const;

/**
 * Screenshot of the page at the end of the last successful or failed run of a check at a location. The ID distinguishes
 * both.
 */
export interface SyntheticPicture {
  readonly checkId: string;
  readonly location: string;
  readonly kind: (typeof pictureKinds)[number];
  /** Due time of the run. */
  readonly dueMs: number;
  /** JPEG in base64. */
  readonly content: string;
}

export const syntheticPictures = defineCollection<SyntheticPicture>({
  name: 'synthetic-pictures',
  indexes: [['checkId', 'location'], ['location']],
});

/** Maximum number of screenshots of an organization: about half a gigabyte. */
export const maxPictures = 2000;
