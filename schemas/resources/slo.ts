import { defineCollection } from '../ports/documents.ts';

/** A stored SLO. `subjects/slos/document.ts` declares its schema, in the query version that is stored with it. */
export interface StoredSlo {
  readonly name: string;
  readonly enabled: boolean;
  readonly query: object;
  readonly queryVersion: number;
}

export const slos = defineCollection<StoredSlo>({ name: 'slos', unique: [['name']] });
