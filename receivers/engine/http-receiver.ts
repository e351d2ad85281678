/** A receiver over HTTP is a declaration of paths, formats and responses. The engine does the rest. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { createErrorResponse } from './error-responses.ts';
import { createHttpIngest, type HttpProtocol } from './http-ingest.ts';
import { type AddressSetting, defineReceiver, type HttpHandler, type Receiver } from './receiver.ts';

type HttpReceiver = Omit<Receiver, 'open'> & Pick<HttpProtocol, 'shape' | 'toSuccessResponse' | 'toErrorResponse'>;

/** Returns the path of a request, without its query. */
const getRequestPath = ({ url = '' }: IncomingMessage): string => {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
};

/** Responds to a request that is not telemetry in the protocol's own format. */
export const respondWithRejection = (
  { toErrorResponse }: Pick<HttpProtocol, 'toErrorResponse'>,
  request: IncomingMessage,
  response: ServerResponse,
  reason: Parameters<HttpProtocol['toErrorResponse']>[1],
): void => {
  const { status, headers, body } = toErrorResponse(request.headers, reason);
  response.writeHead(status, reason.kind === 'bad-method' ? { ...headers, allow: 'POST' } : headers).end(body);
};

/** Declares a receiver that serves POST on the paths in `listens`, at the addresses of the platform. */
export const defineHttpReceiver = (declaration: HttpReceiver): Receiver =>
  defineReceiver({
    ...declaration,
    open(engine) {
      const protocol = { ...declaration, receiver: declaration.name };
      const ingest = createHttpIngest(engine, protocol);
      const createHandler = (signals: ReadonlyMap<string, Signal>): HttpHandler => {
        return (request, response) => {
          const signal = signals.get(getRequestPath(request));
          if (signal === undefined) return false;
          if (request.method === 'POST') ingest(request, response, signal);
          else
            respondWithRejection(
              protocol,
              request,
              response,
              createErrorResponse('bad-method', 'telemetry is sent with POST'),
            );
          return true;
        };
      };
      const handlers: Partial<Record<AddressSetting, HttpHandler>> = {};
      for (const { setting, paths } of declaration.listens) {
        const entries = Object.entries(paths) as [Signal, string][];
        handlers[setting] = createHandler(new Map(entries.map(([signal, path]) => [path, signal])));
      }
      return { handlers };
    },
  });
