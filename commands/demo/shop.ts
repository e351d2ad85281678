/**
 * A fictional small shop: the telemetry of its services for each order. In the middle of its time, a release of payments
 * makes charges slow and fail, until it is rolled back.
 */
import { simulateConversation } from './assistant.ts';
import { Cluster } from './cluster.ts';
import { simulateCodingAgent } from './coding-agent.ts';
import {
  type Attributes,
  createSpanId,
  createTraceId,
  type Outbox,
  toKeyValues,
  toNanosecondText,
} from './otlp-json.ts';
import { pick } from './random.ts';
import { Visitors } from './visitors.ts';

const services = ['frontend', 'catalog', 'cart', 'checkout', 'payments', 'shipping', 'email'] as const;
type Service = (typeof services)[number];

/** Conversations of visitors with the assistant */
const conversationsPerSecond = 0.3;

const randomizeDuration = (milliseconds: number): number =>
  milliseconds * Math.exp((Math.random() + Math.random() + Math.random() - 1.5) * 0.9);

type Pods = ReadonlyMap<Service, readonly Attributes[]>;

const stableVersion = '2.3.1';
const brokenVersion = '2.4.0';

const createPod = (service: Service, replica: number, version: string): Attributes => {
  const index = services.indexOf(service);
  const generation = version === stableVersion ? '6' : '7';
  const pod = `${service}-${generation}d9c5b6f4${index}-${'abcdefghij'[index]}x${replica}kz`;
  return {
    'service.name': service,
    'service.namespace': 'shop',
    'service.version': version,
    'service.instance.id': pod,
    'deployment.environment.name': 'demo',
    'host.name': `node-${(index % 3) + 1}`,
    'k8s.cluster.name': 'demo',
    'k8s.namespace.name': 'shop',
    'k8s.node.name': `node-${(index % 3) + 1}`,
    'k8s.pod.name': pod,
    'k8s.pod.uid': `${index}${replica}${generation}f1c9e-52a4-4c1f-9d0e-3b7a5e8d21f0`,
    'container.id': `${index}${replica}${generation}`.padEnd(64, 'c0ffee'),
    'container.image.name': `registry.example/shop/${service}`,
    'container.image.tag': version,
    'process.pid': 1,
    'telemetry.sdk.language': index % 2 === 0 ? 'nodejs' : 'python',
  };
};

/** One pod of each service, two of the busy ones. Pods of payments have the version that is deployed. */
const createPods = (paymentsVersion: string): Pods =>
  new Map(
    services.map((service) => [
      service,
      Array.from({ length: service === 'frontend' || service === 'checkout' ? 2 : 1 }, (_, replica) =>
        createPod(service, replica, service === 'payments' ? paymentsVersion : stableVersion),
      ),
    ]),
  );

const stablePods = createPods(stableVersion);
const brokenPods = createPods(brokenVersion);

interface Step {
  readonly service: Service;
  readonly name: string;
  readonly kind: 1 | 2 | 3 | 4 | 5;
  readonly ms: number;
  readonly attributes: Attributes;
  readonly calls?: readonly Step[];
  /** Log message with the reason for the latency */
  readonly logMessage?: string;
}

/** External provider that charges cards */
const provider = 'api.cards.example';

const createHttpStep = (
  service: Service,
  method: string,
  route: string,
  ms: number,
  calls: readonly Step[] = [],
): Step => ({
  service,
  name: `${method} ${route}`,
  kind: 2,
  ms,
  attributes: {
    'http.request.method': method,
    'http.route': route,
    'url.scheme': 'http',
    'server.address': `${service}.shop.svc`,
  },
  calls,
});
const createSqlStep = (service: Service, statement: string, table: string, ms: number): Step => ({
  service,
  name: `${statement.split(' ')[0]} ${table}`,
  kind: 3,
  ms,
  attributes: {
    'db.system.name': 'postgresql',
    'db.query.text': statement,
    'db.collection.name': table,
    'server.address': 'orders-db-0',
  },
});

/** The client span of a request, as sent by instrumented programs: it shows which service waits for which. */
const toClientSpan = (service: Service, step: Step): Step => ({
  service,
  name: step.name,
  kind: 3,
  ms: 2,
  attributes: {
    'http.request.method': step.name.split(' ')[0] ?? '',
    'server.address': `${step.service}.shop.svc`,
    'url.template': String(step.attributes['http.route']),
  },
  calls: [step],
});

