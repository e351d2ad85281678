/** Sinks killed between an insert and its commit store each record once. (Cluster: `reliability-cluster-kills`.) */
import test from 'ava';
import { landWithCrashes } from './crash.ts';
import { readBackEmbedded, readLedgerEmbedded } from './read-back.ts';
import { assertReadBack, installation } from './reliability.ts';

test.serial('embedded: a sink that repeatedly dies between insert and commit stores each record once', async (t) => {
  const { dataDirectory, environment, licenseKey } = await installation(t, 'crash');
  const oracle = await landWithCrashes(t, { environment, licenseKey }, 6);
  const landed = await readBackEmbedded(dataDirectory, oracle.service);
  assertReadBack(t, oracle, landed);
  t.deepEqual(await readLedgerEmbedded(dataDirectory), { accepted: landed.size, landed: landed.size }, 'the ledger');
});
