/** Sends telemetry of a fictional shop to this installation. Only a process that runs all roles has a sender. */
export interface DemoSender {
  /**
   * Sends the history of an hour with a license key, and then the telemetry of half an hour as it happens. Does nothing
   * while it already sends.
   */
  start(licenseKey: string): void;
  /** Resolves when nothing more is sent. */
  stop(): Promise<void>;
  /**
   * Deletes the telemetry of a project. Records that are still being processed are deleted some time after the promise
   * resolves.
   */
  erase(tenantId: string, projectId: string): Promise<void>;
  /** `undefined` while nothing is sent. */
  getStatus(): DemoStatus | undefined;
}

export interface DemoStatus {
  readonly startedAtMs: number;
  readonly endsAtMs: number;
}
