import type { Settings } from '../../../schemas/settings.ts';
import { trimTrailing } from '../../../schemas/text.ts';

/** URLs at which this installation receives telemetry. */
export interface Endpoints {
  /** OTLP over HTTP under the main address; SDKs append `/v1/logs` and so on. */
  readonly otlpHttp: string;
  readonly otlpGrpc: string;
  /** OTLP over HTTP at the default port and paths of the SDKs */
  readonly otlpHttpBare: string;
  readonly remoteWrite: string;
  readonly loki: string;
  readonly zipkin: string;
  /** Agents over OpAMP */
  readonly opamp: string;
  /** Scripts and receivers of pages; a browser key follows in the path */
  readonly browsers: string;
}

const parsePort = (address: string): string => address.slice(address.lastIndexOf(':') + 1);

/**
 * Uses `OIQ_PUBLIC_URL`, or the host of this request if it is not set. The OTLP ports are on the same host.
 */
export const buildEndpoints = (
  settings: Pick<Settings, 'PUBLIC_URL' | 'HTTP_ADDRESS' | 'OTLP_GRPC_ADDRESS' | 'OTLP_HTTP_ADDRESS'>,
  host: string,
): Endpoints => {
  const requestedUrl =
    host !== '' && URL.canParse(`http://${host}`) ? `http://${host}` : `http://${settings.HTTP_ADDRESS}`;
  const base = new URL(settings.PUBLIC_URL ?? requestedUrl);
  const { protocol, hostname } = base;
  const root = `${base.origin}${trimTrailing(base.pathname, '/')}`;
  return {
    otlpHttp: `${root}/otlp`,
    otlpGrpc: `${protocol}//${hostname}:${parsePort(settings.OTLP_GRPC_ADDRESS)}`,
    otlpHttpBare: `${protocol}//${hostname}:${parsePort(settings.OTLP_HTTP_ADDRESS)}`,
    remoteWrite: `${root}/api/v1/prom/write`,
    loki: `${root}/loki/api/v1/push`,
    zipkin: `${root}/zipkin/api/v2/spans`,
    opamp: `${root}/otlp/v1/opamp`,
    browsers: `${root}/rum`,
  };
};
