import { hashOf } from '../../runtime/hash-of.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { valuesOfRecord } from '../../subjects/detections/record-event.ts';
import {
  AuditEvent,
  type AuditLine,
  auditLines,
  changesOf,
  isWhole,
  withLine,
} from '../../subjects/file-integrity/auditd.ts';
import { packagesIn } from '../../subjects/file-integrity/packages.ts';
import { changesIn } from '../../subjects/file-integrity/read.ts';
import { changeAttributes, changeTexts, mayDescribeChange } from '../../subjects/file-integrity/shapes.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { type Keyed, keyedState } from '../engine/state.ts';

/** Maximum number of incomplete auditd events; the least recently used one is evicted. */
const maxEvents = 10_000;
/** Maximum time between the records of one auditd event. */
const waitMs = 5_000;

const emits = { files: topics.fileChanges, packages: topics.packageChanges };
type FilesContext = Context<typeof emits, Readonly<Record<never, never>>, Keyed<AuditEvent>>;

const isRelevant = (record: LogRecord): boolean =>
  mayDescribeChange(record.body) || changeAttributes.some((name) => record.attribute(name) !== undefined);

const hostOf = (record: LogRecord): string =>
  record.resource('host.name') ?? record.attribute('host.name') ?? record.resource('k8s.node.name') ?? '';

const finish = (key: string, event: AuditEvent, { emit, state, tenantId, setTimer }: FilesContext): void => {
  state.delete(key);
  setTimer('clock', Number.POSITIVE_INFINITY, key);
  for (const { recordId, item, ...change } of changesOf(event))
    emit.files({
      ...change,
      tenantId,
      projectId: event.projectId,
      service: event.service,
      recordId,
      id: hashOf('auditd', key, recordId, item),
    });
};

const handleLine = (line: AuditLine, record: LogRecord, context: FilesContext): void => {
  const { projectId, service } = record;
  const host = line.host || hostOf(record);
  const key = JSON.stringify([projectId, host, line.serial]);
  const known = context.state.get(key);
  // Records that only end an event do not start one.
  if (known === undefined && (line.type === 'PROCTITLE' || line.type === 'EOE')) return;
  const event = withLine(
    known ?? { timeMs: line.timeMs, projectId, service, host, cwd: '', call: null, paths: [], isOver: false },
    line,
    record.recordId,
  );
  if (isWhole(event)) {
    finish(key, event, context);
    return;
  }
  context.state.set(key, event);
  if (known === undefined) context.setTimer('clock', context.clockMs + waitMs, key);
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
    const lines = auditLines(body, timeMs);
    if (lines.length > 0) {
      for (const line of lines) handleLine(line, record, context);
      return;
    }
    const of = { tenantId, projectId, recordId: record.recordId };
    const values = valuesOfRecord(record);
    const named = record.eventName;
    const attributes = named === '' ? values.attributes : [...values.attributes, ['event.name', named] as const];
    const changes = changesIn({ ...values, attributes }, timeMs);
    for (const [at, change] of changes.entries())
      context.emit.files({ ...change, ...of, service, id: hashOf('file', of.recordId, at) });
    if (changes.length > 0) return;
    const host = hostOf(record);
    for (const [at, change] of packagesIn(body, timeMs).entries())
      context.emit.packages({ ...change, ...of, host, id: hashOf('package', of.recordId, at) });
  },

  timer({ key }, context) {
    const event = context.state.get(key);
    if (event !== undefined) finish(key, event, context);
  },
});
