/**
 * CPU time of the record views: stepping over the log records of a message, and reading a few fields of each, compared
 * with decoding by protobufjs and scanning like the logs sink. Prints minimum and median of the rounds as JSON.
 *
 *     node bin/node.mjs test/bench/records.ts [rounds]
 */

import type { LogRecord } from '../../schemas/records/log-record.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { validateRequest } from '../../schemas/records/validate.ts';
import { sinks } from '../../sinks/registry.ts';
import { requestTypes } from '../cases/proto/load.ts';
import { logMessages } from './payloads.ts';

const rounds = Number(process.argv[2] ?? 15);
const perMessage = 500;
const messages = logMessages(perMessage);
const records = messages.length * perMessage;
const from = { topic: 'otlp.logs', partition: 0 };

/** A side effect, so that the compiler cannot remove the work. */
let sum = 0;
const each = (read: (record: LogRecord) => number) => (): void => {
  for (const message of messages) for (const record of iterateItems(logRecords, message, from)) sum += read(record);
};
const scanner = await sinks.find(({ name }) => name === 'logs')?.scanner();
const scan = (): void => {
  for (const table of scanner?.tables ?? []) for (const column of table.columns.values()) column.reset();
  for (const seen of scanner?.landedHours ?? []) seen.begin(1);
  for (const message of messages) scanner?.scan(message, 0);
  for (const seen of scanner?.landedHours ?? []) seen.end();
};

const steps: Readonly<Record<string, () => void>> = {
  check: () => {
    for (const { value } of messages) validateRequest('logs', value);
  },
  iterate: each(() => 1),
  serviceAndSeverity: each(({ service, severityNumber }) => service.length + severityNumber),
  serviceSeverityTimeText: each(
    ({ service, severityNumber, severityText, timeMs }) =>
      service.length + severityNumber + timeMs + severityText.length,
  ),
  oneAttribute: each((record) => record.getAttribute('http.response.status_code')?.length ?? 0),
  missingAttribute: each((record) => record.getAttribute('no.such.key')?.length ?? 0),
  resourceAttribute: each((record) => record.getResourceAttribute('host.name')?.length ?? 0),
  body: each(({ body }) => body.length),
  allAttributes: each(({ attributes }) => attributes.length),
  copy: each((record) => record.copy().ordinal),
  protobufjs: () => {
    for (const { value } of messages) sum += JSON.stringify(Object.keys(requestTypes.logs.decode(value))).length;
  },
  sinkScan: scan,
};

const microseconds = (step: () => void): number => {
  const start = process.cpuUsage();
  step();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / records;
};
const figures: Record<string, { min: number; median: number }> = {};
for (const [name, step] of Object.entries(steps)) {
  for (let round = 0; round < 5; round++) step();
  const measured = Array.from({ length: rounds }, () => microseconds(step)).sort((one, other) => one - other);
  const [min = 0, median = 0] = [measured[0], measured[rounds >> 1]];
  figures[name] = { min: Number(min.toFixed(3)), median: Number(median.toFixed(3)) };
}
const bytes = messages.reduce((total, { value }) => total + value.length, 0) / records;
console.log(JSON.stringify({ records, bytesPerRecord: Math.round(bytes), sum }));
console.table(figures);
