/** Sets the number of partitions for the telemetry of an organization. */
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { Organization, organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';

/** Sets the number; receivers apply it within seconds. Throws with the reason if it is impossible. */
export const setShards = async (
  ports: { readonly documents: Documents; readonly clock: Clock },
  id: string,
  shards: number,
): Promise<{ readonly before: number; readonly after: Organization & StoredMetadata }> => {
  if (!Organization.shape.shards.safeParse(shards).success)
    throw new Error('the number of shards must be a whole number from 1 to 64');
  return createSystemTransact(
    ports,
    'organization.shards',
  )(async ({ forTenant, record }) => {
    const stored = forTenant(organizationsTenant).collection(organizations);
    const before = await stored.find(id);
    if (before === undefined) throw new Error(`organization ${id} does not exist`);
    const after = await stored.update(id, { shards });
    record({ id, name: before.name, before, after, tenantId: id, actor: createSystemActor('command line') });
    return { before: before.shards, after };
  });
};
