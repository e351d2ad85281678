/** Separation of invalid records from a request: both parts are requests, and together they contain all records. */
import test from 'ava';
import fc from 'fast-check';
import { PermanentError } from '../../schemas/errors.ts';
import { separateJsonRequest } from '../../schemas/otlp/json.ts';
import { scanRequest, separateRequest } from '../../schemas/otlp/scan.ts';
import { scanWriteRequest, separateWriteRequest } from '../../schemas/prometheus/scan.ts';
import type { SeparatedRequest } from '../../schemas/protobuf/separate.ts';
import { signals } from '../../schemas/telemetry-signals.ts';
import { propertyRuns } from '../budget.ts';
import { messageOf, requestTypes, writeRequestTypes } from './proto/load.ts';

const attempt = <Value>(work: () => Value): Value | PermanentError => {
  try {
    return work();
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
};

const change = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
const changeBytes = (bytes: Uint8Array, changes: readonly (readonly [number, number])[]): Buffer => {
  const changed = Buffer.from(bytes);
  for (const [position, value] of changes) changed[position % Math.max(1, changed.length)] = value;
  return changed;
};

/** A body that `scan` accepts is not separated; the accepted part of any other body is accepted by `scan`. */
const check = (
  body: Buffer,
  scan: (body: Uint8Array) => unknown,
  separate: (body: Uint8Array) => SeparatedRequest | undefined,
): boolean => {
  const isValid = !(attempt(() => scan(body)) instanceof PermanentError);
  const separated = attempt(() => separate(body));
  if (isValid) return separated === undefined;
  if (separated === undefined || separated instanceof PermanentError) return true;
  const isAccepted = !(attempt(() => scan(separated.accepted)) instanceof PermanentError);
  const hasRejected = attempt(() => scan(separated.rejected.body)) instanceof PermanentError;
  const { length } = separated.accepted;
  return isAccepted && hasRejected && length <= body.length && separated.rejected.records >= 1;
};

for (const signal of signals) {
  test(`${signal}: accepted records of a damaged request are valid, and rejected records are not`, (t) => {
    const type = requestTypes[signal];
    fc.assert(
      fc.property(messageOf(type, 6), change, (message, changes) =>
        check(
          changeBytes(type.encode(type.fromObject(message)).finish(), changes),
          (body) => scanRequest(signal, body),
          (body) => separateRequest(signal, body),
        ),
      ),
      { numRuns: propertyRuns(2_000), endOnFailure: true },
    );
    t.pass();
  });
}

for (const version of [1, 2] as const) {
  test(`remote-write ${version}.0: accepted records of a damaged request are valid, and rejected records are not`, (t) => {
    const type = writeRequestTypes[version];
    const labels = { 1: { labels: [{ name: '__name__', value: 'up' }] }, 2: { labelsRefs: [1, 2] } }[version];
    const samples = fc.array(fc.record({ value: fc.double(), timestamp: fc.nat() }), { maxLength: 4 });
    const series = samples.map((some) => ({ ...labels, samples: some }));
    const request = fc.array(series, { maxLength: 4 }).map((timeseries) => ({
      timeseries,
      ...(version === 2 ? { symbols: ['', '__name__', 'up', 'x'] } : {}),
    }));
    fc.assert(
      fc.property(request, change, (message, changes) =>
        check(
          changeBytes(type.encode(type.fromObject(message)).finish(), changes),
          (body) => scanWriteRequest(version, body),
          (body) => separateWriteRequest(version, body),
        ),
      ),
      { numRuns: propertyRuns(2_000), endOnFailure: true },
    );
    t.pass();
  });
}

test('of a JSON request with any faulty records, exactly these are rejected, in their order', (t) => {
  const record = fc.record({ isValid: fc.boolean(), name: fc.string({ maxLength: 8 }) });
  const scopes = fc.array(fc.array(fc.array(record, { maxLength: 4 }), { maxLength: 3 }), { maxLength: 3 });
  fc.assert(
    fc.property(scopes, fc.boolean(), (resources, isSpaced) => {
      const build = (isIncluded: (valid: boolean) => boolean) => ({
        resourceLogs: resources.map((resource, index) => ({
          resource: { attributes: [{ key: 'n', value: { intValue: index } }] },
          scopeLogs: resource.map((records) => ({
            logRecords: records
              .filter(({ isValid }) => isIncluded(isValid))
              .map(({ isValid, name }) => ({ severityText: name, severityNumber: isValid ? 9 : 1_000 })),
          })),
        })),
      });
      const text = Buffer.from(
        JSON.stringify(
          build(() => true),
          null,
          isSpaced ? ' ' : undefined,
        ),
      );
      const all = resources.flat(2);
      const faulty = all.filter(({ isValid }) => !isValid);
      const converted = attempt(() => separateJsonRequest('logs', text));
      if (converted instanceof PermanentError) return faulty.length > 0 && faulty.length === all.length;
      if (scanRequest('logs', converted.body).records !== all.length - faulty.length) return false;
      if (converted.rejected === undefined) return faulty.length === 0;
      const names = (body: Buffer): unknown[] =>
        (JSON.parse(body.toString()) as ReturnType<typeof build>).resourceLogs.flatMap(({ scopeLogs }) =>
          scopeLogs.flatMap(({ logRecords }) => logRecords.map(({ severityText }) => severityText)),
        );
      t.deepEqual(
        names(converted.rejected.body),
        faulty.map(({ name }) => name),
      );
      return converted.rejected.records === faulty.length;
    }),
    { numRuns: propertyRuns(1_000), endOnFailure: true },
  );
  t.pass();
});
