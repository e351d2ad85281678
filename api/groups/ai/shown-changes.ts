/** What people changed of the rule or detector that shows a symptom, from the audit log: what every Viewer may read of it. */
import type { Symptom } from '../../../subjects/causes/read-scene.ts';
import { type ChangeOfShown, changesBeforeMs } from '../../../subjects/causes/shown-by.ts';
import { newestRecords } from '../../audit/record-search.ts';
import type { Ports } from '../../kernel/ports.ts';

/** Of an incident with many alerts, the first; and of each the newest changes. */
const mostShown = 5;
const mostChanges = 5;

export const changesOfShown = async (
  { shownBy, noticedMs, untilMs }: Symptom,
  tenantId: string,
  { documents, configurationActions }: Pick<Ports, 'documents' | 'configurationActions'>,
): Promise<ChangeOfShown[]> => {
  const distinct = [...new Map(shownBy.map((each) => [each.id, each])).values()].slice(0, mostShown);
  const found = await Promise.all(
    distinct.map(async (one) => {
      const within = { fromMs: noticedMs - changesBeforeMs, toMs: untilMs };
      const filter = { ...within, actions: configurationActions, resourceId: one.id };
      const records = await newestRecords(documents, tenantId, filter, { limit: mostChanges });
      return records.map(
        ({ at, action, details }): ChangeOfShown => ({
          ...{ shownBy: one, atMs: Date.parse(at) },
          title: `${action}${details === null || details.resourceName === '' ? '' : ` ${details.resourceName}`}`,
        }),
      );
    }),
  );
  return found.flat();
};
