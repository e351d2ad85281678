import { computeHashId } from '../../runtime/hash-id.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { getRecordValues } from '../../subjects/detections/record-event.ts';
import {
  AuditEvent,
  type AuditRecord,
  addRecord,
  isComplete,
  parseAuditRecords,
  toFileChanges,
} from '../../subjects/file-integrity/auditd.ts';
import { parsePackageChanges } from '../../subjects/file-integrity/packages.ts';
import { parseChanges } from '../../subjects/file-integrity/read.ts';
import { changeAttributes, changeTexts, mayDescribeChange } from '../../subjects/file-integrity/shapes.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { keyedState, type LruMap } from '../engine/state.ts';

/** Maximum number of incomplete auditd events; the least recently used one is evicted. */
const maxEvents = 10_000;
/** Maximum time between the records of one auditd event. */
const waitMs = 5_000;

const emits = { files: topics.fileChanges, packages: topics.packageChanges };
type FilesContext = Context<typeof emits, Readonly<Record<never, never>>, LruMap<AuditEvent>>;

const isRelevant = (record: LogRecord): boolean =>
  mayDescribeChange(record.body) || changeAttributes.some((name) => record.getAttribute(name) !== undefined);

const readHost = (record: LogRecord): string =>
  record.getResourceAttribute('host.name') ??
  record.getAttribute('host.name') ??
  record.getResourceAttribute('k8s.node.name') ??
  '';

const emitEvent = (key: string, event: AuditEvent, { emit, state, tenantId, setTimer }: FilesContext): void => {
  state.delete(key);
  setTimer('clock', Number.POSITIVE_INFINITY, key);
  for (const { recordId, item, ...change } of toFileChanges(event))
    emit.files({
      ...change,
      tenantId,
      projectId: event.projectId,
      service: event.service,
      recordId,
      id: computeHashId('auditd', key, recordId, item),
    });
};

const handleLine = (line: AuditRecord, record: LogRecord, context: FilesContext): void => {
  const { projectId, service } = record;
  const host = line.host || readHost(record);
  const key = JSON.stringify([projectId, host, line.serial]);
  const existing = context.state.get(key);
  // PROCTITLE and EOE records only complete an event; they do not start one.
  if (existing === undefined && (line.type === 'PROCTITLE' || line.type === 'EOE')) return;
  const event = addRecord(
    existing ?? { timeMs: line.timeMs, projectId, service, host, cwd: '', call: null, paths: [], isOver: false },
    line,
    record.recordId,
  );
  if (isComplete(event)) {
    emitEvent(key, event, context);
    return;
  }
  context.state.set(key, event);
  if (existing === undefined) context.setTimer('clock', context.clockMs + waitMs, key);
};

/** Finds changes of files and packages in logs. */
export const fileChanges = defineProcessor({
  name: 'file-changes',
  summary:
    'Finds changes of files and packages in logs of osquery, Falco, auditd, Wazuh, OpenTelemetry and package managers.',
  reads: logRecords,
  // Most records contain no change.
  recordFilter: { attributes: changeAttributes, body: changeTexts },
  emits,
  entitlement: 'logs',
  state: keyedState({ version: 1, maxEntries: maxEvents, schema: AuditEvent }),

  step(record, context) {
    if (!isRelevant(record)) return;
    const { body, timeMs, tenantId, projectId, service } = record;
    const lines = parseAuditRecords(body, timeMs);
    if (lines.length > 0) {
      for (const line of lines) handleLine(line, record, context);
      return;
    }
    const recordFields = { tenantId, projectId, recordId: record.recordId };
    const values = getRecordValues(record);
    const eventName = record.eventName;
    const attributes =
      eventName === '' ? values.attributes : [...values.attributes, ['event.name', eventName] as const];
    const changes = parseChanges({ ...values, attributes }, timeMs);
    for (const [index, change] of changes.entries())
      context.emit.files({
        ...change,
        ...recordFields,
        service,
        id: computeHashId('file', recordFields.recordId, index),
      });
    if (changes.length > 0) return;
    const host = readHost(record);
    for (const [index, change] of parsePackageChanges(body, timeMs).entries())
      context.emit.packages({
        ...change,
        ...recordFields,
        host,
        id: computeHashId('package', recordFields.recordId, index),
      });
  },

  timer({ key }, context) {
    const event = context.state.get(key);
    if (event !== undefined) emitEvent(key, event, context);
  },
});
