/** Receivers for web pages. The public key is in the path, because beacons cannot set headers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { allowOrigin, respondToPreflight } from '../engine/cors.ts';
import { createErrorResponse } from '../engine/error-responses.ts';
import { createHttpIngest, type HttpProtocol } from '../engine/http-ingest.ts';
import { respondWithRejection } from '../engine/http-receiver.ts';
import { defineReceiver, type Engine, type HttpHandler, type Receiver } from '../engine/receiver.ts';

interface BrowserReceiver
  extends Omit<Receiver, 'open' | 'listens'>,
    Pick<HttpProtocol, 'shape' | 'toSuccessResponse' | 'toErrorResponse'> {
  /** Path of each telemetry signal, behind the key. */
  readonly endpoints: Readonly<Partial<Record<Signal, string>>>;
}

const defaultHeaders = 'content-type, content-encoding, traceparent, tracestate';
const pathPattern = /^\/rum\/([^/?]{0,128})\/([^?]*)(?:\?.*)?$/;

/** Sets the CORS headers for an origin that may use the key. Returns true if the request was a preflight. */
const answerCors = (engine: Engine, key: string, request: IncomingMessage, response: ServerResponse): boolean => {
  const { origin } = request.headers;
  response.setHeader('vary', 'Origin');
  if (origin !== undefined && engine.findBrowserAccess(key)?.isAllowedOrigin(origin)) {
    allowOrigin(response, origin);
    // Browsers send beacons with credentials, and JSON beacons only if the preflight allows them. They are ignored here.
    response.setHeader('access-control-allow-credentials', 'true');
  }
  if (request.method !== 'OPTIONS') return false;
  // SDKs add their own headers, such as the Idempotency-Key of Faro, so all are allowed. The origin is checked instead.
  respondToPreflight(response, request.headers['access-control-request-headers'] ?? defaultHeaders);
  return true;
};

/** Declares a receiver below `/rum/{key}/` on both HTTP addresses. */
export const defineBrowserReceiver = (declaration: BrowserReceiver): Receiver => {
  const { endpoints } = declaration;
  const entries = Object.entries(endpoints) as [Signal, string][];
  const signalByEndpoint = new Map(entries.map(([signal, endpoint]) => [endpoint, signal]));
  const paths = Object.fromEntries(entries.map(([signal, endpoint]) => [signal, `/rum/{key}/${endpoint}`]));
  const protocol: HttpProtocol = { ...declaration, receiver: declaration.name };
  return defineReceiver({
    ...declaration,
    listens: [
      { setting: 'OTLP_HTTP_ADDRESS', protocol: 'http', paths },
      { setting: 'HTTP_ADDRESS', protocol: 'http', paths },
    ],
    open(engine) {
      const ingest = createHttpIngest(engine, protocol);
      const handle: HttpHandler = (request, response) => {
        const [, key, endpoint = ''] = pathPattern.exec(request.url ?? '') ?? [];
        const signal = signalByEndpoint.get(endpoint);
        if (key === undefined || signal === undefined) return false;
        if (answerCors(engine, key, request, response)) return true;
        if (request.method === 'POST') ingest(request, response, signal, { key, origin: request.headers.origin });
        else
          respondWithRejection(
            protocol,
            request,
            response,
            createErrorResponse('bad-method', 'telemetry is sent with POST'),
          );
        return true;
      };
      return { handlers: { OTLP_HTTP_ADDRESS: handle, HTTP_ADDRESS: handle } };
    },
  });
};
