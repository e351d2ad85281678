import type { Bus } from '../schemas/bus.ts';
import type { Clock } from '../schemas/clock.ts';
import type { Columns } from '../schemas/columns.ts';
import type { Counters } from '../schemas/counters.ts';
import type { Documents } from '../schemas/documents.ts';
import type { Mailer } from '../schemas/mail.ts';
import type { Settings } from '../schemas/settings.ts';
import type { LogProvider } from '../telemetry/log.ts';
import type { MetricsProvider } from '../telemetry/metrics.ts';

/** Everything a role or command stands on, adapters picked. `main.ts` makes it; whoever asked for it closes it. */
export interface Platform {
  readonly settings: Settings;
  readonly log: LogProvider;
  readonly metrics: MetricsProvider;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly columns: Columns;
  readonly documents: Documents;
  readonly counters: Counters;
  readonly mailer: Mailer;
  /** True when configuration and telemetry are in the data directory and this process owns it. */
  readonly embedded: boolean;
  close(): Promise<void>;
}

/** Opens the platform of the given settings. */
export type OpenPlatform = (settings: Settings) => Promise<Platform>;
