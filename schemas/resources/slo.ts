import { defineCollection } from '../ports/documents.ts';

/**
 * A service level objective as it is stored. What may stand in it is declared where queries are (`subjects/slos/document.ts`), in the version
 * of queries that is stored beside it.
 */
export interface StoredSlo {
  readonly name: string;
  readonly enabled: boolean;
  readonly query: object;
  readonly queryVersion: number;
}

export const slos = defineCollection<StoredSlo>({ name: 'slos', unique: [['name']] });
