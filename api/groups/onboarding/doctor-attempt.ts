/** Findings from the endpoint that the sender was configured with. No side effects. */

import type { Signal } from '../../../schemas/telemetry-signals.ts';
import { trimTrailing } from '../../../schemas/text.ts';
import type { Endpoints } from './endpoints.ts';
import { createProblem, type Finding } from './finding.ts';

export const protocols = ['otlp-http', 'otlp-grpc', 'remote-write'] as const;
type Protocol = (typeof protocols)[number];

/** The attempt of the sender, as the user describes it. */
export interface Attempt {
  readonly endpoint?: string | undefined;
  readonly protocol?: Protocol | undefined;
  readonly signal?: Signal | undefined;
  /** HTTP status, or gRPC code (0 to 16) */
  readonly status?: number | undefined;
  /** What the sender logged. */
  readonly error?: string | undefined;
}

interface ParsedEndpoint {
  readonly url: URL;
  readonly path: string;
  readonly port: string;
}

const getEffectivePort = ({ port, protocol }: URL): string =>
  port || (['https:', 'wss:'].includes(protocol) ? '443' : '80');

const parseEndpoint = (endpoint: string): ParsedEndpoint | undefined => {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint) ? endpoint : `http://${endpoint}`;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return { url, path: trimTrailing(url.pathname, '/'), port: getEffectivePort(url) };
};

const createWrongEndpoint = (message: string, action: string): Finding =>
  createProblem('wrong-endpoint', message, action);
const createWrongProtocol = (message: string, action: string): Finding =>
  createProblem('wrong-protocol', message, action);

const secureProtocols: readonly string[] = ['https:', 'wss:'];
const isOpampPath = (path: string): boolean => path.endsWith('/v1/opamp');

const checkScheme = ({ url, path }: ParsedEndpoint, endpoints: Endpoints): Finding | undefined => {
  if (secureProtocols.includes(url.protocol) && new URL(endpoints.otlpHttp).protocol === 'http:')
    return createWrongEndpoint(
      'this installation does not use TLS at this address',
      `use http:// instead: ${endpoints.otlpHttp}`,
    );
  if (url.protocol.startsWith('ws') && !isOpampPath(path))
    return createWrongEndpoint('only OpAMP uses WebSockets', `use ${endpoints.opamp}, or HTTP`);
  return undefined;
};

/** Compares the endpoint of the sender with the endpoints of this installation. */
export const checkEndpoint = ({ endpoint, protocol, signal }: Attempt, endpoints: Endpoints): Finding | undefined => {
  if (endpoint === undefined) return undefined;
  const parsed = parseEndpoint(endpoint);
  if (parsed === undefined) return createWrongEndpoint(`${endpoint} is not a URL`, `use ${endpoints.otlpHttp}`);
  const schemeFinding = checkScheme(parsed, endpoints);
  if (schemeFinding !== undefined) return schemeFinding;
  if (isOpampPath(parsed.path)) return checkOpampEndpoint(parsed, endpoints);
  const grpcPort = getEffectivePort(new URL(endpoints.otlpGrpc));
  const remoteWritePath = new URL(endpoints.remoteWrite).pathname;
  const usedProtocol = protocol ?? inferProtocol(parsed, grpcPort, remoteWritePath);
  if (usedProtocol === 'otlp-grpc') return checkGrpcEndpoint(parsed, grpcPort, endpoints);
  if (parsed.port === grpcPort)
    return createWrongProtocol(
      `port ${grpcPort} expects gRPC, but the sender uses HTTP`,
      usedProtocol === 'otlp-http'
        ? `use ${endpoints.otlpHttp}, or set OTEL_EXPORTER_OTLP_PROTOCOL=grpc`
        : `use ${endpoints.remoteWrite}`,
    );
  if (usedProtocol === 'remote-write') {
    if (parsed.path === remoteWritePath) return undefined;
    return createWrongEndpoint(`${parsed.path || '/'} does not accept remote-write`, `use ${endpoints.remoteWrite}`);
  }
  if (parsed.path === remoteWritePath)
    return createWrongProtocol('this path accepts Prometheus remote-write, not OTLP', `use ${endpoints.otlpHttp}`);
  return checkHttpEndpoint(parsed, signal, endpoints);
};

