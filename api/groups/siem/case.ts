import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { CollectionDefinition, StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  caseComments,
  caseEvidence,
  caseResolutions,
  caseSeverities,
  caseStates,
  type SecurityCase,
  securityCases,
} from '../../../schemas/resources/security-case.ts';
import { createFieldError } from '../../errors.ts';
import { requireMember } from '../../resources/members.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { storedView } from '../../resources/resource-spec.ts';
import { extractHash, hashEvidence } from './case-evidence.ts';

/** Fields of a case that callers can write. */
const CaseFields = z.strictObject({
  title: z.string().min(1).max(256),
  summary: z.string().max(16_384).default(''),
  severity: z.enum(caseSeverities).default('medium'),
  state: z.enum(caseStates).default('open'),
  resolution: z.enum(caseResolutions).nullable().default(null).describe('Resolution; required for state closed'),
  assigneeId: z.string().min(1).max(128).nullable().default(null).describe('A user of the organization'),
  signalIds: z.array(z.string().min(1).max(128)).max(1000).default([]).describe('Signals of the case'),
  tags: z.array(z.string().min(1).max(64)).max(32).default([]),
});

type Fields = z.output<typeof CaseFields>;
type ServerFields = Pick<SecurityCase, 'openedBy' | 'respondedAt' | 'containedAt' | 'closedAt'>;
type Document = Fields & ServerFields;

const Duration = z
  .union([
    z.strictObject({ value: z.number().describe('Seconds since the case was opened') }),
    z.strictObject({ value: z.null(), reason: z.string() }),
  ])
  .describe('Time taken; null with the reason if it has not happened yet');

export const CommentView = z.strictObject({
  id: z.string(),
  text: z.string(),
  authorId: z.string(),
  authorName: z.string(),
  createdAt: z.iso.datetime(),
});

export const EvidenceView = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  mediaType: z.string(),
  bytes: z.int(),
  sha256: z.string().describe('SHA-256 of the content, as in the audit chain'),
  isIntact: z.boolean().describe('Whether the stored content still matches the hash'),
  addedBy: z.string(),
  createdAt: z.iso.datetime(),
});
export type EvidenceView = z.output<typeof EvidenceView>;

const CaseView = z.strictObject({
  ...CaseFields.shape,
  openedBy: z.string(),
  respondedAt: z.iso.datetime().nullable(),
  containedAt: z.iso.datetime().nullable(),
  closedAt: z.iso.datetime().nullable(),
  timeToRespond: Duration,
  timeToContain: Duration,
  timeToClose: Duration,
  comments: z.array(CommentView).describe('Oldest first, at most 1,000'),
  evidence: z.array(EvidenceView).describe('Oldest first, at most 100'),
  ...storedView,
});

/** Maximum number of evidence items per case */
export const maxEvidence = 100;

/** Returns the stored fields of evidence: its id, content, size and hash. */
export const hashContent = (content: string): { id: string; content: string; bytes: number; sha256: string } => {
  const bytes = Buffer.from(content, 'base64');
  const sha256 = hashEvidence(bytes);
  return { id: `${sha256}-${randomUUID()}`, content, bytes: bytes.length, sha256 };
};

/** Converts evidence to its API view, which reports whether the content matches the hash. */
export const toEvidenceView = ({
  caseId: _caseId,
  content,
  version: _version,
  updatedAt: _updatedAt,
  ...viewFields
}: StoredMetadata & { readonly caseId: string; readonly content: string } & Omit<
    EvidenceView,
    'isIntact'
  >): EvidenceView => ({
  ...viewFields,
  isIntact: hashEvidence(Buffer.from(content, 'base64')) === extractHash(viewFields.id),
});

const toDuration = (
  { createdAt: startTime, closedAt }: { readonly createdAt: string; readonly closedAt: string | null },
  endTime: string | null,
  eventText: string,
): z.output<typeof Duration> =>
  endTime === null
    ? {
        value: null,
        reason:
          closedAt === null ? `it was not ${eventText} yet` : `it was closed, but it was never marked as ${eventText}`,
      }
    : { value: (Date.parse(endTime) - Date.parse(startTime)) / 1000 };

const readCommentsAndEvidence = async (documents: TenantDocuments, caseId: string) => {
  const [comments, evidence] = await Promise.all([
    documents.collection(caseComments).list({ filter: { caseId }, sort: { createdAt: 1 }, limit: 1000 }),
    documents.collection(caseEvidence).list({ filter: { caseId }, sort: { createdAt: 1 }, limit: maxEvidence }),
  ]);
  return {
    comments: comments.items.map(({ id, text, authorId, authorName, createdAt }) => ({
      id,
      text,
      authorId,
      authorName,
      createdAt,
    })),
    evidence: evidence.items.map(toEvidenceView),
  };
};

/** Sets the times of response, containment and closing, each at the first change with this meaning. */
const setStateTimes = (after: Document, before: Document | undefined, now: string): Document => {
  const hasResponse = after.state !== 'open' || after.assigneeId !== null;
  const isClosed = after.state === 'closed';
  // A case that is closed without having been contained gets no containment time.
  const newContainedAt = after.state === 'contained' ? now : null;
  return {
    ...after,
    respondedAt: before?.respondedAt ?? (hasResponse ? now : null),
    containedAt: isClosed || newContainedAt !== null ? (before?.containedAt ?? newContainedAt) : null,
    closedAt: isClosed ? (before?.closedAt ?? now) : null,
  };
};

export const caseResource = defineResource<typeof CaseFields, Document, typeof CaseView>({
  noun: 'security case',
  path: '/api/siem/cases',
  collection: securityCases as CollectionDefinition<object> as CollectionDefinition<Document>,
  verbs: ['list', 'create', 'read', 'patch'],
  roles: { read: 'viewer', write: 'editor' },
  entitlement: 'siem',
  fields: CaseFields,
  example: { title: 'Credential dumping on build hosts', severity: 'high', tags: ['build'] },
  view: CaseView,
  live: true,
  nameOf: ({ title }) => title,
  initial: ({ caller }) => ({ openedBy: caller.actor.id, respondedAt: null, containedAt: null, closedAt: null }),
  async prepare(after, { before, caller, forTenant, ports }) {
    if (after.resolution !== null && after.state !== 'closed')
      throw createFieldError('resolution', 'requires "state": "closed"');
    const { assigneeId } = after;
    if (assigneeId !== before?.assigneeId) await requireMember(forTenant(caller.tenantId), assigneeId);
    return setStateTimes(after, before, new Date(ports.clock.now()).toISOString());
  },
  async show(documents, { caller, ports }) {
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    return Promise.all(
      documents.map(async (document) => ({
        ...document,
        timeToRespond: toDuration(document, document.respondedAt, 'responded to'),
        timeToContain: toDuration(document, document.containedAt, 'contained'),
        timeToClose: toDuration(document, document.closedAt, 'closed'),
        ...(await readCommentsAndEvidence(tenantDocuments, document.id)),
      })),
    );
  },
  list: {
    searched: ['title', 'summary'],
    sorts: ['createdAt', 'updatedAt', 'title'],
    filters: {
      state: createEqualsFilter('state', z.enum(caseStates)),
      severity: createEqualsFilter('severity', z.enum(caseSeverities)),
      assigneeId: createEqualsFilter('assigneeId'),
      tag: createEqualsFilter('tags'),
      signalId: createEqualsFilter('signalIds'),
    },
  },
});
