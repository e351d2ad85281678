/** Baselines of files: the state that a user has approved. */
import { z } from 'zod';
import { FileState } from '../file-changes.ts';
import { defineCollection } from '../ports/documents.ts';

export const baselineStates = ['proposed', 'approved', 'retired'] as const;

/** An allowed state of a file. Omitted fields may have any value. */
export const ApprovedState = z.strictObject({ isPresent: z.boolean(), ...FileState.shape });
export type ApprovedState = z.output<typeof ApprovedState>;

/** A file with each of its states on the hosts of the baseline. */
export interface BaselineFile {
  readonly path: string;
  readonly states: readonly ApprovedState[];
}

export interface FileBaseline {
  readonly name: string;
  readonly note: string;
  /** Host names, in which `*` matches any text; empty for all hosts. */
  readonly hosts: readonly string[];
  /** Paths of files and of directories, which include all files below them. */
  readonly paths: readonly string[];
  readonly state: (typeof baselineStates)[number];
  /** Number of files in the baseline. */
  readonly files: number;
  /** SHA-256 of the files with their states. */
  readonly contentHash: string;
  /** Period in which the files were observed; null if the files were specified by the user. */
  readonly capturedFrom: string | null;
  readonly capturedUntil: string;
  readonly capturedBy: string;
  readonly approvedAt: string | null;
  readonly approvedBy: string | null;
  readonly retiredAt: string | null;
}
export const fileBaselines = defineCollection<FileBaseline>({ name: 'file-baselines', indexes: [['state'], ['name']] });

/** Some files of a baseline, sorted by path. Immutable. */
export interface FileBaselinePart {
  readonly baselineId: string;
  readonly part: number;
  readonly files: readonly BaselineFile[];
}
export const fileBaselineParts = defineCollection<FileBaselinePart>({
  name: 'file-baseline-parts',
  indexes: [['baselineId', 'part']],
});
