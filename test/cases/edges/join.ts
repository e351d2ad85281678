/** The edges as a plain join over all raw spans gives them: no state, no time, no order. */
import { kinds, type RawSpan } from './traces.ts';

export interface Sum {
  requests: number;
  errors: number;
  timed: number;
  durationSum: number;
  durationMax: number;
  serverDurationSum: number;
  unpaired: number;
  readonly buckets: Record<string, number>;
}

export type Sums = Record<string, Sum>;

export const emptySum = (): Sum => ({
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

const identity = ({ trace, id, kind }: RawSpan): string => `${trace} ${id} ${kind}`;
const own = ({ service, environment, project }: RawSpan): Node => ['service', service, environment, project];
const callerOf = (span: RawSpan): string => (span.attributes['zipkin.shared'] === true ? span.id : span.parent);

const isDatabase = ({ attributes }: RawSpan): boolean => 'db.system' in attributes || 'db.system.name' in attributes;
const databases: Readonly<Record<string, readonly [name: string, address: string]>> = {
  postgresql: ['shop', 'pg-1:5432'],
  mysql: ['orders', 'my.example:3306'],
  redis: ['cache:6379', 'cache:6379'],
};
const remotes: Readonly<Record<string, readonly [kind: string, name: string, address: string]>> = {
  'api.stripe.example': ['external', 'api.stripe.example', ''],
  legacy: ['service', 'legacy', 'legacy.local:8080'],
  'https://user@maps.example:8443/v1?q=1': ['external', 'maps.example:8443', ''],
};
const queueOf = ({ attributes }: RawSpan): string =>
  String(attributes['messaging.destination.name'] ?? attributes['messaging.destination'] ?? '');
const operationOf = ({ attributes }: RawSpan): unknown =>
  attributes['messaging.operation.type'] ?? attributes['messaging.operation'];
const systemOf = ({ attributes }: RawSpan): string => String(attributes['messaging.system'] ?? '');

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

const nobody: Node = ['unknown', '', '', ''];

class Join {
  readonly sums: Sums = {};

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
    this.sums[key] ??= emptySum();
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

  /** What a span tells alone. */
  lone(span: RawSpan): void {
    const { startMs, failed, durationNs, kind } = span;
    const call = { startMs, failed, durationNs };
    if (kind === kinds.client && isDatabase(span)) {
      const system = String(span.attributes['db.system'] ?? span.attributes['db.system.name']);
      const [name, address] = databases[system] as readonly [string, string];
      this.count(own(span), 'query', ['database', name, '', ''], { ...call, system, address });
    }
    if (kind === kinds.server && callerOf(span) === '')
      this.count(['user', '', '', ''], 'request', own(span), { ...call, serverNs: durationNs });
    const queue: Node = ['queue', queueOf(span), '', ''];
    if (queue[1] !== '') this.#queued(span, queue, { ...call, system: systemOf(span) });
  }

  #queued(span: RawSpan, queue: Node, call: Call): void {
    if (span.kind === kinds.producer && operationOf(span) !== 'create') this.count(own(span), 'publish', queue, call);
    if (span.kind !== kinds.consumer) return;
    const connection = operationOf(span) === 'receive' ? 'receive' : 'process';
    this.count(queue, connection, own(span), { ...call, serverNs: span.durationNs });
  }

  pair(caller: RawSpan, callee: RawSpan): void {
    const isMessage = caller.kind === kinds.producer || callee.kind === kinds.consumer;
    const inQueueNs = Math.max(0, (callee.startMs - caller.startMs) * 1e6 - caller.durationNs);
    this.count(own(caller), isMessage ? 'message' : 'request', own(callee), {
      startMs: caller.startMs,
      failed: caller.failed || callee.failed,
      serverNs: callee.durationNs,
      durationNs: isMessage ? inQueueNs : caller.durationNs,
      via: isMessage ? queueOf(caller) || queueOf(callee) : '',
      system: isMessage ? systemOf(caller) || systemOf(callee) : '',
    });
  }

  unanswered(span: RawSpan): void {
    const { startMs, failed, durationNs, attributes } = span;
    const call = { startMs, failed, unpaired: true };
    if (span.kind === kinds.producer) {
      this.count(own(span), 'message', nobody, { ...call, via: queueOf(span), system: systemOf(span) });
      return;
    }
    const named = String(attributes['peer.service'] ?? attributes['server.address'] ?? attributes['url.full'] ?? '');
    const [kind, name, address] = remotes[named] ?? ['unknown', '', ''];
    this.count(own(span), 'request', [kind, name, '', ''], {
      ...call,
      durationNs,
      address,
      // Nobody answers there with a span.
      unpaired: kind !== 'external',
    });
  }

  uncalled(span: RawSpan): void {
    const { startMs, failed, durationNs } = span;
    const call = { startMs, failed, serverNs: durationNs, unpaired: true };
    if (span.kind === kinds.server) this.count(nobody, 'request', own(span), { ...call, durationNs });
    else this.count(nobody, 'message', own(span), { ...call, via: queueOf(span), system: systemOf(span) });
  }
}

type Called = { readonly span: RawSpan; readonly trace: string; readonly id: string };

/** The calling spans that a span names. */
const calledOf = (span: RawSpan): Called[] => {
  const { trace, kind } = span;
  if (kind === kinds.server) return callerOf(span) === '' ? [] : [{ span, trace, id: callerOf(span) }];
  if (kind !== kinds.consumer) return [];
  const links = operationOf(span) === 'receive' ? [] : span.links;
  if (links.length > 0) return links.map((link) => ({ span, ...link }));
  return span.parent === '' ? [] : [{ span, trace, id: span.parent }];
};

export const joinOf = (raw: readonly RawSpan[]): Sums => {
  const join = new Join();
  // What one span tells alone counts as often as it came; pairs are of spans, however often each came.
  for (const span of raw) join.lone(span);
  const spans = [...new Map(raw.map((span) => [identity(span), span])).values()];
  const callers = spans.filter(
    (span) => span.kind === kinds.producer || (span.kind === kinds.client && !isDatabase(span)),
  );
  const answered = new Set<RawSpan>();
  for (const { span, trace, id } of spans.flatMap(calledOf)) {
    const caller = callers.find((each) => each.id === id && each.trace === trace);
    if (caller === undefined) join.uncalled(span);
    else {
      answered.add(caller);
      join.pair(caller, span);
    }
  }
  for (const span of callers) if (!answered.has(span)) join.unanswered(span);
  return join.sums;
};
