/** Users' decisions about error groups. Groups without a decision have no document. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

export const errorGroupStatuses = ['unresolved', 'resolved', 'ignored'] as const;
export type ErrorStatus = (typeof errorGroupStatuses)[number];

/** Release in which a group is resolved; otherwise it is resolved immediately and everywhere. */
export const ResolvedIn = z.union([
  z
    .strictObject({ version: z.string().min(1).max(256) })
    .describe('Version that resolves the group; occurrences in older versions do not reopen it'),
  z
    .strictObject({ next: z.literal(true) })
    .describe('Resolved in the next new version; occurrences in older versions do not reopen it'),
]);

/** Conditions that end the ignored state of a group. The first condition that is met ends it. */
export const IgnoredUntil = z.strictObject({
  time: z.iso.datetime({ offset: true }).optional(),
  occurrences: z.int().min(1).max(1_000_000_000).optional().describe('Number of further occurrences'),
  nextVersion: z.literal(true).optional().describe('Ends with the first occurrence in a new version'),
});

/** One document per group, with the fingerprint as ID. */
export const ErrorGroupState = z.strictObject({
  status: z.enum(errorGroupStatuses),
  /** Time of the last status change. */
  changedAt: z.iso.datetime(),
  resolvedIn: ResolvedIn.nullable(),
  ignoredUntil: IgnoredUntil.nullable(),
  assigneeId: z.string().nullable(),
});
export type ErrorGroupState = z.output<typeof ErrorGroupState>;

export const errorGroupStates = defineCollection<ErrorGroupState>({ name: 'error-groups' });

/**
 * Merge of one fingerprint: the group into which it was merged, and the groups from which it was permanently separated.
 */
export const ErrorMerge = z.strictObject({
  /** Null if the fingerprint forms its own group again. */
  groupId: z.string().nullable(),
  mergedAt: z.iso.datetime(),
  /** Name of the user who merged, for display. */
  mergedBy: z.string(),
  /** Fingerprints from which it is permanently separated. */
  separateFrom: z.array(z.string()),
});
export type ErrorMerge = z.output<typeof ErrorMerge>;

/** By fingerprint. */
export const errorMerges = defineCollection<ErrorMerge>({ name: 'error-merges', indexes: [['groupId']] });
