/** Runbooks: documents that users upload, so that searches find and answers cite them. */
import { defineCollection } from '../ports/documents.ts';

/** Metadata of a document. The ID depends on organization and content: the same content gives the same document. */
export interface RunbookDocument {
  readonly title: string;
  readonly format: 'markdown' | 'text' | 'html';
  /** URL of the document; empty if unknown. */
  readonly url: string;
  /** Size of the content in UTF-8. */
  readonly bytes: number;
  readonly passages: number;
  /** ID of the user or service account that added it. */
  readonly addedBy: string;
}
export const runbookDocuments = defineCollection<RunbookDocument>({
  name: 'runbook-documents',
  indexes: [['format']],
  sorts: ['title', 'createdAt'],
});

/** Content of a document, with the same ID: lists do not read it. */
export interface RunbookText {
  readonly content: string;
}
export const runbookTexts = defineCollection<RunbookText>({ name: 'runbook-texts' });

/**
 * Revision of an organization's documents, with a fixed ID. Each change sets a new revision, so that an in-memory index
 * detects that it is outdated.
 */
export interface RunbookIndexRevision {
  readonly revision: string;
  /** Number of passages of all documents. */
  readonly passages: number;
}
export const runbookIndexRevisions = defineCollection<RunbookIndexRevision>({ name: 'runbook-shelves' });
export const runbookIndexRevisionId = 'runbooks';

/**
 * Vectors of some passages from one request to an embeddings endpoint. They are stored so that a restart does not
 * request them again.
 */
export interface PassageVectors {
  /** Model name at the endpoint. */
  readonly model: string;
  /** Vectors by `vectorKey` of their texts: one byte per number, in base64. */
  readonly vectors: readonly (readonly [key: string, vector: string])[];
}
export const passageVectors = defineCollection<PassageVectors>({ name: 'passage-vectors' });
