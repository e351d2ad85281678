import type { LogRecord } from '../../schemas/records/log-record.ts';
import { errorSeverity, getSeverityNumber } from '../../schemas/records/severity.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { parseStack } from '../../subjects/errors/stack.ts';
import { defineProcessor } from '../engine/definition.ts';
import { createAttributeReader, type RaisedInput, type Read, toRaisedError } from './raised.ts';

const warn = 13;

/** Scans each word once, from its beginning. */
const exceptionHeader = /(?<![\w$.\\])[\d$.\\]*([A-Za-z_][\w$.\\]*(?:Error|Exception|Panic))\b:? ?([^\n]{0,2000})/;

/** Parses an exception from the text of a body, as programs without OpenTelemetry print it. */
const parseException = (body: string): Pick<RaisedInput, 'type' | 'message' | 'stack'> => {
  const plain = { type: '', message: body, stack: '' };
  if (!body.trimEnd().includes('\n')) return plain;
  const [line = ''] = body.trimStart().split('\n', 1);
  const { language, chain } = parseStack(body);
  if (language === undefined) return plain;
  const [, type = '', message = line] = exceptionHeader.exec(body.slice(0, 4_096)) ?? [];
  return { type: chain[0]?.type || type, message: language === 'python' ? line : message, stack: body };
};

/** Returns the recorded exception, or the one in the body of an error; undefined for neither. */
const readException = (
  record: LogRecord,
  level: number,
  read: Read,
): Pick<RaisedInput, 'type' | 'message' | 'stack'> | undefined => {
  const type = read('exception.type');
  const message = read('exception.message');
  const stack = read('exception.stacktrace');
  if (type !== undefined || message !== undefined || stack !== undefined)
    return { type: type ?? '', message: message ?? record.body, stack: stack ?? '' };
  return level >= errorSeverity ? parseException(record.body) : undefined;
};

/** Finds errors in logs: exceptions from WARN up, and all ERROR and FATAL records. */
export const logErrors = defineProcessor({
  name: 'log-errors',
  summary: 'Finds exceptions and errors in logs, and computes their fingerprints.',
  reads: logRecords,
  recordFilter: { severity: warn },
  emits: { raised: topics.raisedErrors },
  entitlement: 'logs',
  step(record, { emit }) {
    const level = getSeverityNumber(record);
    if (level > 0 && level < warn) return;
    const read = createAttributeReader(record);
    const exception = readException(record, level, read);
    if (exception === undefined) return;
    emit.raised(
      toRaisedError(record, {
        ...exception,
        source: 'log',
        recordId: record.recordId,
        parentSpanId: '',
        isStatusOnly: false,
        handled: null,
        timeNs: record.timeNs,
        tags: {},
        read,
      }),
    );
  },
});
