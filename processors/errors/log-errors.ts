import type { LogRecord } from '../../schemas/records/log-record.ts';
import { errorSeverity, getSeverityNumber } from '../../schemas/records/severity.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import {
  embeddedNames,
  type FoundException,
  findEmbedded,
  findInBody,
  separateStack,
} from '../../subjects/errors/embedded-exceptions.ts';
import { defineProcessor } from '../engine/definition.ts';
import { createAttributeReader, type Read, toRaisedError } from './raised-error.ts';

const warnSeverity = 13;

/** Returns the exception in other attributes or in the body, as programs without OpenTelemetry write it. */
const findException = (body: string, read: Read): FoundException | undefined => {
  const attributes: Record<string, string> = {};
  for (const name of embeddedNames) {
    const value = read(name);
    if (value !== undefined) attributes[name] = value;
  }
  const parsedException = findEmbedded(attributes);
  if (parsedException !== undefined && parsedException.stack !== '') return parsedException;
  const inBody = findInBody(body);
  return inBody === undefined || (inBody.stack === '' && parsedException !== undefined) ? parsedException : inBody;
};

/** Returns the recorded exception, or the one in the body of an error; undefined for neither. */
const readException = (record: LogRecord, level: number, read: Read): FoundException | undefined => {
  const type = read('exception.type');
  const message = read('exception.message');
  const stack = read('exception.stacktrace');
  if (stack !== undefined) return { type: type ?? '', message: message ?? record.body, stack };
  const isException = type !== undefined || message !== undefined;
  if (!isException && level < errorSeverity) return undefined;
  const { body } = record;
  const parsedException = findException(body, read);
  const exception = {
    type: type ?? parsedException?.type ?? '',
    message: message ?? (parsedException?.message || body),
    stack: parsedException?.stack ?? '',
  };
  return message === undefined ? exception : separateStack(exception);
};

/** Finds errors in logs: exceptions from WARN up, and all ERROR and FATAL records. */
export const logErrors = defineProcessor({
  name: 'log-errors',
  summary: 'Finds exceptions and errors in logs, and computes their fingerprints.',
  reads: logRecords,
  recordFilter: { severity: warnSeverity },
  emits: { raised: topics.raisedErrors },
  entitlement: 'logs',
  step(record, { emit }) {
    const level = getSeverityNumber(record);
    if (level > 0 && level < warnSeverity) return;
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
