/**
 * Reports resources that have had no data since they were created, such as with a misspelt metric: they look set up,
 * and never alert.
 */
import { iterateDocuments } from '../../runtime/documents-in.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import { ConflictError, type TenantDocuments } from '../../schemas/ports/documents.ts';
import { type EmptyResultKind, emptyResults } from '../../schemas/resources/empty-result.ts';

/** Time after which missing data is reported. */
const reportAfterMs = 3_600_000;

/** Returns whether a resource was created or changed so long ago that data is expected. `sinceAt` is in ISO 8601. */
export const isDataOverdue = (sinceAt: string, nowMs: number): boolean => nowMs - Date.parse(sinceAt) >= reportAfterMs;

/**
 * Whether a resource has had data: `no` at first, `reported` after an event about it, and `yes` for good. Saved with the
 * state of the schedule that evaluates it; missing in states of former versions, which are not reported.
 */
export type DataState = 'no' | 'reported' | 'yes';

/** Returns the next state. Without a result, such as after a failed query, nothing is reported. */
export const advanceDataState = (
  state: DataState | undefined,
  hasData: boolean | undefined,
  isOverdue: boolean,
): DataState | undefined => {
  if (state === undefined || hasData === undefined) return state;
  if (hasData) return 'yes';
  return state === 'no' && isOverdue ? 'reported' : state;
};

interface EventContext {
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly atMs: number;
  /** Distinguishes reports of one resource, such as after its query was changed. */
  readonly version: string;
  /** Processor that reports it. */
  readonly actorId: string;
}

/** What an event says about a resource. */
interface EmptyResultText {
  readonly title: string;
  readonly text: string;
  readonly service?: string;
  readonly details: PlatformEvent['details'];
}

/** Returns the event that a resource has no data. The same report has the same ID. */
export const createNoDataEvent = (
  { title, text, service = '', details }: EmptyResultText,
  { tenantId, projectId, atMs, version, actorId }: EventContext,
): PlatformEvent => ({
  tenantId,
  projectId: projectId ?? '',
  kind: 'custom',
  severity: 'warning',
  service,
  environment: '',
  link: '',
  id: computeHashId('no-data', details, version),
  at: new Date(atMs).toISOString(),
  title: title.slice(0, 256),
  text,
  tags: {},
  actor: { type: 'system', id: actorId },
  details,
});

type Documents = Pick<TenantDocuments, 'collection'>;

const toDocumentId = (kind: EmptyResultKind, resourceId: string): string => computeHashId(kind, resourceId);

/** Stores that a resource has no data, or that it no longer lacks it. May be repeated. */
export const storeDataState = async (
  documents: Documents,
  [kind, resourceId]: readonly [kind: EmptyResultKind, resourceId: string],
  { before, after }: { readonly before: DataState | undefined; readonly after: DataState | undefined },
): Promise<void> => {
  if (before === after) return;
  const reports = documents.collection(emptyResults);
  const id = toDocumentId(kind, resourceId);
  if (after !== 'reported') await reports.delete(id);
  else
    await reports.insert({ id, kind, resourceId }).catch((error: unknown) => {
      if (!(error instanceof ConflictError && error.kind === 'duplicate')) throw error;
    });
};

/** Returns the ids of the resources of a kind that have had no data; `resourceIds` limits them. */
export const readEmptyResults = async (
  documents: Documents,
  kind: EmptyResultKind,
  resourceIds?: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (resourceIds?.length === 0) return new Set();
  const filter = { kind, ...(resourceIds !== undefined && { resourceId: { $in: resourceIds } }) };
  const suggestions = new Set<string>();
  for await (const { resourceId } of iterateDocuments(documents.collection(emptyResults), { filter }))
    suggestions.add(resourceId);
  return suggestions;
};

/** Deletes the report about a resource that is deleted. */
export const deleteEmptyResult = async (
  documents: Documents,
  kind: EmptyResultKind,
  resourceId: string,
): Promise<void> => {
  await documents.collection(emptyResults).delete(toDocumentId(kind, resourceId));
};
