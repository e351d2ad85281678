/** How the response of a feed is concatenated. */
import test from 'ava';
import { concatInSlices } from '../../subjects/threat-intel/read-feed.ts';

const mebibyte = 1024 * 1024;

/** A response with chunks of a mebibyte, each filled with its number. */
const answerOf = (pieces: number): Response => {
  let input = 0;
  return new Response(
    new ReadableStream({
      pull: (controller) => {
        if (input === pieces) controller.close();
        else controller.enqueue(new Uint8Array(mebibyte).fill(input++));
      },
    }),
  );
};

test('the event loop stays responsive while a large response is concatenated', async (t) => {
  let isOver = false;
  let iterations = 0;
  const countIteration = (): void => {
    iterations++;
    if (!isOver) setImmediate(countIteration);
  };
  setImmediate(countIteration);
  const bytes = await concatInSlices(answerOf(20));
  isOver = true;
  t.is(bytes.length, 20 * mebibyte);
  t.deepEqual(
    [0, 1, 19].map((piece) => [bytes[piece * mebibyte], bytes[(piece + 1) * mebibyte - 1]]),
    [
      [0, 0],
      [1, 1],
      [19, 19],
    ],
  );
  t.true(iterations >= 4, `${iterations} turns`);
});

test('a response without a body has no bytes', async (t) => {
  t.is((await concatInSlices(new Response(null, { status: 304 }))).length, 0);
});
