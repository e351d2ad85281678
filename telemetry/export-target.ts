import { Metadata } from '@grpc/grpc-js';

/** Where the platform's own telemetry goes, over OTLP/gRPC. */
export interface ExportTarget {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What OpenTelemetry's gRPC exporters take. */
export const grpcOptions = ({ endpoint, headers }: ExportTarget): { url: string; metadata: Metadata } => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { url: endpoint, metadata };
};
