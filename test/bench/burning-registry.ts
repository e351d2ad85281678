/** Replaces `processors/registry.ts` in a measured process: one processor that uses more time than a core has. */
import { registerHooks } from 'node:module';
import { defineProcessor, type Processor } from '../../processors/engine/definition.ts';
import { logRecords } from '../../schemas/records/sources.ts';

const microseconds = Number(process.env['BENCH_BURN_MICROSECONDS'] ?? 0);

const burner = defineProcessor({
  name: 'burner',
  summary: 'Takes time',
  reads: logRecords,
  step() {
    const end = performance.now() + microseconds / 1_000;
    while (performance.now() < end);
  },
});

export const processors: readonly Processor[] = microseconds > 0 ? [burner] : [];

/** With `--import`, this module replaces the registry in a process and its threads. */
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url.endsWith('/processors/registry.ts') ? { ...found, url: import.meta.url } : found;
  },
});
