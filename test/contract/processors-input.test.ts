/** Each registered processor emits values for the input of the suites that interrupt processors. */
import test from 'ava';
import { Task } from '../../processors/engine/task.ts';
import { processors } from '../../processors/registry.ts';
import { seeded } from '../cases/random.ts';
import { firstMs } from '../cases/run-task.ts';
import { followedDocuments, inputOf } from './processors-input.ts';
import './processors-stores.ts';

const messageCount = 200;

for (const processor of processors)
  test(`${processor.name} emits values for the input of its suite`, (t) => {
    let emitted = 0;
    for (const [topic, messages] of inputOf(processor, messageCount, firstMs, seeded(1))) {
      const task = new Task(processor, { topic, partition: 0, emitter: 'input' });
      for (const { collection, tenantId, id, document } of followedDocuments(processor))
        task.applyChange(collection, tenantId, id, document);
      emitted += task.batch(messages.map((message, offset) => ({ ...message, offset }))).messages.length;
      emitted += task.tick((messages.at(-1)?.timestampMs ?? firstMs) + 3_600_000)?.messages.length ?? 0;
    }
    t.true(emitted > 0);
  });
