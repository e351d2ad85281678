/** Allows browsers of configured origins to send telemetry. */
import type { IncomingMessage, ServerResponse } from 'node:http';

const maxAgeSeconds = 7_200;
const allowedHeaders = 'content-type, content-encoding, x-license-key, authorization, traceparent, tracestate';

/** Allows pages of an origin (`*`: of any origin) to read the response. */
export const allowOrigin = (response: ServerResponse, origin: string): void => {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'Retry-After');
};

/** Responds to a preflight: telemetry is sent with POST and these headers. */
export const respondToPreflight = (response: ServerResponse, headers: string): void => {
  response.setHeader('access-control-allow-methods', 'POST');
  response.setHeader('access-control-allow-headers', headers);
  response.setHeader('access-control-max-age', maxAgeSeconds);
  response.writeHead(204).end();
};

/** Sets the CORS headers of a response. Returns true if the request was a preflight and has its response. */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Returns the CORS handler. `*` allows every origin. Without origins no header is sent, and browsers block such
 * requests.
 */
export const createCors = (origins: readonly string[]): Cors => {
  if (origins.length === 0) return () => false;
  const allowsAll = origins.includes('*');
  const allowedOrigins = new Set(origins);
  return (request, response) => {
    const { origin } = request.headers;
    if (origin === undefined) return false;
    response.setHeader('vary', 'Origin');
    if (allowsAll || allowedOrigins.has(origin)) allowOrigin(response, allowsAll ? '*' : origin);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
    respondToPreflight(response, request.headers['access-control-request-headers'] ?? allowedHeaders);
    return true;
  };
};
