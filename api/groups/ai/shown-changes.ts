/**
 * Reads changes from the audit log: of the rule or detector that reports a symptom, of the plan, and of the routing.
 * Every Viewer may read these changes.
 */
import { alertRoutingId } from '../../../schemas/resources/alert-routing.ts';
import type { Symptom } from '../../../subjects/causes/read-incident-context.ts';
import { changesBeforeMs, type SourceChange, type SymptomSource } from '../../../subjects/causes/source-changes.ts';
import type { Ports } from '../../kernel/ports.ts';
import { findNewestRecords } from '../audit/chain/record-search.ts';

/** Only the first rules and detectors that report a symptom are used, and only the newest changes of each. */
const maxReporters = 5;
const maxChanges = 5;

/** Returns the objects that affect every reported symptom: the plan, and for alerts also their routing. */
const getSharedReporters = (shownBy: readonly SymptomSource[], tenantId: string): SymptomSource[] => {
  if (shownBy.length === 0) return [];
  const hasAlertRule = shownBy.some(({ what }) => what === 'alert rule');
  return [
    { what: 'plan', id: tenantId },
    ...(hasAlertRule ? [{ what: 'alert routing', id: alertRoutingId } as const] : []),
  ];
};

export const readReporterChanges = async (
  { shownBy, noticedMs, untilMs }: Symptom,
  tenantId: string,
  { documents, configurationActions }: Pick<Ports, 'documents' | 'configurationActions'>,
): Promise<SourceChange[]> => {
  const reporters = [...new Map(shownBy.map((symptomSource) => [symptomSource.id, symptomSource])).values()].slice(
    0,
    maxReporters,
  );
  const changes = await Promise.all(
    [...reporters, ...getSharedReporters(reporters, tenantId)].map(async (reporter) => {
      const timeRange = { fromMs: noticedMs - changesBeforeMs, toMs: untilMs };
      // Everybody can see the current plan, so plan changes are also visible to callers who may not read other changes
      // by an Admin.
      const actions = reporter.what === 'plan' ? ['organization.change-plan'] : configurationActions;
      const filter = { ...timeRange, actions, resourceId: reporter.id };
      const records = await findNewestRecords(documents, tenantId, filter, { limit: maxChanges });
      return records.map(
        ({ at, action, details }): SourceChange => ({
          shownBy: reporter,
          atMs: Date.parse(at),
          title: `${action}${details === null || details.resourceName === '' ? '' : ` ${details.resourceName}`}`,
        }),
      );
    }),
  );
  return changes.flat();
};
