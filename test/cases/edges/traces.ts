/**
 * Synthetic traces of services that call each other, databases, queues and hosts, and their messages in order of
 * arrival.
 */
import { encodeHeaders } from '../../../schemas/telemetry-message.ts';
import { randomOf } from '../random.ts';
import { tracesRequest } from '../sink-tables.ts';

export const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

export interface RawSpan {
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  readonly kind: number;
  readonly service: string;
  readonly project: string;
  readonly environment: string;
  readonly startMs: number;
  readonly durationNs: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, string | boolean>>;
  readonly links: readonly { readonly trace: string; readonly id: string }[];
  /** When the span reaches the platform. */
  readonly arrivesMs: number;
}

export const beginMs = Date.UTC(2026, 2, 1, 10, 0, 7, 0);

interface Service {
  readonly name: string;
  readonly project: string;
  readonly environment: string;
  /** The clock offset of the service. */
  readonly skewMs: number;
}

const databaseAttributes = [
  { 'db.system': 'postgresql', 'db.name': 'shop', 'net.peer.name': 'pg-1', 'net.peer.port': '5432' },
  { 'db.system.name': 'mysql', 'db.namespace': 'orders', 'server.address': 'my.example', 'server.port': '3306' },
  { 'db.system': 'redis', 'db.namespace': '0', 'server.address': 'cache', 'server.port': '6379' },
] as const;
const remoteAttributes = [
  { 'server.address': 'api.stripe.example', 'server.port': '443' },
  { 'peer.service': 'legacy', 'net.peer.name': 'legacy.local', 'net.peer.port': '8080' },
  { 'url.full': 'https://user@maps.example:8443/v1?q=1' },
  {},
] as const;
const queueAttributes = [
  { 'messaging.system': 'kafka', 'messaging.destination.name': 'orders' },
  { 'messaging.system': 'rabbitmq', 'messaging.destination': 'mails' },
  {},
] as const;
const sendOperations = [
  {},
  { 'messaging.operation': 'publish' },
  { 'messaging.operation.type': 'send' },
  { 'messaging.operation.type': 'create' },
] as const;

interface Draft {
  readonly trace: string;
  readonly parent: string;
  readonly service: Service;
  /** The true time; the time of the span has the offset of its service. */
  readonly atMs: number;
  readonly forNs: number;
  readonly kind: number;
  readonly attributes?: RawSpan['attributes'];
  readonly links?: RawSpan['links'];
  readonly id?: string;
}
type Place = Omit<Draft, 'kind' | 'attributes' | 'links' | 'id'>;

interface Sent {
  readonly trace: string;
  readonly id: string;
  readonly endMs: number;
  readonly queue: Readonly<Record<string, string>>;
}

interface TracesOptions {
  /** The longest time from the end of a span to its arrival. */
  readonly delayMs?: number;
  /** The share of spans that arrive twice. */
  readonly repeated?: number;
}

class Traces {
  readonly spans: RawSpan[] = [];
  readonly #options: Required<TracesOptions>;
  readonly #random: () => number;
  readonly #services: readonly Service[];
  #sent: Sent[] = [];

