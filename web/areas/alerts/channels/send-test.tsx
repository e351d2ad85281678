/** Sends a test message to a channel or contact, and displays the response */
import { useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import type { testChannelCall, testContactCall } from './calls.ts';

type TestCall = typeof testChannelCall | typeof testContactCall;

export const SendTest = ({ id, call }: { readonly id: string; readonly call: TestCall }) => {
  const [action] = useState(() => new Action<NonNullable<TestCall['operation']>>(call));
  const [testResult, setTestResult] = useState<Awaited<ReturnType<typeof action.run>>>();
  const run = async (): Promise<void> => setTestResult(await action.run({ params: { id } }));
  return (
    <>
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        Send test
      </button>
      <p role="status" class={testResult?.delivered === false ? 'text-error' : ''}>
        {testResult === undefined
          ? ''
          : testResult.delivered
            ? `The test was delivered in ${testResult.latencyMs} ms.`
            : renderText(`The test was not delivered: ${testResult.statusCode ?? ''} ${testResult.answer}`)}
      </p>
      {testResult?.notes.map((note) => (
        <p key={note} class="soft">
          {renderText(note)}
        </p>
      ))}
      <ErrorMessage error={action.error.value} />
    </>
  );
};
