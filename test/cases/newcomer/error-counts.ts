import { defineProcessor } from '../../../processors/engine/definition.ts';
import { windowedState } from '../../../processors/engine/windows.ts';
import { logRecords } from '../../../schemas/records/sources.ts';
import { errorCountsTopic } from './error-counts-topic.ts';

export const errorCounts = defineProcessor({
  name: 'newcomer-error-counts',
  summary: 'Counts error logs by service and minute.',
  reads: logRecords,
  emits: { counts: errorCountsTopic },
  entitlement: 'logs',
  state: windowedState<number>({ version: 1, lengthMs: 60_000, maxEntries: 100_000 }),
  step({ severityNumber, service, timeMs }, context) {
    if (severityNumber >= 17) context.state.add(context, timeMs, service, (errors = 0) => errors + 1);
  },
  timer(_, { tenantId, state, watermarkMs, emit }) {
    for (const { key, startMs, value } of state.removeClosed(watermarkMs))
      emit.counts({ tenantId, service: key, minute: startMs, errors: value });
  },
});

/** In the product, this is a line of `processors/registry.ts`. */
export const processors = [errorCounts];