/** One charge in eight waits for the card provider, which is the slow part of this shop; with the bad release, most do. */
const createChargeStep = (isBroken: boolean): Step => {
  const isSlow = Math.random() < (isBroken ? 0.7 : 0.125);
  return {
    ...createHttpStep('payments', 'POST', '/charges', 20, [
      {
        service: 'payments',
        name: 'POST /v1/charges',
        kind: 3,
        ms: isSlow ? 1_900 : 50,
        attributes: { 'http.request.method': 'POST', 'server.address': provider, 'url.template': '/v1/charges' },
      },
    ]),
    ...(isSlow ? { logMessage: 'provider timed out 2 of 3 times' } : {}),
  };
};

const journeys: readonly ((isBroken: boolean) => Step)[] = [
  () =>
    createHttpStep('frontend', 'GET', '/products', 40, [
      createHttpStep('catalog', 'GET', '/catalog/products', 22, [
        createSqlStep('catalog', 'SELECT * FROM products LIMIT 50', 'products', 9),
      ]),
    ]),
  () =>
    createHttpStep('frontend', 'GET', '/products/{id}', 25, [
      createHttpStep('catalog', 'GET', '/catalog/products/{id}', 12, [
        createSqlStep('catalog', 'SELECT * FROM products WHERE id = $1', 'products', 3),
      ]),
    ]),
  () =>
    createHttpStep('frontend', 'POST', '/cart', 30, [
      createHttpStep('cart', 'POST', '/cart/items', 14, [
        createSqlStep('cart', 'INSERT INTO cart_items VALUES ($1, $2)', 'cart_items', 5),
      ]),
    ]),
  (isBroken) =>
    createHttpStep('frontend', 'POST', '/checkout', 180, [
      createHttpStep('checkout', 'POST', '/orders', 150, [
        createHttpStep('cart', 'GET', '/cart/{id}', 10, [
          createSqlStep('cart', 'SELECT * FROM cart_items WHERE cart = $1', 'cart_items', 4),
        ]),
        createChargeStep(isBroken),
        createSqlStep('checkout', 'INSERT INTO orders VALUES ($1, $2, $3)', 'orders', 8),
        createHttpStep('shipping', 'POST', '/shipments', 20),
        {
          service: 'email',
          name: 'send confirmation',
          kind: 5,
          ms: 35,
          attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': 'order-confirmations' },
        },
      ]),
    ]),
];

/** Position of a step in its trace. */
interface StepContext {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly startMs: number;
  /** Whether the charge of this visit is declined. */
  readonly isDeclined: boolean;
  /** Number of the order in all records of the visit */
  readonly order: number;
  readonly pods: Pods;
  /** Pod of the caller: the step runs in the same pod. */
  readonly caller?: Attributes;
}

/** Result of a step, for its log record */
interface StepOutcome {
  readonly traceId: string;
  readonly spanId: string;
  readonly order: number;
  readonly timeMs: number;
  readonly durationMs: number;
  readonly hasFailed: boolean;
  readonly isFailureSource: boolean;
}

/** Time in which the bad release of payments is deployed, in epoch milliseconds */
export interface IncidentPeriod {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Outboxes {
  readonly logs: Outbox;
  readonly traces: Outbox;
  readonly metrics: Outbox;
}

/** Simulates the shop and collects the telemetry of its services. */
export class Shop {
  readonly #outboxes: Outboxes;
  readonly #startMs: number;
  readonly #incident: IncidentPeriod;
  #nowMs: number;
  readonly #requests = new Map<
    string,
    { pod: Attributes; attributes: Attributes; count: number; sum: number; buckets: number[] }
  >();
  readonly #visitors: Visitors;
  readonly #cluster: Cluster;
  #orders = 0;

  constructor(outboxes: Outboxes, startMs: number, incident: IncidentPeriod) {
    this.#outboxes = outboxes;
    this.#visitors = new Visitors(outboxes);
    this.#cluster = new Cluster(outboxes, startMs);
    this.#startMs = startMs;
    this.#nowMs = startMs;
    this.#incident = incident;
  }

