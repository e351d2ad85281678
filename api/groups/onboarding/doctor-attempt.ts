/** Findings from the endpoint that the sender was configured with. No side effects. */

import type { Signal } from '../../../schemas/telemetry-signals.ts';
import { withoutTrailing } from '../../../schemas/text.ts';
import type { Endpoints } from './endpoints.ts';
import { type Finding, problem } from './finding.ts';

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

const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80');

const parseEndpoint = (endpoint: string): ParsedEndpoint | undefined => {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint) ? endpoint : `http://${endpoint}`;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return { url, path: withoutTrailing(url.pathname, '/'), port: portOf(url) };
};

const wrong = (message: string, action: string): Finding => problem('wrong-endpoint', message, action);
const mixed = (message: string, action: string): Finding => problem('wrong-protocol', message, action);

/** Compares the endpoint of the sender with the endpoints of this installation. */
export const endpointFinding = ({ endpoint, protocol, signal }: Attempt, ours: Endpoints): Finding | undefined => {
  if (endpoint === undefined) return undefined;
  const parsed = parseEndpoint(endpoint);
  if (parsed === undefined) return wrong(`${endpoint} is not a URL`, `use ${ours.otlpHttp}`);
  const main = new URL(ours.otlpHttp);
  if (parsed.url.protocol === 'https:' && main.protocol === 'http:')
    return wrong('this installation does not use TLS at this address', `use http:// instead: ${ours.otlpHttp}`);
  const grpcPort = portOf(new URL(ours.otlpGrpc));
  const remoteWritePath = new URL(ours.remoteWrite).pathname;
  const spoken = protocol ?? protocolAt(parsed, grpcPort, remoteWritePath);
  if (spoken === 'otlp-grpc') return grpcFinding(parsed, grpcPort, ours);
  if (parsed.port === grpcPort)
    return mixed(
      `port ${grpcPort} expects gRPC, but the sender uses HTTP`,
      spoken === 'otlp-http'
        ? `use ${ours.otlpHttp}, or set OTEL_EXPORTER_OTLP_PROTOCOL=grpc`
        : `use ${ours.remoteWrite}`,
    );
  if (spoken === 'remote-write') {
    if (parsed.path === remoteWritePath) return undefined;
    return wrong(`${parsed.path || '/'} does not accept remote-write`, `use ${ours.remoteWrite}`);
  }
  if (parsed.path === remoteWritePath)
    return mixed('this path accepts Prometheus remote-write, not OTLP', `use ${ours.otlpHttp}`);
  return httpFinding(parsed, signal, ours);
};

const protocolAt = ({ port, path }: ParsedEndpoint, grpcPort: string, remoteWritePath: string): Protocol => {
  if (path === remoteWritePath) return 'remote-write';
  return port === grpcPort ? 'otlp-grpc' : 'otlp-http';
};

const grpcFinding = ({ port, path }: ParsedEndpoint, grpcPort: string, ours: Endpoints): Finding | undefined => {
  if (port !== grpcPort)
    return mixed(
      `port ${port} expects HTTP, but the sender uses gRPC`,
      `use ${ours.otlpGrpc}, or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`,
    );
  if (path !== '') return wrong('a gRPC endpoint has no path', `use ${ours.otlpGrpc}`);
  return undefined;
};

const httpFinding = (
  { port, path }: ParsedEndpoint,
  signal: Signal | undefined,
  ours: Endpoints,
): Finding | undefined => {
  if (/\/v1\/\w+\/v1\/\w+$/.test(path))
    return wrong(
      'the path of the signal appears twice: the sender appends /v1/logs, /v1/metrics or /v1/traces itself',
      `configure ${ours.otlpHttp} without the path of the signal`,
    );
  const isBare = port === portOf(new URL(ours.otlpHttpBare)) && ours.otlpHttpBare !== new URL(ours.otlpHttp).origin;
  const root = isBare ? '' : new URL(ours.otlpHttp).pathname;
  const use = isBare ? ours.otlpHttpBare : ours.otlpHttp;
  if (!isBare && path !== root && !path.startsWith(`${root}/`))
    return wrong('the path lacks /otlp: without it the request reaches the dashboard', `use ${use}`);
  if (isBare && path.startsWith('/otlp')) return wrong(`port ${port} accepts OTLP without /otlp`, `use ${use}`);
  const rest = path.slice(root.length);
  if (rest === '') return undefined;
  const named = /^\/v1\/(logs|metrics|traces)$/.exec(rest)?.[1];
  if (named === undefined) return wrong(`${path} is not an OTLP path`, `use ${use}/v1/logs, /v1/metrics or /v1/traces`);
  if (signal !== undefined && named !== signal)
    return wrong(`${signal} were sent to the path of ${named}`, `use ${use}/v1/${signal}`);
  return undefined;
};