/** Paths of receivers for browsers, behind the key, which both HTTP addresses have. */
const browserPaths = ['', 'v1/logs', 'v1/traces', 'faro', 'replay'];

const checkBrowserPath = (path: string, endpoints: Endpoints): Finding | undefined => {
  const [, , key = '', ...rest] = path.split('/');
  const use = `use ${endpoints.browsers}/KEY, with /v1/logs, /v1/traces, /faro or /replay behind the browser key`;
  if (key === '') return createWrongEndpoint('the path has no browser key', use);
  return browserPaths.includes(rest.join('/'))
    ? undefined
    : createWrongEndpoint(`${path} is not a path for browsers`, use);
};

const inferProtocol = ({ port, path }: ParsedEndpoint, grpcPort: string, remoteWritePath: string): Protocol => {
  if (path === remoteWritePath) return 'remote-write';
  return port === grpcPort ? 'otlp-grpc' : 'otlp-http';
};

const checkGrpcEndpoint = (
  { port, path }: ParsedEndpoint,
  grpcPort: string,
  endpoints: Endpoints,
): Finding | undefined => {
  if (port !== grpcPort)
    return createWrongProtocol(
      `port ${port} expects HTTP, but the sender uses gRPC`,
      `use ${endpoints.otlpGrpc}, or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`,
    );
  if (path !== '') return createWrongEndpoint('a gRPC endpoint has no path', `use ${endpoints.otlpGrpc}`);
  return undefined;
};

/** Returns whether the port has no paths besides those of OTLP. */
const isSdkPort = ({ port }: ParsedEndpoint, { otlpHttp, otlpHttpBare }: Endpoints): boolean =>
  port === getEffectivePort(new URL(otlpHttpBare)) && otlpHttpBare !== new URL(otlpHttp).origin;

const checkOpampEndpoint = (parsed: ParsedEndpoint, endpoints: Endpoints): Finding | undefined => {
  const expected = isSdkPort(parsed, endpoints) ? `${endpoints.otlpHttpBare}/v1/opamp` : endpoints.opamp;
  return parsed.path === new URL(expected).pathname
    ? undefined
    : createWrongEndpoint(`${parsed.path} is not the path of OpAMP at this address`, `use ${expected}`);
};

const checkHttpEndpoint = (
  parsed: ParsedEndpoint,
  signal: Signal | undefined,
  endpoints: Endpoints,
): Finding | undefined => {
  const { port, path } = parsed;
  if (/^\/rum(?:\/|$)/.test(path)) return checkBrowserPath(path, endpoints);
  if (/\/v1\/\w+\/v1\/\w+$/.test(path))
    return createWrongEndpoint(
      'the path of the signal appears twice: the sender appends /v1/logs, /v1/metrics or /v1/traces itself',
      `configure ${endpoints.otlpHttp} without the path of the signal`,
    );
  const isForSdks = isSdkPort(parsed, endpoints);
  const root = isForSdks ? '' : new URL(endpoints.otlpHttp).pathname;
  const use = isForSdks ? endpoints.otlpHttpBare : endpoints.otlpHttp;
  if (!isForSdks && path !== root && !path.startsWith(`${root}/`))
    return createWrongEndpoint('the path lacks /otlp: without it the request reaches the dashboard', `use ${use}`);
  if (isForSdks && path.startsWith('/otlp'))
    return createWrongEndpoint(`port ${port} accepts OTLP without /otlp`, `use ${use}`);
  const rest = path.slice(root.length);
  if (rest === '') return undefined;
  const pathSignal = /^\/v1\/(logs|metrics|traces)$/.exec(rest)?.[1];
  if (pathSignal === undefined)
    return createWrongEndpoint(`${path} is not an OTLP path`, `use ${use}/v1/logs, /v1/metrics or /v1/traces`);
  if (signal !== undefined && pathSignal !== signal)
    return createWrongEndpoint(`${signal} were sent to the path of ${pathSignal}`, `use ${use}/v1/${signal}`);
  return undefined;
};
