import type { Bus } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import type { Counters } from '../schemas/ports/counters.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import type { LogProvider } from '../schemas/ports/log.ts';
import type { Mailer } from '../schemas/ports/mail.ts';
import type { MetricsProvider } from '../schemas/ports/metrics.ts';
import type { StoreMembers } from '../schemas/ports/store-members.ts';
import type { Settings } from '../schemas/settings.ts';
import type { Topic } from '../schemas/topic.ts';

/** Dependencies of roles and commands, with the configured adapters. `main.ts` creates it; the caller closes it. */
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
  readonly storeMembers: StoreMembers;
  /** True when configuration and telemetry are in the data directory and this process owns it */
  readonly embedded: boolean;
  /** Registers the value schemas of the topics in the schema registry, if there is one. */
  registerSchemas(topics: readonly Topic[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens the platform of the given settings. */
export type OpenPlatform = (settings: Settings) => Promise<Platform>;

/** Input of a command. */
export interface CommandContext {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly open: OpenPlatform;
}
