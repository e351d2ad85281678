/** Requirements of RFC 9112 for HTTP/1.1 servers that Node leaves to its users. */
import type { IncomingMessage, RequestListener } from 'node:http';

const multipleHostsError =
  '{"error":"BAD_REQUEST","message":"the request has more than one Host header: send exactly one"}\n';

const countHostHeaders = (rawHeaders: readonly string[]): number => {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
};

const absoluteFormPattern = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]+)/i;

/** Rewrites a target in absolute form to its path, and replaces the `Host` header with the host of the target. */
const rewriteToOriginForm = (request: IncomingMessage): void => {
  const [origin = '', host] = absoluteFormPattern.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  const path = request.url?.slice(origin.length) ?? '';
  request.headers.host = host;
  request.url = path.startsWith('/') ? path : `/${path}`;
};

/**
 * Rejects requests with two `Host` headers (section 3.2), and rewrites targets in absolute form to paths (section
 * 3.2.2).
 */
export const enforceRequestRules =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    if (countHostHeaders(request.rawHeaders) > 1) {
      response
        .writeHead(400, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(multipleHostsError),
          connection: 'close',
        })
        .end(multipleHostsError);
      return;
    }
    if (request.url?.startsWith('/') !== true) rewriteToOriginForm(request);
    listener(request, response);
  };
