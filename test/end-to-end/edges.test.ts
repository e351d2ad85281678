/** Spans of SDKs become edges of the API, in a real process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import test from 'ava';
import { freePorts } from '../services/ports.ts';
import { eventually, stretched } from '../waiting.ts';
import { embeddedDeployment } from './deployment.ts';
import { read, signIn, startOiq } from './oiq-process.ts';

interface Side {
  readonly kind: string;
  readonly name: string;
}
interface Edges {
  readonly items: readonly {
    readonly client: Side;
    readonly server: Side;
    readonly connection: string;
    readonly requests: number;
    readonly errors: number;
    readonly duration: { readonly p50: number; readonly max: number } | null;
  }[];
}
interface Map {
  readonly nodes: readonly { readonly id: string; readonly requests: number }[];
}

const { CLIENT, SERVER, PRODUCER, CONSUMER } = SpanKind;
const root = trace.deleteSpan(context.active());

test('telemetry from SDKs appears as dependencies and as a map, even if the process is killed in between', async (t) => {
  const dataDirectory = join(mkdtempSync(join(tmpdir(), 'oiq-edges-')), 'data');
  t.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const licenseKey = await embeddedDeployment(dataDirectory);
  const ports = (await freePorts(3)) as [number, number, number];
  let running = await startOiq({ dataDirectory, ports });
  t.teardown(() => running.kill());

  const providers: TracerProvider[] = [];
  const service = (name: string) => {
    const exporter = new OTLPTraceExporter({
      url: `${running.otlp}/v1/traces`,
      headers: { 'x-license-key': licenseKey },
      timeoutMillis: stretched(10_000),
    });
    const provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': name }),
      spanProcessors: [new BatchSpanProcessor({ exporter })],
    });
    providers.push(provider);
    /** Runs a function within a span of the service. */
    return (
      kind: SpanKind,
      parent: Context,
      attributes: Readonly<Record<string, string>>,
      within: (inner: Context) => void,
    ): void => {
      const span = provider.getTracer('shop').startSpan('call', { kind, attributes }, parent);
      within(trace.setSpan(parent, span));
      if (attributes['error'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
  };
  const [frontend, cart, shipping] = [service('frontend'), service('cart'), service('shipping')];
  const nothing = (): void => undefined;
  const queue = { 'messaging.system': 'kafka', 'messaging.destination.name': 'orders' };
  const shop = (request: number): void =>
    frontend(SERVER, root, {}, (inner) => {
      frontend(CLIENT, inner, { 'server.address': 'cart' }, (call) => {
        cart(SERVER, call, request % 4 === 0 ? { error: 'true' } : {}, (inCart) => {
          cart(CLIENT, inCart, { 'db.system.name': 'postgresql', 'db.namespace': 'carts' }, nothing);
          cart(PRODUCER, inCart, queue, (message) => shipping(CONSUMER, message, queue, nothing));
        });
      });
    });
  const send = async (first: number): Promise<void> => {
    for (let request = first; request < first + 10; request++) shop(request);
    await Promise.all(providers.map((provider) => provider.forceFlush()));
  };
  await send(0);
  await running.kill();
  running = await startOiq({ dataDirectory, ports });
  await send(10);

  const token = await signIn(running.http);
  const dependencies = () => read<Edges>(running.http, '/api/dependencies?scope=account', token);
  let found = await dependencies();
  const isWhole = ({ items }: Edges): boolean => items.length === 6 && items.every(({ requests }) => requests >= 20);
  await eventually('all edges with their requests', async () => {
    found = await dependencies();
    return isWhole(found);
  });
  t.deepEqual(
    found.items.map(({ client, connection, server, requests, errors }) =>
      [client.kind, client.name, connection, server.kind, server.name, requests, errors].join(' '),
    ),
    [
      'user  request service frontend 20 0',
      'service cart query database carts 20 0',
      'service cart publish queue orders 20 0',
      'service cart message service shipping 20 0',
      'service frontend request service cart 20 5',
      'queue orders process service shipping 20 0',
    ],
  );
  t.true(found.items.every(({ duration }) => duration !== null && duration.p50 <= duration.max));
  const map = await read<Map>(running.http, '/api/service-map?scope=account', token);
  t.deepEqual(
    map.nodes.map(({ id, requests }) => `${id} ${requests}`),
    [
      'database:postgresql:carts 20',
      'queue:kafka:orders 20',
      'service:cart 20',
      'service:frontend 20',
      'service:shipping 20',
      'user 0',
    ],
  );
  await Promise.all(providers.map((provider) => provider.shutdown()));
  t.is(await running.stop(), 0, running.output());
});
