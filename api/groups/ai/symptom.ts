/** Subject of a root-cause request: an alert, an anomaly, an incident, or a service and a range. */
import { z } from 'zod';
import { parseRange } from '../../../queries/range.ts';
import { TimeText } from '../../../queries/time-parameters.ts';
import { incidents } from '../../../schemas/resources/incident.ts';
import { readTransitions } from '../../../subjects/alerts/history.ts';
import { findAnomaly } from '../../../subjects/anomalies/read-anomalies.ts';
import type { Symptom } from '../../../subjects/causes/read-incident-context.ts';
import type { Caller } from '../../callers/caller.ts';
import { type ApiError, createFieldError } from '../../errors.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const id = z.string().min(1).max(256);

/** Fields of a request body that specify a symptom. */
export const symptomFields = {
  alertId: id.optional().describe('Id of an alert, as in `GET /api/alerts`'),
  anomalyId: id.optional(),
  incidentId: id.optional(),
  service: z.string().min(1).max(512).optional().describe('Degraded service, with from and to'),
  from: TimeText.default('now-1h').describe('For a service: it began to degrade in this range'),
  to: TimeText.default('now').describe('For a service: end of the range'),
};

export interface SymptomRequest {
  readonly alertId?: string | undefined;
  readonly anomalyId?: string | undefined;
  readonly incidentId?: string | undefined;
  readonly service?: string | undefined;
  readonly from: string;
  readonly to: string;
}

interface RequestContext {
  readonly caller: Caller;
  readonly ports: Ports;
}

type Labels = Readonly<Record<string, string>>;

const getServicesFromLabels = (labels: Labels): string[] =>
  [labels['service'] ?? labels['service.name'] ?? ''].filter((value) => value !== '');
const getHostsFromLabels = (labels: Labels): string[] =>
  [labels['host.name'] ?? labels['host'] ?? labels['k8s.node.name'] ?? ''].filter((value) => value !== '');

const createMissingError = (path: string, noun: string): ApiError =>
  createFieldError(path, `the ${noun} does not exist`);

const weekMs = 7 * 86_400_000;

/** Returns the last firing of each alert as a symptom: its time range, and the service and host of its labels. */
const readAlertSymptoms = async (
  alertIds: readonly string[],
  { caller, ports }: RequestContext,
): Promise<Omit<Symptom, 'isRange'>[]> => {
  const reader = createQueryReader(caller, ports);
  const range = {
    from: BigInt(Math.trunc(reader.nowMs) - 5 * weekMs) * 1_000_000n,
    to: BigInt(Math.trunc(reader.nowMs)) * 1_000_000n,
  };
  const rows = await readTransitions(reader, { alertIds }, { range, limit: 1000 });
  return alertIds.flatMap((alertId) => {
    const transitions = rows.filter(({ alert_id }) => alert_id === alertId);
    const firingTransition = transitions.find(
      ({ to_state, from_state }) => to_state === 'firing' && from_state !== 'recovering',
    );
    if (firingTransition === undefined) return [];
    const pendingTransition = transitions.find(
      ({ to_state, ms }) => to_state === 'pending' && Number(ms) <= Number(firingTransition.ms),
    );
    const hasPendingPhase = firingTransition.from_state === 'pending' && pendingTransition !== undefined;
    const endTransition = transitions.find(
      ({ to_state, ms }) => to_state === 'inactive' && Number(ms) > Number(firingTransition.ms),
    );
    return [
      {
        services: getServicesFromLabels(firingTransition.labels),
        hosts: getHostsFromLabels(firingTransition.labels),
        shownBy: [{ what: 'alert rule', id: firingTransition.rule_id }],
        noticedMs: Number(hasPendingPhase ? pendingTransition.ms : firingTransition.ms),
        untilMs: endTransition === undefined ? reader.nowMs : Number(endTransition.ms),
      },
    ];
  });
};

const readIncidentSymptom = async (incidentId: string, context: RequestContext): Promise<Omit<Symptom, 'isRange'>> => {
  const { caller, ports } = context;
  const incident = await ports.documents.forTenant(caller.tenantId).collection(incidents).find(incidentId);
  if (incident === undefined) throw createMissingError('incidentId', 'incident');
  const alerts =
    incident.alertIds.length === 0 ? [] : await readAlertSymptoms(incident.alertIds.slice(0, 100), context);
  const openedMs = Date.parse(incident.openedAt);
  return {
    services: [...new Set([...alerts.flatMap(({ services }) => services), ...incident.services])].slice(0, 10),
    hosts: [...new Set(alerts.flatMap(({ hosts }) => hosts))],
    shownBy: alerts.flatMap(({ shownBy }) => shownBy),
    noticedMs: Math.min(openedMs, ...alerts.map(({ noticedMs }) => noticedMs)),
    untilMs: incident.resolvedAt === null ? ports.clock.now() : Date.parse(incident.resolvedAt),
  };
};

/** Returns the requested symptom. Throws if the request specifies none, or one that does not exist. */
export const readSymptom = async (request: SymptomRequest, context: RequestContext): Promise<Symptom> => {
  const { alertId, anomalyId, incidentId, service } = request;
  const specifiedSubjects = [alertId, anomalyId, incidentId, service].filter((each) => each !== undefined);
  if (specifiedSubjects.length !== 1)
    throw createFieldError('alertId', 'specify one of alertId, anomalyId, incidentId and service');
  const { caller, ports } = context;
  if (alertId !== undefined) {
    const [alertSymptom] = await readAlertSymptoms([alertId], context);
    if (alertSymptom === undefined) throw createMissingError('alertId', 'alert that fired');
    return { ...alertSymptom, isRange: false };
  }
  if (anomalyId !== undefined) {
    const anomaly = await findAnomaly(createQueryReader(caller, ports), anomalyId);
    if (anomaly === undefined) throw createMissingError('anomalyId', 'anomaly');
    return {
      services: getServicesFromLabels(anomaly.labels),
      hosts: getHostsFromLabels(anomaly.labels),
      isRange: false,
      shownBy: [{ what: 'detector', id: anomaly.detectorId }],
      noticedMs: anomaly.beginMs,
      untilMs: anomaly.endMs ?? ports.clock.now(),
    };
  }
  if (incidentId !== undefined) return { ...(await readIncidentSymptom(incidentId, context)), isRange: false };
  const { from, to } = parseRange(request, ports.clock.now());
  return {
    services: [service ?? ''],
    hosts: [],
    shownBy: [],
    isRange: true,
    noticedMs: Number(from / 1_000_000n),
    untilMs: Number(to / 1_000_000n),
  };
};
