import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { computeHashId } from '../../../runtime/hash-id.ts';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type RunbookDocument,
  runbookDocuments,
  runbookIndexRevisionId,
  runbookIndexRevisions,
  runbookTexts,
} from '../../../schemas/resources/runbook.ts';
import { type Format, formats, readDocument } from '../../../subjects/runbooks/passages.ts';
import { createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import {
  createEqualsFilter,
  createListParameters,
  type ListParameters,
  readPage,
} from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';

const maxBytes = 1024 * 1024;
/** Maximum passages per organization */
const maxPassages = 10_000;

const DocumentView = z.strictObject({
  id: z.string(),
  title: z.string(),
  format: z.enum(formats),
  url: z.string().describe('URL of the original; empty if unknown'),
  bytes: z.int(),
  passages: z.int().describe('Number of parts that are found and cited individually'),
  addedBy: z.string().describe('Id of a user or service account'),
  createdAt: z.iso.datetime(),
});

const toView = ({ id, title, format, url, bytes, passages, addedBy, createdAt }: RunbookDocument & StoredMetadata) => ({
  id,
  title,
  format,
  url,
  bytes,
  passages,
  addedBy,
  createdAt,
});

/** Returns a parser for a request body that is the document itself. */
const parseRawBody = (format: Format) => (body: Uint8Array) => {
  try {
    return { format, content: new TextDecoder('utf-8', { fatal: true }).decode(body) };
  } catch {
    throw createFieldError('content', 'is not UTF-8');
  }
};

/** Stores a new revision, so that every process reloads the documents, and the new total number of passages. */
const updateIndexRevision = async (documents: TenantDocuments, passages: number): Promise<void> => {
  const revisions = documents.collection(runbookIndexRevisions);
  const before = await revisions.find(runbookIndexRevisionId);
  const total = (before?.passages ?? 0) + passages;
  if (passages > 0 && total > maxPassages)
    throw createFieldError(
      'content',
      `has ${passages} passages: with the existing passages that is ${total}, and the maximum of an organization is ${maxPassages}; delete documents first`,
    );
  const indexRevision = { revision: randomUUID(), passages: Math.max(0, total) };
  if (before === undefined) await revisions.insert({ id: runbookIndexRevisionId, ...indexRevision });
  else await revisions.replace(runbookIndexRevisionId, indexRevision);
};

export const addRunbookDocument = defineOperation({
  method: 'POST',
  path: '/api/ai/rag/documents',
  operationId: 'addRunbookDocument',
  summary: 'Add a runbook or another document to be found and cited; repeated identical content changes nothing',
  role: 'editor',
  audit: 'runbook-document.add',
  maxBodyBytes: 3 * maxBytes,
  body: z.strictObject({
    title: z.string().min(1).max(200).optional().describe('Defaults to the title in the document'),
    format: z.enum(formats).default('markdown'),
    content: z.string().min(1).max(maxBytes).describe('At most 1 MiB in UTF-8. Scripts in HTML are removed'),
    url: z
      .string()
      .max(2048)
      .regex(/^https?:\/\/[^\s<>"]+$/, 'must be an address that begins with https:// or http://')
      .optional()
      .describe('URL of the original, to which answers link'),
  }),
  alsoAccepts: { 'text/markdown': parseRawBody('markdown'), 'text/html': parseRawBody('html') },
  response: z.strictObject({
    document: DocumentView,
    isNew: z.boolean().describe('false: identical content existed already'),
  }),
  handler({ caller, body, change }) {
    const { format, url = '' } = body;
    const content = body.content.toWellFormed();
    const bytes = Buffer.byteLength(content);
    if (bytes > maxBytes) throw createFieldError('content', `has ${bytes} bytes: the maximum is ${maxBytes}`);
    const { title, passages } = readDocument(content, format, body.title?.toWellFormed());
    if (passages.length === 0) throw createFieldError('content', `has no text when it is read as ${format}`);
    const id = computeHashId('runbook', caller.tenantId, content);
    return change(async (scope) => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const runbookCollection = tenantDocuments.collection(runbookDocuments);
      const before = await runbookCollection.find(id);
      if (before !== undefined) {
        scope.markUnchanged();
        return { document: toView(before), isNew: false };
      }
      await updateIndexRevision(tenantDocuments, passages.length);
      const fields = { title, format, url, bytes, passages: passages.length, addedBy: caller.actor.id };
      const inserted = await runbookCollection.insert({ id, ...fields });
      await tenantDocuments.collection(runbookTexts).insert({ id, content });
      scope.record({ id, name: title, after: fields });
      return { document: toView(inserted), isNew: true };
    });
  },
});

const listDefinition = {
  filters: { format: createEqualsFilter('format', z.enum(formats)) },
  searched: ['title'],
  sorts: ['title', 'createdAt'],
} as const;

export const listRunbookDocuments = defineOperation({
  method: 'GET',
  path: '/api/ai/rag/documents',
  operationId: 'listRunbookDocuments',
  summary: 'List documents that can be found and cited',
  role: 'viewer',
  query: createListParameters(listDefinition),
  response: z.strictObject({ items: z.array(DocumentView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { documents, clock }) {
    const { items, nextCursor } = await readPage(
      documents.forTenant(caller.tenantId).collection(runbookDocuments),
      listDefinition,
      {
        query: query as ListParameters,
        now: new Date(clock.now()).toISOString(),
      },
    );
    return { items: items.map(toView), nextCursor };
  },
});

export const deleteRunbookDocument = defineOperation({
  method: 'DELETE',
  path: '/api/ai/rag/documents/{id}',
  operationId: 'deleteRunbookDocument',
  summary: 'Delete a document, which is then no longer found',
  role: 'editor',
  audit: 'runbook-document.delete',
  params: idParameter,
  response: DocumentView,
  handler: ({ caller, params, change }) =>
    change(async (scope) => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const runbookCollection = tenantDocuments.collection(runbookDocuments);
      const before = await runbookCollection.find(params.id);
      if (before === undefined) throw createNotFoundError('document');
      await runbookCollection.delete(before.id, before.version);
      await tenantDocuments.collection(runbookTexts).delete(before.id);
      await updateIndexRevision(tenantDocuments, -before.passages);
      const view = toView(before);
      scope.record({ id: before.id, name: before.title, before: view });
      return view;
    }),
});
