/** Tests a saved rule with sample events in the format of their source */
import { useState } from 'preact/hooks';
import type { testDetectionRule } from '../../../api/groups/siem/try-rule.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { JsonInput } from '../../editors/inputs.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';

const testRuleCall = declareCall<typeof testDetectionRule>('POST', '/api/siem/rules/{id}/test');

export const SampleEventTest = ({ id }: { readonly id: string }) => {
  const [action] = useState(() => new Action(testRuleCall));
  const [events, setEvents] = useState<unknown>([{}]);
  const [testResult, setTestResult] = useState<ResponseBody<typeof testDetectionRule>>();
  const error = action.error.value;
  const runTest = async (): Promise<void> => {
    setTestResult(undefined);
    setTestResult(await action.run({ params: { id }, body: { events: events as never } }));
  };
  return (
    <details>
      <summary>Test with sample events</summary>
      <div class="form">
        <JsonInput
          label="Events, as a JSON array"
          hint='[{"Image": "C:\\Windows\\System32\\whoami.exe"}]'
          rows={6}
          value={events}
          problem={createProblemFinder(error)('events')}
          onChange={setEvents}
        />
        <div class="act">
          <button type="button" disabled={action.isRunning.value} onClick={() => void runTest()}>
            Run test
          </button>
          <ErrorMessage error={error} />
        </div>
      </div>
      {testResult === undefined ? null : (
        <>
          <p role="status">
            {testResult.matches.length === 0 ? 'No events match.' : `${testResult.matches.length} events match:`}
          </p>
          <ul aria-label="Matching events">
            {testResult.matches.map(({ event, fields }) => (
              <li key={event}>
                Event {event + 1}:{' '}
                {fields.map(({ field, path, value, condition: comment }) => (
                  <span key={`${field} ${path}`}>
                    <code>{renderText(field || path)}</code> <bdi>{renderText(value)}</bdi>, {renderText(comment)}{' '}
                  </span>
                ))}
              </li>
            ))}
          </ul>
        </>
      )}
    </details>
  );
};
