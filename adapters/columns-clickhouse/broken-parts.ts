/** Reports parts that servers detached because of damage. */
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { findBrokenParts } from '../../schemas/tables/broken-parts.ts';

/** Interval between reports: a server finds damage when it starts, which may be at any time. */
const reportIntervalMs = 300_000;

export class BrokenParts {
  readonly #log: Log;
  readonly #reportedParts = new Set<string>();
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Checks each server, at most once per interval, and reports each part once. Servers that do not respond are skipped;
   * other code reports them.
   */
  async report(servers: ReturnType<Columns['listServers']>): Promise<void> {
    if (performance.now() - this.#checkedAtMs < reportIntervalMs) return;
    this.#checkedAtMs = performance.now();
    for (const { name, columns } of servers) {
      const brokenPaths = await findBrokenParts(columns).catch(() => []);
      const newParts = brokenPaths.filter((path) => !this.#reportedParts.has(`${name} ${path}`));
      for (const path of newParts) this.#reportedParts.add(`${name} ${path}`);
      if (newParts.length > 0)
        this.#log.error(
          { server: name, parts: newParts },
          'parts of tables are damaged and were set aside: their rows are missing. Restore the server from a backup, or remove these parts',
        );
    }
  }
}
