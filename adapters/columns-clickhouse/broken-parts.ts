/** Reports parts that servers detached because of damage. */
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { brokenParts } from '../../schemas/tables/broken-parts.ts';

/** Interval between reports: a server finds damage when it starts, which may be at any time. */
const againMs = 300_000;

export class BrokenParts {
  readonly #log: Log;
  readonly #reported = new Set<string>();
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Checks each server, at most once per interval, and reports each part once. Servers that do not answer are skipped;
   * other code reports them.
   */
  async report(servers: ReturnType<Columns['each']>): Promise<void> {
    if (performance.now() - this.#checkedAtMs < againMs) return;
    this.#checkedAtMs = performance.now();
    for (const { name, columns } of servers) {
      const all = await brokenParts(columns).catch(() => []);
      const parts = all.filter((path) => !this.#reported.has(`${name} ${path}`));
      for (const path of parts) this.#reported.add(`${name} ${path}`);
      if (parts.length > 0)
        this.#log.error(
          { server: name, parts },
          'parts of tables are damaged and were set aside: their rows are missing. Restore the server from a backup, or remove these parts',
        );
    }
  }
}
