/** What people decided about groups of errors. There is a document only where somebody did. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

export const errorGroupStatuses = ['unresolved', 'resolved', 'ignored'] as const;
export type ErrorStatus = (typeof errorGroupStatuses)[number];

/** In what a group is resolved, where not at once and everywhere. */
export const ResolvedIn = z.union([
  z.strictObject({ version: z.string().min(1).max(256) }).describe('Occurrences of older versions do not reopen it'),
  z.strictObject({ next: z.literal(true) }).describe('The same, with the next version that is seen'),
]);

/** Until when a group is ignored; the first of what is given ends it. */
export const IgnoredUntil = z.strictObject({
  time: z.iso.datetime({ offset: true }).optional(),
  occurrences: z.int().min(1).max(1_000_000_000).optional().describe('So many more from now on'),
  nextVersion: z.literal(true).optional().describe('An occurrence of a version that was not seen before'),
});

/** One document a group, by the fingerprint that it is called by. */
export const ErrorGroupState = z.strictObject({
  status: z.enum(errorGroupStatuses),
  /** When it got that status. */
  changedAt: z.iso.datetime(),
  resolvedIn: ResolvedIn.nullable(),
  ignoredUntil: IgnoredUntil.nullable(),
  assigneeId: z.string().nullable(),
});
export type ErrorGroupState = z.output<typeof ErrorGroupState>;

export const errorGroupStates = defineCollection<ErrorGroupState>({ name: 'error-groups' });

/** What became of one fingerprint: which group it was merged into, and which others it was taken away from for good. */
export const ErrorMerge = z.strictObject({
  /** Null where it is by itself again. */
  groupId: z.string().nullable(),
  mergedAt: z.iso.datetime(),
  /** Name of who did it, for people. */
  mergedBy: z.string(),
  /** Fingerprints that it is kept apart from. */
  separateFrom: z.array(z.string()),
});
export type ErrorMerge = z.output<typeof ErrorMerge>;

/** By fingerprint. */
export const errorMerges = defineCollection<ErrorMerge>({ name: 'error-merges', indexes: [['groupId']] });
