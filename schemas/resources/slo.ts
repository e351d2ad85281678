import { defineCollection } from '../ports/documents.ts';
import type { ImportedFrom } from './imported-from.ts';

/** A stored SLO. `subjects/slos/document.ts` declares its schema, in the query version that is stored with it. */
export interface StoredSlo {
  readonly name: string;
  readonly enabled: boolean;
  readonly query: object;
  readonly queryVersion: number;
  /** Absent for an SLO that was not imported */
  readonly importedFrom?: ImportedFrom | undefined;
}

/** Maximum number per organization */
export const maxSlos = 1000;

export const slos = defineCollection<StoredSlo>({ name: 'slos', unique: [['name']] });
