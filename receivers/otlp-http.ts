/**
 * OTLP over HTTP. Serves bare paths on its own address (the default of the SDKs) and paths under `/otlp` on the main
 * address.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { separateJsonRequest } from '../schemas/otlp/json.ts';
import { type Signal, signals } from '../schemas/telemetry-signals.ts';
import { type BodyFormat, otlpProtobuf } from './engine/body-format.ts';
import { createCors } from './engine/cors.ts';
import { createErrorResponse, type ErrorResponse, errorKinds } from './engine/error-responses.ts';
import {
  createHttpIngest,
  type HttpProtocol,
  type HttpResponse,
  shapeBody,
  toRejectionResponse,
} from './engine/http-ingest.ts';
import { respondWithRejection } from './engine/http-receiver.ts';
import { listenHttp } from './engine/listen-http.ts';
import { defineReceiver, type HttpHandler } from './engine/receiver.ts';
import {
  encodeBadRequest,
  encodePartialSuccess,
  encodeStatus,
  formatBadRequest,
  formatPartialSuccess,
} from './engine/status.ts';

const maxBodyBytes = 50 * 1024 * 1024;
const barePaths = { logs: '/v1/logs', metrics: '/v1/metrics', traces: '/v1/traces' } as const;
// Maps, because a sender may request the path `constructor`.
const signalByPath = new Map<string, Signal>(signals.map((signal) => [signal, signal]));

const otlpJson: BodyFormat = {
  name: 'otlp-json',
  messageFormat: 'otlp',
  isCostly: true,
  translate: (body, signal, times) => separateJsonRequest(signal, body, times),
};

const getMediaType = (headers: IncomingHttpHeaders): string => {
  const header = headers['content-type'] ?? '';
  if (header === 'application/x-protobuf' || header === 'application/json') return header;
  return (header.split(';')[0] ?? '').trim().toLowerCase();
};

/** Success responses never change, so one per media type is enough. */
const successResponses: Readonly<Record<string, HttpResponse>> = {
  'application/json': {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-length': 2 },
    body: '{}',
  },
  'application/x-protobuf': {
    status: 200,
    headers: { 'content-type': 'application/x-protobuf', 'content-length': 0 },
    body: undefined,
  },
  'application/octet-stream': {
    status: 200,
    headers: { 'content-type': 'application/octet-stream', 'content-length': 0 },
    body: undefined,
  },
};
const emptySuccess: HttpResponse = { status: 200, headers: { 'content-length': 0 }, body: undefined };

interface OtlpProtocolOptions {
  readonly receiver: string;
  readonly maxBodyBytes: number;
  readonly protobuf: BodyFormat;
  readonly json: BodyFormat;
  /** Format of bodies whose media type is unknown. Without a format, they are rejected. */
  readonly defaultFormat?: BodyFormat;
}

/** Returns the requests and responses of OTLP over HTTP. */
export const createOtlpProtocol = ({
  receiver,
  maxBodyBytes: bodyCapBytes,
  protobuf,
  json,
  defaultFormat,
}: OtlpProtocolOptions): HttpProtocol => {
  const formatByType = new Map<string, BodyFormat>([
    ['application/json', json],
    ['application/x-protobuf', protobuf],
    ['application/octet-stream', protobuf],
  ]);
  return {
    receiver,
    maxBodyBytes: bodyCapBytes,
    shape(signal, headers) {
      const format = formatByType.get(getMediaType(headers)) ?? defaultFormat;
      if (format === undefined)
        return createErrorResponse(
          'unsupported-type',
          'Content-Type must be application/x-protobuf or application/json',
        );
      return shapeBody(signal, format, headers);
    },
    toSuccessResponse(headers, { signal, format }, { rejected }) {
      const success = successResponses[getMediaType(headers)] ?? emptySuccess;
      if (rejected === undefined) return success;
      const body =
        format === json ? Buffer.from(formatPartialSuccess(signal, rejected)) : encodePartialSuccess(rejected);
      return { status: 200, headers: { ...success.headers, 'content-length': body.length }, body };
    },
    toErrorResponse(headers, errorResponse) {
      const { message } = errorResponse;
      const code = errorKinds[errorResponse.kind].grpc;
      const isBadData = errorResponse.kind === 'malformed';
      if (formatByType.get(getMediaType(headers)) === protobuf) {
        const body = isBadData ? encodeBadRequest(code, message) : encodeStatus(code, message);
        return toRejectionResponse(errorResponse, 'application/x-protobuf', body);
      }
      const body = isBadData ? formatBadRequest(code, message) : JSON.stringify({ code, message });
      return toRejectionResponse(errorResponse, 'application/json', body);
    },
  };
};

const protocol = createOtlpProtocol({ receiver: 'otlp-http', maxBodyBytes, protobuf: otlpProtobuf, json: otlpJson });

/** Returns the path after a prefix, without its query string; `undefined` if the path has another prefix. */
const getPathAfterPrefix = (url: string, prefix: string): string | undefined => {
  if (!url.startsWith(prefix)) return undefined;
  const query = url.indexOf('?', prefix.length);
  return query < 0 ? url.slice(prefix.length) : url.slice(prefix.length, query);
};

export const otlpHttp = defineReceiver({
  name: 'otlp-http',
  summary: 'OTLP over HTTP, protobuf and JSON, on 4318 and under /otlp on the main address',
  signals: ['logs', 'metrics', 'traces'],
  listens: [
    { setting: 'OTLP_HTTP_ADDRESS', protocol: 'http', paths: barePaths },
    {
      setting: 'HTTP_ADDRESS',
      protocol: 'http',
      paths: { logs: '/otlp/v1/logs', metrics: '/otlp/v1/metrics', traces: '/otlp/v1/traces' },
    },
  ],
  maxBodyBytes,
  formats: [otlpProtobuf, otlpJson],
  open(engine) {
    const ingest = createHttpIngest(engine, protocol);
    const reject = (request: IncomingMessage, response: ServerResponse, errorResponse: ErrorResponse): void =>
      respondWithRejection(protocol, request, response, errorResponse);
    const cors = createCors(engine.settings.CORS_ORIGINS);
    const serve = (request: IncomingMessage, response: ServerResponse, signal: Signal): void => {
      if (request.method === 'POST') ingest(request, response, signal);
      else reject(request, response, createErrorResponse('bad-method', 'telemetry is sent with POST'));
    };
    /** `otherPaths`: whether other receivers may serve paths that are not OTLP's. */
    const handlePrefix =
      (prefix: string, otherPaths: 'refused' | 'passed'): HttpHandler =>
      (request, response) => {
        const path = getPathAfterPrefix(request.url ?? '', prefix);
        if (path === undefined) return false;
        if (cors(request, response)) return true;
        const signal = signalByPath.get(path);
        if (signal !== undefined) serve(request, response, signal);
        else if (otherPaths === 'passed') return false;
        else reject(request, response, createErrorResponse('not-found', 'the OTLP path does not exist'));
        return true;
      };
    const handleBarePath = handlePrefix('/v1/', 'passed');
    return {
      handlers: { HTTP_ADDRESS: handlePrefix('/otlp/v1/', 'refused') },
      listen: ({ handler: handleOthers, sockets }) =>
        listenHttp(
          'OTLP_HTTP_ADDRESS',
          engine.settings.OTLP_HTTP_ADDRESS,
          (request, response) => {
            if (!handleBarePath(request, response) && !handleOthers(request, response))
              reject(request, response, createErrorResponse('not-found', 'the OTLP path does not exist'));
          },
          sockets,
        ),
    };
  },
});
