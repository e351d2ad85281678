/** Tells of parts that servers set aside for damage. */
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { brokenParts } from '../../schemas/tables/broken-parts.ts';

/** A server finds damage when it starts, which may be at any time. */
const againMs = 300_000;

export class BrokenParts {
  readonly #log: Log;
  readonly #reported = new Set<string>();
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Looks on each server, if that is not long ago, and tells of each part once. A server that does not answer is left to whoever needs it. */
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
