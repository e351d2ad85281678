/** The target of the platform's own telemetry, over OTLP/gRPC. */
export interface ExportTarget {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}
