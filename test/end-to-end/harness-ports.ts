import { join } from 'node:path';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { parseSettings } from '../../schemas/settings.ts';
import type { Harness } from './api-harness.ts';

/** Everything that a role needs except stores: real clock, counters in memory, mails in `outbox.jsonl`, settings. */
export const roleParts = (directory: string, environment: Readonly<Record<string, string>>) => {
  const clock = { now: () => Date.now() };
  return {
    clock,
    log: silentLog,
    metrics: silentMetrics,
    counters: createMemoryCounters({ clock }),
    settings: parseSettings({ OIQ_DATA_DIR: directory, ...environment }),
    mailer: createFileMailer({ path: join(directory, 'outbox.jsonl') }),
  };
};

/** The ports of processors, sinks and receivers over the stores of a harness, in the test's process. */
export const portsOf = (
  { bus, documents, columns, directory }: Pick<Harness, 'bus' | 'documents' | 'columns' | 'directory'>,
  environment: Readonly<Record<string, string>>,
) => ({ bus, documents, columns, ...roleParts(directory, environment) });
