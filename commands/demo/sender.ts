/** Loads demo data inside a process that runs all roles. */
import type { Columns } from '../../schemas/ports/columns.ts';
import type { DemoSender, DemoStatus } from '../../schemas/ports/demo.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Settings } from '../../schemas/settings.ts';
import { eraseProjectTelemetry } from '../../subjects/onboarding/erase-project.ts';
import { sendShopTelemetry } from './send-telemetry.ts';

const historySeconds = 60 * 60;
const liveSeconds = 30 * 60;
const visits = 1;

/** Delay after which records that were still being processed at a deletion are deleted too, in milliseconds */
const lateRecordsMs = 90_000;

interface SenderOptions {
  readonly settings: Pick<Settings, 'OTLP_HTTP_ADDRESS'>;
  readonly columns: Columns;
  readonly log: Log;
}

/** Sends to the OTLP address of this process. */
export const createDemoSender = ({ settings, columns, log }: SenderOptions): DemoSender => {
  const endpoint = `http://${settings.OTLP_HTTP_ADDRESS}`;
  let running:
    | { readonly status: DemoStatus; readonly abort: AbortController; readonly done: Promise<void> }
    | undefined;
  return {
    start(key) {
      if (running !== undefined) return;
      const abort = new AbortController();
      const startedAtMs = Date.now();
      const done = sendShopTelemetry({ endpoint, key, historySeconds, liveSeconds, visits, signal: abort.signal })
        .then(
          () => undefined,
          (error: unknown) => log.warn({ error }, 'demo data could not be sent'),
        )
        .finally(() => {
          running = undefined;
        });
      running = { status: { startedAtMs, endsAtMs: startedAtMs + liveSeconds * 1_000 }, abort, done };
    },
    async stop() {
      running?.abort.abort();
      await running?.done;
    },
    async erase(tenantId, projectId) {
      const eraseNow = (): Promise<void> => eraseProjectTelemetry({ columns, log }, { tenantId, projectId });
      await eraseNow();
      setTimeout(() => {
        eraseNow().catch((error: unknown) => log.warn({ error }, 'late demo data could not be deleted'));
      }, lateRecordsMs).unref();
    },
    getStatus: () => running?.status,
  };
};
