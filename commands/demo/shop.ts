/** A fictional small shop: the telemetry of its services for each order, in real time. */
import { type Attributes, createSpanId, createTraceId, keyValues, nanoseconds, type Outbox } from './otlp-json.ts';

const services = ['frontend', 'catalog', 'cart', 'checkout', 'payments', 'shipping', 'email'] as const;
type Service = (typeof services)[number];

const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;
const randomizeDuration = (milliseconds: number): number =>
  milliseconds * Math.exp((Math.random() + Math.random() + Math.random() - 1.5) * 0.9);

/** One pod of each service, two of the busy ones. */
const pods = new Map<Service, readonly Attributes[]>(
  services.map((service, index) => [
    service,
    Array.from({ length: service === 'frontend' || service === 'checkout' ? 2 : 1 }, (_, replica) => {
      const pod = `${service}-7d9c5b6f4${index}-${'abcdefghij'[index]}x${replica}kz`;
      return {
        'service.name': service,
        'service.namespace': 'shop',
        'service.version': service === 'checkout' && replica === 1 ? '2.4.0' : '2.3.1',
        'service.instance.id': pod,
        'deployment.environment.name': 'demo',
        'host.name': `node-${(index % 3) + 1}`,
        'k8s.cluster.name': 'demo',
        'k8s.namespace.name': 'shop',
        'k8s.node.name': `node-${(index % 3) + 1}`,
        'k8s.pod.name': pod,
        'k8s.pod.uid': `${index}${replica}6f1c9e-52a4-4c1f-9d0e-3b7a5e8d21f0`,
        'container.id': `${index}${replica}`.padEnd(64, 'c0ffee'),
        'process.pid': 1,
        'telemetry.sdk.language': index % 2 === 0 ? 'nodejs' : 'python',
      };
    }),
  ]),
);

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