  /** Simulates the visits at a time, in epoch milliseconds; later metrics have this time too. */
  simulateSecond(nowMs: number, visits: number): void {
    this.#nowMs = nowMs;
    for (let visit = 0; visit < visits; visit++) this.#simulateVisit();
    if (Math.random() < conversationsPerSecond) simulateConversation(this.#outboxes.traces, nowMs);
    simulateCodingAgent(this.#outboxes.logs, nowMs);
  }

  get #isBroken(): boolean {
    return this.#nowMs >= this.#incident.startMs && this.#nowMs < this.#incident.endMs;
  }

  get #pods(): Pods {
    return this.#isBroken ? brokenPods : stablePods;
  }

  /** One visitor's request, from the browser down. */
  #simulateVisit(): void {
    const step = pick(journeys)(this.#isBroken);
    const [traceId, startMs] = [createTraceId(), this.#nowMs - 2_500];
    const request = this.#visitors.beginRequest(step.name, traceId, startMs);
    const { endMs, hasFailed } = this.#emitStep(step, {
      traceId,
      parentSpanId: request.spanId,
      startMs,
      isDeclined: Math.random() < (this.#isBroken ? 0.25 : 0.03),
      order: Math.floor(Math.random() * 90_000) + 10_000,
      pods: this.#pods,
    });
    request.finish(endMs, hasFailed);
  }

  /** Records the current process metrics, cumulative since the start of the shop. */
  recordMetrics(): void {
    const timeUnixNano = toNanosecondText(this.#nowMs);
    const startTimeUnixNano = toNanosecondText(this.#startMs);
    for (const { pod, attributes, count, sum, buckets } of this.#requests.values()) {
      const point = {
        attributes: toKeyValues(attributes),
        startTimeUnixNano,
        timeUnixNano,
        count: String(count),
        sum,
        bucketCounts: buckets.map(String),
        explicitBounds: bucketBounds,
      };
      this.#outboxes.metrics.add(pod, {
        name: 'http.server.request.duration',
        unit: 's',
        description: 'Duration of HTTP server requests',
        histogram: { aggregationTemporality: 2, dataPoints: [point] },
      });
    }
    for (const [service, instances] of this.#pods) {
      for (const pod of instances) {
        const wave = Math.sin(this.#nowMs / 60_000 + services.indexOf(service));
        this.#recordGauge(pod, 'process.cpu.utilization', '1', 0.2 + 0.1 * wave + Math.random() * 0.05, timeUnixNano);
        this.#recordGauge(pod, 'process.memory.usage', 'By', Math.round(120e6 + 15e6 * wave), timeUnixNano);
      }
    }
    const [checkout = {}] = this.#pods.get('checkout') ?? [];
    this.#outboxes.metrics.add(checkout, {
      name: 'shop.orders',
      unit: '{order}',
      description: 'Orders placed',
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [{ startTimeUnixNano, timeUnixNano, asInt: String(this.#orders) }],
      },
    });
  }

  /** Records the state of the cluster in which the shop runs. */
  recordCluster(): void {
    this.#cluster.record(this.#nowMs, this.#pods);
  }

  #recordGauge(pod: Attributes, name: string, unit: string, asDouble: number, timeUnixNano: string): void {
    this.#outboxes.metrics.add(pod, { name, unit, gauge: { dataPoints: [{ timeUnixNano, asDouble }] } });
  }

