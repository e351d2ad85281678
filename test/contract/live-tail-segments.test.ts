/** Live tail over the embedded bus. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import type { BusContract } from './bus-harness.ts';
import { lastRecordsContract } from './last-records.ts';
import { liveTailContract } from './live-tail.ts';

const contract: BusContract = {
  name: 'segment files',
  quietMs: 300,
  async make(t) {
    const directory = await mkdtemp(join(tmpdir(), 'oiq-tail-'));
    const bus = await openSegmentsBus({ directory });
    t.teardown(async () => {
      await bus.close();
      await rm(directory, { recursive: true });
    });
    return { bus, reopen: () => Promise.reject(new Error('not needed')) };
  },
};

liveTailContract(contract);
lastRecordsContract(contract);