const http = (service: Service, method: string, route: string, ms: number, calls: readonly Step[] = []): Step => ({
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
const sql = (service: Service, statement: string, table: string, ms: number): Step => ({
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

/** One charge in eight waits for the card provider, which is the slow part of this shop. */
const charge = (): Step => {
  const isSlow = Math.random() < 0.125;
  return {
    ...http('payments', 'POST', '/charges', 20, [
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

const journeys: readonly (() => Step)[] = [
  () =>
    http('frontend', 'GET', '/products', 40, [
      http('catalog', 'GET', '/catalog/products', 22, [
        sql('catalog', 'SELECT * FROM products LIMIT 50', 'products', 9),
      ]),
    ]),
  () =>
    http('frontend', 'GET', '/products/{id}', 25, [
      http('catalog', 'GET', '/catalog/products/{id}', 12, [
        sql('catalog', 'SELECT * FROM products WHERE id = $1', 'products', 3),
      ]),
    ]),
  () =>
    http('frontend', 'POST', '/cart', 30, [
      http('cart', 'POST', '/cart/items', 14, [sql('cart', 'INSERT INTO cart_items VALUES ($1, $2)', 'cart_items', 5)]),
    ]),
  () =>
    http('frontend', 'POST', '/checkout', 180, [
      http('checkout', 'POST', '/orders', 150, [
        http('cart', 'GET', '/cart/{id}', 10, [
          sql('cart', 'SELECT * FROM cart_items WHERE cart = $1', 'cart_items', 4),
        ]),
        charge(),
        sql('checkout', 'INSERT INTO orders VALUES ($1, $2, $3)', 'orders', 8),
        http('shipping', 'POST', '/shipments', 20),
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
  readonly trace: string;
  readonly parent: string;
  readonly startMs: number;
  /** The charge of this visit is declined. */
  readonly fails: boolean;
  /** Pod of the caller: the step runs in the same pod. */
  readonly caller?: Attributes;
}

export interface Outboxes {
  readonly logs: Outbox;
  readonly traces: Outbox;
  readonly metrics: Outbox;
}

/** Simulates the shop and collects the telemetry of its services. */
export class Shop {
  readonly #out: Outboxes;
  readonly #startMs = Date.now();
  readonly #requests = new Map<
    string,
    { pod: Attributes; attributes: Attributes; count: number; sum: number; buckets: number[] }
  >();
  #orders = 0;

  constructor(out: Outboxes) {
    this.#out = out;
  }

  /** One visitor's request, from the front end down. */
  visit(): void {
    const isDeclined = Math.random() < 0.03;
    this.#emitStep(pick(journeys)(), {
      trace: createTraceId(),
      parent: '',
      startMs: Date.now() - 2_500,
      fails: isDeclined,
    });
  }

  /** Records the current process metrics, cumulative since the start of the shop. */
  measure(): void {
    const timeUnixNano = nanoseconds(Date.now());
    const startTimeUnixNano = nanoseconds(this.#startMs);
    for (const { pod, attributes, count, sum, buckets } of this.#requests.values()) {
      const point = {
        attributes: keyValues(attributes),
        startTimeUnixNano,
        timeUnixNano,
        count: String(count),
        sum,
        bucketCounts: buckets.map(String),
        explicitBounds: bounds,
      };
      this.#out.metrics.add(pod, {
        name: 'http.server.request.duration',
        unit: 's',
        description: 'Duration of HTTP server requests',
        histogram: { aggregationTemporality: 2, dataPoints: [point] },
      });
    }
    for (const [service, instances] of pods) {
      for (const pod of instances) {
        const wave = Math.sin(Date.now() / 60_000 + services.indexOf(service));
        this.#gauge(pod, 'process.cpu.utilization', '1', 0.2 + 0.1 * wave + Math.random() * 0.05, timeUnixNano);
        this.#gauge(pod, 'process.memory.usage', 'By', Math.round(120e6 + 15e6 * wave), timeUnixNano);
      }
    }
    const [checkout = {}] = pods.get('checkout') ?? [];
    this.#out.metrics.add(checkout, {
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

  #gauge(pod: Attributes, name: string, unit: string, asDouble: number, timeUnixNano: string): void {
    this.#out.metrics.add(pod, { name, unit, gauge: { dataPoints: [{ timeUnixNano, asDouble }] } });
  }

  /**
   * Emits a step's span, its log and its calls, one after the other, until one fails; returns its end time, and whether
   * it failed.
   */
  #emitStep(
    step: Step,
    { trace, parent, startMs, fails, caller }: StepContext,
  ): { readonly endMs: number; readonly failed: boolean } {
    const pod = caller?.['service.name'] === step.service ? caller : pick(pods.get(step.service) ?? []);
    const id = createSpanId();
    const calls = (step.calls ?? []).map((call) =>
      step.kind !== 3 && call.kind === 2 ? toClientSpan(step.service, call) : call,
    );
    const isFailureSource = fails && step.service === 'payments' && step.kind === 2;
    let failed = isFailureSource;
    let callStartMs = startMs + randomizeDuration(step.ms) * 0.2;
    for (const call of calls) {
      const callResult = this.#emitStep(call, { trace, parent: id, startMs: callStartMs, fails, caller: pod });
      callStartMs = callResult.endMs;
      failed ||= callResult.failed;
      if (failed) break;
    }
    const endMs = callStartMs + randomizeDuration(step.ms) * (calls.length > 0 ? 0.2 : 0.8);
    const status = failed ? 502 : 200;
    const attributes: Attributes =
      'http.request.method' in step.attributes
        ? { ...step.attributes, 'http.response.status_code': status }
        : step.attributes;
    this.#out.traces.add(pod, {
      traceId: trace,
      spanId: id,
      parentSpanId: parent,
      name: step.name,
      kind: step.kind,
      startTimeUnixNano: nanoseconds(startMs),
      endTimeUnixNano: nanoseconds(endMs),
      attributes: keyValues(attributes),
      status: failed ? { code: 2, message: 'upstream failed' } : { code: 0 },
      events: isFailureSource
        ? [
            {
              timeUnixNano: nanoseconds(endMs),
              name: 'exception',
              attributes: keyValues({
                'exception.type': 'CardDeclined',
                'exception.message': 'card issuer answered 05: do not honour',
              }),
            },
          ]
        : [],
    });
    if (step.kind === 2) this.#request(pod, attributes, (endMs - startMs) / 1_000);
    this.#log(step, pod, trace, id, endMs, endMs - startMs, failed, isFailureSource);
    if (step.kind === 2 && step.name === 'POST /orders' && !failed) this.#orders++;
    return { endMs, failed };
  }

  #log(
    step: Step,
    pod: Attributes,
    trace: string,
    span: string,
    timeMs: number,
    durationMs: number,
    failed: boolean,
    culprit: boolean,
  ): void {
    const order = Math.floor(Math.random() * 90_000) + 10_000;
    const lines: Readonly<Record<Service, string>> = {
      frontend: `${step.name} ${failed ? 502 : 200} in ${durationMs.toFixed(1)} ms`,
      catalog: `listed ${Math.floor(Math.random() * 50)} products in ${durationMs.toFixed(1)} ms`,
      cart: `cart of visitor ${order} updated`,
      checkout: failed
        ? `order ${order} failed: payment was not accepted`
        : `order ${order} accepted, total ${(Math.random() * 200).toFixed(2)} EUR`,
      payments: culprit
        ? `charge for order ${order} declined: card issuer answered 05: do not honour`
        : `${step.logMessage === undefined ? '' : `${step.logMessage}: `}charged order ${order} in ${durationMs.toFixed(1)} ms`,
      shipping: `shipment for order ${order} scheduled with carrier ${pick(['DHL', 'UPS', 'La Poste'])}`,
      email: `confirmation of order ${order} sent`,
    };
    if (step.kind === 3) return;
    const isWarning = failed || step.logMessage !== undefined;
    this.#out.logs.add(pod, {
      timeUnixNano: nanoseconds(timeMs),
      observedTimeUnixNano: nanoseconds(timeMs),
      severityNumber: culprit ? 17 : isWarning ? 13 : 9,
      severityText: culprit ? 'ERROR' : isWarning ? 'WARN' : 'INFO',
      body: { stringValue: lines[step.service] },
      attributes: keyValues({ 'order.id': order, 'code.function.name': step.name }),
      traceId: trace,
      spanId: span,
    });
  }

  #request(pod: Attributes, attributes: Attributes, seconds: number): void {
    const key = `${pod['k8s.pod.name']} ${attributes['http.route']} ${attributes['http.response.status_code']}`;
    const series = this.#requests.get(key) ?? {
      pod,
      attributes,
      count: 0,
      sum: 0,
      buckets: new Array<number>(bounds.length + 1).fill(0),
    };
    const bucket = bounds.findIndex((bound) => seconds <= bound);
    const index = bucket === -1 ? bounds.length : bucket;
    series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    series.count++;
    series.sum += seconds;
    this.#requests.set(key, series);
  }
}

const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
