/** Exceptions recorded by an SDK are error groups over HTTP, also if the process is killed in between. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import test from 'ava';
import { freePorts } from '../services/ports.ts';
import { eventually, stretched } from '../waiting.ts';
import { embeddedDeployment } from './deployment.ts';
import { read, signIn, startOiq } from './oiq-process.ts';

interface Group {
  readonly id: string;
  readonly type: string | null;
  readonly count: number;
  readonly users: number;
  readonly culprit: string | null;
}

const reserve = (sku: number): never => {
  throw new RangeError(`no stock of ${sku}`);
};

test('an error recorded by an SDK is counted once, by group, with its user and its trace', async (t) => {
  const dataDirectory = join(mkdtempSync(join(tmpdir(), 'oiq-errors-')), 'data');
  t.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const licenseKey = await embeddedDeployment(dataDirectory);
  const ports = (await freePorts(3)) as [number, number, number];
  let running = await startOiq({ dataDirectory, ports });
  t.teardown(() => running.kill());
  const headers = { 'x-license-key': licenseKey };
  const timeoutMillis = stretched(10_000);
  const resource = resourceFromAttributes({ 'service.name': 'shop', 'service.version': '1.4' });
  const traces = new TracerProvider({
    resource,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${running.otlp}/v1/traces`, headers, timeoutMillis }),
      }),
    ],
  });
  const logs = new LoggerProvider({
    resource,
    processors: [
      new BatchLogRecordProcessor({
        exporter: new OTLPLogExporter({ url: `${running.otlp}/v1/logs`, headers, timeoutMillis }),
      }),
    ],
  });
  // Running exporters would keep the test process alive after a failure.
  t.teardown(() => Promise.allSettled([traces.shutdown(), logs.shutdown()]));
  const tracer = traces.getTracer('test');
  const logger = logs.getLogger('test');

  /** A request whose exception is recorded by its own span, by the span around it, and by a logger. */
  const request = (at: number): void => {
    const outer = tracer.startSpan(
      'POST /orders',
      { attributes: { 'user.id': `u${at % 3}` } },
      trace.deleteSpan(context.active()),
    );
    const within = trace.setSpan(context.active(), outer);
    const inner = tracer.startSpan('reserve', { attributes: { 'user.id': `u${at % 3}` } }, within);
    try {
      reserve(at);
    } catch (error) {
      const { name, message, stack } = error as Error;
      inner.recordException(error as Error);
      inner.setStatus({ code: SpanStatusCode.ERROR });
      logger.emit({
        severityNumber: 17,
        body: 'order failed',
        context: trace.setSpan(context.active(), inner),
        attributes: { 'exception.type': name, 'exception.message': message, 'exception.stacktrace': stack ?? '' },
      });
      inner.end();
      outer.recordException(error as Error);
      outer.setStatus({ code: SpanStatusCode.ERROR });
    }
    outer.end();
  };
  for (let at = 0; at < 5; at++) request(at);
  await Promise.all([traces.forceFlush(), logs.forceFlush()]);
  await running.kill();
  running = await startOiq({ dataDirectory, ports });
  for (let at = 5; at < 9; at++) request(at);
  await Promise.all([traces.forceFlush(), logs.forceFlush()]);

  const token = await signIn(running.http);
  let groups: readonly Group[] = [];
  await eventually('nine occurrences', async () => {
    ({ items: groups } = await read<{ items: Group[] }>(running.http, '/api/errors', token));
    return (groups[0]?.count ?? 0) >= 9;
  });
  t.is(groups.length, 1);
  t.like(groups[0], { type: 'RangeError', count: 9, users: 3, culprit: 'end-to-end/errors.test.ts reserve' });
  const { items } = await read<{ items: { traceId: string; logId: string | null; release: string }[] }>(
    running.http,
    `/api/errors/${groups[0]?.id}/occurrences`,
    token,
  );
  t.is(new Set(items.map(({ traceId }) => traceId)).size, 9);
  t.true(items.every(({ release }) => release === '1.4'));
  // Spans are stored separately from the errors found in them.
  const ofTrace = `/api/traces/${items[0]?.traceId}?scope=account`;
  await eventually('the trace', () =>
    read(running.http, ofTrace, token).then(
      () => true,
      () => false,
    ),
  );
  await read(running.http, ofTrace, token);
  t.is(await running.stop(), 0);
});
