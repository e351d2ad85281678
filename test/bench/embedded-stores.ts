/** Embedded stores for benchmarks: without a server, in a directory that is deleted with the process. */
import { join } from 'node:path';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { scheduleTopics } from '../../processors/index.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, type Plan, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { allTopics } from '../../schemas/topics.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { scratch } from './scratch.ts';

type Documents = Awaited<ReturnType<typeof openSqliteDocuments>>;

/** Opens stores with organizations on the plan `enterprise`, and the collections that processors need. */
export const openEmbeddedStores = async (
  tenants: readonly string[],
  {
    collections,
    retentionDays,
  }: {
    readonly collections: Parameters<Documents['ensureCollections']>[0];
    readonly retentionDays?: Plan['retentionDays'];
  },
) => {
  const directory = scratch();
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const columns = await openChdbColumns({ directory: join(directory, 'columns') });
  await migrate(columns, silentLog);
  await bus.ensureTopics([...allTopics, ...scheduleTopics]);
  await documents.ensureCollections([...collections, organizations, plans, processorStates, processorStateChunks]);
  const enterprise = { id: 'enterprise', ...(defaultPlans['enterprise'] as Plan) };
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ ...enterprise, ...(retentionDays !== undefined && { retentionDays }) });
  for (const id of tenants)
    await documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({ id, name: id, planId: 'enterprise', retentionDays: {}, shards: 1, disabled: false });
  return { bus, documents, columns };
};
