/** Baselines of files: the state that a person has approved. */
import { z } from 'zod';
import { FileState } from '../file-changes.ts';
import { defineCollection } from '../ports/documents.ts';

export const baselineStates = ['proposed', 'approved', 'retired'] as const;

/** A state that a file may be in: what is not said may be anything. */
export const ApprovedState = z.strictObject({ isPresent: z.boolean(), ...FileState.shape });
export type ApprovedState = z.output<typeof ApprovedState>;

/** A file, with each state in which hosts of the baseline had it. */
export interface BaselineFile {
  readonly path: string;
  readonly states: readonly ApprovedState[];
}

export interface FileBaseline {
  readonly name: string;
  readonly note: string;
  /** Names of hosts, in which `*` stands for any text; empty is every host. */
  readonly hosts: readonly string[];
  /** Files at and below these. */
  readonly paths: readonly string[];
  readonly state: (typeof baselineStates)[number];
  /** How many files it knows. */
  readonly files: number;
  /** SHA-256 of them with their states. */
  readonly contentHash: string;
  /** The time in which they were seen; null for one whose files were given. */
  readonly capturedFrom: string | null;
  readonly capturedUntil: string;
  readonly capturedBy: string;
  readonly approvedAt: string | null;
  readonly approvedBy: string | null;
  readonly retiredAt: string | null;
}
export const fileBaselines = defineCollection<FileBaseline>({ name: 'file-baselines', indexes: [['state'], ['name']] });

/** Some files of a baseline, in the order of their paths. Never changed. */
export interface FileBaselinePart {
  readonly baselineId: string;
  readonly part: number;
  readonly files: readonly BaselineFile[];
}
export const fileBaselineParts = defineCollection<FileBaselinePart>({
  name: 'file-baseline-parts',
  indexes: [['baselineId', 'part']],
});
