/** The state of resources that they have had no data, in views and lists. */
import { z } from 'zod';
import type { StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import type { EmptyResultKind } from '../../schemas/resources/empty-result.ts';
import { deleteEmptyResult, readEmptyResults } from '../../subjects/empty-results/empty-results.ts';
import type { ListDefinition } from './resource-list.ts';
import type { ResourceContext } from './resource-spec.ts';

export const HasNoData = z
  .boolean()
  .describe('Whether it has had no data for an hour since it was created or changed, so it cannot alert');

/** Returns the flag `hasNoData` of a list. */
export const createNoDataFlag = (kind: EmptyResultKind): NonNullable<ListDefinition['flags']> => ({
  hasNoData: {
    summary: 'Whether it has had no data for an hour since it was created or changed',
    readIds: (documents) => readEmptyResults(documents, kind),
  },
});

/** Returns the ids of the documents that have had no data. */
export const readIdsWithoutData = (
  kind: EmptyResultKind,
  documents: readonly { readonly id: string }[],
  { caller, ports }: ResourceContext,
): Promise<ReadonlySet<string>> =>
  readEmptyResults(
    ports.documents.forTenant(caller.tenantId),
    kind,
    documents.map(({ id }) => id),
  );

/** Returns a function for `alongside` of a resource: the report about a document is deleted with the document. */
export const deleteReportWith =
  (kind: EmptyResultKind) =>
  async (
    documents: TenantDocuments,
    {
      before,
      after,
    }: {
      readonly before?: Pick<StoredMetadata, 'id'> | undefined;
      readonly after?: Pick<StoredMetadata, 'id'> | undefined;
    },
  ): Promise<void> => {
    if (before !== undefined && after === undefined) await deleteEmptyResult(documents, kind, before.id);
  };
