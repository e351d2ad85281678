/** Reference implementation: computes edges with a plain join over all raw spans, without state, time or order. */
import { kinds, type RawSpan } from './traces.ts';

export interface EdgeMetrics {
  requests: number;
  errors: number;
  timed: number;
  durationSum: number;
  durationMax: number;
  serverDurationSum: number;
  unpaired: number;
  readonly buckets: Record<string, number>;
}

export type EdgeMetricsByKey = Record<string, EdgeMetrics>;

export const createEmptyMetrics = (): EdgeMetrics => ({
  requests: 0,
  errors: 0,
  timed: 0,
  durationSum: 0,
  durationMax: 0,
  serverDurationSum: 0,
  unpaired: 0,
  buckets: {},
});

type Node = readonly [kind: string, name: string, environment: string, project: string];

const createSpanKey = ({ trace, id, kind }: RawSpan): string => `${trace} ${id} ${kind}`;
const toServiceNode = ({ service, environment, project }: RawSpan): Node => ['service', service, environment, project];
const getCallerId = (span: RawSpan): string => (span.attributes['zipkin.shared'] === true ? span.id : span.parent);

const isDatabase = ({ attributes }: RawSpan): boolean => 'db.system' in attributes || 'db.system.name' in attributes;
const databases: Readonly<Record<string, readonly [name: string, address: string]>> = {
  postgresql: ['shop', 'pg-1:5432'],
  mysql: ['orders', 'my.example:3306'],
  redis: ['cache:6379', 'cache:6379'],
};
const remoteNodes: Readonly<Record<string, readonly [kind: string, name: string, address: string]>> = {
  'api.stripe.example': ['external', 'api.stripe.example', ''],
  legacy: ['service', 'legacy', 'legacy.local:8080'],
  'https://user@maps.example:8443/v1?q=1': ['external', 'maps.example:8443', ''],
};
const getQueue = ({ attributes }: RawSpan): string =>
  String(attributes['messaging.destination.name'] ?? attributes['messaging.destination'] ?? '');
const getOperation = ({ attributes }: RawSpan): unknown =>
  attributes['messaging.operation.type'] ?? attributes['messaging.operation'];
const getSystem = ({ attributes }: RawSpan): string => String(attributes['messaging.system'] ?? '');

interface Call {
  readonly system?: string;
  readonly address?: string;
  readonly via?: string;
  readonly startMs: number;
  readonly failed: boolean;
  readonly durationNs?: number;
  readonly serverNs?: number;
  readonly unpaired?: boolean;
}

const unknownNode: Node = ['unknown', '', '', ''];

class Join {
  readonly sums: EdgeMetricsByKey = {};

  count(client: Node, connection: string, server: Node, { system = '', address = '', via = '', ...call }: Call): void {
    const minute = new Date(call.startMs).toISOString().slice(0, 16);
    const key = JSON.stringify({
      minute,
      connection,
      client: client[1],
      clientKind: client[0],
      clientEnvironment: client[2],
      server: server[1],
      serverKind: server[0],
      serverEnvironment: server[2],
      system,
      address,
      via,
      project: client[3] || server[3],
      serverProject: server[3] || client[3],
    });
    this.sums[key] ??= createEmptyMetrics();
    const sum = this.sums[key];
    sum.requests++;
    sum.errors += Number(call.failed);
    sum.unpaired += Number(call.unpaired === true);
    sum.serverDurationSum += call.serverNs ?? 0;
    if (call.durationNs === undefined) return;
    sum.timed++;
    sum.durationSum += call.durationNs;
    sum.durationMax = Math.max(sum.durationMax, call.durationNs);
    const bucket = String(Math.floor(8 * Math.log2(call.durationNs + 1)));
    sum.buckets[bucket] = (sum.buckets[bucket] ?? 0) + 1;
  }

  /** Counts the edges that a single span implies. */
  countSpan(span: RawSpan): void {
    const { startMs, failed, durationNs, kind } = span;
    const call = { startMs, failed, durationNs };
    if (kind === kinds.client && isDatabase(span)) {
      const system = String(span.attributes['db.system'] ?? span.attributes['db.system.name']);
      const [name, address] = databases[system] as readonly [string, string];
      this.count(toServiceNode(span), 'query', ['database', name, '', ''], { ...call, system, address });
    }
    if (kind === kinds.server && getCallerId(span) === '')
      this.count(['user', '', '', ''], 'request', toServiceNode(span), { ...call, serverNs: durationNs });
    const queue: Node = ['queue', getQueue(span), '', ''];
    if (queue[1] !== '') this.#countQueueCall(span, queue, { ...call, system: getSystem(span) });
  }

