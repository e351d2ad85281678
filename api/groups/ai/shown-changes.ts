/**
 * Changes of the rule or detector that reports a symptom, and of the plan and routes, from the audit log: the part that
 * every Viewer may read.
 */
import { alertRoutingId } from '../../../schemas/resources/alert-routing.ts';
import type { Symptom } from '../../../subjects/causes/read-incident-context.ts';
import { type ChangeOfShown, changesBeforeMs, type ShownBy } from '../../../subjects/causes/shown-by.ts';
import type { Ports } from '../../kernel/ports.ts';
import { newestRecords } from '../audit/chain/record-search.ts';

/** Of an incident with many alerts, only the first ones are used; of each, only the newest changes. */
const maxShown = 5;
const maxChanges = 5;

/** Objects that affect every reported symptom. */
const behind = (shownBy: readonly ShownBy[], tenantId: string): ShownBy[] => {
  if (shownBy.length === 0) return [];
  const isOfAlerts = shownBy.some(({ what }) => what === 'alert rule');
  return [
    { what: 'plan', id: tenantId },
    ...(isOfAlerts ? [{ what: 'alert routing', id: alertRoutingId } as const] : []),
  ];
};

export const changesOfShown = async (
  { shownBy, noticedMs, untilMs }: Symptom,
  tenantId: string,
  { documents, configurationActions }: Pick<Ports, 'documents' | 'configurationActions'>,
): Promise<ChangeOfShown[]> => {
  const distinct = [...new Map(shownBy.map((each) => [each.id, each])).values()].slice(0, maxShown);
  const found = await Promise.all(
    [...distinct, ...behind(distinct, tenantId)].map(async (one) => {
      const within = { fromMs: noticedMs - changesBeforeMs, toMs: untilMs };
      // Everybody can see the current plan, so plan changes are visible also to callers who may not read other changes
      // of an Admin.
      const actions = one.what === 'plan' ? ['organization.change-plan'] : configurationActions;
      const filter = { ...within, actions, resourceId: one.id };
      const records = await newestRecords(documents, tenantId, filter, { limit: maxChanges });
      return records.map(
        ({ at, action, details }): ChangeOfShown => ({
          shownBy: one,
          atMs: Date.parse(at),
          title: `${action}${details === null || details.resourceName === '' ? '' : ` ${details.resourceName}`}`,
        }),
      );
    }),
  );
  return found.flat();
};
