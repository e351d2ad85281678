/** Visitors of the demo shop in browsers: page views, web vitals, clicks, resources, requests and errors. */
import { randomBytes } from 'node:crypto';
import { type Attributes, createSpanId, type Outbox, toKeyValues, toNanosecondText } from './otlp-json.ts';
import { pick } from './random.ts';

const vary = (value: number): number => value * (0.5 + Math.random() * Math.random() * 2);

const origin = 'https://shop.example.com';
const page: Attributes = {
  'service.name': 'shop-web',
  'service.version': '5.1.0',
  'deployment.environment.name': 'production',
  'telemetry.sdk.language': 'webjs',
  'telemetry.sdk.name': 'opentelemetry',
  'telemetry.sdk.version': '2.1.0',
};

const userAgents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
] as const;
const countries = ['DE', 'US', 'FR', 'GB', 'JP', 'BR'] as const;

interface Visitor {
  readonly attributes: Attributes;
  /** How slow the device and its connection are */
  readonly slowness: number;
  path: string;
  remainingPages: number;
}

const maxVisitors = 12;

/** A request of the shop, as the browser starts it. */
export interface PageRequest {
  readonly spanId: string;
  /** Reports the end of the request. */
  finish(endMs: number, hasFailed: boolean): void;
}

interface PageOutboxes {
  readonly logs: Outbox;
  readonly traces: Outbox;
}

/** The visitors that are in the shop, and what their browsers send. */
export class Visitors {
  readonly #outboxes: PageOutboxes;
  #visitors: Visitor[] = [];

  constructor(outboxes: PageOutboxes) {
    this.#outboxes = outboxes;
  }

