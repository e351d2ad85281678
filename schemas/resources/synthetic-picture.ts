import { defineCollection } from '../ports/documents.ts';

export const pictureKinds = ['good', 'failed'] as const;

/** How the page looked when the last good, or the last failed, run of a check at a location ended. The id says which. */
export interface SyntheticPicture {
  readonly checkId: string;
  readonly location: string;
  readonly kind: (typeof pictureKinds)[number];
  /** Of the run. */
  readonly dueMs: number;
  /** A JPEG in base64. */
  readonly content: string;
}

export const syntheticPictures = defineCollection<SyntheticPicture>({
  name: 'synthetic-pictures',
  indexes: [['checkId', 'location'], ['location']],
});

/** Of an organization: with these, half a gigabyte. */
export const maxPictures = 2000;
