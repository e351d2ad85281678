/** Runbooks: documents that people give to be found and cited. */
import { defineCollection } from '../ports/documents.ts';

/** What is known of a document. The id follows from organization and content: the same content twice is one document. */
export interface RunbookDocument {
  readonly title: string;
  readonly format: 'markdown' | 'text' | 'html';
  /** Where people find it; empty where nobody said. */
  readonly url: string;
  /** Of the content, in UTF-8. */
  readonly bytes: number;
  readonly passages: number;
  /** Id of the user or service account who added it. */
  readonly addedBy: string;
}
export const runbookDocuments = defineCollection<RunbookDocument>({
  name: 'runbook-documents',
  indexes: [['format']],
  sorts: ['title', 'createdAt'],
});

/** The content of a document, under its id: lists do not read it. */
export interface RunbookText {
  readonly content: string;
}
export const runbookTexts = defineCollection<RunbookText>({ name: 'runbook-texts' });

/** How an organization's documents stand, under one id: another revision for each change, so that an index in memory knows that it is old. */
export interface RunbookIndexRevision {
  readonly revision: string;
  /** Of all documents. */
  readonly passages: number;
}
export const runbookShelves = defineCollection<RunbookIndexRevision>({ name: 'runbook-shelves' });
export const runbookIndexRevisionId = 'runbooks';

/** Vectors of some passages that an endpoint of embeddings gave at once, so that they are asked for once and not after each start. */
export interface PassageVectors {
  /** The endpoint's name of it. */
  readonly model: string;
  /** By `vectorKey` of their texts: a byte for each number, in base64. */
  readonly vectors: readonly (readonly [key: string, vector: string])[];
}
export const passageVectors = defineCollection<PassageVectors>({ name: 'passage-vectors' });