  /**
   * Emits a step's span, its log and its calls, one after the other, until one fails; returns its end time, and whether
   * it failed.
   */
  #emitStep(
    step: Step,
    { traceId, parentSpanId, startMs, isDeclined, order, pods, caller }: StepContext,
  ): { readonly endMs: number; readonly hasFailed: boolean } {
    const pod = caller?.['service.name'] === step.service ? caller : pick(pods.get(step.service) ?? []);
    const id = createSpanId();
    const calls = (step.calls ?? []).map((call) =>
      step.kind !== 3 && call.kind === 2 ? toClientSpan(step.service, call) : call,
    );
    const isFailureSource = isDeclined && step.service === 'payments' && step.kind === 2;
    let hasFailed = isFailureSource;
    let callStartMs = startMs + randomizeDuration(step.ms) * 0.2;
    for (const call of calls) {
      const callResult = this.#emitStep(call, {
        traceId,
        parentSpanId: id,
        startMs: callStartMs,
        isDeclined,
        order,
        pods,
        caller: pod,
      });
      callStartMs = callResult.endMs;
      hasFailed ||= callResult.hasFailed;
      if (hasFailed) break;
    }
    const endMs = callStartMs + randomizeDuration(step.ms) * (calls.length > 0 ? 0.2 : 0.8);
    const status = hasFailed ? 502 : 200;
    const attributes: Attributes =
      'http.request.method' in step.attributes
        ? { ...step.attributes, 'http.response.status_code': status }
        : step.attributes;
    this.#outboxes.traces.add(pod, {
      traceId: traceId,
      spanId: id,
      parentSpanId: parentSpanId,
      name: step.name,
      kind: step.kind,
      startTimeUnixNano: toNanosecondText(startMs),
      endTimeUnixNano: toNanosecondText(endMs),
      attributes: toKeyValues(attributes),
      status: hasFailed ? { code: 2, message: 'upstream failed' } : { code: 0 },
      events: isFailureSource
        ? [
            {
              timeUnixNano: toNanosecondText(endMs),
              name: 'exception',
              attributes: toKeyValues({
                'exception.type': 'CardDeclined',
                'exception.message': 'card issuer answered 05: do not honour',
              }),
            },
          ]
        : [],
    });
    if (step.kind === 2) this.#recordRequest(pod, attributes, (endMs - startMs) / 1_000);
    this.#emitLog(step, pod, {
      traceId,
      spanId: id,
      order,
      timeMs: endMs,
      durationMs: endMs - startMs,
      hasFailed,
      isFailureSource,
    });
    if (step.kind === 2 && step.name === 'POST /orders' && !hasFailed) this.#orders++;
    return { endMs, hasFailed };
  }

  #emitLog(
    step: Step,
    pod: Attributes,
    { traceId, spanId, order, timeMs, durationMs, hasFailed, isFailureSource }: StepOutcome,
  ): void {
    const lines: Readonly<Record<Service, string>> = {
      frontend: `${step.name} ${hasFailed ? 502 : 200} in ${durationMs.toFixed(1)} ms`,
      catalog: `listed ${Math.floor(Math.random() * 50)} products in ${durationMs.toFixed(1)} ms`,
      cart: `cart of visitor ${order} updated`,
      checkout: hasFailed
        ? `order ${order} failed: payment was not accepted`
        : `order ${order} accepted, total ${(Math.random() * 200).toFixed(2)} EUR`,
      payments: isFailureSource
        ? `charge for order ${order} declined: card issuer answered 05: do not honour`
        : `${step.logMessage === undefined ? '' : `${step.logMessage}: `}charged order ${order} in ${durationMs.toFixed(1)} ms`,
      shipping: `shipment for order ${order} scheduled with carrier ${pick(['DHL', 'UPS', 'La Poste'])}`,
      email: `confirmation of order ${order} sent`,
    };
    if (step.kind === 3) return;
    const isWarning = hasFailed || step.logMessage !== undefined;
    this.#outboxes.logs.add(pod, {
      timeUnixNano: toNanosecondText(timeMs),
      observedTimeUnixNano: toNanosecondText(timeMs),
      severityNumber: isFailureSource ? 17 : isWarning ? 13 : 9,
      severityText: isFailureSource ? 'ERROR' : isWarning ? 'WARN' : 'INFO',
      body: { stringValue: lines[step.service] },
      attributes: toKeyValues({ 'order.id': order, 'code.function.name': step.name }),
      traceId: traceId,
      spanId: spanId,
    });
  }

  #recordRequest(pod: Attributes, attributes: Attributes, seconds: number): void {
    const key = `${pod['k8s.pod.name']} ${attributes['http.route']} ${attributes['http.response.status_code']}`;
    const series = this.#requests.get(key) ?? {
      pod,
      attributes,
      count: 0,
      sum: 0,
      buckets: new Array<number>(bucketBounds.length + 1).fill(0),
    };
    const bucket = bucketBounds.findIndex((bound) => seconds <= bound);
    const index = bucket === -1 ? bucketBounds.length : bucket;
    series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    series.count++;
    series.sum += seconds;
    this.#requests.set(key, series);
  }
}

const bucketBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
