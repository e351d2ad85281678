/** Removes silences that ended long ago */

import { fieldsOf } from '../../../runtime/stored-fields.ts';
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { silenceStateAt, silences } from '../../../schemas/resources/silence.ts';
import { matchersText } from '../../../subjects/alerts/routing/matching.ts';
import { systemActor, systemChange } from '../../changes.ts';

/** How long an ended silence stays in the list */
export const retentionDays = 30;

/** Each removal is a separate change, so the audit log contains the complete silence. */
export const removeOldSilences = async (ports: {
  readonly documents: Documents;
  readonly clock: Clock;
}): Promise<void> => {
  const endedMs = ports.clock.now() - retentionDays * 86_400_000;
  const old = { endsAt: { $lt: new Date(endedMs).toISOString() } };
  for await (const { id, tenantId } of ports.documents.everywhere(silences, old))
    await systemChange(
      ports,
      'silence.remove',
    )(async ({ of, record, unchanged }) => {
      const stored = of(tenantId).collection(silences);
      const before = await stored.find(id);
      if (before === undefined || silenceStateAt(before, endedMs) !== 'expired') return unchanged();
      await stored.delete(id, before.version);
      const name = matchersText(before.matchers);
      record({ id, name, tenantId, actor: systemActor('removal of old silences'), before: fieldsOf(before) });
    });
};
