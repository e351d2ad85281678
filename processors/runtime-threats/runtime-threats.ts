import { computeHashId } from '../../runtime/hash-id.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { parseThreat } from '../../subjects/runtime-threats/read-threat.ts';
import { threatAttributes, threatTexts } from '../../subjects/runtime-threats/shapes.ts';
import { defineProcessor } from '../engine/definition.ts';

/** Finds events of runtime security sensors in log records. */
export const runtimeThreats = defineProcessor({
  name: 'runtime-threats',
  summary: 'Finds events of Falco, Tetragon, Tracee, KubeArmor, OpenTelemetry, ECS and OCSF in logs.',
  reads: logRecords,
  // Most records contain no event.
  recordFilter: { attributes: threatAttributes, body: threatTexts },
  emits: { threats: topics.runtimeThreats },
  entitlement: 'security',
  step(record, { emit }) {
    const { tenantId, projectId, recordId, service, body, severity, timeMs } = record;
    const attributes = new Map(record.attributes.map(({ key, text }) => [key, text]));
    const resourceAttributes = new Map(Array.from(record.resourceAttributes.values(), ({ key, text }) => [key, text]));
    const threat = parseThreat({ body, attributes, resourceAttributes, severity, timeMs, projectId });
    if (threat === undefined) return;
    emit.threats({ ...threat, tenantId, projectId, recordId, service, id: computeHashId('threat', recordId) });
  },
});
