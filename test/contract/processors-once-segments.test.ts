import '../../subjects/query-kinds.ts';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onceContract } from './processors-once.ts';

onceContract({
  name: 'embedded',
  async place(t) {
    const directory = mkdtempSync(join(tmpdir(), 'oiq-processors-once-'));
    mkdirSync(join(directory, 'bus'));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    return { kind: 'embedded', directory, prefix: 'once.' };
  },
  members: 1,
  rounds: 2,
  minDeaths: 2,
  messages: 120,
  parts: 1,
  kills: 100,
  failures: 100,
});
