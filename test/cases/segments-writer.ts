/** Publishes to the embedded log of a directory until it is killed; prints a line for each acknowledged text. */
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { topic } from './segments-harness.ts';

const [, , directory = '', round = ''] = process.argv;
const bus = await openSegmentsBus({ directory, segmentBytes: 200_000 });
await bus.ensureTopics([topic]);
const producer = await bus.producer();
const message = (text: string) => ({
  topic: topic.name,
  key: 'key',
  value: Buffer.from(text.padEnd(3000, '.')),
  headers: {},
});

const single = async (writer: number) => {
  for (let i = 0; ; i++) {
    const text = `${round}/${writer}/${i}`;
    await producer.publish([message(text)]);
    process.stdout.write(`${text.padEnd(3000, '.')}\n`);
  }
};
const paired = async () => {
  for (let i = 0; ; i++) {
    const names = [`left ${round}/${i}`, `right ${round}/${i}`];
    await producer.transaction('pairs', async (publish) => {
      for (const name of names) await publish([message(name)]);
    });
    for (const name of names) process.stdout.write(`${name.padEnd(3000, '.')}\n`);
  }
};
await Promise.all([single(0), single(1), single(2), paired()]);
