import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { busContract } from './bus.ts';

busContract({
  name: 'segment files',
  quietMs: 300,
  async make(t) {
    const directory = await mkdtemp(join(tmpdir(), 'oiq-segments-'));
    const open = () => openSegmentsBus({ directory, segmentBytes: 1024 * 1024 });
    let bus = await open();
    t.teardown(async () => {
      await bus.close();
      await rm(directory, { recursive: true });
    });
    return {
      bus,
      retain: () => bus.retain(),
      async reopen() {
        // A close abandons in-flight batches. Tests with separate processes show that a kill has the same effect.
        await bus.close();
        bus = await open();
        return bus;
      },
    };
  },
});