  /** Begins a request for the route of a front end, such as `POST /cart`, with what leads to it on the page. */
  beginRequest(route: string, traceId: string, startMs: number): PageRequest {
    const visitor = this.#chooseVisitor(startMs);
    const [method = 'GET', path = '/'] = route.split(' ');
    const spanId = createSpanId();
    if (method === 'GET')
      this.#openPage(visitor, path.replace('{id}', String(Math.floor(Math.random() * 400))), startMs);
    else this.#click(visitor, path === '/checkout' ? '#pay' : '#add-to-cart', startMs - 60);
    return {
      spanId,
      finish: (endMs, hasFailed) => {
        this.#outboxes.traces.add(page, {
          traceId,
          spanId,
          parentSpanId: '',
          name: `HTTP ${method}`,
          kind: 3,
          startTimeUnixNano: toNanosecondText(startMs - 30),
          endTimeUnixNano: toNanosecondText(endMs + 30),
          attributes: toKeyValues({
            ...visitor.attributes,
            'http.request.method': method,
            'url.full': `${origin}${path}`,
            'browser.document.url.full': `${origin}${visitor.path}`,
            'http.response.status_code': hasFailed ? 502 : 200,
          }),
          status: { code: hasFailed ? 2 : 0 },
          events: [],
        });
        if (hasFailed && method === 'POST') this.#fail(visitor, endMs + 40);
      },
    };
  }

  #chooseVisitor(atMs: number): Visitor {
    this.#visitors = this.#visitors.filter(({ remainingPages }) => remainingPages > 0);
    if (this.#visitors.length < maxVisitors && Math.random() < 0.3) this.#visitors.push(this.#createVisitor(atMs));
    return this.#visitors.length === 0 ? this.#createVisitor(atMs) : pick(this.#visitors);
  }

  #createVisitor(atMs: number): Visitor {
    const attributes = {
      'session.id': randomBytes(8).toString('hex'),
      'user.id': `customer-${Math.floor(Math.random() * 300)}`,
      'user_agent.original': pick(userAgents),
      'geo.country.iso_code': pick(countries),
    };
    const visitor = {
      attributes,
      slowness: 0.6 + Math.random() * 1.2,
      path: '/',
      remainingPages: 3 + Math.floor(Math.random() * 8),
    };
    this.#addEvent(visitor, 'session.start', atMs - 1_500, {});
    this.#openPage(visitor, '/', atMs - 1_400);
    return visitor;
  }

  #openPage(visitor: Visitor, path: string, atMs: number): void {
    const { slowness } = visitor;
    visitor.path = path;
    visitor.remainingPages--;
    const url = { 'url.full': `${origin}${path}` };
    this.#addEvent(visitor, 'browser.navigation', atMs, { ...url, 'browser.navigation.same_document': false });
    const waiting = vary(180 * slowness);
    this.#addEvent(visitor, 'browser.navigation_timing', atMs + 900, {
      ...url,
      'browser.resource_timing.domain_lookup_start': 2,
      'browser.resource_timing.domain_lookup_end': 2 + vary(12 * slowness),
      'browser.resource_timing.request_start': 60,
      'browser.resource_timing.response_start': 60 + waiting,
      'browser.resource_timing.response_end': 80 + waiting,
      'browser.navigation_timing.dom_interactive': 200 + waiting,
      'browser.navigation_timing.load_event_end': vary(700 * slowness) + waiting,
    });
    const resources = [
      [`${origin}/assets/app.js`, 'script', 140, 48_000],
      ['https://cdn.example.net/fonts.css', 'link', 60, 9_000],
      ['https://tags.example.org/pixel.js', 'script', 220, 21_000],
    ] as const;
    for (const [target, type, duration, bytes] of resources) {
      const isCached = Math.random() < 0.4;
      this.#addEvent(visitor, 'browser.resource_timing', atMs + 400, {
        'url.full': target,
        'browser.document.url.full': `${origin}${path}`,
        'browser.resource_timing.duration': isCached ? 3 : vary(duration * slowness),
        'browser.resource_timing.initiator_type': type,
        'browser.resource_timing.transfer_size': isCached ? 0 : bytes,
        'browser.resource_timing.encoded_body_size': bytes,
        'browser.resource_timing.decoded_body_size': bytes * 3,
        'browser.resource_timing.render_blocking_status': type === 'link' ? 'blocking' : 'non-blocking',
      });
    }
    const vitals = {
      ttfb: 60 + waiting,
      fcp: vary(900 * slowness),
      lcp: vary(1_700 * slowness),
      cls: Math.random() < 0.2 ? 0.18 * Math.random() + 0.1 : 0.04 * Math.random(),
      inp: vary(120 * slowness),
    };
    for (const [name, value] of Object.entries(vitals))
      this.#addEvent(visitor, 'browser.web_vital', atMs + 1_200, {
        'browser.web_vital.name': name,
        'browser.web_vital.value': Number(value.toFixed(4)),
        'browser.web_vital.id': `v6-${randomBytes(6).toString('hex')}`,
        'browser.web_vital.navigation_type': 'navigate',
      });
  }

  #click(visitor: Visitor, selector: string, atMs: number): void {
    this.#addEvent(visitor, 'browser.user_action.click', atMs, {
      'browser.css_selector': selector,
      'browser.tag_name': 'BUTTON',
    });
  }

  /** A failed order: an error, and clicks on a button that does nothing. */
  #fail(visitor: Visitor, atMs: number): void {
    this.#addEvent(visitor, 'exception', atMs, {
      'exception.type': 'PaymentError',
      'exception.message': 'the order could not be paid',
      'exception.stacktrace': `PaymentError: the order could not be paid\n    at submitOrder (${origin}/assets/checkout.js:120:15)\n    at HTMLButtonElement.onClick (${origin}/assets/checkout.js:88:7)`,
    });
    if (Math.random() < 0.5) for (const delayMs of [300, 500, 700, 850]) this.#click(visitor, '#pay', atMs + delayMs);
  }

  #addEvent(visitor: Visitor, eventName: string, atMs: number, attributes: Attributes): void {
    this.#outboxes.logs.add(page, {
      timeUnixNano: toNanosecondText(atMs),
      eventName,
      severityNumber: eventName === 'exception' ? 17 : 9,
      body: { stringValue: eventName },
      attributes: toKeyValues({ ...visitor.attributes, ...attributes }),
    });
  }
}
