/** Acknowledging an incident acknowledges its active alerts in the same transaction. */
import { withTimeout } from '../../../runtime/timeout.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { alertAcknowledgements } from '../../../schemas/resources/alert-rule.ts';
import type { Incident } from '../../../schemas/resources/incident.ts';
import { readAlerts } from '../../../subjects/alerts/history.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { listFiringPlatformAlerts } from '../alerts/platform-alerts.ts';
import type { TimelineContext } from './timeline-sources.ts';

/** Time limit of the read, after which the incident is acknowledged without its alerts. */
const maxReadMs = 4000;

interface ActiveIncidentAlert {
  readonly alertId: string;
  readonly ruleId: string;
  readonly startedAtMs: number | null;
}

/**
 * Returns the active alerts of the incident. If they are unavailable, the incident is acknowledged anyway, and the log
 * contains a warning.
 */
const readActiveAlerts = async (
  { alertIds }: Incident,
  { tenantId, reader, ports }: TimelineContext,
): Promise<ActiveIncidentAlert[]> => {
  const { documents, clock, log } = ports;
  const platform = await listFiringPlatformAlerts(documents, tenantId, clock.now());
  const platformAlertsOfIncident = platform.filter(({ alertId }) => alertIds.includes(alertId));
  try {
    const states = ['pending', 'firing', 'recovering', 'unknown'] as const;
    return [
      ...platformAlertsOfIncident,
      ...(await withTimeout(maxReadMs, readAlerts(reader, { alertIds, states }, alertIds.length))),
    ];
  } catch (error) {
    log.warn({ error }, 'alerts of an incident could not be read, so they are not acknowledged with it');
    return platformAlertsOfIncident;
  }
};

/**
 * Reads the active alerts of an incident that is about to be acknowledged, and returns a function that acknowledges them
 * within the transaction. Already acknowledged alerts stay unchanged.
 */
export const prepareAcknowledgements = async (
  after: Incident,
  before: Incident & StoredMetadata,
  context: TimelineContext,
  by: string,
): Promise<(forTenant: AuditedTransaction['forTenant']) => Promise<void>> => {
  const { tenantId, ports } = context;
  const isNew = after.status === 'acknowledged' && before.status !== 'acknowledged';
  const activeAlerts = isNew && after.alertIds.length > 0 ? await readActiveAlerts(after, context) : [];
  return async (forTenant) => {
    const marks = forTenant(tenantId).collection(alertAcknowledgements);
    const at = new Date(ports.clock.now()).toISOString();
    for (const { alertId, ruleId, startedAtMs } of activeAlerts) {
      const mark = { ruleId, startedAtMs: startedAtMs ?? 0, by, at, note: `incident ${before.id}` };
      const existing = await marks.find(alertId);
      if (existing === undefined) await marks.insert({ id: alertId, ...mark });
      else if (existing.startedAtMs !== mark.startedAtMs) await marks.replace(alertId, mark, existing.version);
    }
  };
};
