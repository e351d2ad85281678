/**
 * Receivers and sinks parse the same bytes with separate parsers: a sink must accept every body that a receiver
 * accepts.
 */
import test from 'ava';
import fc from 'fast-check';
import { PermanentError } from '../../schemas/errors.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { scanWriteRequest } from '../../schemas/prometheus/scan.ts';
import type { Format } from '../../schemas/telemetry-message.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';
import { scanBatch } from '../../sinks/engine/batch-scan.ts';
import type { Scanner } from '../../sinks/scan/scanner.ts';
import { nestedArrays } from '../contract/receivers-bodies.ts';
import { messageOf, requestTypes, writeRequestTypes } from './proto/load.ts';
import { messageOf as busMessageOf, scannerOf } from './sink-tables.ts';

interface Kind {
  readonly format: Format;
  readonly signal: Signal;
  readonly bodies: fc.Arbitrary<Uint8Array>;
  /** Throws a `PermanentError` for what a receiver refuses. */
  readonly admit: (body: Uint8Array) => void;
}

const otlp = (signal: Signal): Kind => ({
  format: 'otlp',
  signal,
  bodies: messageOf(requestTypes[signal], 6).map((request) =>
    requestTypes[signal].encode(requestTypes[signal].fromObject(request)).finish(),
  ),
  admit: (body) => void scanRequest(signal, body),
});

type Series = Record<string, unknown>;
/** Adds metric names, because random requests have none. */
const named: Readonly<Record<1 | 2, (request: Series) => Series>> = {
  1: (request) => ({
    ...request,
    timeseries: ((request['timeseries'] ?? []) as Series[]).map((series) => ({
      ...series,
      labels: [{ name: '__name__', value: 'up' }],
    })),
  }),
  2: (request) => ({
    symbols: ['', '__name__', 'up', 'a', 'b'],
    timeseries: ((request['timeseries'] ?? []) as Series[]).map((series) => ({
      ...series,
      exemplars: ((series['exemplars'] ?? []) as Series[]).map((exemplar) => ({ ...exemplar, labelsRefs: [3, 4] })),
      metadata: { type: 1, helpRef: 2, unitRef: 3 },
      labelsRefs: [1, 2, 3, 4],
    })),
  }),
};
const remoteWrite = (version: 1 | 2): Kind => ({
  format: version === 1 ? 'remote-write-1' : 'remote-write-2',
  signal: 'metrics',
  bodies: messageOf(writeRequestTypes[version], 4).map((request) =>
    writeRequestTypes[version].encode(writeRequestTypes[version].fromObject(named[version](request))).finish(),
  ),
  admit: (body) => void scanWriteRequest(version, body),
});

const passes = ({ admit }: Kind, body: Uint8Array): boolean => {
  try {
    admit(body);
    return true;
  } catch (error) {
    if (error instanceof PermanentError) return false;
    throw error;
  }
};

/** Returns why the sink rejects the body; undefined if it accepts it. */
const refusal = ({ format, signal }: Kind, scanner: Scanner, body: Uint8Array): string | undefined => {
  const message = busMessageOf([body], { format, signal });
  const { rejected } = scanBatch(scanner, [message], 0, 1, (bytes) => new Uint8Array(bytes));
  for (const seen of scanner.landedHours) seen.settle(1, true);
  return rejected[0]?.message;
};

const change = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 });

for (const kind of [...signals.map(otlp), remoteWrite(1), remoteWrite(2)]) {
  test(`${kind.signal} as ${kind.format}: a body that passes admission, even with randomly changed bytes, is scanned by the sink`, async (t) => {
    const scanner = await scannerOf(kind.signal);
    let acceptedCount = 0;
    fc.assert(
      fc.property(kind.bodies, change, (encoded, changes) => {
        const body = Uint8Array.from(encoded);
        if (body.length > 0) for (const [at, value] of changes) body[at % body.length] = value;
        if (!passes(kind, body)) return;
        acceptedCount++;
        t.is(refusal(kind, scanner, body), undefined);
      }),
      { numRuns: Number(process.env['TEST_FUZZ_RUNS'] ?? 1000), endOnFailure: true },
    );
    t.true(acceptedCount > 100, `only ${acceptedCount} passed`);
  });
}

test('receivers and sinks accept the same nesting depth of values', async (t) => {
  const kind = otlp('logs');
  const scanner = await scannerOf('logs');
  let deepest = 0;
  for (let depth = 1; depth < 40; depth++) {
    const body = nestedArrays(depth);
    if (!passes(kind, body)) break;
    deepest = depth;
    t.is(refusal(kind, scanner, body), undefined, `depth ${depth}`);
  }
  t.true(deepest >= 30);
});
