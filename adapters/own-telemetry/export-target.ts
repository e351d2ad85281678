/** Where the platform's own telemetry goes, over OTLP/gRPC. */
export interface ExportTarget {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}
