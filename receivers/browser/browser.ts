/** OTLP of browsers, with a public key in the path, because beacons cannot set headers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { allowOrigin, respondToPreflight } from '../engine/cors.ts';
import { createHttpIngest } from '../engine/http-ingest.ts';
import { respondWithRefusal } from '../engine/http-receiver.ts';
import { defineReceiver, type Engine, type HttpHandler } from '../engine/receiver.ts';
import { createRefusal } from '../engine/refusal.ts';
import { createOtlpProtocol } from '../otlp-http.ts';
import { browserJson, browserProtobuf } from './body-formats.ts';

const maxBodyBytes = 1024 * 1024;
const paths = { logs: '/rum/{key}/v1/logs', traces: '/rum/{key}/v1/traces' } as const;
const pathPattern = /^\/rum\/([^/?]{0,128})\/v1\/(logs|traces)(?:\?.*)?$/;

const protocol = createOtlpProtocol({
  receiver: 'browser',
  maxBodyBytes,
  protobuf: browserProtobuf,
  json: browserJson,
  // A beacon sends text, and no preflight.
  defaultFormat: browserJson,
});

/** Sets the CORS headers for an origin that may use the key. Returns true if the request was a preflight. */
const answerCors = (engine: Engine, key: string, request: IncomingMessage, response: ServerResponse): boolean => {
  const { origin } = request.headers;
  response.setHeader('vary', 'Origin');
  if (origin !== undefined && engine.findBrowserAccess(key)?.isAllowedOrigin(origin)) allowOrigin(response, origin);
  if (request.method !== 'OPTIONS') return false;
  respondToPreflight(response, 'content-type, content-encoding, traceparent, tracestate');
  return true;
};

export const browser = defineReceiver({
  name: 'browser',
  summary: 'OTLP of browsers over HTTP, below /rum/{key} on 4318 and on the main address',
  signals: ['logs', 'traces'],
  listens: [
    { setting: 'OTLP_HTTP_ADDRESS', protocol: 'http', paths },
    { setting: 'HTTP_ADDRESS', protocol: 'http', paths },
  ],
  maxBodyBytes,
  formats: [browserProtobuf, browserJson],
  open(engine) {
    const ingest = createHttpIngest(engine, protocol);
    const handle: HttpHandler = (request, response) => {
      if (!request.url?.startsWith('/rum/')) return false;
      const [, key, signal] = pathPattern.exec(request.url) ?? [];
      if (key === undefined) {
        const refusal = createRefusal('not-found', `browsers send to ${Object.values(paths).join(' and ')}`);
        respondWithRefusal(protocol, request, response, refusal);
        return true;
      }
      if (answerCors(engine, key, request, response)) return true;
      if (request.method === 'POST')
        ingest(request, response, signal as Signal, { key, origin: request.headers.origin });
      else respondWithRefusal(protocol, request, response, createRefusal('bad-method', 'telemetry is sent with POST'));
      return true;
    };
    return { handlers: { OTLP_HTTP_ADDRESS: handle, HTTP_ADDRESS: handle } };
  },
});
