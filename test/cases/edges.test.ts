/** Who calls whom, from spans as they pass. */
import test from 'ava';
import fc from 'fast-check';
import { flow, sumsOf } from './edges/flow.ts';
import { joinOf } from './edges/join.ts';
import { arrivalsOf, madeUpTraces } from './edges/traces.ts';

test('the edges equal what a join over all raw spans gives, whatever the order, batches, clocks and restarts', (t) => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 4 }),
      (seed, count, partitions) => {
        const raw = madeUpTraces(seed, count);
        const { edges, problems, holding } = flow(arrivalsOf(raw, seed, partitions), {
          seed,
          partitions,
          restarts: 0.1,
        });
        t.deepEqual(sumsOf(edges), joinOf(raw));
        t.is(problems, 0);
        t.is(holding, 0, 'nothing waits at the end');
      },
    ),
    { numRuns: 40 },
  );
});
