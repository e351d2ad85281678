/** Sends a test to a channel or a contact, and tells what the other side said. */
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { shownText } from '../../../frame/shown-text.tsx';
import { Problem } from '../../../frame/standing.tsx';
import type { testChannelCall, testContactCall } from './calls.ts';

type TestCall = typeof testChannelCall | typeof testContactCall;

export const SendTest = ({ id, call }: { readonly id: string; readonly call: TestCall }) => {
  const [action] = useState(() => new Action<NonNullable<TestCall['of']>>(call));
  const [said, setSaid] = useState<Awaited<ReturnType<typeof action.run>>>();
  const run = async (): Promise<void> => setSaid(await action.run({ params: { id } }));
  return (
    <>
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        Send a test
      </button>
      <p role="status" class={said?.delivered === false ? 'text-error' : ''}>
        {said === undefined
          ? ''
          : said.delivered
            ? `The test was delivered in ${said.latencyMs} ms.`
            : shownText(`The test was not delivered: ${said.statusCode ?? ''} ${said.answer}`)}
      </p>
      {said?.notes.map((note) => (
        <p key={note} class="soft">
          {shownText(note)}
        </p>
      ))}
      <Problem error={action.error.value} />
    </>
  );
};
