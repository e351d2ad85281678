import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { hashOf } from '../../../runtime/hash-of.ts';
import type { Stored, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  type RunbookDocument,
  runbookDocuments,
  runbookIndexRevisionId,
  runbookShelves,
  runbookTexts,
} from '../../../schemas/resources/runbook.ts';
import { type Format, formats, readDocument } from '../../../subjects/runbooks/passages.ts';
import { invalid, notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { equals, type ListParameters, listParameters, readPage } from '../../resources/resource-list.ts';
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

const viewOf = ({ id, title, format, url, bytes, passages, addedBy, createdAt }: RunbookDocument & Stored) => ({
  id,
  title,
  format,
  url,
  bytes,
  passages,
  addedBy,
  createdAt,
});

/** A body that is the document itself. */
const itself = (format: Format) => (body: Uint8Array) => {
  try {
    return { format, content: new TextDecoder('utf-8', { fatal: true }).decode(body) };
  } catch {
    throw invalid('content', 'is not UTF-8');
  }
};

/** Records that documents changed, so that every process reloads them, and the number of passages. */
const bumpIndexRevision = async (documents: TenantDocuments, passages: number): Promise<void> => {
  const revisions = documents.collection(runbookShelves);
  const before = await revisions.find(runbookIndexRevisionId);
  const total = (before?.passages ?? 0) + passages;
  if (passages > 0 && total > maxPassages)
    throw invalid(
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
  alsoAccepts: { 'text/markdown': itself('markdown'), 'text/html': itself('html') },
  response: z.strictObject({
    document: DocumentView,
    isNew: z.boolean().describe('false: identical content existed already'),
  }),
  handler({ caller, body, change }) {
    const { format, url = '' } = body;
    const content = body.content.toWellFormed();
    const bytes = Buffer.byteLength(content);
    if (bytes > maxBytes) throw invalid('content', `has ${bytes} bytes: the maximum is ${maxBytes}`);
    const { title, passages } = readDocument(content, format, body.title?.toWellFormed());
    if (passages.length === 0) throw invalid('content', `has no text when it is read as ${format}`);
    const id = hashOf('runbook', caller.tenantId, content);
    return change(async (scope) => {
      const own = scope.of(caller.tenantId);
      const stored = own.collection(runbookDocuments);
      const before = await stored.find(id);
      if (before !== undefined) {
        scope.unchanged();
        return { document: viewOf(before), isNew: false };
      }
      await bumpIndexRevision(own, passages.length);
      const fields = { title, format, url, bytes, passages: passages.length, addedBy: caller.actor.id };
      const made = await stored.insert({ id, ...fields });
      await own.collection(runbookTexts).insert({ id, content });
      scope.record({ id, name: title, after: fields });
      return { document: viewOf(made), isNew: true };
    });
  },
});

const listing = {
  filters: { format: equals('format', z.enum(formats)) },
  searched: ['title'],
  sorts: ['title', 'createdAt'],
} as const;

export const listRunbookDocuments = defineOperation({
  method: 'GET',
  path: '/api/ai/rag/documents',
  operationId: 'listRunbookDocuments',
  summary: 'List documents that can be found and cited',
  role: 'viewer',
  query: listParameters(listing),
  response: z.strictObject({ items: z.array(DocumentView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { documents, clock }) {
    const { items, nextCursor } = await readPage(documents.of(caller.tenantId).collection(runbookDocuments), listing, {
      query: query as ListParameters,
      now: new Date(clock.now()).toISOString(),
    });
    return { items: items.map(viewOf), nextCursor };
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
      const own = scope.of(caller.tenantId);
      const stored = own.collection(runbookDocuments);
      const before = await stored.find(params.id);
      if (before === undefined) throw notFound('document');
      await stored.delete(before.id, before.version);
      await own.collection(runbookTexts).delete(before.id);
      await bumpIndexRevision(own, -before.passages);
      const view = viewOf(before);
      scope.record({ id: before.id, name: before.title, before: view });
      return view;
    }),
});
