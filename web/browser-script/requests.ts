/** Adds `traceparent` to requests of the page to configured origins, and reports them as spans. */
import { createId, guard } from './guard.ts';
import type { Span } from './otlp.ts';

interface Traced {
  readonly traceId: string;
  readonly spanId: string;
  readonly method: string;
  readonly url: string;
  readonly startMs: number;
}

type ReportSpan = (span: Span) => void;

const toOrigin = guard((url: string): string => new URL(url, location.href).origin);
const now = (): number => performance.timeOrigin + performance.now();

const begin = (method: string, url: string): Traced => ({
  traceId: createId(16),
  spanId: createId(8),
  method: method.toUpperCase(),
  url: new URL(url, location.href).href,
  startMs: now(),
});

const toTraceparent = ({ traceId, spanId }: Traced): string => `00-${traceId}-${spanId}-01`;

const toSpan = ({ traceId, spanId, method, url, startMs }: Traced, status: number): Span => ({
  name: `HTTP ${method}`,
  traceId,
  spanId,
  startMs,
  endMs: now(),
  hasFailed: status === 0 || status >= 400,
  attributes: {
    'http.request.method': method,
    'url.full': url,
    'http.response.status_code': status === 0 ? undefined : status,
    'error.type': status === 0 ? 'network' : undefined,
  },
});

const traceFetch = (original: typeof fetch, origins: ReadonlySet<string>, report: ReportSpan): typeof fetch => {
  const prepare = guard((input: RequestInfo | URL, init: RequestInit | undefined) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!origins.has(toOrigin(url) ?? '')) return undefined;
    const request = input instanceof Request ? input : undefined;
    const headers = new Headers(init?.headers ?? request?.headers);
    if (headers.has('traceparent')) return undefined;
    const traced = begin(init?.method ?? request?.method ?? 'GET', url);
    headers.set('traceparent', toTraceparent(traced));
    return { traced, init: { ...init, headers } };
  });
  return (input, init) => {
    const prepared = prepare(input, init);
    if (prepared === undefined) return original.call(window, input, init);
    const finish = guard((status: number): void => report(toSpan(prepared.traced, status)));
    const response = original.call(window, input, prepared.init);
    response.then(
      ({ status }) => finish(status),
      () => finish(0),
    );
    return response;
  };
};

const traceXmlHttpRequests = (origins: ReadonlySet<string>, report: ReportSpan): void => {
  const { prototype } = XMLHttpRequest;
  const { open, send } = prototype;
  const opened = new WeakMap<XMLHttpRequest, readonly [method: string, url: string]>();
  prototype.open = function (this: XMLHttpRequest, ...given: Parameters<typeof open>) {
    guard(() => opened.set(this, [given[0], String(given[1])]))();
    return open.apply(this, given);
  } as typeof open;
  prototype.send = function (this: XMLHttpRequest, body) {
    guard(() => {
      const [method, url] = opened.get(this) ?? [];
      if (method === undefined || url === undefined || !origins.has(toOrigin(url) ?? '')) return;
      const traced = begin(method, url);
      this.setRequestHeader('traceparent', toTraceparent(traced));
      this.addEventListener(
        'loadend',
        guard(() => report(toSpan(traced, this.status))),
      );
    })();
    return send.call(this, body);
  };
};

/** Returns whether an origin is traced, for timings that the spans contain already. */
export const traceRequests = (traceOrigins: readonly string[], report: ReportSpan): ((url: string) => boolean) => {
  const origins = new Set(traceOrigins.map((origin) => toOrigin(origin) ?? origin));
  if (origins.size > 0) {
    window.fetch = traceFetch(window.fetch, origins, report);
    traceXmlHttpRequests(origins, report);
  }
  return (url) => origins.has(toOrigin(url) ?? '');
};