  constructor(seed: number, { delayMs = 40_000, repeated = 0.04 }: TracesOptions) {
    this.#options = { delayMs, repeated };
    this.#random = randomOf(seed);
    this.#services = Array.from({ length: 5 }, (_, index) => ({
      name: `service-${index}`,
      project: `project-${index % 2}`,
      environment: this.#pick(['', 'production']),
      skewMs: this.#below(24_000) - 12_000,
    }));
  }

  trace(): void {
    const trace = this.#hex(32);
    const service = this.#pick(this.#services);
    const atMs = beginMs + this.#random() * 180_000;
    const kind = this.#pick([kinds.server, kinds.server, kinds.internal]);
    const root = this.#add({ trace, parent: '', kind, service, atMs, forNs: this.#below(2_000_000_000) });
    this.#work(trace, root.id, service, atMs, 0);
  }

  /**
   * Consumers: of one message by its parent, of several by links, and polls that link messages to separate processing
   * spans.
   */
  consume(): void {
    while (this.#sent.length > 0) {
      const batch = this.#sent.splice(0, this.#chance(0.3) ? 1 + this.#below(4) : 1);
      const ends = batch.map(({ endMs }) => endMs);
      const latestMs = Math.max(...ends);
      const isFar = latestMs - Math.min(...ends) > 8_000;
      if (!isFar && !this.#chance(0.15)) this.#consumed(batch, latestMs + this.#random() * 15_000);
    }
  }

  #consumed(batch: readonly Sent[], atMs: number): void {
    const [message] = batch as readonly [Sent];
    const service = this.#pick(this.#services);
    const isLinked = batch.length > 1 || this.#chance(0.3);
    const trace = isLinked ? this.#hex(32) : message.trace;
    const links = isLinked ? batch.map(({ trace, id }) => ({ trace, id })) : [];
    const span = { trace, kind: kinds.consumer, service, atMs, links };
    if (this.#chance(0.2)) {
      const attributes = { ...message.queue, 'messaging.operation': 'receive' };
      this.#add({ ...span, parent: '', forNs: 1_000_000, attributes });
    }
    const attributes = { ...message.queue, ...this.#pick([{}, { 'messaging.operation': 'process' }]) };
    const parent = isLinked ? '' : message.id;
    const consumer = this.#add({ ...span, parent, forNs: this.#below(1_000_000_000), attributes });
    this.#work(trace, consumer.id, service, atMs, 3);
  }

  /** The work of a service within a request. */
  #work(trace: string, parent: string, service: Service, atMs: number, depth: number): void {
    const calls = this.#below(depth > 3 ? 1 : 4);
    for (let call = 0; call < calls; call++) {
      const forNs = this.#below(this.#chance(0.1) ? 8_000_000_000 : 300_000_000);
      this.#call({ trace, parent, service, atMs, forNs }, depth);
    }
  }

  #call(span: Place, depth: number): void {
    const choice = this.#random();
    if (choice < 0.1) {
      const inner = this.#add({ ...span, kind: kinds.internal });
      this.#work(span.trace, inner.id, span.service, span.atMs, depth + 1);
    } else if (choice < 0.3) this.#add({ ...span, kind: kinds.client, attributes: this.#pick(databaseAttributes) });
    else if (choice < 0.45) this.#add({ ...span, kind: kinds.client, attributes: this.#pick(remoteAttributes) });
    else if (choice < 0.6) this.#send(span);
    else if (choice < 0.65) this.#add({ ...span, kind: kinds.server });
    else this.#serve(span, depth);
  }

  #send(span: Place): void {
    const queue = this.#pick(queueAttributes);
    const { id } = this.#add({
      ...span,
      kind: kinds.producer,
      attributes: { ...queue, ...this.#pick(sendOperations) },
    });
    this.#sent.push({ trace: span.trace, id, endMs: span.atMs + span.forNs / 1e6, queue });
  }

  /**
   * A client span and its server spans: mostly one, sometimes several because of retries, sometimes long after the
   * client timed out.
   */
  #serve(span: Place, depth: number): void {
    const { trace, atMs, forNs } = span;
    const attributes = this.#chance(0.5) ? this.#pick(remoteAttributes) : {};
    const { id, parent } = this.#add({ ...span, kind: kinds.client, attributes });
    const servers = this.#chance(0.1) ? 2 + this.#below(2) : 1;
    for (let index = 0; index < servers; index++) {
      const service = this.#pick(this.#services);
      const long = this.#chance(0.05) ? 20_000_000_000 : Math.max(0, forNs - 2_000_000);
      const isShared = servers === 1 && this.#chance(0.05);
      const ids = isShared ? { id, parent, attributes: { 'zipkin.shared': true } } : { parent: id };
      const server = this.#add({ trace, kind: kinds.server, service, atMs: atMs + 1, forNs: long, ...ids });
      this.#work(trace, server.id, service, atMs + 2, depth + 1);
    }
  }

  #add({ service, atMs, forNs, attributes = {}, links = [], id = this.#hex(16), ...rest }: Draft): RawSpan {
    const raw: RawSpan = {
      ...rest,
      id,
      attributes,
      links,
      service: service.name,
      project: service.project,
      environment: service.environment,
      startMs: Math.floor(atMs) + service.skewMs,
      durationNs: forNs,
      failed: this.#chance(0.2),
      arrivesMs: atMs + forNs / 1e6 + this.#random() * this.#options.delayMs,
    };
    this.spans.push(raw);
    // A sender that got no response sends again.
    if (this.#chance(this.#options.repeated))
      this.spans.push({ ...raw, arrivesMs: raw.arrivesMs + this.#random() * 5_000 });
    return raw;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item;
  }

  #hex(digits: number): string {
    return Array.from({ length: digits }, (_, at) =>
      (at === 0 ? 1 + this.#below(15) : this.#below(16)).toString(16),
    ).join('');
  }
}

/**
 * Traces within three minutes. Spans arrive up to 40 s after their end, duplicates 5 s later; clocks are off by up to
 * 12 s.
 */
export const madeUpTraces = (seed: number, count: number, options: TracesOptions = {}): RawSpan[] => {
  const traces = new Traces(seed, options);
  for (let index = 0; index < count; index++) traces.trace();
  traces.consume();
  return traces.spans;
};

const text = (key: string, value: string | boolean): object => ({
  key,
  value: typeof value === 'string' ? { stringValue: value } : { boolValue: value },
});

const otlpSpan = ({ trace, id, parent, kind, startMs, durationNs, failed, attributes, links }: RawSpan): object => {
  const startNs = BigInt(Math.round(startMs * 1_000)) * 1_000n;
  return {
    traceId: Buffer.from(trace, 'hex'),
    spanId: Buffer.from(id, 'hex'),
    parentSpanId: Buffer.from(parent, 'hex'),
    kind,
    name: 'call',
    startTimeUnixNano: String(startNs),
    endTimeUnixNano: String(startNs + BigInt(durationNs)),
    status: failed ? { code: 2 } : {},
    attributes: Object.entries(attributes).map(([key, value]) => text(key, value)),
    links: links.map((link) => ({ traceId: Buffer.from(link.trace, 'hex'), spanId: Buffer.from(link.id, 'hex') })),
  };
};

export interface Arrival {
  readonly partition: number;
  readonly timestampMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Buffer;
}

/** An export request with spans of one project. */
const messageOf = (batch: readonly RawSpan[], timestampMs: number): Pick<Arrival, 'headers' | 'value'> => {
  const resourceSpans = batch.map((span) => ({
    resource: {
      attributes: [
        text('service.name', span.service),
        ...(span.environment === '' ? [] : [text('deployment.environment.name', span.environment)]),
      ],
    },
    scopeSpans: [{ spans: [otlpSpan(span)] }],
  }));
  const value = Buffer.from(tracesRequest({ resourceSpans }));
  const { length } = value;
  const member = {
    length,
    size: length,
    records: batch.length,
    receivedAtMs: timestampMs,
    source: '',
    traceparent: '',
  };
  const headers = encodeHeaders({
    tenantId: 'acme',
    projectId: batch[0]?.project ?? '',
    keyId: 'key',
    signal: 'traces',
    format: 'otlp',
    encoding: 'identity',
    members: [member],
  });
  return { headers, value };
};

/** The longest time that a span waits in a batch, here and before a processor. */
export const batchMs = 3_000;

/** Spans as requests, in batches of random size over some partitions, in order of arrival. */
export const arrivalsOf = (spans: readonly RawSpan[], seed: number, partitions: number): Arrival[] => {
  const random = randomOf(seed);
  const inOrder = spans.toSorted((one, other) => one.arrivesMs - other.arrivesMs);
  const arrivals: Arrival[] = [];
  for (const project of new Set(spans.map((span) => span.project))) {
    let batch: RawSpan[] = [];
    const send = (): void => {
      const timestampMs = Math.ceil(batch.at(-1)?.arrivesMs ?? 0);
      if (batch.length > 0)
        arrivals.push({ partition: Math.floor(random() * partitions), timestampMs, ...messageOf(batch, timestampMs) });
      batch = [];
    };
    for (const span of inOrder.filter((each) => each.project === project)) {
      if (random() < 0.2 || span.arrivesMs > (batch[0] ?? span).arrivesMs + batchMs) send();
      batch.push(span);
    }
    send();
  }
  return arrivals.sort((one, other) => one.timestampMs - other.timestampMs);
};
