/** Removes silences that ended long ago. */

import { getFields } from '../../../runtime/stored-fields.ts';
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { getSilenceState, silences } from '../../../schemas/resources/silence.ts';
import { formatMatchers } from '../../../subjects/alerts/routing/matchers.ts';
import { createSystemActor, createSystemTransact } from '../../changes.ts';

/** How long an ended silence stays in the list */
export const retentionDays = 30;

/** Each removal is a separate change, so the audit log contains the complete silence. */
export const removeOldSilences = async (ports: {
  readonly documents: Documents;
  readonly clock: Clock;
}): Promise<void> => {
  const maxEndMs = ports.clock.now() - retentionDays * 86_400_000;
  const endedFilter = { endsAt: { $lt: new Date(maxEndMs).toISOString() } };
  for await (const { id, tenantId } of ports.documents.findInAllTenants(silences, endedFilter))
    await createSystemTransact(
      ports,
      'silence.remove',
    )(async ({ forTenant, record, markUnchanged }) => {
      const silenceCollection = forTenant(tenantId).collection(silences);
      const before = await silenceCollection.find(id);
      if (before === undefined || getSilenceState(before, maxEndMs) !== 'expired') return markUnchanged();
      await silenceCollection.delete(id, before.version);
      const name = formatMatchers(before.matchers);
      record({ id, name, tenantId, actor: createSystemActor('removal of old silences'), before: getFields(before) });
    });
};