  #countQueueCall(span: RawSpan, queue: Node, call: Call): void {
    if (span.kind === kinds.producer && getOperation(span) !== 'create')
      this.count(toServiceNode(span), 'publish', queue, call);
    if (span.kind !== kinds.consumer) return;
    const connection = getOperation(span) === 'receive' ? 'receive' : 'process';
    this.count(queue, connection, toServiceNode(span), { ...call, serverNs: span.durationNs });
  }

  countPair(caller: RawSpan, callee: RawSpan): void {
    const isMessage = caller.kind === kinds.producer || callee.kind === kinds.consumer;
    const inQueueNs = Math.max(0, (callee.startMs - caller.startMs) * 1e6 - caller.durationNs);
    this.count(toServiceNode(caller), isMessage ? 'message' : 'request', toServiceNode(callee), {
      startMs: caller.startMs,
      failed: caller.failed || callee.failed,
      serverNs: callee.durationNs,
      durationNs: isMessage ? inQueueNs : caller.durationNs,
      via: isMessage ? getQueue(caller) || getQueue(callee) : '',
      system: isMessage ? getSystem(caller) || getSystem(callee) : '',
    });
  }

  countUnpairedCaller(span: RawSpan): void {
    const { startMs, failed, durationNs, attributes } = span;
    const call = { startMs, failed, unpaired: true };
    if (span.kind === kinds.producer) {
      this.count(toServiceNode(span), 'message', unknownNode, {
        ...call,
        via: getQueue(span),
        system: getSystem(span),
      });
      return;
    }
    const remoteName = String(
      attributes['peer.service'] ?? attributes['server.address'] ?? attributes['url.full'] ?? '',
    );
    const [kind, name, address] = remoteNodes[remoteName] ?? ['unknown', '', ''];
    this.count(toServiceNode(span), 'request', [kind, name, '', ''], {
      ...call,
      durationNs,
      address,
      // External services send no spans.
      unpaired: kind !== 'external',
    });
  }

  countUnpairedCallee(span: RawSpan): void {
    const { startMs, failed, durationNs } = span;
    const call = { startMs, failed, serverNs: durationNs, unpaired: true };
    if (span.kind === kinds.server) this.count(unknownNode, 'request', toServiceNode(span), { ...call, durationNs });
    else
      this.count(unknownNode, 'message', toServiceNode(span), {
        ...call,
        via: getQueue(span),
        system: getSystem(span),
      });
  }
}

type CallReference = { readonly span: RawSpan; readonly trace: string; readonly id: string };

/** Returns the references of a span to its calling spans. */
const listCallReferences = (span: RawSpan): CallReference[] => {
  const { trace, kind } = span;
  if (kind === kinds.server) return getCallerId(span) === '' ? [] : [{ span, trace, id: getCallerId(span) }];
  if (kind !== kinds.consumer) return [];
  const links = getOperation(span) === 'receive' ? [] : span.links;
  if (links.length > 0) return links.map((link) => ({ span, ...link }));
  return span.parent === '' ? [] : [{ span, trace, id: span.parent }];
};

export const joinSpans = (raw: readonly RawSpan[]): EdgeMetricsByKey => {
  const join = new Join();
  // Edges of a single span count once per delivery; pairs count once per span, regardless of the number of deliveries.
  for (const span of raw) join.countSpan(span);
  const spans = [...new Map(raw.map((span) => [createSpanKey(span), span])).values()];
  const callers = spans.filter(
    (span) => span.kind === kinds.producer || (span.kind === kinds.client && !isDatabase(span)),
  );
  const pairedCallers = new Set<RawSpan>();
  for (const { span, trace, id } of spans.flatMap(listCallReferences)) {
    const caller = callers.find((each) => each.id === id && each.trace === trace);
    if (caller === undefined) join.countUnpairedCallee(span);
    else {
      pairedCallers.add(caller);
      join.countPair(caller, span);
    }
  }
  for (const span of callers) if (!pairedCallers.has(span)) join.countUnpairedCaller(span);
  return join.sums;
};
