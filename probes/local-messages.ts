/** Messages between the probes of `local` and their parent process, which has the stores. */
import type { Log } from '../schemas/ports/log.ts';
import type { ProbeReport, Work } from '../schemas/synthetic-work.ts';
import type { WorkSource } from './probe.ts';
import type { ChromiumOptions } from './runner.ts';

/** Options at the start */
export interface LocalOptions {
  /** Private networks that checks may reach */
  readonly networks: readonly string[];
  readonly chromium: ChromiumOptions;
}

/** Requests of the probes: `WorkSource` of an organization, without the signals, and the list of organizations. */
export type ProbeRequest =
  | { readonly what: 'tenants' }
  | {
      readonly what: 'work';
      readonly tenantId: string;
      readonly digest: string | undefined;
      readonly probeState: ProbeReport;
    }
  | { readonly what: 'send'; readonly tenantId: string; readonly results: Parameters<WorkSource['send']>[0] }
  | { readonly what: 'alarm'; readonly tenantId: string; readonly alarms: Parameters<WorkSource['sendAlarms']>[0] }
  | {
      readonly what: 'show';
      readonly tenantId: string;
      readonly picture: Parameters<NonNullable<WorkSource['sendScreenshot']>>[0];
    };

export type FromProbes =
  | { readonly id: number; readonly request: ProbeRequest }
  | { readonly level: keyof Log; readonly fields: Readonly<Record<string, unknown>>; readonly message: string };

export type ToProbes =
  | { readonly id: number; readonly answer: readonly string[] | Work | undefined }
  | { readonly id: number; readonly error: string }
  | { readonly stop: true };
