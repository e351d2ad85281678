import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliveriesContract } from './deliveries.ts';

deliveriesContract({
  name: 'embedded',
  async place(t) {
    const directory = mkdtempSync(join(tmpdir(), 'oiq-deliveries-'));
    mkdirSync(join(directory, 'bus'));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    return { kind: 'embedded', directory, prefix: 'deliveries.' };
  },
  members: 1,
});
