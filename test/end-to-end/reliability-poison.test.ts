/** One of a thousand messages cannot be processed: the others are stored, it is a dead letter, the lag is 0. */
import { join } from 'node:path';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { deadLetterCommand } from './dead-letter-command.ts';
import { startOiq } from './oiq-process.ts';
import { assertPoisonReadBack, handlePoison, publishPoison } from './poison.ts';
import { readBackEmbedded } from './read-back.ts';
import { installation, waitUntilDrained } from './reliability.ts';

test.serial('embedded: the other 999 are stored and the poison message is one dead letter', async (t) => {
  const { dataDirectory, environment } = await installation(t, 'poison');
  const bus = await openSegmentsBus({ directory: join(dataDirectory, 'bus') });
  await publishPoison(bus);
  await bus.close();
  const oiq = await startOiq({ dataDirectory, environment });
  t.teardown(() => oiq.kill());
  await waitUntilDrained(oiq.http);
  await handlePoison(t, deadLetterCommand(t, environment));
  await waitUntilDrained(oiq.http);
  t.is(await oiq.stop(), 0, oiq.output());
  assertPoisonReadBack(t, await readBackEmbedded(dataDirectory, 'poison'));
});
