import { type Fields, isFields } from '../../runtime/fields.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import type { AgentReport } from '../../schemas/agent-events.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { readReport, reportAttributes, reportTexts } from '../../subjects/agents/read-report.ts';
import { getRecordValues } from '../../subjects/detections/record-event.ts';
import { defineProcessor } from '../engine/definition.ts';

const readHost = (record: LogRecord): string =>
  record.getResourceAttribute('host.name') ??
  record.getAttribute('host.name') ??
  record.getResourceAttribute('k8s.node.name') ??
  record.getResourceAttribute('host.id') ??
  '';

/** Returns the object in the body of a record, or its attributes if it has no such body. */
const readBody = (record: LogRecord): Fields | undefined => {
  const { body } = record;
  if (/^\s*\{/.test(body))
    try {
      const value = JSON.parse(body) as unknown;
      return isFields(value) ? value : undefined;
    } catch {
      return undefined;
    }
  return reportAttributes.some((name) => record.getAttribute(name) !== undefined)
    ? Object.fromEntries(getRecordValues(record).attributes)
    : undefined;
};

/** Finds reports about agents in log records: events of AgentSight, Falco and Tetragon. */
export const agentLogReports = defineProcessor({
  name: 'agent-log-reports',
  summary: 'Finds processes, files, connections and model traffic of agents in logs of AgentSight, Falco and Tetragon.',
  reads: logRecords,
  // Most records are not reports.
  recordFilter: { attributes: reportAttributes, body: reportTexts },
  emits: { reports: topics.agentReports },
  entitlement: 'agentsight',
  step(record, { emit }) {
    const body = readBody(record);
    if (body === undefined) return;
    const recordMs = Number(record.timeNs) / 1e6;
    const read = readReport(body, recordMs);
    if (read === undefined) return;
    const { tenantId, projectId, service, recordId, traceId, spanId } = record;
    const report: AgentReport = {
      tenantId,
      projectId,
      service,
      id: computeHashId('agent', recordId),
      recordId,
      traceId,
      spanId,
      recordMs,
      ...read,
    };
    emit.reports({ ...report, host: read.host || readHost(record).slice(0, 256) || service.slice(0, 256) });
  },
});
