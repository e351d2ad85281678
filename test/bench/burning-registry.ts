/** Stands for `processors/registry.ts` in a process that is measured: one processor that takes more time than a core has. */
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

/** With `--import` of this module, it takes the registry's place in a process and its threads. */
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url.endsWith('/processors/registry.ts') ? { ...found, url: import.meta.url } : found;
  },
});
